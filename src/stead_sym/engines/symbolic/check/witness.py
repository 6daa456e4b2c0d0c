"""Extract runs from satisfying sets, as evidence needs them.

One decision: an infinite run is a lasso, a stem to a state and a loop from there. One of any length is found
in rounds first, which is fast, and then a shorter one is searched for. Under fairness constraints the first
one is kept; under fairness of actions `fair_lassos` finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import stead_sym.logic.syntax as fo
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.fair_lassos import FairLassos
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.walks import Walks
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.logic.sorts import used_sort
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


class Witness(Walks):
    """The `evidence.build.Model` of a checked deployment."""

    @property
    def goes_on(self) -> bool:
        """True if a finite prefix counts only if it extends to a fair run."""
        return self.checker.is_constrained and not self.checker.completed

    def holds(self, formula: fo.Formula, state: Instance, assignment: Mapping[str, Value]) -> bool:
        """Return True if (D, σ) ⊨ f."""
        env, _, satisfying = self._sat(formula, formula, assignment)
        return self._in(satisfying, self._places[state], env, assignment)

    def states(self, formula: fo.Formula, assignment: Mapping[str, Value]) -> Bdd:
        """Return { D ∈ R : (D, σ) ⊨ f }, over the state bits; σ under the names that the diagrams use.

        With representatives a value of σ denotes itself in states where it is active, and a dead value
        elsewhere.
        """
        m = self.manager
        env, pairs, satisfying = self._sat(formula, formula, assignment)
        held = {vector: assignment[name] for name, vector in env.items()}
        mortal = sorted({value for vector, value in held.items() if self._is_mortal(vector, value)})
        found = []
        for number in range(len(mortal) + 1):
            for dying in combinations(mortal, number):
                dead = {vector: value for vector, value in held.items() if value in dying}
                living = {vector: value for vector, value in held.items() if value not in dying}
                sorts = {value: self._sort(value) for value in mortal}
                there = {u: self.encoding.active(s, u) | pairs.of_step(s, u) for u, s in sorts.items()}
                condition = m.conj(~active if u in dying else active for u, active in there.items())
                code = self.encoding.assignment_code(living, dead)
                found.append(condition & m.cofactor(satisfying, code))
        return m.disj(found)

    def step(self, formula: fo.Formula, state: Instance, assignment: Mapping[str, Value]) -> Step:
        """Return a transition to a state of f."""
        env, _, satisfying = self._sat(formula, formula, assignment)
        return self.step_into(self.checker.fairly(satisfying), self._places[state], env, assignment)

    def until(
        self, left: fo.Formula, right: fo.Formula, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[Step, ...]:
        """Return a shortest run through states of f to one of g."""
        both = left & right
        env, pairs, through = self._sat(left, both, assignment)
        target = self.checker.fairly(self._sat(right, both, assignment)[2])
        return self.run(pairs, through, target, self._places[state], env, assignment)

    def forever(
        self, body: fo.Formula, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[tuple[Step, ...], int]:
        """Return a run that stays in f for ever and meets each fairness constraint in its loop.

        Without constraints it is a shortest one, within the limit of `MOST_IMAGES`. With constraints
        it need not be, because a shortest one is hard to compute (Clarke, Grumberg, McMillan and Zhao 1995).
        """
        env, pairs, holding = self._sat(body, body, assignment)
        operators = self.checker.operators(pairs)
        stay = operators.exists_globally(holding)
        if operators.steps is not None:
            return FairLassos(self, operators, operators.steps, stay, env, assignment).found(state)
        search = Lassos(self, pairs, stay, env, assignment)
        found = search.in_rounds(state)
        return found if self.checker.constraints else search.shorter(state, *found)

    def run_into(self, states: Bdd) -> Trace:
        """Return a shortest run from an initial state into a set of reachable states."""
        start = self.model.trace_to(states).start
        self.enter(start)
        pairs = self.checker.pairs(fo.TRUE, {})
        steps = self.run(pairs, self.model.reached, states, self._places[start], {}, {})
        return Trace(start, steps, of_many=not self.model.has_one_initial)

    def _sat(
        self, formula: fo.Formula, scope: fo.Formula, assignment: Mapping[str, Value]
    ) -> tuple[Mapping[str, Vector], Pairs, Bdd]:
        """Return ⟦f⟧ over vectors for the free variables of ``scope``."""
        sorts = {x: self._sort_of(x, assignment[x], scope) for x in fo.free_variables(scope)}
        env = self.checker.vectors(scope, sorts)
        pairs = self.checker.pairs(scope, env)
        return env, pairs, self.checker.sat(formula, env) & pairs.assignments

    def _sort_of(self, name: str, value: Value, scope: fo.Formula) -> str:
        """Return the sort of a free variable: that of its value, or for an ambiguous numeral by its uses."""
        listed = self.encoding.schema.listed.get(value, ())
        if len(listed) > 1:
            return used_sort(scope, name, self.encoding.schema) or listed[0]
        return self._sort(value)
