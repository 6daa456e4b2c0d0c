"""Infinite runs under fairness of actions: a stem into the core of the fair runs, and rounds in it.

One decision: each round by itself meets every constraint, from its first state to its last. A loop of rounds
therefore meets them too, wherever it closes, so the loop need not be known in advance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from stead_sym.deployment.trace import Step
from stead_sym.engines.symbolic.bdd.fixpoint import fair_core, shortest
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.operators import Operators
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

if TYPE_CHECKING:
    from stead_sym.engines.symbolic.check.witness import Place, Witness


class FairLassos:
    """The search for fair runs through the pairs of ``stay``, a set ⟦EG f⟧."""

    def __init__(
        self,
        witness: Witness,
        operators: Operators,
        stay: Bdd,
        env: Mapping[str, Vector],
        assignment: Mapping[str, Value],
    ) -> None:
        self.witness = witness
        self.manager = witness.manager
        self.operators = operators
        self.stay = stay
        self.held = env, assignment
        self.core = fair_core(operators.relation, stay, operators.constraints, operators.along)
        self.met = [one.met(self.core) for one in operators.along]

    def found(self, state: Instance) -> tuple[tuple[Step, ...], int]:
        """Return the steps of a run from the state, and the number of them before the loop."""
        steps = self.steps_into(self.core, self.stay, state)
        state = steps[-1].state if steps else state
        visited = {state: len(steps)}
        while True:
            round_ = _Round(self, state)
            steps += round_.steps(visited)
            state = steps[-1].state
            if not round_.complete:
                visited.clear()
            if state in visited:
                return tuple(steps), visited[state]
            visited[state] = len(steps)

    def steps_into(self, target: Bdd, through: Bdd, state: Instance) -> list[Step]:
        """Return a shortest run, empty if the state is in the target."""
        place = self.witness.place(state)
        return list(self.witness.run(self.operators.pairs, through, target, place, *self.held))

    def leads_to(self, target: Bdd, place: Place) -> bool:
        """Return True if a run within the core leads into a subset of it."""
        start = self.manager.cube(self.witness.code(place, *self.held))
        bits = self.witness.encoding.state_bits | self.operators.pairs.bits
        return shortest(self.operators.relation, start, self.core, target, bits) is not None


class _Round:
    """One round through the core.

    ``unvisited`` are the constraints on states that are still to be visited. Per constraint on actions, over
    its parameters, ``met`` are those that the round has met, and ``due`` those that are enabled in some state
    of the round and not met. The round is not ``complete`` if it has left states for good, so that a due
    constraint can no longer be met; a loop then starts after it.
    """

    def __init__(self, lassos: FairLassos, state: Instance) -> None:
        self.of = lassos
        self.witness = lassos.witness
        self.m = lassos.manager
        self.actions = lassos.witness.checker.actions
        self.unvisited = list(lassos.operators.constraints)
        self.met = [self.m.false for _ in self.actions]
        self.due = [self.m.false for _ in self.actions]
        self.state = state
        self.taken: list[Step] = []
        self.complete = True
        self._arrived()

    def steps(self, visited: Iterable[Instance]) -> list[Step]:
        """Return the round: meet the constraints, then return to the start of a round if possible."""
        known = self.m.disj(self.witness.model.singleton(self._place(s).known) for s in visited)
        while True:
            while self.complete and self._is_due():
                pass
            if not self.complete:
                return self.taken
            if not self.taken:
                self._step(self.of.core)
            elif self.of.leads_to(self.of.core & known, self._place(self.state)):
                self._follow(self.of.core & known)
                if not self._has_due():
                    return self.taken
            else:
                return self.taken

    def _has_due(self) -> bool:
        return bool(self.unvisited) or any(due != self.m.false for due in self.due)

    def _is_due(self) -> bool:
        """Meet one constraint that is due; return False if there is none."""
        for goal in self.unvisited:
            self._follow(self.of.core & goal)
            return True
        for k, due in enumerate(self.due):
            if due != self.m.false:
                self._meet(k, self.m.pick(due, self.actions[k].params))
                return True
        return False

    def _meet(self, k: int, arguments: Mapping[str, bool]) -> None:
        """Go to a state that releases the constraint for these arguments, or take a step by the call."""
        m, action, along = self.m, self.actions[k], self.of.operators.along[k]
        chosen, goal = m.cube(arguments), m.cofactor(self.of.met[k], arguments)
        if not self.of.leads_to(goal, self._place(self.state)):
            self.complete = False
            return
        self._follow(goal)
        if m.and_exist(action.params, self.due[k], chosen) == m.false:
            return
        place = self._place(self.state)
        here = m.cube(self.witness.code(place, *self.of.held))
        ahead = m.cofactor(along.steps.image(here & chosen), arguments)
        call = m.cube({action.selectors[bit]: value for bit, value in arguments.items()})
        calls = {name: of & call for name, of in action.calls.items()}
        after = next(self.witness.successors_in(self.of.core & ahead, place, *self.of.held))
        self._take(self.witness.step_to(place, after, calls, action.agent))

    def _step(self, target: Bdd) -> None:
        place = self._place(self.state)
        after = next(self.witness.successors_in(target, place, *self.of.held))
        self._take(self.witness.step_to(place, after))

    def _follow(self, target: Bdd) -> None:
        for step in self.of.steps_into(target, self.of.core, self.state):
            self._take(step)

    # Updates by a step.

    def _take(self, step: Step) -> None:
        m, model = self.m, self.witness.model
        before, after = self._place(self.state).known, self._place(step.state).known
        moved = model.encoding.encode(after)
        both = model.singleton(before) & m.cube(
            {model.encoding.primed(bit): value for bit, value in moved.items()}
        )
        bits = model.encoding.state_bits | {model.encoding.primed(bit) for bit in moved}
        for k, action in enumerate(self.actions):
            by = m.disj(m.and_exist(bits, part, both) for part in action.steps)
            self.met[k] = self.met[k] | by
        self.taken.append(step)
        self.state = step.state
        self._arrived()

    def _arrived(self) -> None:
        m, model = self.m, self.witness.model
        point, bits = model.singleton(self._place(self.state).known), model.encoding.state_bits
        self.unvisited = [goal for goal in self.unvisited if goal & point == m.false]
        for k, action in enumerate(self.actions):
            self.met[k] = self.met[k] | m.and_exist(bits, action.released, point)
            enabled = m.and_exist(bits, action.enabled, point)
            self.due[k] = (self.due[k] | enabled) & ~self.met[k]

    def _place(self, state: Instance) -> Place:
        return self.witness.place(state)
