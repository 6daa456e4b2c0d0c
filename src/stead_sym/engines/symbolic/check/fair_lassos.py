"""Infinite runs under fairness of actions: a stem into the core of the fair runs, and rounds in it.

One decision: each round by itself meets every constraint, from its first state to its last. A loop of rounds
therefore meets them too, wherever it closes, so the loop need not be known in advance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stead_sym.deployment.trace import Step
from stead_sym.engines.symbolic.bdd.fixpoint import FairSteps, fair_core, shortest
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.operators import Operators
from stead_sym.engines.symbolic.check.walks import Place, Walks
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


class FairLassos:
    """The search for fair runs through the pairs of ``stay``, a set ⟦EG f⟧."""

    def __init__(
        self,
        walks: Walks,
        operators: Operators,
        steps: FairSteps,
        stay: Bdd,
        env: Mapping[str, Vector],
        assignment: Mapping[str, Value],
    ) -> None:
        self.walks = walks
        self.manager = walks.manager
        self.operators = operators
        self.stay = stay
        self.held = env, assignment
        self.core, steps = fair_core(steps, stay, operators.constraints)
        self.relation, self.along = steps.relation, steps.along
        self.met = [one.met(self.core) for one in self.along]

    def found(self, state: Instance) -> tuple[tuple[Step, ...], int]:
        """Return the steps of a run from the state, and the number of them before the loop."""
        place = self.walks.place(state)
        steps = list(self.walks.run(self.operators.pairs, self.stay, self.core, place, *self.held))
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

    def here(self, place: Place) -> Bdd:
        """Return the set of one pair: a place and the assignment."""
        return self.manager.cube(self.walks.code(place, *self.held))

    def way_to(self, target: Bdd, place: Place) -> Sequence[Bdd] | None:
        """Return sets such that a step into each in turn is a shortest run within the core into ``target``.

        The sets are those of `shortest` after the first. Return None if there is no such run.
        """
        bits = self.walks.encoding.state_bits | self.operators.pairs.bits
        sets = shortest(self.relation, self.here(place), self.core, target, bits)
        return None if sets is None else sets[1:]

    def step_into(self, target: Bdd, state: Instance) -> Step:
        """Return a step into a set by a call that a fair run may make infinitely often."""
        place = self.walks.place(state)
        ahead = target & self.relation.image(self.here(place))
        return self.walks.step_into(ahead, place, *self.held)


class _Round:
    """One round through the core.

    ``unvisited`` are the constraints on states that are still to be visited. Per constraint on actions, over
    its parameters, ``met`` are those that the round has met, and ``due`` those that are enabled in some state
    of the round and not met. The round is not ``complete`` if it has left states for good, so that a due
    constraint can no longer be met; a loop then starts after it.
    """

    def __init__(self, lassos: FairLassos, state: Instance) -> None:
        self.of = lassos
        self.walks = lassos.walks
        self.m = lassos.manager
        self.actions = lassos.walks.checker.actions
        self.unvisited = list(lassos.operators.constraints)
        self.met = [self.m.false for _ in self.actions]
        self.due = [self.m.false for _ in self.actions]
        self.state = state
        self.taken: list[Step] = []
        self.complete = True
        self._arrived()

    def steps(self, visited: Iterable[Instance]) -> list[Step]:
        """Return the round: meet the constraints, then return to the start of a round if possible."""
        known = self.m.disj(self.walks.model.singleton(self._place(s).known) for s in visited)
        while True:
            while self.complete and self._is_due():
                pass
            if not self.complete:
                return self.taken
            if not self.taken:
                self._take(self.of.step_into(self.of.core, self.state))
            elif self._follow(self.of.core & known):
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
        m, action, along = self.m, self.actions[k], self.of.along[k]
        chosen, goal = m.cube(arguments), m.cofactor(self.of.met[k], arguments)
        if not self._follow(goal):
            self.complete = False
            return
        if m.and_exist(action.params, self.due[k], chosen) == m.false:
            return
        place = self._place(self.state)
        ahead = m.cofactor(along.steps.image(self.of.here(place) & chosen), arguments)
        call = m.cube({action.selectors[bit]: value for bit, value in arguments.items()})
        calls = {name: of & call for name, of in action.calls.items()}
        after = next(self.walks.successors_in(self.of.core & ahead, place, *self.of.held))
        self._take(self.walks.step_to(place, after, calls, action.agent))

    def _follow(self, target: Bdd) -> bool:
        """Take a shortest run into the target, and return False if there is none.

        The run is empty if the state is in the target.
        """
        way = self.of.way_to(target, self._place(self.state))
        for ahead in way or ():
            self._take(self.of.step_into(ahead, self.state))
        return way is not None

    # Updates by a step.

    def _take(self, step: Step) -> None:
        before = self.of.here(self._place(self.state))
        after = self.walks.code(self._place(step.state), *self.of.held)
        for k, along in enumerate(self.of.along):
            self.met[k] = self.met[k] | self.m.cofactor(along.steps.image(before), after)
        self.taken.append(step)
        self.state = step.state
        self._arrived()

    def _arrived(self) -> None:
        m, point = self.m, self.walks.code(self._place(self.state), *self.of.held)
        self.unvisited = [goal for goal in self.unvisited if goal & m.cube(point) == m.false]
        for k, along in enumerate(self.of.along):
            self.met[k] = self.met[k] | m.cofactor(along.released, point)
            self.due[k] = (self.due[k] | m.cofactor(along.asking, point)) & ~self.met[k]

    def _place(self, state: Instance) -> Place:
        return self.walks.place(state)
