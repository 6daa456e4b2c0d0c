"""The runs that a checked deployment hands out, against the explicit graph: members, lengths, loops.

The state at hand is D0, or one that a run has led to.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import both, examples, replay, some_by_name
from generated.deployments import deployments
from stead_sym.agents.roles import wrap
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.deployment.trace import Trace
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.verification.verify import verify


class Case:
    """Both engines on the literal domain, the witnesses of the symbolic ones, and formulas f and g with
    values for their variables."""

    def __init__(self, pair, normal, f, g, sigma):
        self.pair, self.f, self.g, self.sigma = pair, f, g, sigma
        self.deployment, self.graph = pair.deployment, pair.explicit._graph
        self.literal, self.normal = pair.symbolic._deployed.witness, normal._deployed.witness
        for witness in (self.literal, self.normal):
            witness.enter(self.deployment.init)

    def starts(self):
        """D0, and the states of a few steps from there: a witness knows the states that it has handed out."""
        state = self.deployment.init
        yield state
        for _ in range(3 if self.pair.explicit.holds(fo.Next("E", fo.TRUE)) else 0):
            state = self.literal.step(fo.TRUE, state, {}).state
            yield state

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


def literals(draw, facts, number):
    """A conjunction of atoms and negated atoms about some of the facts, and their values as an assignment."""
    parts, sigma = [], {}
    for k in range(number):
        fact = draw(st.sampled_from(facts))
        names = [f"{fact.relation} {k} {place}" for place in range(len(fact.args))]
        sigma |= dict(zip(names, fact.args, strict=True))
        atom = fo.Atom(fact.relation, tuple(map(fo.Var, names)))
        parts.append(draw(st.sampled_from([atom, fo.Not(atom)])))
    return fo.conjunction(tuple(parts)), sigma


def with_fairness(draw, deployment):
    """The deployment with a constraint, that some relation is empty or is not, or without any."""
    relation = draw(st.sampled_from(deployment.schema.relations))
    binders = [fo.Binder(f"y{k}", sort) for k, sort in enumerate(relation.sorts)]
    some = fo.Atom(relation.name, tuple(fo.Var(binder.name) for binder in binders))
    for binder in reversed(binders):
        some = fo.Exists(binder, some)
    fair = draw(st.sampled_from([(), (), (some,), (fo.Not(some),), (some, fo.Not(some))]))
    return replace(deployment, written=replace(deployment.written, fair=fair))


@st.composite
def cases(draw):
    deployment = with_fairness(draw, draw(deployments(specs=1, max_tools=2)))
    agent = draw(st.sampled_from(["any", some_by_name(4)]))
    try:
        pair = both(deployment, agent, max_states=40)
    except Undecided:
        reject()
    states = pair.explicit._graph.states
    facts = sorted({fact for state in states for fact in state.facts ^ states[-1].facts})
    if not facts:
        reject()
    normal = SymbolicEngine(
        deployment, {"": wrap(deployment, agent)}, normal_restriction(deployment), literal=False
    )
    f, of_f = literals(draw, facts, draw(st.integers(0, 1)))
    g, of_g = literals(draw, facts, draw(st.integers(1, 2)))
    return Case(pair, normal, f, g, of_f | of_g)


@settings(max_examples=examples(40))
@given(cases())
def test_truth_in_a_state_is_that_of_the_explicit_engine(case):
    for state in case.starts():
        for formula in (case.f, case.g, fo.Future("E", case.g), fo.Next("A", case.f)):
            assert case.literal.holds(formula, state, case.sigma) == case.holds(formula, state, case.sigma)


@settings(max_examples=examples(40))
@given(cases())
def test_a_step_leads_to_a_state_of_the_formula(case):
    for state in case.starts():
        if case.holds(fo.Next("E", case.g), state, case.sigma):
            step = case.literal.step(case.g, state, case.sigma)
            case.replay(state, [step])
            assert case.holds(case.g, step.state, case.sigma)
            assert case.holds(fo.Globally("E", fo.TRUE), step.state, {})


@settings(max_examples=examples(60))
@given(cases())
def test_a_run_to_a_state_is_a_shortest_one(case):
    goals = case.states(case.g, case.sigma) & case.states(fo.Globally("E", fo.TRUE), {})
    for state in case.starts():
        if case.holds(fo.Until("E", case.f, case.g), state, case.sigma):
            steps = case.literal.until(case.f, case.g, state, case.sigma)
            event(f"length: {min(len(steps), 3)}")
            case.replay(state, steps)
            through = [state, *(step.state for step in steps)]
            assert all(case.holds(case.f, before, case.sigma) for before in through[:-1])
            assert through[-1] in goals
            assert len(steps) == case.distance(state, case.states(case.f, case.sigma), goals)


@settings(max_examples=examples(60))
@given(cases())
def test_a_run_for_ever_stays_in_the_formula_and_is_fair(case):
    for state in case.starts():
        if case.holds(fo.Globally("E", case.f), state, case.sigma):
            steps, loop = case.literal.forever(case.f, state, case.sigma)
            event(f"length: {min(len(steps), 3)}, constraints: {len(case.deployment.fair)}")
            case.replay(state, steps)
            through = [state, *(step.state for step in steps)]
            assert through[loop] == through[-1]
            assert loop < len(steps)
            assert all(case.holds(case.f, there, case.sigma) for there in through)
            for constraint in case.deployment.fair:
                assert any(case.holds(constraint, there, {}) for there in through[loop:])


@settings(max_examples=examples(60, quick=8))
@given(cases())
def test_runs_over_representatives_are_runs_of_the_infinite_domain(case):
    """In the deployment's own identifiers, and no longer than over the literal domain. The formulas are
    closed: the names of other values than those of D0 are a matter of the domain."""
    f, g = (_closed(formula, case) for formula in (case.f, case.g))
    restriction, init = case.normal.model.restriction, case.deployment.init
    if case.holds(fo.Until("E", f, g), init, {}):
        steps = case.normal.until(f, g, init, {})
        event(f"length: {min(len(steps), 3)}")
        replay(case.deployment, restriction, case.pair.wrappers[0], Trace(init, steps))
        goals = case.states(g, {}) & case.states(fo.Globally("E", fo.TRUE), {})
        assert len(steps) == case.distance(init, case.states(f, {}), goals)
        through = [init, *(step.state for step in steps)]
        assert all(holds(f, before) for before in through[:-1])
        assert holds(g, through[-1])
    if case.holds(fo.Globally("E", f), init, {}):
        steps, loop = case.normal.forever(f, init, {})
        through = [init, *(step.state for step in steps)]
        replay(case.deployment, restriction, case.pair.wrappers[0], Trace(init, steps, loop))
        assert all(holds(f, state) for state in through)
        for constraint in case.deployment.fair:
            assert any(holds(constraint, state) for state in through[loop:])


def _closed(formula, case):
    """∃ of all variables."""
    sorts = {r.name: r.sorts for r in case.deployment.schema.relations}
    for name in sorted(fo.free_variables(formula)):
        relation, _, place = name.split()
        formula = fo.Exists(fo.Binder(name, sorts[relation][int(place)]), formula)
    return formula


FORK = """
deployment fork
relation Left()
relation Right()
tool left() guard ~Left() & ~Right() effect insert Left()
tool right() guard ~Left() & ~Right() effect insert Right()
tool stay() guard Left() | Right()
fair {}()
"""


@pytest.mark.parametrize("fair", ["Left", "Right"])
@pytest.mark.parametrize("literal", [False, True])
def test_no_step_leads_where_no_fair_run_goes_on(fair, literal):
    """Either branch is one that no fair run leaves, whichever comes first to mind."""
    deployment = parse_deployment(FORK.format(fair))
    domain = theorem_restriction(deployment, ()) if literal else normal_restriction(deployment)
    engine = SymbolicEngine(deployment, {"": None}, domain, literal=literal)
    witness, init, there = engine._deployed.witness, deployment.init, fo.Atom(fair, ())
    witness.enter(init)
    assert holds(there, witness.step(fo.TRUE, init, {}).state)
    steps, _ = witness.forever(fo.TRUE, init, {})
    assert holds(there, steps[0].state)
    [step] = witness.until(fo.TRUE, fo.Or((fo.Atom("Left", ()), fo.Atom("Right", ()))), init, {})
    assert holds(there, step.state)


def test_a_run_that_is_not_there_is_refused():
    """The caller relies on a formula that does not hold: an error, and no run."""
    deployment = load("refund")
    engine = SymbolicEngine(deployment, {"": None}, normal_restriction(deployment), literal=False)
    engine._deployed.witness.enter(deployment.init)
    with pytest.raises(ValueError, match="no such run"):
        engine._deployed.witness.until(fo.TRUE, fo.FALSE, deployment.init, {})
    with pytest.raises(ValueError, match="no step leads"):
        engine._deployed.witness.step(fo.FALSE, deployment.init, {})


ARCHIVED = """
deployment archive
sort case
relation Open(case)
init
bound case 2
tool start()
  guard atmost 1 c: case. Open(c)
  effect fresh c: case
         insert Open(c)
tool archive()
  guard exists c. Open(c)
  effect clear Open
spec same
  EF exists x: case, y: case. Open(x) & Open(y) & x = y & EX (~Open(x) & ~Open(y) & x = y)
spec other
  EF exists x: case, y: case. Open(x) & Open(y) & ~(x = y) & EX (~Open(x) & ~Open(y) & ~(x = y))
"""


def test_of_two_dead_values_it_is_known_whether_they_are_the_same():
    """Both variables outlive what they hold: no bit of either is left that says what it was."""
    result = verify(parse_deployment(ARCHIVED), "any", engine="symbolic")
    for name, held in (("same", {"x": "case1", "y": "case1"}), ("other", {"x": "case1", "y": "case2"})):
        text = str(result.verdicts[name].evidence)
        assert f"with: {', '.join(f'{variable} = {value}' for variable, value in held.items())}" in text
        last = text.splitlines()[-1]
        assert last.endswith("is true")
        assert ("case1 = case1" if name == "same" else "case1 != case2") in last
