"""Whether an `ensure` leads past a bound from a set of states, over as many names as decide it.

The question is that of `deployment.leaps`. D is a set of states over the bits that it has anyway; D' has a
bit for each fact over the values of the encoding and further names. One decision: quantifiers are grounded
value by value, since of D' only one satisfying assignment is wanted and nothing is kept of it. Relations of
which the formula says `same` or `empty` get no bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice, product

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.leaps import Asked
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import postcondition
from stead_sym.deployment.tool import Effect
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.logic.evaluate import compares, declared, value_of
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.logic.syntax import (
    And,
    Atom,
    Binder,
    Compare,
    Count,
    Empty,
    Equal,
    Exists,
    Iff,
    Not,
    Same,
    Temporal,
    Truth,
    conjuncts,
    free_variables,
)
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_numbers = count(1)


class Leap:
    """The D' of one alternative over the names of its question, and which of them exceed a bound."""

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        encoding: Encoding,
        effect: Effect,
        about: Asked,
    ) -> None:
        self.encoding = encoding
        self.manager = m = encoding.manager
        self.schema = deployment.schema
        self.bounds = deployment.bounds
        self.outside = deployment.outside
        self.formula = core(postcondition(effect))
        self.when = core(effect.when)
        self.values = {sort: self._values(sort, restriction, about) for sort in encoding.values}
        self._kept = {part.relation for part in conjuncts(self.formula) if isinstance(part, Same)}
        gone = {part.relation for part in conjuncts(self.formula) if isinstance(part, Empty)}
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
        self._memo: dict[tuple[object, ...], Bdd] = {}

    def _values(self, sort: str, restriction: Restriction, about: Asked) -> tuple[Value, ...]:
        """The values of the encoding and as many more that there are enough besides those of a state within
        its bound."""
        known = self.encoding.values[sort]
        spare = len(self.outside(sort, known)) - self.bounds.get(sort, 0)
        lacking = max(0, about.names.get(sort, 0) - spare)
        names = (name for name in restriction.beyond(sort, len(known) + lacking) if name not in known)
        return (*known, *islice(names, lacking))

    def beyond(self, states: Bdd, sigma: Mapping[str, Value]) -> Bdd:
        """The pairs (D, D') with D among ``states``, D ⊕ D' ⊨ f and more active values in D' than a bound
        allows, for a call with these arguments; empty only if no D has such a D' at all."""
        m = self.manager
        found = states & self._formula(self.when, sigma)
        for part in (self._exceeding, *self._grounded(self.formula, sigma)):
            found = found & part
            if found == m.false:
                break
        return found

    def some(self, pairs: Bdd, state: Instance) -> Instance:
        """A D' with as few facts as any, of the pairs (D, D') for one D."""
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
        """u ∈ ad(D ⊕ D'), or, ``later``, u ∈ ad(D')."""
        key = sort, value, later
        if key not in self._active:
            after = [self._after[fact] for fact in self._holding.get((sort, value), ())]
            self._active[key] = self.manager.disj(after if later else [self._was_active(sort, value), *after])
        return self._active[key]

    def _was_active(self, sort: str, value: Value) -> Bdd:
        known = value in self.encoding.values[sort]
        return self.encoding.active(sort, value) if known else self.manager.false

    def _grounded(self, formula: Core, sigma: Mapping[str, Value]) -> Iterator[Bdd]:
        """Functions whose conjunction is ⟦f⟧."""
        for part in conjuncts(formula):
            match part:
                case Not(Exists(binder, body)):
                    for value, active in self._range(binder):
                        satisfied = self._grounded(core(Not(body)), {**sigma, binder.name: value})
                        always = active == self.manager.true
                        yield from satisfied if always else (~active | one for one in satisfied)
                case _:
                    yield self._formula(part, sigma)

    def _range(self, binder: Binder) -> Iterator[tuple[Value, Bdd]]:
        if binder.declared:
            yield from ((value, self.manager.true) for value in declared(self.schema, binder))
        else:
            sort = binder.sort
            yield from ((value, self._is_active(sort, value)) for value in self.values[sort])

    def _formula(self, f: Core, sigma: Mapping[str, Value]) -> Bdd:
        """⟦f⟧, f read in D ⊕ D'."""
        key = (f, *(sigma[name] for name in sorted(free_variables(f))))
        if key not in self._memo:
            self._memo[key] = self._ground(f, sigma)
        return self._memo[key]

    def _ground(self, f: Core, sigma: Mapping[str, Value]) -> Bdd:
        m = self.manager

        def satisfied(binder: Binder, body: Core) -> Sequence[Bdd]:
            """Per value of the variable where it is active and the body is true."""
            each = self._range(binder)
            return [active & self._formula(body, {**sigma, binder.name: value}) for value, active in each]

        match f:
            case Truth(value):
                return m.true if value else m.false
            case Equal(left, right):
                return m.true if value_of(left, sigma) == value_of(right, sigma) else m.false
            case Compare(_, left, right):
                values = value_of(left, sigma), value_of(right, sigma)
                return m.true if compares(f, *values, self.schema) else m.false
            case Atom(relation, args, primed):
                fact = Fact(relation, tuple(value_of(term, sigma) for term in args))
                return self._after.get(fact, m.false) if primed else self.encoding.atom(fact)
            case Not(body):
                return ~self._formula(body, sigma)
            case And(parts):
                return m.conj(self._formula(part, sigma) for part in parts)
            case Iff(left, right):
                return self._formula(left, sigma).equiv(self._formula(right, sigma))
            case Exists(binder, body):
                return m.disj(satisfied(binder, body))
            case Count("atleast", number, binder, body):
                return m.at_least(number, satisfied(binder, body))
            case Same(relation):
                own = [fact for fact in self._after if fact.relation == relation]
                return m.conj(self._after[fact].equiv(self.encoding.atom(fact)) for fact in own)
            case Empty(relation):
                return m.conj(~after for fact, after in self._after.items() if fact.relation == relation)
            case _ if isinstance(f, Temporal):
                raise ValueError(f"temporal operator in a first-order formula: {f}")
            case _:
                raise outside_kernel(f)
