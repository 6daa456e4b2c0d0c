"""Infinite runs as lassos: a stem to a state and a loop from there, through the pairs of a set ⟦EG f⟧.

One decision: a lasso of any length is found in rounds first, which is fast, and then a shorter one is
searched for. Under fairness constraints the first one is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stead_sym.deployment.trace import Step
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.walks import Walks
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

MOST_IMAGES = 200
"""The maximum number of images and preimages in the search for a shorter lasso."""


class Lassos:
    """The search for infinite runs through the pairs of ``stay``, a set ⟦EG f⟧."""

    def __init__(
        self,
        walks: Walks,
        pairs: Pairs,
        stay: Bdd,
        env: Mapping[str, Vector],
        assignment: Mapping[str, Value],
    ) -> None:
        self._walks = walks
        self._manager = walks.manager
        self._pairs = pairs
        self._stay = stay
        self._held = env, assignment
        self._images = 0

    def in_rounds(self, state: Instance) -> tuple[tuple[Step, ...], int]:
        """Return a lasso that is found in rounds, in time linear in the number of its steps.

        A round visits the constraints one after the other, each on a shortest run, and ends with one step.
        The step leads to the start of an earlier round if possible, which closes the loop, and otherwise to
        the state that differs least from the first.
        """
        walks, stay = self._walks, self._stay
        steps: list[Step] = []
        first, visited = walks.place(state), {state: 0}
        known = walks.model.singleton(first.known)
        while True:
            for constraint in walks.checker.constraints:
                place = walks.place(state)
                steps += walks.run(self._pairs, stay, stay & constraint, place, *self._held)
                state = steps[-1].state if steps else state
            place = walks.place(state)
            back = walks.successors_in(stay & known, place, *self._held)
            ahead = next((after for after in back if after.real in visited), None)
            if ahead is None:
                ahead = next(walks.successors_in(stay, place, *self._held, like=first))
            steps.append(walks.step_to(place, ahead))
            state = ahead.real
            if state in visited:
                return tuple(steps), visited[state]
            visited[state] = len(steps)
            known = known | walks.model.singleton(ahead.known)

    def shorter(self, start: Instance, steps: tuple[Step, ...], loop: int) -> tuple[tuple[Step, ...], int]:
        """Return a lasso from ``start`` with fewer steps than the given one, or else the given one.

        The pairs are tried in the order of their distance from the start, each for a shortest run back to
        itself. With representatives such a run may return to the pair with other identifiers: it closes no
        loop then, and is skipped.
        """
        m, walks, stay = self._manager, self._walks, self._stay
        bits = sorted(walks.encoding.state_bits | self._pairs.bits)
        layer = seen = m.cube(walks.code(walks.place(start), *self._held))
        distance = 0
        while layer != m.false and distance + 1 < len(steps):
            left = layer
            while left != m.false and self._images < MOST_IMAGES and distance + 1 < len(steps):
                entry = m.cube(m.pick(left, bits))
                left = left & ~entry
                behind = self._back_to(entry, len(steps) - distance - 1)
                if behind is not None and (found := self._lasso(start, entry, behind)) is not None:
                    steps, loop = found
            if self._images >= MOST_IMAGES:
                break
            layer = self._image(layer) & stay & ~seen
            seen = seen | layer
            distance += 1
        return steps, loop

    def _image(self, pairs: Bdd) -> Bdd:
        self._images += 1
        return self._pairs.relation.image(pairs)

    def _back_to(self, entry: Bdd, longest: int) -> Sequence[Bdd] | None:
        """Return sets Bk, …, B0 = ``entry`` for a shortest run from ``entry`` to itself, or None.

        A step into each of B(k-1), …, B0 leads back, for the least such k, at most ``longest``.
        """
        m, behind, seen = self._manager, [entry], self._manager.false
        while len(behind) <= longest:
            self._images += 1
            layer = self._stay & self._pairs.relation.preimage(behind[-1]) & ~seen
            if layer & entry != m.false:
                return tuple(reversed(behind))
            if layer == m.false:
                return None
            seen = seen | layer
            behind.append(layer)
        return None

    def _lasso(
        self, start: Instance, entry: Bdd, behind: Sequence[Bdd]
    ) -> tuple[tuple[Step, ...], int] | None:
        walks = self._walks
        stem = walks.run(self._pairs, self._stay, entry, walks.place(start), *self._held)
        first = state = stem[-1].state if stem else start
        steps = [*stem]
        for ahead in behind:
            steps.append(walks.step_into(ahead, walks.place(state), *self._held))
            state = steps[-1].state
        return (tuple(steps), len(stem)) if state == first else None
