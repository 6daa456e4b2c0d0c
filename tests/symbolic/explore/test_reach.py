"""The reachable states, the calls and the runs to them, against the explicit graph.

Other laws stand elsewhere: that the states are the least closed set, images and counts in
`step/test_transitions.py`; that both engines find the same breaches of the definition in
`tests/test_engines_agree.py`.
"""

from __future__ import annotations

from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from engine_pairs import both, by_name, examples, replay, some_by_name
from generated.deployments import deployments
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact, Instance


@st.composite
def explored(draw):
    deployment = draw(deployments(specs=1, max_tools=2))
    try:
        return both(deployment, draw(st.sampled_from(["any", by_name(5), some_by_name(6)])), max_states=60)
    except Undecided:
        reject()


def distances(graph):
    """The number of steps from D0 to each state."""
    found, layer = {0: 0}, [0]
    while layer:
        layer = [j for j in dict.fromkeys(j for i in layer for j in graph.targets[i]) if j not in found]
        found |= dict.fromkeys(layer, max(found.values()) + 1)
    return {graph.states[i]: length for i, length in found.items()}


@settings(max_examples=examples(30))
@given(explored())
def test_successors_and_calls_are_those_of_the_graph(pair):
    graph, model = pair.explicit._graph, pair.symbolic._model
    event(f"states: {min(len(graph.states), 10)}")
    for i, state in enumerate(graph.states):
        after = {graph.states[j] for j in graph.targets[i]}
        found = list(model.successors(state))
        assert len(found) == len(after)
        assert set(found) == after
        first = {call: next(iter(agents), None) for call, agents in graph.actors[i].items()}
        assert model.selection(state) == first
        for target in after:
            leading = {call for call, j in graph.edges[i] if graph.states[j] == target}
            assert model.step_between(state, target).call in leading
            assert list(model.successors(state, model.singleton(target))) == [target]


@settings(max_examples=examples(30))
@given(explored())
def test_a_run_to_a_set_is_a_shortest_one(pair):
    graph, model = pair.explicit._graph, pair.symbolic._model
    far = distances(graph)
    assert far.keys() == set(graph.states)
    for k, state in enumerate(graph.states):
        trace = model.trace_to(model.singleton(state))
        assert trace.last == state
        assert len(trace.steps) == far[state]
        replay(pair.deployment, pair.restriction, pair.wrappers[1], trace)
        some = graph.states[k:]
        target = model.manager.disj(map(model.singleton, some)) | ~model.reached
        nearest = model.trace_to(target)  # states that are not reached are left out
        assert len(nearest.steps) == min(map(far.__getitem__, some))
        assert nearest.last in some


@settings(max_examples=examples(30))
@given(explored())
def test_membership_of_any_instance(pair):
    """Also of instances that no assignment to the state bits stands for."""
    graph, model = pair.explicit._graph, pair.symbolic._model
    facts = {fact for state in graph.states for fact in state.facts}
    stranger = Fact("none of these", ())
    for state in graph.states:
        assert model.contains(model.reached, state)
        assert not model.contains(model.manager.false, state)
        assert not model.contains(model.reached, Instance(state.schema, state.facts | {stranger}))
        for fact in facts:
            changed = Instance(state.schema, state.facts ^ {fact})
            assert model.contains(model.reached, changed) == (changed in graph.index)


@settings(max_examples=examples(30))
@given(explored(), st.data())
def test_what_is_selected_in_two_goes_is_selected_in_one(pair, data):
    """And the transitions without it are as they were."""
    model = pair.symbolic._model
    m, whole = model.manager, model.transitions
    states = data.draw(st.sets(st.sampled_from(pair.explicit._graph.states)))
    some = m.disj(map(model.singleton, sorted(states, key=str)))
    first = {name: calls & some for name, calls in whole.selected.items()}
    second = {name: calls & ~some for name, calls in whole.selected.items()}
    empty = Transitions.empty(model.encoding, model.tools, model.report, whole.actors)
    half = empty.selecting(first)
    before = (empty.parts, dict(empty.selected), half.parts, dict(half.selected))
    both_halves = half.selecting(second)
    assert before == (empty.parts, dict(empty.selected), half.parts, dict(half.selected))
    assert all(part == m.false for part in empty.parts)
    assert both_halves.selected == whole.selected
    assert both_halves.parts == whole.parts
    assert both_halves.parts == empty.selecting(whole.selected).parts
    assert half.image(model.reached) == whole.image(some & model.reached)
