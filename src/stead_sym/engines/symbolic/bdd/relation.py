"""Transition relations as disjunctions of diagrams, their images and their least fixpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.engines.symbolic.bdd.saturation import Relations, saturated
from stead_sym.support.progress import Pulse

_MAX_LAYERS = 8
"""The most steps that are taken breadth first before saturation. With them refunds 2 over 7 values is 1.4
times faster, desks 2 1.6 times."""
_MIN_LAYERS = 2
"""The number of these steps for a large relation, where a fact that is newly decided often enables one
further step, and no more."""
_SMALL_NODES = 1 << 17
"""Nodes of a relation up to which a few steps take next to no time."""
_NODES_RATIO = 8
"""Further steps breadth first are worth more than saturation as long as the relation has at least so many
times the nodes of the set of new states."""
_FEW_BITS = 1 << 10
"""From so many bits on only `_MIN_LAYERS` steps are taken: where many records advance independently, a few
steps more do not come near the fixpoint."""
_NARROW = 256  # nodes per bit that two parts may have in the product to be joined


class Relation:
    """A transition relation over some bits and their copies, as a disjunction of ``parts``.

    Sets of states may range over other bits too, which keep their values.
    """

    def __init__(
        self, manager: Manager, parts: Iterable[Bdd], moving: Sequence[tuple[str, str]], report: Pulse
    ) -> None:
        """``moving``: the pairs (b, b'), each b' right below its b."""
        self.manager = manager
        self.parts: Relations = tuple(parts)
        """As they were given; `_joined` are those that the fixpoints work with."""
        self.moving = tuple(moving)
        self._report = report
        self._bits = frozenset(b for b, _ in self.moving)
        self._copies = frozenset(copy for _, copy in self.moving)

    @cached_property
    def _prime(self) -> Mapping[str, Bdd]:
        return {b: self.manager.var(copy) for b, copy in self.moving}

    @cached_property
    def _unprime(self) -> Mapping[str, Bdd]:
        return {copy: self.manager.var(b) for b, copy in self.moving}

    @cached_property
    def _joined(self) -> Relations:
        """The same relation in fewer parts: two are joined where both are narrow. A level of the union has at
        most as many nodes as pairs of one in each; where parts count records these are so many that the union
        explodes, and the parts of records that have little to do with one another share most of their
        frame conditions."""
        levels, joined = 1 + 2 * len(self.moving), list[Bdd]()
        for part in sorted(self.parts, key=lambda part: part.dag_size):
            for k, other in enumerate(joined):
                if part.dag_size * other.dag_size <= _NARROW * levels**2:
                    joined[k] = other | part
                    break
            else:
                joined.append(part)
        return tuple(joined)

    def image(self, states: Bdd) -> Bdd:
        """post(S) = { D' : D → D' for some D ∈ S }"""
        m = self.manager
        after = m.disj(m.and_exist(self._bits, states, part) for part in self._joined)
        return m.substitute(after, self._unprime)

    def _after(self, states: Bdd, part: Bdd) -> Bdd:
        """The image by one relation over the bits and their copies."""
        return self.manager.substitute(self.manager.and_exist(self._bits, states, part), self._unprime)

    def preimage(self, target: Bdd) -> Bdd:
        """pre(X) = { D : D → D' for some D' ∈ X }"""
        m = self.manager
        after = m.substitute(target, self._prime)
        return m.disj(m.and_exist(self._copies, part, after) for part in self._joined)

    def reachable(self, states: Bdd, new: Bdd, wrong: Bdd | None = None) -> Bdd:
        """μZ. S ∨ post(Z), where post(S ∖ ``new``) ⊆ S. Once a step has led into ``wrong``, a part may do: of
        a state past a bound nothing more is asked."""
        found, complete = self._breadth_first(states, new, self.image, wrong)
        if complete:
            return found
        return saturated(self.manager, found, self._joined, self.moving, report=self._report)

    def reaching(self, target: Bdd, through: Bdd) -> Bdd:
        """μZ. X ∨ (S ∧ pre(Z)): where a run through S leads to X."""
        found, complete = self._breadth_first(target, target, lambda states: through & self.preimage(states))
        if complete:
            return found
        parts = (part & through for part in self._joined)
        return saturated(self.manager, found, parts, self.moving, backward=True, report=self._report)

    def _breadth_first(
        self, states: Bdd, new: Bdd, step: Callable[[Bdd], Bdd], wrong: Bdd | None = None
    ) -> tuple[Bdd, bool]:
        """μZ. S ∨ step(Z), where step(S ∖ ``new``) ⊆ S, as far as a few steps lead, and whether that is all,
        or has a state that is ``wrong``.

        Where records do not advance independently of one another, a few steps reach the fixpoint. They are
        faster than saturation, which runs in Python and not in the library of the diagrams.
        """
        reached, layer = states, new
        for number in range(_MAX_LAYERS if len(self.moving) < _FEW_BITS else _MIN_LAYERS):
            if (
                number >= _MIN_LAYERS
                and self._size >= _SMALL_NODES
                and layer.dag_size * _NODES_RATIO > self._size
            ):
                break
            layer = step(layer) & ~reached
            if layer == self.manager.false:
                return reached, True
            reached = reached | layer
            if wrong is not None and layer & wrong != self.manager.false:
                return reached, True
        return reached, False

    @cached_property
    def _size(self) -> int:
        return sum(part.dag_size for part in self._joined)

    def count(self, states: Bdd) -> int:
        """|{ (D, D') : D ∈ states, D → D' }|, each pair once however many parts make it."""
        m, total = self.manager, 0
        for k, part in enumerate(self.parts):
            new = states & part
            for earlier in self.parts[:k]:
                new = new & ~earlier
            total += m.count(new, self._bits | self._copies)
        return total
