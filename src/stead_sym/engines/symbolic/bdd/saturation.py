"""Least fixpoints by saturation: what can be reached through some relations, level by level.

A relation ranges over bits b and their successor's copies b', each right below its b. Split a set S and
the relations Ti at the topmost bit: Ti[00] and Ti[11] keep the bit, Ti[01] and Ti[10] change it. What
lies below is saturated under the former before the latter are applied, again and again until nothing
is new; every intermediate result is kept. Records that advance independently of one another are thus
each run to the end once, not interleaved, and the work follows the sizes of the diagrams.

After the operator REACH for disjunctive partitions (van Dijk, Meijer and van de Pol, Multi-core
on-the-fly saturation, TACAS 2019); saturation is by Ciardo, Lüttgen and Siminiceanu (TACAS 2001).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager, deep
from stead_sym.support.progress import Pulse

Relations: TypeAlias = "tuple[Bdd, ...]"

_RESULTS_PER_REPORT = 1 << 12  # results between two reports
_BOTTOM_LEVEL = sys.maxsize  # the level of the constants


def saturated(
    manager: Manager,
    states: Bdd,
    relations: Iterable[Bdd],
    moving: Sequence[tuple[str, str]],
    *,
    backward: bool = False,
    report: Pulse | None = None,
) -> Bdd:
    """μZ. states ∨ ⋁ post_i(Z), or ``backward`` μZ. states ∨ ⋁ pre_i(Z).

    ``states`` ranges over the bits b of ``moving``, the pairs (b, b'), and over others, which keep
    their values, as they do in the relations. Raises `ValueError` where a b' is not right below its b.
    """
    sharing = [relation for relation in relations if relation != manager.false]
    return _Saturation(manager, moving, backward, report or Pulse()).run(states, tuple(sharing))


class _Several:
    """Some relations, none of them empty, of which one object stands for each set. ``level``: the topmost bit
    of any. ``apart``: at a level what is left of them where its bit stays 0, is set, is cleared, stays 1."""

    __slots__ = ("apart", "level", "number", "relations")

    def __init__(self, number: int, relations: Relations, level: int) -> None:
        self.number = number
        self.relations = relations
        self.level = level
        self.apart: dict[int, tuple[_Several | None, Relations, Relations, _Several | None]] = {}


class _Saturation:
    """One fixpoint, with what it remembers: relations are taken apart once, however many sets they meet.

    Memories are by node numbers, which `dd` gives out anew when a node is no longer used; so an entry
    keeps its set and its relations alive.
    """

    def __init__(
        self,
        manager: Manager,
        moving: Sequence[tuple[str, str]],
        backward: bool,
        report: Pulse,
    ) -> None:
        self.manager = manager
        self.backward = backward
        self.report = report
        self._true, self._false = manager.true, manager.false
        self._moving: set[int] = set()
        self._above: dict[int, int] = {}
        for b, copy in moving:
            level = manager.level(b)
            if manager.level(copy) != level + 1:
                raise ValueError(f"{copy} is not right below {b}")
            self._moving.add(level)
            self._above[level + 1] = level
        self._variables: dict[int, Bdd] = {}
        self._known: dict[tuple[int, ...], _Several] = {}
        self._apart: dict[tuple[int, int], tuple[Bdd, tuple[Bdd, Bdd, Bdd, Bdd]]] = {}
        self._closures: dict[tuple[int, int], tuple[Bdd, Bdd]] = {}
        self._images: dict[tuple[int, int], tuple[Bdd, Bdd]] = {}

    def run(self, states: Bdd, relations: Relations) -> Bdd:
        with deep(8 * self.manager.variables + 1000):
            found = self._closure(states, self._several(relations))
        for several in self._known.values():
            several.apart.clear()  # what is left of relations that say nothing of a level is themselves
        return found

    def _closure(self, states: Bdd, relations: _Several | None) -> Bdd:
        """All that can be reached from ``states``, or from where they can be reached."""
        if relations is None or states == self._true or states == self._false:
            return states
        key = (int(states), relations.number)
        known = self._closures.get(key)
        if known is not None:
            return known[1]
        if len(self._closures) % _RESULTS_PER_REPORT == _RESULTS_PER_REPORT - 1:
            self.report("saturate", sets=len(self._closures))
        level = min(self._top(states), relations.level)
        if level == _BOTTOM_LEVEL:
            return states
        apart = relations.apart.get(level)
        if apart is None:
            apart = relations.apart[level] = self._taken_apart(relations, level)
        within0, up, down, within1 = apart
        low, high = self._split(states, level)
        while True:
            before = low, high
            low = self._closure(low, within0)
            for relation in up:
                high = high | self._image(low, relation)
            high = self._closure(high, within1)
            if not down:  # nothing leads back
                break
            for relation in down:
                low = low | self._image(high, relation)
            if (low, high) == before:
                break
        result = self._joined(level, low, high)
        self._closures[key] = (states, result)
        return result

    def _image(self, states: Bdd, relation: Bdd) -> Bdd:
        """The successors of ``states``, or predecessors."""
        false = self._false
        if states == false or relation == false:
            return false
        level = min(self._top(states), self._top(relation))
        if level == _BOTTOM_LEVEL:
            return self._true
        key = (int(states), int(relation))
        known = self._images.get(key)
        if known is not None:
            return known[1]
        s0, s1 = self._split(states, level)
        t00, t01, t10, t11 = self._quarters(relation, level)
        low, high = self._image(s0, t00), self._image(s1, t11)
        if t10 != false:
            low = low | self._image(s1, t10)
        if t01 != false:
            high = high | self._image(s0, t01)
        result = self._joined(level, low, high)
        self._images[key] = (states, result)
        return result

    # relations

    def _several(self, relations: Iterable[Bdd]) -> _Several | None:
        """The relations that are not empty, each once; None where there is none."""
        distinct = self._distinct(relations)
        numbers = tuple(map(int, distinct))
        if distinct and numbers not in self._known:
            level = min(map(self._top, distinct))
            self._known[numbers] = _Several(len(self._known), distinct, level)
        return self._known[numbers] if distinct else None

    def _taken_apart(
        self, relations: _Several, level: int
    ) -> tuple[_Several | None, Relations, Relations, _Several | None]:
        parts = [self._quarters(relation, level) for relation in relations.relations]
        within0, up, down, within1 = zip(*parts, strict=True)
        return self._several(within0), self._distinct(up), self._distinct(down), self._several(within1)

    def _distinct(self, relations: Iterable[Bdd]) -> Relations:
        """The relations that are not empty, each once, in an order of their own."""
        numbered = {int(relation): relation for relation in relations if relation != self._false}
        return tuple(numbered[number] for number in sorted(numbered))

    def _quarters(self, relation: Bdd, level: int) -> tuple[Bdd, Bdd, Bdd, Bdd]:
        """T[00], T[01], T[10], T[11]: the bit of the argument first, then that of the result."""
        key = (int(relation), level)
        known = self._apart.get(key)
        if known is not None:
            return known[1]
        low, high = self._split(relation, level)
        if level not in self._moving:
            quarters = (low, self._false, self._false, high)
        else:
            a, b = self._split(low, level + 1)
            c, d = self._split(high, level + 1)
            quarters = (a, c, b, d) if self.backward else (a, b, c, d)
        self._apart[key] = (relation, quarters)
        return quarters

    # diagrams

    def _top(self, function: Bdd) -> int:
        """The level of the topmost variable, that of b for a copy b'."""
        if function == self._true or function == self._false:
            return _BOTTOM_LEVEL
        level = function.level
        return self._above.get(level, level)

    def _split(self, function: Bdd, level: int) -> tuple[Bdd, Bdd]:
        """What is left of a function where the variable at the level is 0, and where it is 1."""
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
