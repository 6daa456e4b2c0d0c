"""The labelling against runs followed by hand, and the runs that it gives as evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Parts
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import Graph, explore
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

PLACES = tuple(f"n{i}" for i in range(5))
SCHEMA = Schema((Sort("n", PLACES),), (Relation("At", ("n",)), Relation("F", ()), Relation("G", ())))
F, G = fo.Atom("F"), fo.Atom("G")
EMPTY = Instance(SCHEMA, frozenset())
CALL = Call("go", ())


@st.composite
def graphs(draw):
    """A graph of 1 to 5 states, each with a successor, in which F and G hold here and there."""
    n = draw(st.integers(1, 5))
    states = []
    for place in PLACES[:n]:
        facts = [Fact("At", (place,)), *(Fact(name, ()) for name in "FG" if draw(st.booleans()))]
        states.append(Instance(SCHEMA, frozenset(facts)))
    targets = st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True)
    return graph_of(states, [draw(targets) for _ in states])


def graph_of(states, targets, fair=()):
    deployment = Deployment("graph", states[0].schema, states[0], {}, Parts(fair=tuple(fair)))
    edges = tuple(tuple((CALL, target) for target in out) for out in targets)
    nothing = (frozenset(),) * len(states)
    actors = ({CALL: ("",)},) * len(states)
    return Graph(deployment, 1, tuple(states), edges, nothing, actors)


def labelled(graph):
    return Labelling(graph, theorem_restriction(graph.deployment, ()))


def lassos(graph, path):
    """The states, each once, of every run after ``path`` that closes a loop at its first repetition."""
    for target in graph.targets[path[-1]]:
        if target in path:
            yield path
        else:
            yield from lassos(graph, [*path, target])


def on_run(formula, run, where):
    """Return if X, F, G, U or W holds of a run, ``where(g)`` being the states of g."""
    match formula:
        case fo.Future(_, g):
            return any(i in where(g) for i in run)
        case fo.Globally(_, f):
            return all(i in where(f) for i in run)
        case fo.Until(_, f, g, weak):
            for i in run:
                if i in where(g):
                    return True
                if i not in where(f):
                    return False
            return weak
    raise AssertionError(formula)


OPERATORS = [fo.Future("E", G), fo.Future("A", G), fo.Globally("E", F), fo.Globally("A", F)] + [
    fo.Until(path, F, G, weak) for path in "EA" for weak in (False, True)
]


@given(graphs(), st.sampled_from(OPERATORS))
def test_a_temporal_operator_quantifies_over_the_runs(graph, formula):
    """On a finite graph runs that close at the first repetition witness or refute each single operator."""

    def where(f):
        return {i for i, state in enumerate(graph.states) if Fact(f.relation, ()) in state}

    found = labelled(graph).satisfying(formula)
    for i, state in enumerate(graph.states):
        verdicts = [on_run(formula, run, where) for run in lassos(graph, [i])]
        assert (state in found) == (any(verdicts) if formula.path == "E" else all(verdicts))


@given(graphs())
def test_next(graph):
    labelling = labelled(graph)
    for state, out in zip(graph.states, graph.targets, strict=True):
        now = [Fact("F", ()) in graph.states[target] for target in out]
        assert labelling.holds(fo.Next("E", F), state) == any(now)
        assert labelling.holds(fo.Next("A", F), state) == all(now)


@given(graphs())
def test_boolean_connectives(graph):
    labelling = labelled(graph)
    for state in graph.states:
        f, g = Fact("F", ()) in state, Fact("G", ()) in state
        assert labelling.holds(fo.Not(F), state) == (not f)
        assert labelling.holds(F & G, state) == (f and g)
        assert labelling.holds(F | G, state) == (f or g)
        assert labelling.holds(fo.Implies(F, G), state) == (not f or g)
        assert labelling.holds(fo.Iff(F, G), state) == (f == g)


def successor(graph, step, before):
    return graph.index[step.state] in graph.targets[graph.index[before]]


@given(graphs())
def test_evidence_is_a_run_of_the_graph(graph):
    labelling = labelled(graph)
    for state in graph.states:
        if labelling.holds(fo.Next("E", F), state):
            step = labelling.step(F, state)
            assert successor(graph, step, state)
            assert Fact("F", ()) in step.state
        if labelling.holds(fo.Until("E", F, G), state):
            run = [state, *(step.state for step in labelling.until(F, G, state))]
            steps = labelling.until(F, G, state)
            assert all(successor(graph, s, before) for s, before in zip(steps, run, strict=False))
            assert [Fact("G", ()) in s for s in run] == [False] * (len(run) - 1) + [True]
            assert all(Fact("F", ()) in s for s in run[:-1])
            assert len(set(run)) == len(run)
        if labelling.holds(fo.Globally("E", F), state):
            steps, loop = labelling.forever(F, state)
            run = [state, *(step.state for step in steps)]
            assert all(successor(graph, s, before) for s, before in zip(steps, run, strict=False))
            assert all(Fact("F", ()) in s for s in run)
            assert loop < len(steps)
            assert run[loop] == run[-1]


def test_evidence_that_does_not_exist_is_refused():
    states = [EMPTY, Instance(SCHEMA, frozenset({Fact("F", ())}))]
    labelling = labelled(graph_of(states, [[1], [1]]))
    with pytest.raises(ValueError, match="does not hold"):
        labelling.step(G, EMPTY)
    with pytest.raises(ValueError, match="does not hold"):
        labelling.until(F, G, states[1])
    with pytest.raises(ValueError, match="no run stays"):
        labelling.forever(G, EMPTY)


def test_fairness_restricts_the_runs():
    """0 may loop or go to 1, from where runs come back; fair runs visit both F (0) and G (1) for ever."""
    states = [
        Instance(SCHEMA, frozenset({Fact("F", ())})),
        Instance(SCHEMA, frozenset({Fact("G", ())})),
        EMPTY,
    ]
    targets = [[0, 1, 2], [0, 1], [2]]
    free, fair = labelled(graph_of(states, targets)), labelled(graph_of(states, targets, [F, G]))
    assert free.holds(fo.Globally("E", F), states[0])
    assert not fair.holds(fo.Globally("E", F), states[0])
    assert not free.holds(fo.Future("A", G), states[0])
    assert fair.holds(fo.Future("A", G), states[0])
    assert not fair.holds(fo.Next("E", fo.Not(F | G)), states[0])  # no fair run starts in state 2
    assert fair.holds(fo.Globally("A", F | G), states[0])
    steps, loop = fair.forever(F | G, states[0])
    repeated = {step.state for step in steps[loop:]}
    assert repeated == {states[0], states[1]}
    assert [s.state for s in steps][-1] == (steps[loop - 1].state if loop else states[0])


JOBS = """
deployment jobs
sort job
relation Waiting(job)
relation Done(job)
bound job 1
tool take()
  guard (~exists x: job. true)
  effect
    fresh x: job
    insert Waiting(x)
tool finish(x: job)
  guard Waiting(x)
  effect
    clear Waiting
    insert Done(x)
tool forget()
  guard exists x. Done(x)
  effect
    clear Done
"""


def jobs_hold(text):
    deployment = parse_deployment(f"{JOBS}spec s\n  {text}\n", "jobs.stead")
    restriction = theorem_restriction(deployment, deployment.specs)
    graph = explore(deployment, {"": None}, restriction)
    return Labelling(graph, restriction).holds_initially(deployment.spec("s").formula)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        # quantifiers range over what is active where they stand
        ("forall x: job. false", True),
        ("EX exists x. Waiting(x)", True),
        ("exists x: job. EX Waiting(x)", False),
        # the value stays the same after it has left the state, and it may come back
        ("AX forall x. Waiting(x) -> AX Done(x)", True),
        ("AX forall x. Waiting(x) -> AX AX AX ~Waiting(x)", False),
        ("AX forall x. Waiting(x) -> AX AX AX Waiting(x)", False),
        ("AX forall x. Waiting(x) -> AX AX EX Waiting(x)", True),
        ("AX forall x. Waiting(x) -> AX AX ~exists y: job. y = x", True),
        # equality compares identifiers, active or not; an atom of an inactive value is false
        ("AX forall x. Waiting(x) -> AX AX (x = x & ~Waiting(x) & ~Done(x))", True),
        ("AX forall x. Waiting(x) -> AX AX AX forall y. Waiting(y) -> y = x", False),
        ("AX forall x. Waiting(x) -> AX AX EX forall y. Waiting(y) -> y != x", True),
        # an inner variable of the same name hides the outer one
        ("AX exists x. Waiting(x) & AX AX AX exists x. Waiting(x)", True),
        # counting
        ("AG atmost 1 x: job. true", True),
        ("AG exactly 1 x: job. true", False),
        ("AF exactly 1 x. Waiting(x)", True),
        ("AG atleast 0 x. Waiting(x)", True),
        ("EF atleast 2 x: job. true", False),
        # a definition-like mix of path quantifiers
        ("AG (exists x. Waiting(x)) -> A[(exists x. Waiting(x)) U exists x. Done(x)]", True),
        ("A[(forall x: job. Waiting(x)) W exists x. Done(x)]", True),
        ("A[(forall x: job. Waiting(x)) W false]", False),
    ],
)
def test_sentences_about_jobs(text, verdict):
    assert jobs_hold(text) == verdict


def test_definitions_are_expanded():
    text = JOBS + "define busy() = exists x. Waiting(x)\nspec s\n  AX busy()\n"
    deployment = parse_deployment(text, "jobs.stead")
    restriction = theorem_restriction(deployment, deployment.specs)
    labelling = Labelling(explore(deployment, {"": None}, restriction), restriction)
    assert labelling.holds_initially(deployment.spec("s").formula)


def test_an_assignment_for_the_free_variables():
    deployment = parse_deployment(JOBS, "jobs.stead")
    restriction = theorem_restriction(deployment, (), {"job": 3})
    graph = explore(deployment, {"": None}, restriction)
    labelling = Labelling(graph, restriction)
    done_next = deployment.formula("AX Done(x)", {"x": "job"})
    for value in restriction.values["job"]:
        waiting = Instance(deployment.schema, frozenset({Fact("Waiting", (value,))}))
        assert labelling.satisfying(done_next, {"x": value}) == {waiting}
        assert labelling.holds(done_next, waiting, {"x": value})
        assert not labelling.holds(done_next, deployment.init, {"x": value})
