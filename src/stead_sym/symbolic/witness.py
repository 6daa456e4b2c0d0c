"""Runs out of satisfying sets: what `evidence` needs, read off the diagrams by onion rings.

Every step is checked by the concrete semantics of the deployment (`ReachableStates.step_into`).
"""

from __future__ import annotations

from collections.abc import Mapping

from stead_sym.deployment.trace import Step
from stead_sym.logic.syntax import Formula
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.symbolic.check import Checker
from stead_sym.symbolic.fixpoint import rings
from stead_sym.symbolic.manager import Bdd


class Witness:
    """The `evidence.Model` of a checked deployment."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.model = checker.model

    def holds(self, formula: Formula, state: Instance, assignment: Mapping[str, Value]) -> bool:
        """(D, σ) ⊨ f, for a reachable state."""
        return self.model.contains(self.checker.at(formula, assignment), state)

    def step(self, formula: Formula, state: Instance, assignment: Mapping[str, Value]) -> Step:
        """A transition to a state of f."""
        return self.model.step_into(state, self.checker.fairly(self.checker.at(formula, assignment)))

    def until(
        self, left: Formula, right: Formula, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[Step, ...]:
        """A shortest run through states of f to one of g."""
        through = self.checker.at(left, assignment)
        return self._run(state, through, self.checker.fairly(self.checker.at(right, assignment)))

    def _run(self, state: Instance, through: Bdd, target: Bdd) -> tuple[Step, ...]:
        """A shortest run through ``through`` into ``target``, of no step where the state is in it."""
        found: list[Bdd] = []
        for ring in rings(self.checker.pre, through, target, self.model.manager.false):
            if self.model.contains(ring, state):
                return self.model.descend(state, found)
            found.append(ring)
        raise ValueError("no such run: the caller relies on a formula that does not hold")

    def forever(
        self, body: Formula, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[tuple[Step, ...], int]:
        """A run that stays in f for ever and visits each fairness constraint in its loop.

        It goes round the constraints and closes the loop with a state where an earlier round
        began, as soon as one is a single step away.
        """
        stay = self.checker.globally(self.checker.at(body, assignment))
        goals = [stay & constraint for constraint in self.checker.constraints] or [stay]
        steps: list[Step] = []
        begun = {state: 0}
        began = self.model.singleton(state)
        while True:
            for k, goal in enumerate(goals):
                steps += self._onwards(state, stay, goal, began if k == len(goals) - 1 else None)
                state = steps[-1].state
            if state in begun:
                return tuple(steps), begun[state]
            begun[state] = len(steps)
            began = began | self.model.singleton(state)

    def _onwards(self, state: Instance, stay: Bdd, goal: Bdd, preferred: Bdd | None) -> tuple[Step, ...]:
        """One step or more within ``stay`` into ``goal``, into ``preferred`` if one step does it."""
        after = self.model.transitions.image(self.model.singleton(state))
        if preferred is not None and after & goal & preferred != self.model.manager.false:
            return (self.model.step_into(state, goal & preferred),)
        if after & goal != self.model.manager.false:
            return (self.model.step_into(state, goal),)
        first = self.model.step_into(state, stay & self.checker.reaches(stay, goal))
        return (first, *self._run(first.state, stay, goal))
