"""NuSMV and Storm on exports of generated deployments and formulas: the same verdicts and counts.

Deployments whose values die are asked with representatives, with and without fairness: there exports have
layers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as some
from peers import assert_agree, nusmv, storm

import stead_sym as st
from engine_pairs import examples
from generated.deployments import deployments
from generated.mortality import mortal_deployments
from generated.past import past_workflows
from generated.workflows import workflows

PEERS = pytest.mark.parametrize("peer", [nusmv, storm])
MAX_STATES, MAX_NODES = 150, 1500


def assert_peer_agrees(peer, deployment, agent="any", **options):
    """The peer finds what we find; the example is given up where it is too large, or its `fair` lines leave
    finite runs out, which no export does."""
    try:
        result = st.verify(deployment, agent, findings=False, **options)
        if result.engine.hidden is not None:
            reject()
        export = st.exported(result, MAX_STATES)
    except (st.errors.Undecided, st.errors.DefinitionError, st.errors.NoInitialState):
        reject()
    if len(export.nodes.nodes) > MAX_NODES:
        reject()
    held = max(map(len, export.layers))
    event(f"{held} values held{', fair runs' * bool(export.fair)}")
    with TemporaryDirectory() as folder:
        assert_agree(peer(export, Path(folder)), result, export)


@PEERS
@settings(max_examples=examples(20))
@given(deployment=deployments())
def test_the_literal_domain(peer, deployment):
    assert_peer_agrees(peer, deployment, engine="explicit", max_states=MAX_STATES)


@PEERS
@settings(max_examples=examples(20))
@given(deployment=deployments())
def test_representatives(peer, deployment):
    assert_peer_agrees(peer, deployment, deployment.policy("p"))


@PEERS
@settings(max_examples=examples(15))
@given(deployment=workflows())
def test_events_and_several_agents(peer, deployment):
    assert_peer_agrees(peer, deployment)


@PEERS
@settings(max_examples=examples(40))
@given(deployment=mortal_deployments(specs=4))
def test_values_that_die(peer, deployment):
    assert_peer_agrees(peer, deployment)


@PEERS
@settings(max_examples=examples(15))
@given(deployment=past_workflows())
def test_steps_and_the_past(peer, deployment):
    assert_peer_agrees(peer, deployment)


CONSTRAINTS = ("F()", "~F()", "exists x. P(x)", "exists x. Q(x)", "~exists x. P(x)")


@PEERS
@settings(max_examples=examples(40))
@given(
    deployment=mortal_deployments(specs=4, variables=2),
    texts=some.lists(some.sampled_from(CONSTRAINTS), min_size=1, max_size=2),
)
def test_values_that_die_on_fair_runs(peer, deployment, texts):
    fair = tuple(deployment.formula(text) for text in texts)
    assert_peer_agrees(peer, replace(deployment, written=replace(deployment.written, fair=fair)))
