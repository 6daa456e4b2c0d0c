"""First-order formulas as diagrams, by their cores: quantifiers are grounded value by value.

    ⟦∃x. f⟧ = ⋁ over the values u of  active(u) ∧ ⟦f[x := u]⟧

One decision: only those values are tried for which an atom that f requires is not constantly false
(`logic.candidates`), so that a quantified conjunction is evaluated as a join. A variable in scope denotes a
value, or a vector if a temporal operator has to keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.space import Leaf, Space, Vector
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.candidates import Pattern, candidates
from stead_sym.logic.evaluate import compares, declared, value_of
from stead_sym.logic.integers import decided, grounded, linear_in
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Schema, Value, tells_history

Scope: TypeAlias = Mapping[str, "Vector | Value"]


class Facts:
    """The facts of D, or of D', that are not constantly false, each with where it holds."""

    def __init__(self, schema: Schema, holding: Mapping[Fact, Bdd]) -> None:
        self.holding = holding
        self._of: dict[str, list[Fact]] = {}
        self._at: dict[tuple[str, int, Value], list[Fact]] = {}
        self.with_value: dict[tuple[str, Value], list[Fact]] = {}
        sorts = {relation.name: relation.sorts for relation in (*schema.relations, *schema.history)}
        for fact in holding:
            self._of.setdefault(fact.relation, []).append(fact)
            for place, value in enumerate(fact.args):
                self._at.setdefault((fact.relation, place, value), []).append(fact)
            if tells_history(fact.relation):  # does not make values active
                continue
            for pair in set(zip(sorts[fact.relation], fact.args, strict=True)):
                self.with_value.setdefault(pair, []).append(fact)

    def of(self, relation: str) -> list[Fact]:
        """Return the facts of a relation."""
        return self._of.get(relation, [])

    def matching(self, relation: str, args: Pattern) -> Iterator[Fact]:
        """Yield the facts of a relation with these arguments; None matches any value."""
        narrowed = [
            self._at.get((relation, place, value), [])
            for place, value in enumerate(args)
            if value is not None
        ]
        for fact in min(narrowed, key=len) if narrowed else self.of(relation):
            if all(value is None or value == own for value, own in zip(args, fact.args, strict=True)):
                yield fact


class Formulas:
    """⟦f⟧ over the bits of D and of the vectors in scope; with ``after``, over D ⊕ D' (an `ensure`).

    The result is correct for the states D of ``within``, by default all states: over unreachable states a
    quantified conjunction may be far too large.
    """

    def __init__(
        self,
        space: Space,
        schema: Schema,
        facts: Facts,
        after: Facts | None = None,
        within: Bdd | None = None,
    ) -> None:
        self.space = space
        self.manager = space.manager
        self.schema = schema
        self.facts = facts
        self.successor = after
        self.within = space.manager.true if within is None else within
        self._memo: dict[tuple[object, ...], Bdd] = {}
        self._free: dict[int, tuple[fo.Formula, tuple[str, ...]]] = {}
        self._active: dict[tuple[str, Value], Bdd] = {}

    def free(self, formula: fo.Formula) -> tuple[str, ...]:
        """Return the free variables of a formula, sorted."""
        if id(formula) not in self._free:
            self._free[id(formula)] = formula, tuple(sorted(fo.free_variables(formula)))
        return self._free[id(formula)][1]

    def active(self, sort: str, value: Value) -> Bdd:
        """Return u ∈ ad(D), or with D' u ∈ ad(D ⊕ D')."""
        key = sort, value
        if key not in self._active:
            self._active[key] = self.manager.disj(
                facts.holding[fact]
                for facts in (self.facts, self.successor)
                if facts is not None
                for fact in facts.with_value.get(key, ())
            )
        return self._active[key]

    def is_active(self, vector: Vector) -> Bdd:
        """Return where the vector names an active value."""
        entries = {value: self.active(vector.sort, value) for value in self.space.domain[vector.sort]}
        return self.space.table(vector, entries)

    def __call__(self, formula: fo.Formula, scope: Scope) -> Bdd:
        """Return ⟦f⟧; raise `ValueError` for a temporal operator."""
        formula = core(formula)
        key = (id(formula), *(scope[name] for name in self.free(formula)))
        compiled = self._memo.get(key)
        if compiled is None:
            compiled = self._memo[key] = self._compile(formula, scope)
        return compiled

    def _compile(self, formula: Core, scope: Scope) -> Bdd:
        m = self.manager
        match formula:
            case fo.Truth(value):
                return m.true if value else m.false
            case fo.Equal() | fo.Compare() if (form := linear_in(formula, scope, self.schema)) is not None:
                items, constant = grounded(form, scope, self._ranging, self, _both, self._spread)
                return decided(form.ordering, constant, items, m.ite, m.true, m.false)
            case fo.Equal(left, right):
                return self.space.equal(value_of(left, scope), value_of(right, scope))
            case fo.Compare(_, left, right):
                return self._compare(formula, value_of(left, scope), value_of(right, scope))
            case fo.Atom(relation, args, primed):
                return self._atom(relation, tuple(value_of(term, scope) for term in args), primed)
            case fo.Not(body):
                return ~self(body, scope)
            case fo.And(parts):
                result = m.true
                for part in parts:
                    result = result & self(part, scope)
                    if result == m.false:
                        break
                return result
            case fo.Iff(left, right):
                return self(left, scope).equiv(self(right, scope))
            case fo.Exists(binder, body):
                return m.disj(self._instances(binder, body, scope))
            case fo.Count(_, number, binder, body):
                return m.at_least(number, list(self._instances(binder, body, scope)))
            case fo.Same(relation):
                now, after = self.facts.holding, self._after.holding
                facts = {*self.facts.of(relation), *self._after.of(relation)}
                return m.conj(now.get(f, m.false).equiv(after.get(f, m.false)) for f in sorted(facts))
            case fo.Empty(relation):
                return m.conj(~self._after.holding[fact] for fact in self._after.of(relation))
            case fo.Next() | fo.Globally() | fo.Until():
                raise ValueError(f"temporal operator in a first-order formula: {formula}")
            case _:
                raise outside_kernel(formula)

    @property
    def _after(self) -> Facts:
        if self.successor is None:
            raise ValueError("a primed symbol is read outside `ensure`")
        return self.successor

    def _atom(self, relation: str, terms: tuple[Vector | Value, ...], primed: bool) -> Bdd:
        facts = self._after if primed else self.facts
        pattern = tuple(term if isinstance(term, str) else None for term in terms)
        if None not in pattern:
            return facts.holding.get(Fact(relation, tuple(filter(None, pattern))), self.manager.false)
        leaves: list[Leaf] = [(f.args, facts.holding[f]) for f in facts.matching(relation, pattern)]
        return self.space.choice(terms, leaves)

    def _ranging(self, binder: fo.Binder, body: fo.Formula, scope: Scope) -> Iterator[tuple[Bdd, Value]]:
        """Yield the values of a variable of a tally, each with where the variable ranges over it."""
        domain = declared(self.schema, binder) if binder.declared else self.space.domain[binder.sort]
        for value in domain:
            there = self.manager.true if binder.declared else self.active(binder.sort, value)
            yield self.within & there, value

    def _spread(self, vector: Vector) -> list[tuple[Bdd, int]]:
        """Return the integers that a vector may name, each with where it does."""
        values = self.schema.sort(vector.sort).values or ()
        return [(self.space.is_value(vector, value), int(value)) for value in values]

    def _compare(self, formula: fo.Compare, left: Vector | Value, right: Vector | Value) -> Bdd:
        m = self.manager
        values = self.schema.sort(formula.sort).values or ()
        lefts, rights = ([t] if isinstance(t, str) else values for t in (left, right))
        return m.disj(
            self.space.is_value(left, u) & self.space.is_value(right, v)
            for u in lefts
            for v in rights
            if compares(formula, u, v, self.schema)
        )

    # quantifiers

    def refuting(self, formula: fo.Formula, scope: Scope) -> Iterator[Bdd]:
        """Yield sets of states whose union is where the formula is false: one for each value of each ∀.

        Their union may be large over all states.
        """
        match core(formula):
            case fo.And(parts):
                for part in parts:
                    yield from self.refuting(part, scope)
            case fo.Not(fo.Not(body)):
                yield from self.refuting(body, scope)
            case fo.Not(fo.Exists(binder, body)):
                for value in self.candidates(binder, body, scope):
                    there = self.manager.true if binder.declared else self.active(binder.sort, value)
                    false = self.refuting(fo.Not(body), {**scope, binder.name: value})
                    yield from (there & one for one in false)
            case other:
                yield ~self(other, scope)

    def _instances(self, binder: fo.Binder, body: Core, scope: Scope) -> Iterator[Bdd]:
        """Yield, per value u, where u is active and satisfies the body."""
        for value in self.candidates(binder, body, scope):
            there = self.manager.true if binder.declared else self.active(binder.sort, value)
            if there != self.manager.false:
                yield self.within & there & self(body, {**scope, binder.name: value})

    def candidates(self, binder: fo.Binder, body: fo.Formula, scope: Scope) -> Iterable[Value]:
        """Return the values of a variable for which the body may hold somewhere."""
        if binder.declared:
            return declared(self.schema, binder)
        known = {x: u for x, u in scope.items() if x != binder.name and isinstance(u, str)}
        found = candidates(core(body), binder.name, self._matching, known)
        domain = self.space.domain[binder.sort]
        return domain if found is None else [value for value in domain if value in found]

    def _matching(self, atom: fo.Atom, pattern: Pattern) -> Iterator[tuple[Value, ...]]:
        facts = self._after if atom.primed else self.facts
        return (fact.args for fact in facts.matching(atom.relation, pattern))


def _both(left: Bdd, right: Bdd) -> Bdd:
    return left & right
