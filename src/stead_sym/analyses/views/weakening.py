"""Take steps without the conditions that rest on too many records, or on no number of them.

Definition. Let conjuncts be chosen of the guards of a deployment A, of the `when` of alternatives, and of the
`where` of `choose`, `insert` and `delete` statements. A⁺ is A without those of the first three kinds; one of
an `insert` or `delete` becomes an atom F(y), with a relation F of its own, empty initially, for the
variables y that range over facts: those of the conjunct if they are all in the fact that is written, and
otherwise those of that fact. Statements of an alternative share F if they ask for the same of the same
variables. Further events insert any F(y) for active y, and clear F.

Theorem. If D is reachable in A, it is in A⁺, with F empty. So AG f holds in A if it does in A⁺.

Proof. Let D → D' by an alternative of a call in A. In A⁺ let the events insert the F(y) for which the
conjunct is true in D; or, if F has all y of the fact, those for which the whole condition is, for some values
of the other variables. F makes no value active that is not so in D, so that what is left of guards and
conditions is true where it was. Each statement writes the facts that it does in A, and the step leads to D'
and F, which is cleared. ∎

The loop of terminal states, whose guard is that nothing is offered, stays as it is: it changes nothing.

One decision: a conjunct is named by its place in the kernel's form of the condition as it was written, and F
by the tool, so that a certificate names them likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.needs import Needs, Number, Outside
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Insert, Statement, Tool
from stead_sym.logic.kernel import Core, core, written
from stead_sym.relational.schema import Relation


@dataclass(frozen=True, slots=True, order=True)
class LeftOut:
    """A ``conjunct`` of a condition of a ``tool``, by its number from 0.

    The condition is the guard if ``alternative`` is 0, the `when` of that alternative if ``statement`` is 0,
    and else the `where` of that statement.
    """

    tool: str
    alternative: int
    statement: int
    conjunct: int


def _conditions(tool: Tool) -> Iterator[tuple[int, int, fo.Expanded]]:
    yield 0, 0, tool.guard
    for alternative, effect in enumerate(tool.effects, 1):
        yield alternative, 0, effect.when
        for number, statement in enumerate(effect.statements, 1):
            if isinstance(statement, Choose | Insert | Delete):
                yield alternative, number, statement.where


def parts(tool: Tool) -> Iterator[tuple[LeftOut, Core]]:
    """Yield the conjuncts of the conditions of a tool."""
    for alternative, statement, condition in _conditions(tool):
        for number, part in enumerate(fo.conjuncts(core(condition))):
            yield LeftOut(tool.name, alternative, statement, number), part


def without(deployment: Deployment, left_out: Collection[LeftOut]) -> Deployment:
    """Return the deployment A⁺."""
    if not left_out:
        return deployment
    tools = tuple(weaker(tool, left_out) for tool in deployment.tools_and_events)
    free = [one for tool in deployment.tools_and_events for one in _relations(tool, left_out)]
    events = (event for relation in free for event in _events(relation))
    return deployment.with_tools((*tools, *events), free)


def weaker(tool: Tool, left_out: Collection[LeftOut]) -> Tool:
    """Return the tool of A⁺."""
    if not any(one.tool == tool.name for one in left_out):
        return tool
    atoms = _atoms(tool, left_out)
    kept: dict[tuple[int, int], list[Core]] = {}
    for place, part in parts(tool):
        own = kept.setdefault((place.alternative, place.statement), [])
        if place not in left_out:
            own.append(part)
        elif place in atoms and atoms[place][0] not in own:
            own.append(atoms[place][0])
    said = {at: fo.conjunction(tuple(own)) for at, own in kept.items()}

    def changed(statement: Statement, at: tuple[int, int]) -> Statement:
        return (
            replace(statement, where=said[at])
            if isinstance(statement, Choose | Insert | Delete)
            else statement
        )

    effects = tuple(
        replace(
            effect,
            when=said[alternative, 0],
            statements=tuple(changed(one, (alternative, n)) for n, one in enumerate(effect.statements, 1)),
        )
        for alternative, effect in enumerate(tool.effects, 1)
    )
    return replace(tool, guard=said[0, 0], effects=effects)


def _atoms(tool: Tool, left_out: Collection[LeftOut]) -> Mapping[LeftOut, tuple[fo.Atom, tuple[str, ...]]]:
    """Return the atoms F(y) that replace conjuncts, each with the sorts of y."""
    found: dict[LeftOut, tuple[fo.Atom, tuple[str, ...]]] = {}
    shared: dict[object, str] = {}
    taken = {part.relation for _, part in parts(tool) if isinstance(part, fo.Atom)}
    names = (name for number in count() if (name := f"free?{tool.name}?{number}") not in taken)
    for place, part in parts(tool):
        if place in left_out and place.statement:
            statement = tool.effects[place.alternative - 1].statements[place.statement - 1]
            if isinstance(statement, Insert | Delete):
                inside = [b for b in statement.binders if fo.Var(b.name) in statement.atom.args]
                read = fo.free_variables(part) & {binder.name for binder in statement.binders}
                key: object = (place.alternative, place.statement)
                if read <= {binder.name for binder in inside}:
                    inside = [binder for binder in inside if binder.name in read]
                    key = (place.alternative, part, tuple(inside))
                if key not in shared:
                    shared[key] = next(names)
                atom = fo.Atom(shared[key], tuple(fo.Var(binder.name) for binder in inside))
                found[place] = atom, tuple(binder.sort for binder in inside)
    return found


def _relations(tool: Tool, left_out: Collection[LeftOut]) -> Iterator[Relation]:
    atoms = dict(sorted((atom.relation, sorts) for atom, sorts in _atoms(tool, left_out).values()))
    yield from (Relation(name, sorts) for name, sorts in atoms.items())


def _events(relation: Relation) -> Iterator[Tool]:
    """Yield the events that insert any facts about active values into a relation, and clear it."""
    values = tuple(fo.Binder(f"x{column}", sort) for column, sort in enumerate(relation.sorts))
    fact = fo.Atom(relation.name, tuple(fo.Var(value.name) for value in values))
    yield Tool(f"{relation.name}?any", values, effects=(Effect((Insert(fact),)),), event=True)
    yield Tool(f"{relation.name}?none", effects=(Effect((Clear((relation.name,)),)),), event=True)


def is_free(relation: str) -> bool:
    """Return whether a relation replaces a condition."""
    return relation.startswith("free?")


def resting_on_none(needs: Needs, tool: Tool) -> Iterator[LeftOut]:
    """Yield the conjuncts that no number of records keeps true, or as they are if a statement has them."""
    if tool.stays:
        return
    for alike in _alike(tool).values():
        if not all(_rests(needs, tool, place, part) for place, part in alike):
            yield from (place for place, _ in alike)


def _alike(tool: Tool) -> Mapping[object, list[tuple[LeftOut, Core]]]:
    """Group the conjuncts: those that several statements of an alternative share are together."""
    found: dict[object, list[tuple[LeftOut, Core]]] = {}
    for place, part in parts(tool):
        found.setdefault((place.alternative, place.statement > 0, part), []).append((place, part))
    return found


def _rests(needs: Needs, tool: Tool, place: LeftOut, part: Core) -> bool:
    try:
        _needed(needs, tool, place, part)
    except Outside:
        return False
    return True


def _needed(needs: Needs, tool: Tool, place: LeftOut, part: fo.Expanded) -> Number:
    """Return how many values keep a conjunct as it is, about one fact; raises `Outside`."""
    statement = (
        tool.effects[place.alternative - 1].statements[place.statement - 1] if place.statement else None
    )
    if not isinstance(statement, Insert | Delete):
        return needs.kept(part)
    condition, several = part, False
    for binder in statement.binders:
        if fo.Var(binder.name) in statement.atom.args:
            several = True
        else:
            condition = fo.Exists(binder, condition)
    sides = (needs.of(condition, positive, every=several) for positive in (True, False))
    return sum((Number({sort: n for (_, sort), n in side.items()}) for side in sides), Number())


def in_words(deployment: Deployment, left_out: Collection[LeftOut]) -> Iterator[tuple[str, str]]:
    """Yield each tool that is taken without some conditions, with a description of these and why."""
    needs = Needs(deployment)
    for tool in deployment.tools_and_events:
        conditions = {(alternative, number): f for alternative, number, f in _conditions(tool)}
        said: dict[str, None] = {}
        for place, part in parts(tool):
            if place in left_out:
                own = written(part, conditions[place.alternative, place.statement])
                said[f"`{own}`, {_why(needs, tool, place, own)}"] = None
        if said:
            yield tool.name, f"without {' and without '.join(said)}"


def _why(needs: Needs, tool: Tool, place: LeftOut, part: fo.Expanded) -> str:
    try:
        number = _needed(needs, tool, place, part).total()
    except Outside as error:
        return str(error)
    return f"which rests on {number} further records" if number else "with which there are too many cases"


def fitting(
    tool: Tool, numbers: Callable[[Tool], list[int]], most: int, left_out: tuple[LeftOut, ...]
) -> tuple[LeftOut, ...] | None:
    """Return conjuncts without which the steps of a tool rest on at most ``most`` records, or None.

    They include ``left_out``; the others are added in the order of what they save, the most first.
    ``numbers`` returns the numbers of the alternatives, the largest first. What several statements of an
    alternative share is left out of all.
    """
    alike = [tuple(place for place, _ in own) for own in _alike(tool).values()]
    needed = numbers(weaker(tool, left_out))
    while needed and needed[0] > most:
        tried = [
            (numbers(weaker(tool, (*left_out, *places))), places)
            for places in alike
            if not set(left_out).issuperset(places)
        ]
        if not tried or (fewest := min(tried))[0] >= needed:
            return None
        needed, left_out = fewest[0], (*left_out, *fewest[1])
    return left_out


def stronger(needs: Needs, sentence: fo.Expanded) -> fo.Expanded:
    """Return a sentence that implies this one, whose negation rests on a number of records if possible.

    It is the sentence without the alternatives and without the premises that rest on no number of records.
    """
    match sentence:
        case fo.Forall(_, body):
            then = stronger(needs, body)
            return fo.TRUE if then == fo.TRUE else replace(sentence, body=then)
        case fo.Implies(left, right):
            kept = tuple(part for part in fo.conjuncts(left) if _is_number(needs.kept, part))
            then = stronger(needs, right)
            return fo.TRUE if then == fo.TRUE else fo.Implies(fo.conjunction(kept), then)
        case fo.Or(parts_) if fo.TRUE in parts_:
            return fo.TRUE
        case fo.Or(parts_):
            return fo.disjunction(tuple(part for part in parts_ if _is_number(needs.refuted, part)))
        case _:
            return sentence


def _is_number(number: Callable[[fo.Expanded], Number], formula: fo.Expanded) -> bool:
    try:
        number(formula)
    except Outside:
        return False
    return True
