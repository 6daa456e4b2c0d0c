"""Formulas over facts as diagrams, with quantifiers expanded value by value.

If there are few variables this needs no codes of values: an instance is a set of bits, one for each fact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import stead_sym.logic.syntax as fo
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.logic.evaluate import compares, declared, value_of
from stead_sym.logic.integers import decided, grounded, linear
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Schema, Value


class Grounding(ABC):
    """⟦f⟧ for formulas of the kernel, over the ``values`` of each sort, some of which are active."""

    def __init__(self, manager: Manager, schema: Schema, values: Mapping[str, Sequence[Value]]) -> None:
        self.manager, self.schema, self.values = manager, schema, values
        self._memo: dict[tuple[object, ...], Bdd] = {}

    @abstractmethod
    def atom(self, fact: Fact, primed: bool) -> Bdd:
        """Return the states in which a fact holds; ``primed``: in D'."""

    @abstractmethod
    def active(self, sort: str, value: Value) -> Bdd:
        """Return the states in which a quantifier over the sort ranges over the value."""

    def formula(self, f: Core, sigma: Mapping[str, Value]) -> Bdd:
        """Return ⟦f⟧, cached."""
        key = (f, *(sigma[name] for name in sorted(fo.free_variables(f))))
        if key not in self._memo:
            self._memo[key] = self.ground(f, sigma)
        return self._memo[key]

    def conjuncts(self, formula: Core, sigma: Mapping[str, Value]) -> Iterator[Bdd]:
        """Yield functions whose conjunction is ⟦f⟧."""
        for part in fo.conjuncts(formula):
            match part:
                case fo.Not(fo.Exists(binder, body)):
                    for value, active in self.ranging(binder):
                        satisfied = self.conjuncts(core(fo.Not(body)), {**sigma, binder.name: value})
                        always = active == self.manager.true
                        yield from satisfied if always else (~active | one for one in satisfied)
                case _:
                    yield self.formula(part, sigma)

    def ranging(self, binder: fo.Binder) -> Iterator[tuple[Value, Bdd]]:
        """Yield the values of a quantifier's domain, each with the states in which it is in the domain."""
        if binder.declared:
            yield from ((value, self.manager.true) for value in declared(self.schema, binder))
        else:
            sort = binder.sort
            yield from ((value, self.active(sort, value)) for value in self.values[sort])

    def _satisfying(self, binder: fo.Binder, body: Core, sigma: Mapping[str, Value]) -> Iterator[Bdd]:
        """Yield, per value of the variable, the states where it is active and the body is true."""
        for value, active in self.ranging(binder):
            if active != self.manager.false:
                yield active & self.formula(body, {**sigma, binder.name: value})

    def _instances(self, binder: fo.Binder, _: Core, __: Mapping[str, Value]) -> Iterator[tuple[Bdd, Value]]:
        """Yield the values of a variable of a tally, each with the states in which it is in the domain."""
        return ((active, value) for value, active in self.ranging(binder))

    def ground(self, f: Core, sigma: Mapping[str, Value]) -> Bdd:
        """Return ⟦f⟧, by its outermost operator."""
        m = self.manager
        match f:
            case fo.Truth(value):
                return m.true if value else m.false
            case fo.Equal() | fo.Compare() if (form := linear(f)) is not None:
                items, constant = grounded(form, sigma, self._instances, self.formula, _both)
                return decided(form.ordering, constant, items, m.ite, m.true, m.false)
            case fo.Equal(left, right):
                return m.true if value_of(left, sigma) == value_of(right, sigma) else m.false
            case fo.Compare(_, left, right):
                values = value_of(left, sigma), value_of(right, sigma)
                return m.true if compares(f, *values, self.schema) else m.false
            case fo.Atom(relation, args, primed):
                return self.atom(Fact(relation, tuple(value_of(term, sigma) for term in args)), primed)
            case fo.Not(body):
                return ~self.formula(body, sigma)
            case fo.And(parts):
                return m.conj(self.formula(part, sigma) for part in parts)
            case fo.Iff(left, right):
                return self.formula(left, sigma).equiv(self.formula(right, sigma))
            case fo.Exists(binder, body):
                return m.disj(self._satisfying(binder, body, sigma))
            case fo.Count("atleast", number, binder, body):
                return m.at_least(number, self._satisfying(binder, body, sigma))
            case _ if isinstance(f, fo.Temporal):
                raise ValueError(f"temporal operator in a first-order formula: {f}")
            case _:
                raise outside_kernel(f)


def _both(left: Bdd, right: Bdd) -> Bdd:
    return left & right
