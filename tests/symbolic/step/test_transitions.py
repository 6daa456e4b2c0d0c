"""Laws of image, preimage and the fixpoints, over random sets of states of generated deployments."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import both, examples, some_by_name
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.engines.symbolic.step.transitions import _chosen
from stead_sym.errors import Undecided
from stead_sym.verification.verify import verify


@st.composite
def explored(draw):
    """A pair of engines, and a function that draws a set of reachable states, twice over."""
    deployment = draw(deployments(specs=1, max_tools=2))
    agent = draw(st.sampled_from(["any", some_by_name(1)]))
    try:
        pair = both(deployment, agent, max_states=60)
    except Undecided:
        reject()
    graph = pair.explicit._graph
    model = pair.symbolic._model
    sets = []
    for _ in range(2):
        members = draw(st.sets(st.sampled_from(range(len(graph.states)))))
        states = frozenset(graph.states[i] for i in members)
        sets.append((states, model.manager.disj(map(model.singleton, sorted(states, key=str)))))
    return graph, model, sets


def members(graph, model, function):
    return frozenset(state for state in graph.states if model.contains(function, state))


def successors_of(graph, states):
    return {graph.states[t] for i, out in enumerate(graph.targets) if graph.states[i] in states for t in out}


@settings(max_examples=examples(40))
@given(explored())
def test_image_and_preimage(drawn):
    """Both are those of the explicit graph; they are adjoint, and distribute over unions."""
    graph, model, ((s, f), (x, g)) = drawn
    m, t, r = model.manager, model.transitions, model.reached
    post, pre = t.image(f), t.preimage(g) & r
    assert post & ~r == m.false
    assert members(graph, model, post) == successors_of(graph, s)
    assert members(graph, model, pre) == {
        state for i, state in enumerate(graph.states) if any(graph.states[j] in x for j in graph.targets[i])
    }
    assert (f & t.preimage(g) != m.false) == (t.image(f) & g != m.false)
    assert t.preimage(f | g) == t.preimage(f) | t.preimage(g)
    assert t.image(f | g) == t.image(f) | t.image(g)
    assert t.preimage(m.false) == t.image(m.false) == m.false
    assert t.preimage(r) & r == r  # every reachable state has a successor


@settings(max_examples=examples(40))
@given(explored())
def test_transitions_are_counted_once(drawn):
    graph, model, ((s, f), _) = drawn
    numbers = [len(set(graph.targets[i])) for i, state in enumerate(graph.states) if state in s]
    assert model.transitions.count(f) == sum(numbers)


@settings(max_examples=examples(40))
@given(explored())
def test_the_reachable_states_are_the_least_closed_set(drawn):
    graph, model, _ = drawn
    m, reached = model.manager, model.initial
    while (more := reached | model.transitions.image(reached)) != reached:
        reached = more
    assert reached == model.reached
    assert m.count(reached, model.encoding.state_bits) == len(graph.states)


@st.composite
def deployments_with_formulas(draw):
    deployment = draw(deployments(specs=1, max_tools=2))
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    signature = Signature(relations, deployment.constants)
    f, g = (draw(formulas(signature, {}, depth=2)) for _ in range(2))
    return deployment, f, g


@settings(max_examples=examples(40))
@given(deployments_with_formulas(), st.sampled_from(["theorem", "normal"]))
def test_fixpoint_identities(drawn, domain):
    """Each side of an identity holds in the same reachable states."""
    deployment, f, g = drawn
    result = verify(deployment, some_by_name(2), domain=domain)

    def same(left, right):
        everywhere = result.engine.satisfying(fo.Iff(left, right), {})
        assert everywhere.count == result.states, f"{left} is not {right}"

    eu, eg, ew = fo.Until("E", f, g), fo.Globally("E", f), fo.Until("E", f, g, weak=True)
    au, aw = fo.Until("A", f, g), fo.Until("A", f, g, weak=True)
    same(fo.Globally("A", f), fo.Not(fo.Future("E", fo.Not(f))))
    same(fo.Future("A", f), fo.Not(fo.Globally("E", fo.Not(f))))
    same(fo.Next("A", f), fo.Not(fo.Next("E", fo.Not(f))))
    same(ew, fo.Or((eu, eg)))
    same(au, fo.And((aw, fo.Future("A", g))))
    same(aw, fo.Not(fo.Until("E", fo.Not(g), fo.And((fo.Not(f), fo.Not(g))))))
    if not deployment.fair:  # on fair runs g must be followed by one
        same(eu, fo.Or((g, fo.And((f, fo.Next("E", eu))))))
        same(au, fo.Or((g, fo.And((f, fo.Next("A", au))))))
        same(eg, fo.And((f, fo.Next("E", eg))))
        same(fo.Future("E", fo.Or((f, g))), fo.Or((fo.Future("E", f), fo.Future("E", g))))
        same(fo.Globally("A", fo.And((f, g))), fo.And((fo.Globally("A", f), fo.Globally("A", g))))
        same(fo.Future("E", f), fo.Until("E", fo.Iff(f, f), f))


@pytest.mark.parametrize("apart", [True, False])
def test_selectors_are_quantified_where_that_costs_little(apart):
    """⋁_i (s = i ∧ x_i ∧ y_i). Without the selectors that takes 2^n nodes where all x_i stand above all y_i,
    and next to nothing where each y_i is below its x_i."""
    m, numbers = Manager(), range(16)
    records = [(f"s{i}", f"x{i}", f"y{i}") for i in numbers]
    selectors = [f"s{i}" for i in numbers]
    m.declare_bottom(
        [*(name for s, x, _ in records for name in (s, x)), *(y for *_, y in records)]
        if apart
        else [name for record in records for name in record]
    )
    steps = m.disj(
        m.cube({**dict.fromkeys(selectors, False), s: True}) & m.var(x) & m.var(y) for s, x, y in records
    )
    kept = _chosen(m, steps, [Vector("s", tuple(selectors), one_hot=True)])
    assert kept.dag_size <= 1.5 * steps.dag_size
    assert bool(m.support(kept) & set(selectors)) == apart
    assert m.exist(frozenset(selectors), kept) == m.exist(frozenset(selectors), steps)
