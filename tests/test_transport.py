"""Lemma "Transport", with calls over ad(D) ∪ C: renaming a state renames offers, views and outcomes."""

from __future__ import annotations

from hypothesis import assume, given, reject, settings
from hypothesis import strategies as hs

from engine_pairs import examples
from generated.deployments import deployments
from generated.workflows import workflows
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import outcomes, possible, view, within
from stead_sym.engines.explicit.explore import explore
from stead_sym.errors import SteadError


@settings(max_examples=examples(60, slow=2000))
@given(hs.one_of(deployments(), workflows()), hs.data())
def test_isomorphic_states_do_isomorphic_things(deployment, data):
    """For D in R and a permutation ι of U_f that fixes C: the calls of ι(D), of which some have values that
    no fact mentions, are those of D renamed; so are the views and the successors over U_f."""
    restriction = theorem_restriction(deployment, deployment.specs)
    anything = dict.fromkeys(role.name for role in deployment.agents)
    try:
        graph = explore(deployment, anything, restriction, max_states=300)
    except SteadError:
        reject()
    renaming = {}
    for sort, values in restriction.values.items():
        names = deployment.outside(sort, values)
        renaming |= dict(zip(names, data.draw(hs.permutations(names)), strict=True))
    assume(any(u != v for u, v in renaming.items()))
    for state in data.draw(hs.lists(hs.sampled_from(graph.states), min_size=1, max_size=4)):
        renamed = state.rename(renaming)
        calls = possible(deployment, state)
        assert possible(deployment, renamed) == {call.rename(renaming) for call in calls}
        for role in deployment.agents:
            assert view(deployment, renamed, role) == view(deployment, state, role).rename(renaming)
        for call in sorted(calls)[:3]:
            left = {s for s in outcomes(deployment, call, state, restriction) if within(restriction, s)}
            moved = outcomes(deployment, call.rename(renaming), renamed, restriction)
            assert {s for s in moved if within(restriction, s)} == {s.rename(renaming) for s in left}
