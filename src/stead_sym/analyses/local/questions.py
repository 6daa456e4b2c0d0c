"""From a specification to questions about a few values, which may be any.

Let `AG ∀x. f` be asked. It holds if AG f holds for all values of x in U, active or not: to leave out that x
is active asks for more. So leading universal quantifiers become values, under `AG`, `AX`, ∧ and the right
side of → too, which commute with ∀ over a fixed set; `atmost n x. f` is ∀ over n+1 different values. A
quantifier below any other operator stays, and with it all that is below it. There A[f U g] is taken apart to
A[f W g] and AF (¬f ∨ g).

The values are constants that the file's formulas mention, of finite sorts all, or *names*. A name stands for
any other value: an identifier of the data, or one outside C. Different names are different values. Since
every value is a constant or one of the others, the questions together ask for all values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations, count

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.start import names_in
from stead_sym.analyses.local.values import is_constant, name, numbered, same, sort_of
from stead_sym.analyses.local.witnesses import Witness
from stead_sym.logic.evaluate import compares
from stead_sym.logic.folding import fold
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import expand, substitute
from stead_sym.relational.schema import Schema, Value, is_numeral

_MOST_COUNTED = 3
"""`atmost n` becomes n+1 values up to this n; the values of larger ones would be too many."""


def questions(
    formula: fo.Expanded, constants: Mapping[str, Sequence[Value]], named: Set[str]
) -> Iterator[fo.Formula]:
    """Yield sentences over constants and names that together imply the formula, which may have names.

    The ``named`` sorts have other values than the constants.
    """
    used = {sort: numbered(names_in(formula), sort) for sort in named}
    for binders, body in _pulled(formula, count()):
        yield from _instances(binders, body, constants, used)


def together(asked: Iterable[fo.Formula]) -> Iterator[tuple[fo.Formula, Sequence[fo.Formula]]]:
    """Yield the questions, those that are about the same names as one: AG f and AG g as AG (f ∧ g)."""
    groups: dict[tuple[bool, frozenset[Value]], list[fo.Formula]] = {}
    for question in asked:
        key = isinstance(question, fo.Globally), frozenset(names_in(question))
        groups.setdefault(key, []).append(question)
    for (is_always, _), group in groups.items():
        bodies = tuple(question.body for question in group if isinstance(question, fo.Globally))
        if is_always and len(group) > 1:
            yield fo.Globally("A", fo.conjunction(bodies)), group
        else:
            yield from ((question, (question,)) for question in group)


def always(sentence: fo.Expanded) -> fo.Expanded:
    """Return AG f, expanded."""
    return expand(fo.Globally("A", sentence), {})


def dual(formula: fo.Expanded) -> fo.Expanded | None:
    """Return the negation of EF f as AG ¬f, which has questions; None for any other formula."""
    return negation(formula) if isinstance(formula, fo.Future) and formula.path == "E" else None


def negation(formula: fo.Expanded) -> fo.Expanded:
    """Return ¬f, with the universal operator for an existential one."""
    match formula:
        case fo.Future("E", body):
            return fo.Globally("A", fo.Not(body))
        case fo.Globally("E", body):
            return fo.Future("A", fo.Not(body))
        case fo.Next("E", body):
            return fo.Next("A", fo.Not(body))
        case _:
            return fo.Not(formula)


def asks_for_runs(formula: Core, *, negated: bool = False) -> bool:
    """Return if the truth of a formula may rest on a run that exists, as below a positive EF."""
    match formula:
        case fo.Not(body):
            return asks_for_runs(body, negated=not negated)
        case fo.Iff():
            return fo.is_temporal(formula)
        case _ if isinstance(formula, fo.Temporal) and not negated:
            return True
        case _:
            return any(asks_for_runs(part, negated=negated) for part in fo.children(formula))


def decided(f: Core, schema: Schema) -> Core:
    """Return the formula without the parts that the comparison of two values decides."""

    def known(part: fo.Formula) -> bool | None:
        match part:
            case fo.Compare(_, fo.Const(left), fo.Const(right), sort) if (
                sort != fo.INTEGERS and is_constant(left) and is_constant(right)
            ):
                return compares(part, left, right, schema)
            case fo.Equal(fo.Const(left), fo.Const(right)) if left == right or not _are_integers(left, right):
                return same(left, right)
            case _:
                return None

    return core(fold(f, known))


def _are_integers(left: Value, right: Value) -> bool:
    """Return if two values may be integers: numerals, or values of two sorts that are compared."""
    sorts = {sort_of(value) for value in (left, right) if not is_constant(value)}
    return is_numeral(left) or is_numeral(right) or len(sorts) > 1


def by_witness(
    question: fo.Globally, witness: Witness, constants: Mapping[str, Sequence[Value]], used: Mapping[str, int]
) -> Iterator[fo.Formula]:
    """Yield questions that together imply AG f: AG (w(u) → f) for all u, and AG ((∃x. w(x)) ∨ f).

    If w should be true ``always``, f is without the parts of a disjunction that are about runs in the second.
    Each of the first is asked with what ``then`` comes. ``used`` is the number of names in use, for each sort
    that has names.
    """
    body: fo.Formula = question.body
    if witness.always:
        assumed = fo.conjuncts(core(fo.Not(body)))
        body = fo.Not(fo.conjunction(tuple(part for part in assumed if not fo.is_temporal(part))))
    yield fo.Globally("A", fo.Or((witness.some, body)))
    for values, now in _choices(witness.binders, constants, used):
        given = substitute(witness.condition, values)
        case = fo.Globally("A", fo.Implies(given, question.body))
        if witness.then is None:
            yield case
        else:
            yield from by_witness(case, witness.then.of(values), constants, now)


def never(
    condition: fo.Formula,
    binders: Sequence[fo.Binder],
    constants: Mapping[str, Sequence[Value]],
    used: Mapping[str, int],
) -> Iterator[fo.Formula]:
    """Yield questions that together say that a condition is true of no values in any reachable state."""
    for own, body in _pulled(fo.Globally("A", fo.Not(fo.quantify(fo.Exists, binders, condition))), count()):
        yield from _instances(own, body, constants, used)


def _instances(
    binders: Sequence[fo.Binder],
    body: fo.Formula,
    constants: Mapping[str, Sequence[Value]],
    used: Mapping[str, int],
) -> Iterator[fo.Formula]:
    """Yield the body for every choice of values (`_choices`)."""
    yield from (substitute(body, values) for values, _ in _choices(binders, constants, used))


def _choices(
    binders: Sequence[fo.Binder], constants: Mapping[str, Sequence[Value]], used: Mapping[str, int]
) -> Iterator[tuple[Mapping[str, fo.Term], Mapping[str, int]]]:
    """Yield every choice of values, up to the order in which names are used, with how many are in use then.

    ``used`` is the number of names in use, for each sort that has names.
    """
    if not binders:
        yield {}, used
        return
    sort, rest = binders[0].sort, binders[1:]
    values = [(value, used) for value in constants[sort]]
    if sort in used:
        values += [(name(sort, k), {**used, sort: max(used[sort], k + 1)}) for k in range(used[sort] + 1)]
    for value, now in values:
        for others, then in _choices(rest, constants, now):
            yield {binders[0].name: fo.Const(value), **others}, then


def _opened(
    parts: Sequence[fo.Formula], loose: Callable[[fo.Binder, fo.Formula], tuple[fo.Binder, fo.Formula]]
) -> tuple[tuple[fo.Binder, ...], fo.Formula]:
    """Return the variables of existential parts of a conjunction, and the conjunction about these."""
    binders, opened = [], []
    for part in parts:
        if isinstance(part, fo.Exists):
            own, inner = loose(part.binder, part.body)
            binders.append(own)
            opened.append(inner)
        else:
            opened.append(part)
    return tuple(binders), fo.conjunction(tuple(opened))


def _pulled(
    formula: fo.Formula, numbers: Iterator[int]
) -> Iterator[tuple[tuple[fo.Binder, ...], fo.Formula]]:
    """Yield bodies with the variables for all of whose values they have to hold."""

    def loose(binder: fo.Binder, body: fo.Formula) -> tuple[fo.Binder, fo.Formula]:
        fresh = f"{binder.name}#{next(numbers)}"  # no name of a file
        return replace(binder, name=fresh), substitute(body, {binder.name: fo.Var(fresh)})

    match formula:
        case fo.And(parts):
            for part in parts:
                yield from _pulled(part, numbers)
        case fo.Forall(binder, body):
            own, inner = loose(binder, body)
            yield from (((own, *others), f) for others, f in _pulled(inner, numbers))
        case fo.Not(fo.Not(body)):
            yield from _pulled(body, numbers)
        case fo.Not(fo.Exists(binder, body)):
            own, inner = loose(binder, body)
            yield from (((own, *others), f) for others, f in _pulled(fo.Not(inner), numbers))
        case fo.Not(fo.Or(parts)):
            for part in parts:
                yield from _pulled(fo.Not(part), numbers)
        case fo.Implies(fo.Exists(binder, left), right):
            own, inner = loose(binder, left)
            yield from (((own, *others), f) for others, f in _pulled(fo.Implies(inner, right), numbers))
        case fo.Implies(fo.And(parts), right) if any(isinstance(part, fo.Exists) for part in parts):
            binders, inner = _opened(parts, loose)
            yield from (((*binders, *others), f) for others, f in _pulled(fo.Implies(inner, right), numbers))
        case fo.Implies(left, right):
            yield from ((own, fo.Implies(left, f)) for own, f in _pulled(right, numbers))
        case fo.Globally("A", body):
            yield from ((own, fo.Globally("A", f)) for own, f in _pulled(body, numbers))
        case fo.Next("A", body):
            yield from ((own, fo.Next("A", f)) for own, f in _pulled(body, numbers))
        case fo.Until("A", left, right, weak=False):  # each run keeps to f W g, and leaves f ∧ ¬g
            yield (), fo.Until("A", left, right, weak=True)
            yield (), fo.Future("A", fo.Or((fo.Not(left), right)))
        case fo.Count("atmost", number, binder, body) if number <= _MOST_COUNTED:
            pairs = [loose(binder, body) for _ in range(number + 1)]
            variables = [fo.Var(own.name) for own, _ in pairs]
            different = (fo.Not(fo.Equal(a, b)) for a, b in combinations(variables, 2))
            together = fo.conjunction((*different, *(inner for _, inner in pairs)))
            yield tuple(own for own, _ in pairs), fo.Not(together)
        case _:
            yield (), formula
