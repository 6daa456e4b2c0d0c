"""The slice of a deployment for relations K, which can do everything that the whole can (`docs/theory.md`).

For a formula f let f⁺ be implied by f and read only the facts of K in D: an atom of another relation is true
at a positive position and false at a negative one; a quantifier at a positive position is true if its body
requires no fact of K with its variable. The slice has the guard⁺ and when⁺ of each alternative, its choices
with where⁺, and its statements about K. For each sort S ``in use`` there is an additional relation U_S:
initially the active values, later all that is inserted anywhere, and an event may remove a value from it that
is in no fact of K. What is true in the slice about facts of K is true in the deployment.

Obligations: the conditions of statements about K, and the claims, read only K; and S is in use wherever a
variable has values of S, a relation with S is left out, and the variable has to have the same values in the
slice: a parameter or chosen variable, a binder of a statement about K, a quantifier that requires a value in
such a statement, or in a claim where it is refuted. It has the same values if a fact of K, or of U_S, states
that its value is active. The slice is recomputed here from the deployment of the certificate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.needed import names_in_fact
from stead_sym.certificate.document import in_use
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Initially, Parts
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Fresh, Insert, Statement, Tool
from stead_sym.logic.kernel import Core, core
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, TextValue

PLACE = "slice"


@dataclass(frozen=True)
class Sliced:
    """The slice of a deployment for the relations ``kept``; of their sorts, ``used`` have a relation U_S."""

    whole: Deployment
    kept: frozenset[str]
    used: frozenset[str]

    @property
    def _lost(self) -> frozenset[str]:
        """The sorts of relations that are left out and that have no relation U_S."""
        relations = (r for r in self.whole.schema.relations if r.name not in self.kept)
        return frozenset(sort for relation in relations for sort in relation.sorts) - self.used

    def _is_open(self, sort: str) -> bool:
        return not self.whole.schema.is_finite(sort)

    # formulas

    def _weaker(self, f: Core, positive: bool = True) -> Core:
        """Return f⁺, or if not ``positive`` a formula that implies f."""
        match f:
            case fo.Atom(relation):
                return f if relation in self.kept else fo.Truth(positive)
            case fo.Truth():
                return f
            case fo.Equal() | fo.Compare() if not fo.relations_in(f):
                return f
            case fo.Not(body):
                return _not(self._weaker(body, not positive))
            case fo.And(parts):
                return _and(self._weaker(part, positive) for part in parts)
            case fo.Iff(left, right):
                sides = fo.Or((fo.And((left, right)), fo.And((fo.Not(left), fo.Not(right)))))
                return self._weaker(core(sides), positive)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                inner = self._weaker(body, positive)
                if isinstance(f, fo.Exists) and inner == fo.FALSE:
                    return fo.FALSE
                open_ = positive and not binder.declared and not names_in_fact(inner, binder.name)
                return fo.TRUE if open_ and inner != fo.FALSE else replace(f, body=inner)
            case _:
                raise CertificateRejected(f"`{f}` is of no kind that a slice leaves out", PLACE)

    def _same(self, formula: fo.Formula, positive: bool = True) -> None:
        """Check that the formula reads only K, and is true in the slice where it is in the deployment."""
        if not self.kept.issuperset(fo.relations_in(formula)):
            raise CertificateRejected(f"`{formula}` speaks of {', '.join(sorted(self.kept))} alone", PLACE)
        self._has_values(core(formula), positive)

    def _has_values(self, f: Core, positive: bool) -> None:
        match f:
            case fo.Not(body):
                self._has_values(body, not positive)
            case fo.Iff():
                for side in fo.children(f):
                    self._has_values(side, True)
                    self._has_values(side, False)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                if positive and not binder.declared and not names_in_fact(body, binder.name):
                    self._has_all(binder)
                self._has_values(body, positive)
            case _:
                for child in fo.children(f):
                    self._has_values(child, positive)

    def _has_all(self, binder: fo.Binder) -> None:
        if binder.sort in self._lost:
            raise CertificateRejected(f"the slice knows which values of {binder.sort} are in use", PLACE)

    def _active(self, binders: Iterable[fo.Binder], condition: Core, *said: Core) -> Core:
        """Return the condition with U_S for each of these variables whose activity no formula states."""
        parts = [condition]
        for binder in binders:
            if not any(names_in_fact(f, binder.name) for f in (condition, *said)):
                self._has_all(binder)
                if binder.sort in self.used:
                    parts.append(fo.Atom(in_use(binder.sort), (fo.Var(binder.name),)))
        return _and(parts)

    # tools

    def _tool(self, tool: Tool) -> Tool | None:
        guard = self._weaker(core(tool.guard))
        effects = tuple(e for effect in tool.effects if (e := self._effect(effect, tool)).statements)
        if guard == fo.FALSE or not effects:
            return None
        read = fo.free_variables(guard).union(*(_read(effect) for effect in effects))
        params = tuple(param for param in tool.params if param.name in read)
        guard = self._active([param for param in params if self._is_open(param.sort)], guard)
        return replace(tool, params=params, guard=guard, effects=effects)

    def _effect(self, effect: Effect, tool: Tool) -> Effect:
        active = {param.name for param in tool.params if self._is_open(param.sort)}
        statements: list[Statement] = []
        for statement in effect.statements:
            match statement:
                case Choose(_, where):
                    statements.append(replace(statement, where=self._weaker(core(where))))
                case Fresh():
                    statements.append(statement)
                case Insert(atom, binders, where) | Delete(atom, binders, where):
                    if atom.relation in self.kept:
                        self._same(where)
                        self._same(where, False)
                        also = (atom,) if isinstance(statement, Delete) else ()
                        condition = self._active(binders, core(where), *also)
                        statements.append(replace(statement, where=condition))
                    if isinstance(statement, Insert):
                        bound = {binder.name for binder in binders}
                        statements += self._brought(atom, active | bound)
                case Clear(relations):
                    if own := tuple(name for name in relations if name in self.kept):
                        statements.append(Clear(own))
                case _:
                    raise CertificateRejected(f"`{statement}` inserts, deletes or chooses", PLACE)
        return replace(effect, when=self._weaker(core(effect.when)), statements=self._needed(statements))

    def _brought(self, atom: fo.Atom, active: Collection[str]) -> Iterator[Insert]:
        """Yield the insertions into U_S for an insertion, except for variables whose values are active."""
        for term, sort in zip(atom.args, self.whole.schema.relation(atom.relation).sorts, strict=True):
            if sort in self.used and not (isinstance(term, fo.Var) and term.name in active):
                yield Insert(fo.Atom(in_use(sort), (term,)))

    def _needed(self, statements: list[Statement]) -> tuple[Statement, ...]:
        """Return the statements without the choices and fresh values that no statement reads."""
        read, found = set[str](), list[Statement]()
        for statement in reversed(list(dict.fromkeys(statements))):
            match statement:
                case Choose(binder, _) | Fresh(binder) if binder.name not in read:
                    continue
                case Choose(binder, where):
                    if self._is_open(binder.sort) and not names_in_fact(core(where), binder.name):
                        self._has_all(binder)
                    read |= fo.free_variables(where)
                case _:
                    read |= _read(Effect((statement,)))
            found.append(statement)
        return tuple(reversed(found))

    # the deployment

    def deployment(self, claimed: Collection[fo.Formula], helping: Collection[fo.Formula]) -> Deployment:
        """Return the slice in which the sentences ``claimed`` are claimed, with the help of ``helping``."""
        for sentence in claimed:
            self._same(sentence, False)
        if any(not self.kept.issuperset(fo.relations_in(sentence)) for sentence in helping):
            raise CertificateRejected("an invariant speaks of relations of the slice", PLACE)
        whole = self.whole
        uses = tuple(Relation(in_use(sort), (sort,)) for sort in sorted(self.used))
        own = tuple(replace(r, refers=(), total=None) for r in whole.schema.relations if r.name in self.kept)
        tools = (
            *(t for one in whole.tools_and_events if (t := self._tool(one)) is not None),
            *self._out(own),
        )
        lines = self._initially(uses)
        schema = replace(whole.schema, relations=(*own, *uses))
        facts = self.facts(whole.init.facts)
        known = Instance(schema, facts).active_domain
        told = {text.value for text in schema.texts}
        texts = (
            TextValue(value, sort, value)
            for sort, values in whole.constants.items()
            for value in values
            if self._is_open(sort) and value not in known[sort] and value not in told
        )
        schema = replace(schema, texts=(*schema.texts, *texts))
        sorts = {sort for relation in schema.relations for sort in relation.sorts}
        sorts |= {b.sort for tool in tools for b in _binders(tool)}
        sorts |= {
            f.binder.sort
            for said in (*claimed, *helping, *(line.where for line in lines))
            for f in fo.subformulas(said)
            if isinstance(f, fo.Quantified)
        }
        if not any(map(self._is_open, sorts)):
            sorts |= {next(filter(self._is_open, whole.bounds))}
        schema = replace(
            schema,
            sorts=tuple(sort for sort in schema.sorts if sort.name in sorts),
            texts=tuple(text for text in schema.texts if text.sort in sorts),
        )
        return replace(
            whole, schema=schema, init=Instance(schema, facts), text=None, loaded=(), stated=None,
            gated=(), ungated=None, unbounded=whole.unbounded & sorts,
            written=Parts(tools=tools, initially=lines),
            bounds={sort: bound for sort, bound in whole.bounds.items() if sort in sorts},
        )  # fmt: skip

    def facts(self, facts: Iterable[Fact]) -> frozenset[Fact]:
        """Return the facts of the slice for some facts."""
        found: set[Fact] = set()
        for fact in facts:
            if fact.relation in self.kept:
                found.add(fact)
            sorts = self.whole.schema.relation(fact.relation).sorts
            pairs = zip(sorts, fact.args, strict=True)
            found |= {Fact(in_use(sort), (value,)) for sort, value in pairs if sort in self.used}
        return frozenset(found)

    def _initially(self, uses: Iterable[Relation]) -> tuple[Initially, ...]:
        lines = self.whole.initially
        if lines is None:
            return ()
        any_of = (*(n for n in lines.relations if n in self.kept), *(relation.name for relation in uses))
        return (Initially(any_of, self._weaker(core(lines.where))),)

    def _out(self, relations: Iterable[Relation]) -> Iterator[Tool]:
        """Yield the events that remove a value from U_S that is in no fact of K."""
        for sort in sorted(self.used):
            atom = fo.Atom(in_use(sort), (fo.Var("x"),))
            held = (
                fo.Not(_holds(relation, column))
                for relation in relations
                for column, own in enumerate(relation.sorts)
                if own == sort
            )
            guard = fo.conjunction((atom, *held))
            effects = (Effect((Delete(atom),)),)
            yield Tool(f"out of {in_use(sort)}", (fo.Binder("x", sort),), "", guard, effects, event=True)


def _holds(relation: Relation, column: int) -> Core:
    """Return the formula that some fact has x in a column."""
    names = ["x" if place == column else f"x?{place}" for place in range(relation.arity)]
    others = [fo.Binder(n, sort) for n, sort in zip(names, relation.sorts, strict=True) if n != "x"]
    return fo.quantify(fo.Exists, others, fo.Atom(relation.name, tuple(map(fo.Var, names))))


def _read(effect: Effect) -> frozenset[str]:
    """Return the variables that an alternative reads, including its own."""
    found = fo.free_variables(effect.when)
    for statement in effect.statements:
        match statement:
            case Choose(_, where):
                found |= fo.free_variables(where)
            case Insert(atom, binders, where) | Delete(atom, binders, where):
                bound = {binder.name for binder in binders}
                found |= (fo.free_variables(atom) | fo.free_variables(where)) - bound
            case _:
                pass
    return found


def _binders(tool: Tool) -> Iterator[fo.Binder]:
    yield from tool.params
    said: list[fo.Formula] = [tool.guard]
    for effect in tool.effects:
        said.append(effect.when)
        for statement in effect.statements:
            match statement:
                case Choose(binder, where):
                    yield binder
                    said.append(where)
                case Fresh(binder):
                    yield binder
                case Insert(_, binders, where) | Delete(_, binders, where):
                    yield from binders
                    said.append(where)
                case _:
                    pass
    yield from (f.binder for one in said for f in fo.subformulas(one) if isinstance(f, fo.Quantified))


def _not(f: Core) -> Core:
    return (
        fo.Truth(f == fo.FALSE) if isinstance(f, fo.Truth) else f.body if isinstance(f, fo.Not) else fo.Not(f)
    )


def _and(parts: Iterable[Core]) -> Core:
    found = tuple(part for part in parts if part != fo.TRUE)
    return fo.FALSE if fo.FALSE in found else fo.conjunction(found)
