"""Lassos are as short as can be: against all lassos of the explicit graph, found by breadth-first search."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import both, by_name, examples
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.errors import Undecided
from stead_sym.evidence.build import entered_early
from stead_sym.evidence.tree import runs
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema


def distances(graph, start, among):
    """The length of a shortest run of one step or more from a state to each of ``among``, through them."""
    found, queue = {}, deque([(start, 0)])
    while queue:
        source, length = queue.popleft()
        for target in graph.targets[source]:
            if target in among and target not in found:
                found[target] = length + 1
                queue.append((target, length + 1))
    return found


def least_lasso(graph, start, among):
    """The number of steps of a shortest lasso from ``start`` through ``among``; None where there is none."""
    ways = {start: 0, **{state: n for state, n in distances(graph, start, among).items() if state != start}}
    lengths = [
        way + loop
        for state, way in ways.items()
        if (loop := distances(graph, state, among).get(state)) is not None
    ]
    return min(lengths, default=None)


@st.composite
def deployments_with_formula(draw):
    deployment = draw(deployments(specs=1))
    deployment = replace(deployment, written=replace(deployment.written, fair=()))
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    return deployment, draw(formulas(Signature(relations, deployment.constants), {}, depth=2))


# A token that moves along the edges of a graph.
TOKEN = """
deployment token
sort k = 0..7
relation At(k)
relation Edge(k, k)
init
  At(0)
  {edges}
tool move(x: k, y: k)
  guard At(x) & Edge(x, y)
  effect
    clear At
    insert At(y)
spec s EG true
"""


def assert_shortest(deployment, agent, body):
    try:
        pair = both(deployment, agent)
    except Undecided:
        reject()
    formula = fo.Globally("E", body)
    graph = pair.explicit._graph
    among = {graph.index[state] for state in pair.explicit.satisfying(body, {}).states}
    least = least_lasso(graph, 0, among) if 0 in among else None
    assert pair.explicit.holds(formula) == (least is not None)
    if least is None:
        reject()
    event(f"{min(least, 6)} steps")
    for engine in pair:
        run = engine.evidence(formula, True).root.reason
        assert len(run.steps) == least, engine.name


@settings(max_examples=examples(60))
@given(deployments_with_formula(), st.one_of(st.just("any"), st.integers(0, 9).map(by_name)))
def test_a_lasso_is_a_shortest_one(drawn, agent):
    assert_shortest(drawn[0], agent, drawn[1])


nodes = st.integers(0, 7)


@settings(max_examples=examples(60))
@given(st.lists(st.lists(nodes, min_size=1, max_size=2), min_size=8, max_size=8), st.sets(nodes, max_size=2))
def test_a_lasso_on_a_graph_is_a_shortest_one(targets, avoided):
    edges = (f"Edge({x}, {y})" for x, ahead in enumerate(targets) for y in sorted(set(ahead)))
    deployment = parse_deployment(TOKEN.format(edges="\n  ".join(edges)))
    body = deployment.formula(" & ".join(f"~At({value})" for value in sorted(avoided)) or "true")
    assert_shortest(deployment, "any", body)


@settings(max_examples=examples(60))
@given(
    st.lists(st.lists(nodes, min_size=1, max_size=3), min_size=8, max_size=8),
    st.lists(st.sets(nodes, min_size=1, max_size=3), min_size=1, max_size=3),
    nodes,
)
def test_a_lasso_on_a_graph_meets_every_constraint(targets, constraints, begin):
    """Wherever on the graph it begins."""
    edges = (f"Edge({x}, {y})" for x, ahead in enumerate(targets) for y in sorted(set(ahead)))
    met = [" | ".join(f"At({value})" for value in sorted(values)) for values in constraints]
    text = TOKEN.format(edges="\n  ".join(edges)) + "".join(f"fair {condition}\n" for condition in met)
    deployment = parse_deployment(text)
    pair = both(deployment, "any")
    formula = deployment.formula(f"EF (At({begin}) & EG true)")
    if not pair.explicit.holds(formula):
        reject()
    for engine in pair:
        lassos = [run for _, run in runs(engine.evidence(formula, True)) if run.ends is None]
        assert lassos
        for run in lassos:
            loop = [step.state for step in run.steps[run.loop :]]
            event(f"loop of {min(len(loop), 4)} states")
            for values in constraints:
                met = any((str(value),) in state.tuples("At") for state in loop for value in values)
                assert met, engine.name


def test_a_loop_begins_with_the_first_step_that_is_in_it():
    """The step before the loop is its last, from the same state; one like it from elsewhere stays."""

    def steps(*numbers):
        return tuple(Step(Call(f"to{n}", ()), state(n)) for n in numbers)

    def state(number):
        return Instance(Schema((), (Relation(f"P{number}", ()),)), frozenset({Fact(f"P{number}", ())}))

    assert entered_early(state(1), steps(1, 1), 1) == (steps(1), 0)
    assert entered_early(state(0), steps(1, 2, 3, 2, 3), 3) == (steps(1, 2, 3, 2), 2)
    assert entered_early(state(0), steps(1, 2, 3, 2), 2) == (steps(1, 2, 3, 2), 2)
