"""What terms with `+`, `-`, `count` and `sum` denote in every reachable state, from their definition.

One decision: an integer is kept as the set of states that have it, for each integer that some state has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from stead_sym.logic.evaluate import value_of
from stead_sym.logic.syntax import Binder, Each, Formula, Sum, Tally, Term, Weight, is_compound
from stead_sym.relational.schema import Value

Integer: TypeAlias = Mapping[int, int]
"""The states that have an integer, for each integer; each state has one."""


@dataclass(frozen=True)
class Integers:
    """``everywhere``: all states. ``holding``: those in which a formula is true, given its free variables.
    ``values``: what a variable ranges over, each value with the states where it does."""

    everywhere: int
    holding: Callable[[Formula, Mapping[str, Value]], int]
    values: Callable[[Binder], Iterable[tuple[Value, int]]]

    def denoted(self, term: Term, sigma: Mapping[str, Value]) -> Mapping[Value, int]:
        """What a term denotes, each value with the states where it does."""
        if not is_compound(term):
            return {value_of(term, sigma): self.everywhere}
        return {str(integer): states for integer, states in self._integer(term, sigma).items()}

    def _integer(self, term: Term, sigma: Mapping[str, Value]) -> Integer:
        match term:
            case Sum(left, sign, right):
                minuend, other = self._integer(left, sigma), self._integer(right, sigma)
                return _added(minuend, other, 1 if sign == "+" else -1)
            case Tally(each):
                return self._total(each, sigma)
            case _:
                return {int(value_of(term, sigma)): self.everywhere}

    def _total(self, each: Formula, sigma: Mapping[str, Value]) -> Integer:
        """Over the values of the variables that satisfy the condition the sum of the term, or of 1."""
        if isinstance(each, Each):
            total: Integer = {0: self.everywhere}
            for value, there in self.values(each.binder):
                if there:
                    own = self._total(each.body, {**sigma, each.binder.name: value})
                    total = _added(total, self._only(own, there))
            return total
        assert isinstance(each, Weight)
        weight: Integer = {1: self.everywhere}
        for term in each.of:
            weight = self._integer(term, sigma)
        return self._only(weight, self.holding(each.condition, sigma))

    def _only(self, integer: Integer, states: int) -> Integer:
        """The integer in these states, and 0 in the others."""
        found = {number: there & states for number, there in integer.items()}
        found[0] = found.get(0, 0) | (self.everywhere & ~states)
        return {number: there for number, there in found.items() if there}


def _added(left: Integer, right: Integer, sign: int = 1) -> Integer:
    """The sum, or the difference, in each state."""
    found: dict[int, int] = {}
    for (i, there), (j, here) in product(left.items(), right.items()):
        if both := there & here:
            found[i + sign * j] = found.get(i + sign * j, 0) | both
    return found
