"""The runs that a checked deployment hands out, against the explicit graph: members, lengths, loops.

The state at hand is D0, or one that a run has led to.
"""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from engine_pairs import both, examples, replay, some_by_name
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.deployment.trace import Trace
from stead_sym.errors import Undecided
from stead_sym.files import load
from stead_sym.logic.syntax import FALSE, TRUE, Future, Globally, Next, Until
from stead_sym.symbolic.engine import SymbolicEngine
from stead_sym.testing.deployments import deployments
from stead_sym.testing.formulas import Signature, assignments, formulas
from stead_sym.verification import wrap


class Case:
    """Both engines on the literal domain, the witnesses of the symbolic ones, and two formulas over x."""

    def __init__(self, pair, normal, scope, f, g):
        self.pair, self.scope, self.f, self.g = pair, scope, f, g
        self.deployment, self.graph = pair.deployment, pair.explicit._graph
        self.witnesses = [pair.symbolic._witness, normal._witness]

    def starts(self, witness):
        """D0, and where a step leads from there; a witness knows the states that it has handed out."""
        init = self.deployment.init
        yield init
        if self.pair.explicit.holds(Next("E", TRUE)):
            yield witness.step(TRUE, init, {}).state

    def states(self, formula, sigma):
        return self.pair.explicit.satisfying(formula, sigma).states

    def holds(self, formula, state, sigma):
        return state in self.states(formula, sigma)

    def replay(self, start, steps):
        """Each step is one of the graph: its call is selected in its state."""
        state = start
        for step in steps:
            source, target = self.graph.index[state], self.graph.index[step.state]
            assert (step.call, target) in self.graph.edges[source], f"{step.call} from {state}"
            state = step.state

    def distance(self, start, left, right):
        """The length of a shortest run through ``left`` to ``right``, both sets of states."""
        queue, seen = deque([(start, 0)]), {start}
        while queue:
            state, length = queue.popleft()
            if state in right:
                return length
            if state in left:
                for target in self.graph.targets[self.graph.index[state]]:
                    after = self.graph.states[target]
                    if after not in seen:
                        seen.add(after)
                        queue.append((after, length + 1))
        raise AssertionError("no such run")


@st.composite
def cases(draw):
    deployment = draw(deployments(specs=1, max_tools=2))
    agent = draw(st.sampled_from(["any", some_by_name(4)]))
    try:
        pair = both(deployment, agent, max_states=40)
    except Undecided:
        reject()
    normal = SymbolicEngine(
        deployment, wrap(deployment, agent), normal_restriction(deployment), literal=False
    )
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    signature = Signature(relations, deployment.constants)
    scope = {"x": draw(st.sampled_from(signature.sorts))}
    made = formulas(signature, scope, depth=2, temporal=draw(st.booleans()))
    return Case(pair, normal, scope, draw(made), draw(made))


def situations(case, witness):
    """A state at hand, and values for the variables that it holds or that are constants: the engine on
    representatives knows no others by name."""
    for state in case.starts(witness):
        if state not in case.graph.index:
            continue  # a name of the other domain
        for sigma in assignments(case.scope, case.pair.restriction.values):
            sort = case.scope["x"]
            known = {*state.active_domain[sort], *case.deployment.constants[sort]}
            if sigma["x"] in known:
                yield state, sigma


@settings(max_examples=examples(30))
@given(cases())
def test_truth_in_a_state_is_that_of_the_explicit_engine(case):
    for witness in case.witnesses:
        for state, sigma in situations(case, witness):
            for formula in (case.f, case.g, Future("E", case.f), Next("A", case.g)):
                assert witness.holds(formula, state, sigma) == case.holds(formula, state, sigma)


@settings(max_examples=examples(30))
@given(cases())
def test_a_step_leads_to_a_state_of_the_formula(case):
    witness = case.witnesses[0]
    for state, sigma in situations(case, witness):
        if case.holds(Next("E", case.f), state, sigma):
            step = witness.step(case.f, state, sigma)
            case.replay(state, [step])
            assert case.holds(case.f, step.state, sigma)
            assert not case.deployment.fair or case.holds(Globally("E", TRUE), step.state, {})


@settings(max_examples=examples(30))
@given(cases())
def test_a_run_to_a_state_is_a_shortest_one(case):
    witness = case.witnesses[0]
    for state, sigma in situations(case, witness):
        if case.holds(Until("E", case.f, case.g), state, sigma):
            steps = witness.until(case.f, case.g, state, sigma)
            event(f"length: {min(len(steps), 3)}")
            case.replay(state, steps)
            goals = case.states(case.g, sigma) & case.states(Globally("E", TRUE), {})
            through = [state, *(step.state for step in steps)]
            assert all(case.holds(case.f, before, sigma) for before in through[:-1])
            assert through[-1] in goals
            assert len(steps) == case.distance(state, case.states(case.f, sigma), goals)


@settings(max_examples=examples(30))
@given(cases())
def test_a_run_for_ever_stays_in_the_formula_and_is_fair(case):
    witness = case.witnesses[0]
    for state, sigma in situations(case, witness):
        if case.holds(Globally("E", case.f), state, sigma):
            steps, loop = witness.forever(case.f, state, sigma)
            case.replay(state, steps)
            through = [state, *(step.state for step in steps)]
            assert through[loop] == through[-1]
            assert loop < len(steps)
            assert all(case.holds(case.f, there, sigma) for there in through)
            for constraint in case.deployment.fair:
                assert any(case.holds(constraint, there, {}) for there in through[loop:])


@settings(max_examples=examples(30))
@given(cases())
def test_runs_over_representatives_are_runs_of_the_infinite_domain(case):
    """In the deployment's own identifiers, and no longer than over the literal domain."""
    witness, init = case.witnesses[1], case.deployment.init
    wrapper = case.pair.wrappers[0]
    restriction = witness.model.restriction
    for state, sigma in situations(case, witness):
        if state != init:
            continue
        if case.holds(Until("E", case.f, case.g), init, sigma):
            steps = witness.until(case.f, case.g, init, sigma)
            replay(case.deployment, restriction, wrapper, Trace(init, steps))
            goals = case.states(case.g, sigma) & case.states(Globally("E", TRUE), {})
            assert len(steps) == case.distance(init, case.states(case.f, sigma), goals)
            assert witness.holds(case.g, (init, *(s.state for s in steps))[-1], sigma)
        if case.holds(Globally("E", case.f), init, sigma):
            steps, loop = witness.forever(case.f, init, sigma)
            replay(case.deployment, restriction, wrapper, Trace(init, steps, loop))
            assert all(witness.holds(case.f, step.state, sigma) for step in steps)


def test_a_run_that_is_not_there_is_refused():
    """The caller relies on a formula that does not hold: an error, and no run."""
    deployment = load("refund")
    engine = SymbolicEngine(deployment, None, normal_restriction(deployment), literal=False)
    with pytest.raises(ValueError, match="no such run"):
        engine._witness.until(TRUE, FALSE, deployment.init, {})
    with pytest.raises(ValueError, match="no step leads"):
        engine._witness.step(FALSE, deployment.init, {})
