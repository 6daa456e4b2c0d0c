"""Decide if an `ensure` exceeds a bound from a set of states, over sufficiently many names.

The question is that of `deployment.leaps`. D is a set of states over its existing bits; D' has a bit for each
fact over the values of the encoding and further names. One decision: quantifiers are grounded value by value,
since only one satisfying assignment of D' is needed and nothing is cached. Relations for which the formula
has `same` or `empty` get no bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, islice, product

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.leaps import Asked
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import postcondition
from stead_sym.deployment.tool import Effect
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.step.grounding import Grounding
from stead_sym.logic.kernel import Core, core
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_numbers = count(1)


class Leap(Grounding):
    """The D' of one alternative over the names of its question, and those of them that exceed a bound."""

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        encoding: Encoding,
        effect: Effect,
        about: Asked,
    ) -> None:
        self.encoding = encoding
        values = {sort: _values(encoding, deployment, sort, restriction, about) for sort in encoding.values}
        super().__init__(m := encoding.manager, deployment.schema, values)
        self.bounds = deployment.bounds
        self.outside = deployment.outside
        self.asked = core(postcondition(effect))
        self.when = core(effect.when)
        self._kept = {part.relation for part in fo.conjuncts(self.asked) if isinstance(part, fo.Same)}
        gone = {part.relation for part in fo.conjuncts(self.asked) if isinstance(part, fo.Empty)}
        self._bits: dict[str, Fact] = {}
        self._after: dict[Fact, Bdd] = {}
        self._holding: dict[tuple[str, Value], list[Fact]] = {}
        for relation in self.schema.relations:
            for args in product(*(self.values[sort] for sort in relation.sorts)):
                fact = Fact(relation.name, args)
                if fact.relation in self._kept:
                    self._after[fact] = encoding.atom(fact)
                elif fact.relation in gone:
                    self._after[fact] = m.false
                else:
                    self._bits[f"{fact}'{next(_numbers)}"] = fact
                for place in set(zip(relation.sorts, args, strict=True)):
                    self._holding.setdefault(place, []).append(fact)
        m.declare_bottom(self._bits)
        self._after |= {fact: m.var(bit) for bit, fact in self._bits.items()}
        self._active: dict[tuple[str, Value, bool], Bdd] = {}

    def beyond(self, states: Bdd, sigma: Mapping[str, Value]) -> Bdd:
        """Return the pairs (D, D') with D among ``states``, D ⊕ D' ⊨ f and a bound exceeded in D'.

        ``sigma`` has the call's arguments. The result is empty only if no D has such a D' at all.
        """
        m = self.manager
        found = states & self.formula(self.when, sigma)
        for part in (self._exceeding, *self.conjuncts(self.asked, sigma)):
            found = found & part
            if found == m.false:
                break
        return found

    def some(self, pairs: Bdd, state: Instance) -> Instance:
        """Return a D' with the fewest facts among the pairs (D, D') for one D."""
        code = {**self.encoding.encode(state), **dict.fromkeys(self._bits, False)}
        found = self.manager.nearest(pairs & self.manager.cube(self.encoding.encode(state)), code)
        facts = {fact for bit, fact in self._bits.items() if found[bit]}
        facts |= {fact for fact in state.facts if fact.relation in self._kept}
        return Instance(self.schema, frozenset(facts))

    @property
    def bits(self) -> frozenset[str]:
        """The bits of D'."""
        return frozenset(self._bits)

    @property
    def _exceeding(self) -> Bdd:
        m = self.manager
        return m.disj(
            m.at_least(b + 1, [self._is_active(s, u, later=True) for u in self.outside(s, self.values[s])])
            for s, b in self.bounds.items()
        )

    def _is_active(self, sort: str, value: Value, *, later: bool = False) -> Bdd:
        """Return u ∈ ad(D ⊕ D'), or, ``later``, u ∈ ad(D')."""
        key = sort, value, later
        if key not in self._active:
            after = [self._after[fact] for fact in self._holding.get((sort, value), ())]
            self._active[key] = self.manager.disj(after if later else [self._was_active(sort, value), *after])
        return self._active[key]

    def _was_active(self, sort: str, value: Value) -> Bdd:
        known = value in self.encoding.values[sort]
        return self.encoding.active(sort, value) if known else self.manager.false

    def active(self, sort: str, value: Value) -> Bdd:
        """Return u ∈ ad(D ⊕ D')."""
        return self._is_active(sort, value)

    def atom(self, fact: Fact, primed: bool) -> Bdd:
        """Return the pairs in which a fact holds, in D or in D'."""
        return self._after.get(fact, self.manager.false) if primed else self.encoding.atom(fact)

    def ground(self, f: Core, sigma: Mapping[str, Value]) -> Bdd:
        """Return ⟦f⟧, over D ⊕ D'."""
        m = self.manager
        match f:
            case fo.Same(relation):
                own = [fact for fact in self._after if fact.relation == relation]
                return m.conj(self._after[fact].equiv(self.encoding.atom(fact)) for fact in own)
            case fo.Empty(relation):
                return m.conj(~after for fact, after in self._after.items() if fact.relation == relation)
            case _:
                return super().ground(f, sigma)


def _values(
    encoding: Encoding, deployment: Deployment, sort: str, restriction: Restriction, about: Asked
) -> tuple[Value, ...]:
    """Return the values of the encoding, and enough more besides those of a state within its bound."""
    known = encoding.values[sort]
    spare = len(deployment.outside(sort, known)) - deployment.bounds.get(sort, 0)
    lacking = max(0, about.names.get(sort, 0) - spare)
    names = (name for name in restriction.beyond(sort, len(known) + lacking) if name not in known)
    return (*known, *islice(names, lacking))
