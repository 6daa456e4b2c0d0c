"""Slice a deployment to some relations; the slice can do whatever the whole deployment can.

Definition. Let K be relations of a deployment. For a first-order formula f let f⁺ be f with atoms of other
relations replaced by `true` where they stand positively and by `false` where they stand negatively, and with
`true` for what asks positively for a value that no fact of K in it holds. The *slice* for K has of each tool
and event the guard⁺, of each alternative the `when`⁺, the `where`⁺ of its `choose` statements and its
statements about K, and parameters only if something of these mentions them. For some sorts S it has a
relation U_S, *in use*: what an alternative inserts anywhere is in U_S from then on, and an event may take a
value out of U_S that no fact of K holds. Initially U_S holds the active values.

For an instance D let D_K be its facts of K, and U_S(u) for each value u of S that is active in D.

Theorem. Let the conditions of statements about K that insert and delete speak of K only. If D is reachable
in the deployment, D_K is reachable in the slice; so AG f, f over K, holds in the deployment if it does in
the slice.

Proof. (D, σ) ⊨ f implies (D_K, σ) ⊨ f⁺, by induction: ¬, ∧, ∃ and `atleast` are monotone, a witness that a
fact of K holds is active in D_K, and D_K has no active value that D has not. U_S is there for each S of
which a relation is left out and some parameter, binder or chosen variable of a statement about K, or
quantifier of f or of such a statement, does not say in a fact of K that its value is active; parameters and
binders say it by U_S. So what f and the statements say is true of the same values in D_K and in D. Let D →
D' by an alternative of ω(u). Its call is enabled in D_K, where it leads to E with the facts of K that D'
has, and with U_S(v) for each v that is active in D, or inserted; the values that are not active in D' are in
no fact of K, and are taken out one by one. What is fresh in D is so in D_K. An alternative without
statements leaves D_K as it is. ∎

One decision: a slice is a deployment, so that everything that analyses deployments analyses it.
`views.growing_slices` chooses the slices to look at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.needs import Outside
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Initially, Parts
from stead_sym.deployment.tool import (
    Choose,
    Clear,
    Delete,
    Effect,
    Fresh,
    Insert,
    Statement,
    Tool,
    mentioned_variables,
)
from stead_sym.deployment.witnesses import is_old
from stead_sym.logic.folding import negate
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, TextValue


@dataclass(frozen=True, slots=True)
class Slice:
    """The slice for the relations ``kept``, with a relation ``using`` of the values in use for some sorts."""

    deployment: Deployment
    kept: tuple[str, ...]
    using: Mapping[str, str]

    def asks(self, whole: Deployment, sentence: fo.Expanded) -> bool:
        """Return whether a sentence over the relations of the slice is true in D_K if it is true in D."""
        slicing = _Slicing(whole, frozenset(self.kept), dict(self.using))
        slicing.exactly(core(sentence))
        return not (slicing.unsaid & lost(whole, frozenset(self.kept))) - self.using.keys()

    def facts(self, sorts: Mapping[str, tuple[str, ...]], facts: Iterable[Fact]) -> frozenset[Fact]:
        """Return D_K, for the facts of an instance and the sorts of their relations."""
        return _facts_within(self.kept, self.using, sorts, facts)


def sliced(
    deployment: Deployment, kept: frozenset[str], asked: Iterable[fo.Expanded], *, every_sort: bool = False
) -> Slice:
    """Return the slice for some relations in which these sentences can be asked.

    The conditions of the statements about the relations must read only these. With ``every_sort`` the slice
    has U_S for each sort of a variable that does not state that its value is active, not only for those of
    which a relation is left out. Raises `Outside` for a formula of a kind that has no slice.
    """
    sentences = [core(fo.Not(sentence)) for sentence in asked]
    tracked = set(deployment.bounds) if every_sort else lost(deployment, kept)
    taken = {relation.name for relation in deployment.schema.relations}
    using: dict[str, str] = {}
    while True:  # what is in use is read and written too
        slicing = _Slicing(deployment, kept, using)
        for sentence in sentences:
            slicing.exactly(sentence)
        made = slicing.deployment(sentences)
        more = (slicing.unsaid & tracked) - using.keys()
        if not more:
            names = (relation.name for relation in deployment.schema.relations)
            return Slice(made, tuple(name for name in names if name in kept), using)
        for sort in sorted(more):
            using[sort] = fresh_name(f"in_use_{sort}", taken)
            taken.add(using[sort])


def lost(deployment: Deployment, kept: frozenset[str]) -> frozenset[str]:
    """Return the sorts of the relations that are left out."""
    return frozenset(s for r in deployment.schema.relations if r.name not in kept for s in r.sorts)


def _facts_within(
    kept: Collection[str],
    using: Mapping[str, str],
    sorts: Mapping[str, tuple[str, ...]],
    facts: Iterable[Fact],
) -> frozenset[Fact]:
    every = list(facts)
    in_use = {
        Fact(using[sort], (u,))
        for fact in every
        for sort, u in zip(sorts[fact.relation], fact.args, strict=True)
        if sort in using
    }
    return frozenset(fact for fact in every if fact.relation in kept) | in_use


@dataclass
class _Slicing:
    """The parts of a slice, with the relations ``using`` of values in use, by sort.

    ``unsaid`` has the sorts of quantifiers and variables that do not state that their values are active, if
    that matters.
    """

    whole: Deployment
    kept: frozenset[str]
    using: dict[str, str] = field(default_factory=dict)
    unsaid: set[str] = field(default_factory=set)

    def weaker(self, f: Core, positive: bool = True) -> Core:
        """Return f⁺, which f implies; unless ``positive``, return f⁻, which implies f."""
        match f:
            case fo.Truth():
                return f
            case fo.Equal() | fo.Compare() if not fo.relations_in(f):
                return f
            case fo.Atom(relation):
                return f if relation in self.kept else fo.TRUE if positive else fo.FALSE
            case fo.Not(body):
                return negate(self.weaker(body, not positive))
            case fo.And(parts):
                return _all(self.weaker(part, positive) for part in parts)
            case fo.Iff(left, right):
                both = fo.And((left, right)), fo.And((fo.Not(left), fo.Not(right)))
                return self.weaker(core(fo.Not(fo.And(tuple(map(fo.Not, both))))), positive)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                inner = self.weaker(body, positive)
                if inner == fo.FALSE and isinstance(f, fo.Exists):
                    return fo.FALSE
                if positive and not binder.declared and not is_old(inner, binder.name, frozenset()):
                    return fo.TRUE  # the value may be active by another relation
                return replace(f, body=inner)
            case _:
                raise Outside(f"`{f}` is of no kind that is left out of a slice", f.span)

    def exactly(self, f: Core, positive: bool = True) -> None:
        """Require that the formula, over K, is true in D_K if it is true in D."""
        match f:
            case fo.Not(body):
                self.exactly(body, not positive)
            case fo.Iff():
                for side in fo.children(f):
                    self.exactly(side)
                    self.exactly(side, False)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                if positive and not binder.declared:
                    self._ranging([binder], body)
                self.exactly(body, positive)
            case _:
                for child in fo.children(f):
                    self.exactly(child, positive)

    def _ranging(self, binders: Iterable[fo.Binder], condition: Core, *said: fo.Expanded) -> Core:
        """Return the condition, extended to state that the values of these variables are active.

        It is not extended for a variable of which the condition or another formula states it.
        """
        parts = [condition]
        for binder in binders:
            if not any(is_old(f, binder.name, frozenset()) for f in (condition, *said)):
                self.unsaid.add(binder.sort)
                if binder.sort in self.using:
                    parts.append(fo.Atom(self.using[binder.sort], (fo.Var(binder.name),)))
        return _all(parts)

    # tools

    def tool(self, tool: Tool) -> Tool | None:
        """Return what is left of a tool or event; None if it does nothing."""
        guard = self.weaker(core(tool.guard))
        effects = tuple(done for effect in tool.effects if (done := self._effect(effect, tool)).statements)
        if not effects or guard == fo.FALSE:
            return None
        read = fo.free_variables(guard).union(*map(_variables, effects))
        params = tuple(param for param in tool.params if param.name in read)
        listed = (param for param in params if self._is_open(param.sort))
        return replace(tool, params=params, guard=self._ranging(listed, guard), effects=effects)

    def _effect(self, effect: Effect, tool: Tool) -> Effect:
        when = self.weaker(core(effect.when))
        statements: list[Statement] = []
        active = {param.name for param in tool.params if self._is_open(param.sort)}
        for statement in effect.statements:
            match statement:
                case Choose(_, where):
                    statements.append(replace(statement, where=self.weaker(core(where))))
                case Fresh():
                    statements.append(statement)
                case Insert(atom, binders, where) | Delete(atom, binders, where):
                    if atom.relation in self.kept:
                        self.exactly(core(where))
                        self.exactly(core(where), False)
                        deleted = (atom,) if isinstance(statement, Delete) else ()
                        said = self._ranging(binders, core(where), *deleted)
                        statements.append(replace(statement, where=said))
                    if isinstance(statement, Insert):
                        bound = {binder.name for binder in binders}
                        statements += self._in_use(atom, active | bound)
                case Clear(relations):
                    if names := tuple(name for name in relations if name in self.kept):
                        statements.append(replace(statement, relations=names))
                case _:
                    raise Outside(f"`{statement}` has no slice", statement.span)
        return replace(effect, when=when, statements=self._used(statements))

    def _in_use(self, atom: fo.Atom, active: set[str]) -> Iterator[Insert]:
        """Yield statements for the values that an insertion brings into use."""
        for term, sort in zip(atom.args, self.whole.schema.relation(atom.relation).sorts, strict=True):
            known = isinstance(term, fo.Var) and term.name in active
            if sort in self.using and not known:
                yield Insert(fo.Atom(self.using[sort], (term,)))

    def _used(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Return the statements that do something, each once, with the choices that they read."""
        read: set[str] = set()
        used: list[Statement] = []
        for statement in reversed(list(dict.fromkeys(statements))):
            match statement:
                case Choose(binder, where):
                    if binder.name not in read:
                        continue
                    if self._is_open(binder.sort):  # or a constant, active or not
                        self._ranging([binder], where)
                    read |= fo.free_variables(where)
                case Fresh(binder) if binder.name not in read:
                    continue
                case Insert() | Delete():
                    read |= mentioned_variables(statement)
                case _:
                    pass
            used.append(statement)
        return tuple(reversed(used))

    def _is_open(self, sort: str) -> bool:
        return not self.whole.schema.is_finite(sort)

    # the deployment

    def deployment(self, asked: Iterable[fo.Expanded]) -> Deployment:
        """Return the slice for these sentences."""
        whole = self.whole
        relations = tuple(
            replace(r, refers=(), total=None) for r in whole.schema.relations if r.name in self.kept
        )
        in_use = tuple(Relation(name, (sort,)) for sort, name in self.using.items())
        tools = tuple(tool for one in whole.tools_and_events if (tool := self.tool(one)) is not None)
        specs = tuple(
            spec for spec in whole.specs if spec.helps and self.kept.issuperset(fo.relations_in(spec.formula))
        )
        initially = self._initially(in_use)
        said = (*asked, *(spec.formula for spec in specs), *(line.where for line in initially))
        sorts = {sort for relation in (*relations, *in_use) for sort in relation.sorts}
        sorts = sorts.union(*map(_sorts, tools), *map(_sorts_in, said))
        if not any(map(self._is_open, sorts)):  # views are on values of some sort
            sorts |= {next(filter(self._is_open, whole.bounds))}
        schema = replace(
            whole.schema,
            sorts=tuple(sort for sort in whole.schema.sorts if sort.name in sorts),
            relations=(*relations, *in_use),
            texts=tuple(text for text in whole.schema.texts if text.sort in sorts),
        )
        columns = {relation.name: relation.sorts for relation in whole.schema.relations}
        facts = _facts_within(self.kept, self.using, columns, whole.init.facts)
        known = Instance(schema, facts).active_domain
        told = {text.value for text in schema.texts}
        kept_constants = tuple(
            TextValue(value, sort, value)
            for sort, values in whole.constants.items()
            if sort in sorts and self._is_open(sort)
            for value in values
            if value not in known[sort] and value not in told
        )
        schema = replace(schema, texts=(*schema.texts, *kept_constants))
        written = Parts(
            tools=(*tools, *self._forgetting((*relations, *in_use), tools)),
            specs=specs,
            initially=initially,
        )
        return replace(
            whole, schema=schema, init=Instance(schema, facts), written=written, text=None,
            loaded=(), stated=None, gated=(), ungated=None, unbounded=whole.unbounded & sorts,
            bounds={sort: bound for sort, bound in whole.bounds.items() if sort in sorts},
        )  # fmt: skip

    def _initially(self, in_use: Sequence[Relation]) -> tuple[Initially, ...]:
        lines = self.whole.initially
        if lines is None:
            return ()
        any_of = (*(name for name in lines.relations if name in self.kept), *(r.name for r in in_use))
        return (Initially(any_of, self.weaker(core(lines.where)), span=lines.span),)

    def _forgetting(self, relations: Sequence[Relation], tools: Sequence[Tool]) -> Iterator[Tool]:
        """Yield the events that take a value out of use if no fact of K has it."""
        taken = {tool.name for tool in tools}
        for sort, name in self.using.items():
            value = fo.Binder("x", sort)
            held: list[Core] = [
                fo.Not(_holds(relation, column))
                for relation in relations
                if relation.name in self.kept
                for column, own in enumerate(relation.sorts)
                if own == sort
            ]
            used = fo.Atom(name, (fo.Var("x"),))
            event = fresh_name(f"forget_{sort}", taken)
            taken.add(event)
            effect = Effect((Delete(used),))
            yield Tool(event, (value,), guard=fo.conjunction((used, *held)), effects=(effect,), event=True)


def _holds(relation: Relation, column: int) -> Core:
    """Return the formula that some fact of the relation has x in the column."""
    args: list[fo.Term] = [fo.Var(f"y{k}") for k in range(relation.arity)]
    args[column] = fo.Var("x")
    found: Core = fo.Atom(relation.name, tuple(args))
    for k, sort in reversed(list(enumerate(relation.sorts))):
        if k != column:
            found = fo.Exists(fo.Binder(f"y{k}", sort), found)
    return found


def _variables(effect: Effect) -> frozenset[str]:
    """Return the variables that occur in an alternative, its own included."""
    found = fo.free_variables(effect.when)
    for statement in effect.statements:
        match statement:
            case Choose(_, where):
                found |= fo.free_variables(where)
            case Insert() | Delete():
                found |= mentioned_variables(statement)
            case _:
                pass
    return found


def _sorts(tool: Tool) -> Iterator[str]:
    """Yield the sorts of the variables of a tool, and those whose values its formulas compare."""
    yield from (param.sort for param in tool.params)
    yield from _sorts_in(tool.guard)
    for effect in tool.effects:
        yield from _sorts_in(effect.when)
        for statement in effect.statements:
            match statement:
                case Choose(binder, where):
                    yield binder.sort
                    yield from _sorts_in(where)
                case Fresh(binder):
                    yield binder.sort
                case Insert(_, binders, where) | Delete(_, binders, where):
                    yield from (binder.sort for binder in binders)
                    yield from _sorts_in(where)
                case _:
                    pass


def _sorts_in(formula: fo.Expanded) -> Iterator[str]:
    """Yield the sorts of the quantifiers of a formula, and those whose values it compares."""
    for part in fo.subformulas(formula):
        if isinstance(part, fo.Quantified):
            yield part.binder.sort
        elif isinstance(part, fo.Compare) and part.sort is not None and part.sort != fo.INTEGERS:
            yield part.sort


def _all(parts: Iterable[Core]) -> Core:
    found = [part for part in parts if part != fo.TRUE]
    return fo.FALSE if fo.FALSE in found else fo.conjunction(tuple(found))
