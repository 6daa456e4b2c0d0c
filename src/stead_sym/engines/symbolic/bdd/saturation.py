"""Least fixpoints by saturation: the states reachable through some relations, level by level.

A relation ranges over bits b and their successor's copies b', each directly below its b. Split a set S and
the relations Ti at the topmost bit: Ti[00] and Ti[11] keep the bit, Ti[01] and Ti[10] change it. The sets
below are saturated under the former before the latter are applied, repeatedly until a fixpoint; every
intermediate result is cached. Records that advance independently of one another are thus each run to the end
once, not interleaved, and the work follows the sizes of the diagrams.

A fixpoint may be restricted to some states: these are split along with the set, and no result leaves them
(constrained saturation; Zhao and Ciardo, ATVA 2009). The relations are not restricted, so their decomposition
is shared by all fixpoints.

The algorithm is the operator REACH for disjunctive partitions (van Dijk, Meijer and van de Pol, Multi-core
on-the-fly saturation, TACAS 2019); saturation is by Ciardo, Lüttgen and Siminiceanu (TACAS 2001).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager, deep
from stead_sym.errors import Undecided
from stead_sym.support.progress import Progress, Pulse

Relations: TypeAlias = "tuple[Bdd, ...]"

_RESULTS_PER_REPORT = 1 << 12  # the number of results between two reports
_BOTTOM_LEVEL = sys.maxsize  # the level of the constants


class _Several:
    """A set of nonempty relations, with one object for each set; ``level`` is their topmost bit."""

    __slots__ = ("level", "number", "relations")

    def __init__(self, number: int, relations: Relations, level: int) -> None:
        self.number = number
        self.relations = relations
        self.level = level


_Apart: TypeAlias = "tuple[_Several | None, Relations, Relations, _Several | None]"
"""The cofactors of relations at a level: the bit stays 0, is set, is cleared, stays 1."""


class Limited(Pulse):
    """A `Pulse` that raises `Undecided` after so many reports, forwarded or not."""

    def __init__(
        self, listener: Progress | None, measures: Mapping[str, Callable[[], int]], most: float
    ) -> None:
        super().__init__(listener, measures)
        self._left = most

    def __call__(self, phase: str, /, **counts: int) -> None:
        """Forward the report if it is due, and none are too many."""
        self._left -= 1
        if self._left < 0:
            raise Undecided(f"the states take more than the given number of reports ({phase})")
        super().__call__(phase, **counts)


class Saturation:
    """The fixpoints of some relations, whose decomposition is shared by all of them.

    Caches are indexed by node numbers, which `dd` reuses when a node is freed; so an entry keeps its set and
    its relations alive.
    """

    def __init__(
        self,
        manager: Manager,
        relations: Iterable[Bdd],
        moving: Sequence[tuple[str, str]],
        *,
        chosen: Bits = frozenset(),
        backward: bool = False,
        report: Pulse | None = None,
    ) -> None:
        """Prepare the relations.

        ``moving`` are the pairs (b, b'). The relations range over these, over bits that keep their values,
        and over the bits ``chosen``, which are existentially quantified. ``backward``: predecessors instead
        of successors. Raise `ValueError` if some b' is not directly below its b.
        """
        self.manager = manager
        self.backward = backward
        self.report = report or Pulse()
        self._true, self._false = manager.true, manager.false
        self._of = tuple(relations), tuple(moving), chosen
        self._arrange()

    def _arrange(self) -> None:
        """Prepare the relations for the current variable order."""
        (relations, moving, chosen), level = self._of, self.manager.level
        self._arrangement = self.manager.arrangements
        self._above = {level(copy): level(b) for b, copy in moving}
        self._moving = frozenset(self._above.values())
        for b, copy in moving:
            if level(copy) != level(b) + 1:
                raise ValueError(f"{copy} is not right below {b}")
        self._chosen = frozenset(map(level, chosen))
        self._variables: dict[int, Bdd] = {}
        self._known: dict[tuple[int, ...], _Several] = {}
        self._quartered: dict[tuple[int, int], tuple[Bdd, tuple[Bdd, Bdd, Bdd, Bdd]]] = {}
        self._apart: dict[tuple[int, int], _Apart] = {}
        self._closures: dict[tuple[int, int, int], tuple[Bdd, Bdd, Bdd]] = {}
        self._images: dict[tuple[int, int, int], tuple[Bdd, Bdd, Bdd]] = {}
        self._relations = self._several(relations)

    def closure(self, states: Bdd, within: Bdd | None = None) -> Bdd:
        """Return μZ. S ∨ (W ∧ ⋁ post_i(Z)), or backward μZ. S ∨ (W ∧ ⋁ pre_i(Z)).

        S = ``states`` and W = ``within`` range over the bits b of ``moving`` and over others, except the
        chosen ones.
        """
        if self._arrangement != self.manager.arrangements:
            self._arrange()
        with deep(8 * self.manager.variables + 1000):
            found = self._closure(states, self._relations, self._true if within is None else within)
        self._closures, self._images = {}, {}
        return found

    def _closure(self, states: Bdd, relations: _Several | None, within: Bdd) -> Bdd:
        if relations is None or states == self._true or states == self._false or within == self._false:
            return states
        key = (int(states), relations.number, int(within))
        known = self._closures.get(key)
        if known is not None:
            return known[2]
        if len(self._closures) % _RESULTS_PER_REPORT == _RESULTS_PER_REPORT - 1:
            self.report("saturate", sets=len(self._closures))
        level = min(self._top(states), relations.level, self._top(within))
        if level == _BOTTOM_LEVEL:
            return states
        within0, up, down, within1 = self._taken_apart(relations, level)
        low, high = self._split(states, level)
        in0, in1 = self._split(within, level)
        while True:
            before = low, high
            low = self._closure(low, within0, in0)
            for relation in up:
                high = high | self._image(low, relation, in1)
            high = self._closure(high, within1, in1)
            if not down:  # no relation leads back
                break
            for relation in down:
                low = low | self._image(high, relation, in0)
            if (low, high) == before:
                break
        result = self._joined(level, low, high)
        self._closures[key] = (states, within, result)
        return result

    def _image(self, states: Bdd, relation: Bdd, within: Bdd) -> Bdd:
        """Return the successors of ``states``, or predecessors, that are ``within``."""
        false = self._false
        if states == false or relation == false or within == false:
            return false
        level = min(self._top(states), self._top(relation), self._top(within))
        if level == _BOTTOM_LEVEL:
            return self._true
        key = (int(states), int(relation), int(within))
        known = self._images.get(key)
        if known is not None:
            return known[2]
        if level in self._chosen:
            low, high = self._split(relation, level)
            result = self._image(states, low, within) | self._image(states, high, within)
        else:
            s0, s1 = self._split(states, level)
            in0, in1 = self._split(within, level)
            t00, t01, t10, t11 = self._quarters(relation, level)
            low, high = self._image(s0, t00, in0), self._image(s1, t11, in1)
            if t10 != false:
                low = low | self._image(s1, t10, in0)
            if t01 != false:
                high = high | self._image(s0, t01, in1)
            result = self._joined(level, low, high)
        self._images[key] = (states, within, result)
        return result

    # Relations.

    def _several(self, relations: Iterable[Bdd]) -> _Several | None:
        """Return the nonempty relations without repetition; None if there is none."""
        distinct = self._distinct(relations)
        numbers = tuple(map(int, distinct))
        if distinct and numbers not in self._known:
            level = min(map(self._top, distinct))
            self._known[numbers] = _Several(len(self._known), distinct, level)
        return self._known[numbers] if distinct else None

    def _taken_apart(self, relations: _Several, level: int) -> _Apart:
        key = (relations.number, level)
        if key not in self._apart:
            parts = [self._quarters(relation, level) for relation in relations.relations]
            within0, up, down, within1 = zip(*parts, strict=True)
            within = self._several(within0), self._several(within1)
            self._apart[key] = within[0], self._distinct(up), self._distinct(down), within[1]
        return self._apart[key]

    def _distinct(self, relations: Iterable[Bdd]) -> Relations:
        """Return the nonempty relations without repetition, in ascending order of their numbers.

        A relation whose topmost variable is a chosen bit is replaced by its two branches.
        """
        numbered, todo = dict[int, Bdd](), [relation for relation in relations if relation != self._false]
        for relation in todo:
            if relation != self._true and relation.level in self._chosen:
                todo += (branch for branch in self.manager.branches(relation) if branch != self._false)
            else:
                numbered[int(relation)] = relation
        return tuple(numbered[number] for number in sorted(numbered))

    def _quarters(self, relation: Bdd, level: int) -> tuple[Bdd, Bdd, Bdd, Bdd]:
        """Return T[00], T[01], T[10], T[11]: the bit of the argument first, then that of the result."""
        key = (int(relation), level)
        known = self._quartered.get(key)
        if known is not None:
            return known[1]
        low, high = self._split(relation, level)
        if level not in self._moving:
            quarters = (low, self._false, self._false, high)
        else:
            a, b = self._split(low, level + 1)
            c, d = self._split(high, level + 1)
            quarters = (a, c, b, d) if self.backward else (a, b, c, d)
        self._quartered[key] = (relation, quarters)
        return quarters

    # Diagrams.

    def _top(self, function: Bdd) -> int:
        """Return the level of the topmost variable, that of b for a copy b'."""
        if function == self._true or function == self._false:
            return _BOTTOM_LEVEL
        level = function.level
        return self._above.get(level, level)

    def _split(self, function: Bdd, level: int) -> tuple[Bdd, Bdd]:
        """Return the cofactors of a function with the variable at the level 0, and with it 1."""
        if function == self._true or function == self._false or function.level != level:
            return function, function
        return self.manager.branches(function)

    def _joined(self, level: int, low: Bdd, high: Bdd) -> Bdd:
        if low == high:
            return low
        variable = self._variables.get(level)
        if variable is None:
            variable = self._variables[level] = self.manager.variable_at(level)
        return self.manager.ite(variable, high, low)
