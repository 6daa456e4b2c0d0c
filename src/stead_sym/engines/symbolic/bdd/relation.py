"""Transition relations as disjunctions of diagrams, their images and their least fixpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.bdd.saturation import Relations, Saturation
from stead_sym.support.progress import Pulse

_CHEAP_STEP = 1 << 22
"""The maximum of (nodes of the frontier) × (nodes of the relation) at which a step beats saturation."""
_NARROW = 256  # the maximum product of two parts' nodes per bit at which they are joined


class Relation:
    """A transition relation over some bits and their copies, as a disjunction of ``parts``.

    Sets of states may range over other bits too, which keep their values.
    """

    def __init__(
        self,
        manager: Manager,
        parts: Iterable[Bdd],
        moving: Sequence[tuple[str, str]],
        report: Pulse,
        chosen: Bits = frozenset(),
    ) -> None:
        """Create the relation.

        ``moving`` are the pairs (b, b'), each b' directly below its b. ``chosen`` are additional bits over
        which the parts, but no set of states, may range; they are existentially quantified: D → D' if some of
        their values allow it.
        """
        self.manager = manager
        self.parts: Relations = tuple(parts)
        """The parts as given; the fixpoints use those of `_joined`."""
        self.moving = tuple(moving)
        self._report = report
        self.chosen = chosen
        self._bits = frozenset(b for b, _ in self.moving)
        self._copies = frozenset(copy for _, copy in self.moving)
        self._before, self._behind = self._bits | chosen, self._copies | chosen

    @cached_property
    def _prime(self) -> Mapping[str, Bdd]:
        return {b: self.manager.var(copy) for b, copy in self.moving}

    @cached_property
    def _unprime(self) -> Mapping[str, Bdd]:
        return {copy: self.manager.var(b) for b, copy in self.moving}

    @cached_property
    def _joined(self) -> Relations:
        """The same relation in fewer parts: two are joined if both are narrow.

        A level of the union has at most as many nodes as there are pairs of a node in each. For parts that
        count records these are so many that the union explodes. The parts of loosely related records share
        most of their frame conditions.
        """
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
        """Return post(S) = { D' : D → D' for some D ∈ S }."""
        m = self.manager
        after = m.disj(m.and_exist(self._before, states, part) for part in self._joined)
        return m.substitute(after, self._unprime)

    def _after(self, states: Bdd, part: Bdd) -> Bdd:
        """Return the image by one relation over the bits and their copies."""
        return self.manager.substitute(self.manager.and_exist(self._before, states, part), self._unprime)

    def preimage(self, target: Bdd) -> Bdd:
        """Return pre(X) = { D : D → D' for some D' ∈ X }."""
        m = self.manager
        after = m.substitute(target, self._prime)
        return m.disj(m.and_exist(self._behind, part, after) for part in self._joined)

    def reachable(self, states: Bdd, new: Bdd, is_wrong: Callable[[Bdd], bool] = lambda _: False) -> Bdd:
        """Return μZ. S ∨ post(Z), where post(S ∖ ``new``) ⊆ S.

        Once steps have led to wrong states, a part of it may be returned: after a violated claim no more is
        needed.
        """
        found, complete = self._breadth_first(states, new, self.image, is_wrong)
        return found if complete else self._forward.closure(found)

    def reaching(self, target: Bdd, through: Bdd) -> Bdd:
        """Return μZ. X ∨ (S ∧ pre(Z)), the states from which a run through S leads to X."""
        if through <= target:
            return target
        found, complete = self._breadth_first(target, target, lambda states: through & self.preimage(states))
        return found if complete else self._backward.closure(found, through)

    def within(self, states: Bdd) -> Relation:
        """Return the relation restricted to steps from these states."""
        parts = (part & states for part in self._joined)
        return Relation(self.manager, parts, self.moving, self._report, self.chosen)

    @cached_property
    def _forward(self) -> Saturation:
        return self._saturation(backward=False)

    @cached_property
    def _backward(self) -> Saturation:
        return self._saturation(backward=True)

    def _saturation(self, *, backward: bool) -> Saturation:
        m, parts, report = self.manager, self._joined, self._report
        return Saturation(m, parts, self.moving, chosen=self.chosen, backward=backward, report=report)

    def _breadth_first(
        self,
        states: Bdd,
        new: Bdd,
        step: Callable[[Bdd], Bdd],
        is_wrong: Callable[[Bdd], bool] = lambda _: False,
    ) -> tuple[Bdd, bool]:
        """Return μZ. S ∨ step(Z) and True, or S and False as soon as the steps are no longer cheap.

        step(S ∖ ``new``) ⊆ S. Once wrong states are reached, a part of the fixpoint with some of them is
        returned.

        Small steps are faster than saturation, which runs in Python and not in the library of the diagrams.
        But if records advance independently of one another, the states that are a few steps away have far
        larger diagrams than all reachable ones; so saturation does not start from there. A step from one
        state takes no more time than there are nodes in the relation.
        """
        reached, layer = states, new
        while layer.dag_size * self._size <= _CHEAP_STEP or layer.dag_size <= len(self.moving) + 1:
            layer = step(layer) & ~reached
            reached = reached | layer
            if layer == self.manager.false or is_wrong(layer):
                return reached, True
        return states, False

    @cached_property
    def _size(self) -> int:
        return sum(part.dag_size for part in self._joined)

    def count(self, states: Bdd) -> int:
        """Return |{ (D, D') : D ∈ states, D → D' }|; a pair in several parts is counted once."""
        m, total = self.manager, 0
        made = [m.and_exist(self.chosen, states, part) for part in self.parts]
        for k, new in enumerate(made):
            for earlier in made[:k]:
                new = new & ~earlier
            total += m.count(new, self._bits | self._copies)
        return total
