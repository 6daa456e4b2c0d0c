"""Extract runs from satisfying sets, as evidence needs them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import stead_sym.logic.syntax as fo
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.fair_lassos import FairLassos
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.lassos import Lassos
from stead_sym.engines.symbolic.check.walks import Walks
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.logic.sorts import used_sort
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


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

        Without constraints it is a shortest one, within the limit of `lassos.MOST_IMAGES`. With constraints
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
