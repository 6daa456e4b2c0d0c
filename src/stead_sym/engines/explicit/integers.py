"""The denotations of terms with `+`, `-`, `count` and `sum` in every reachable state, by definition.

One decision: an integer term is a map from each integer that it denotes in some state to the set of these
states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.logic.evaluate import value_of
from stead_sym.relational.schema import Value

Integer: TypeAlias = Mapping[int, int]
"""The set of states for each value of an integer term; the sets are a partition of the states."""


@dataclass(frozen=True)
class Integers:
    """Evaluation of integer terms over sets of states.

    ``everywhere`` are all states. ``holding`` returns the states in which a formula is true under an
    assignment. ``values`` returns the domain of a variable, each value with the states in whose domain it is.
    """

    everywhere: int
    holding: Callable[[fo.Formula, Mapping[str, Value]], int]
    values: Callable[[fo.Binder], Iterable[tuple[Value, int]]]

    def denoted(self, term: fo.Term, sigma: Mapping[str, Value]) -> Mapping[Value, int]:
        """Return the values that a term denotes, each with the states where it does."""
        if not fo.is_compound(term):
            return {value_of(term, sigma): self.everywhere}
        return {str(integer): states for integer, states in self._integer(term, sigma).items()}

    def _integer(self, term: fo.Term, sigma: Mapping[str, Value]) -> Integer:
        match term:
            case fo.Sum(left, sign, right):
                minuend, other = self._integer(left, sigma), self._integer(right, sigma)
                return _added(minuend, other, 1 if sign == "+" else -1)
            case fo.Tally(each):
                return self._total(each, sigma)
            case _:
                return {int(value_of(term, sigma)): self.everywhere}

    def _total(self, each: fo.Formula, sigma: Mapping[str, Value]) -> Integer:
        """Return the sum of the term, or of 1, over the values that satisfy the condition."""
        if isinstance(each, fo.Each):
            total: Integer = {0: self.everywhere}
            for value, there in self.values(each.binder):
                if there:
                    own = self._total(each.body, {**sigma, each.binder.name: value})
                    total = _added(total, self._only(own, there))
            return total
        assert isinstance(each, fo.Weight)
        weight: Integer = {1: self.everywhere}
        for term in each.of:
            weight = self._integer(term, sigma)
        return self._only(weight, self.holding(each.condition, sigma))

    def _only(self, integer: Integer, states: int) -> Integer:
        """Return the integer restricted to these states, and 0 in the others."""
        found = {number: there & states for number, there in integer.items()}
        found[0] = found.get(0, 0) | (self.everywhere & ~states)
        return {number: there for number, there in found.items() if there}


def _added(left: Integer, right: Integer, sign: int = 1) -> Integer:
    """Return the sum, or the difference, in each state."""
    found: dict[int, int] = {}
    for (i, there), (j, here) in product(left.items(), right.items()):
        if both := there & here:
            found[i + sign * j] = found.get(i + sign * j, 0) | both
    return found
