"""Evidence past a bound is none: the verdicts say nothing about such steps."""

from __future__ import annotations

from dataclasses import replace

import stead_sym as st
from stead_sym.evidence.replay import replay

TEXT = """
deployment growing
sort a
relation P(a)
bound a {bound}
tool more()
  guard ~atleast 2 x. P(x)
  effect
    fresh x: a
    insert P(x)
tool rest()
spec few AG ~atleast 2 x. P(x)
"""


def test_a_step_past_a_bound_shows_nothing():
    result = st.verify(st.parse_deployment(TEXT.format(bound=2)), "any")
    evidence = result["few"].evidence
    wrappers = result.moves.wrappers
    assert replay(result.deployment, wrappers, evidence).confirmed
    smaller = st.parse_deployment(TEXT.format(bound=1))
    replayed = replay(smaller, wrappers, evidence)
    assert not replayed.confirmed
    assert "step 2, more()" in replayed.fault
    assert "past a bound" in replayed.fault


def test_a_run_that_begins_elsewhere_shows_nothing():
    result = st.verify(st.parse_deployment(TEXT.format(bound=2)), "any")
    deployment = st.parse_deployment(TEXT.format(bound=2).replace("bound a", "init P(c0)\nbound a"))
    replayed = replay(deployment, result.moves.wrappers, result["few"].evidence)
    assert "no initial state" in replayed.fault


def test_evidence_of_another_claim_shows_nothing():
    result = st.verify(st.parse_deployment(TEXT.format(bound=2)), "any")
    root = result["few"].evidence.root
    evidence = replace(result["few"].evidence, root=replace(root, holds=True))
    assert not replay(result.deployment, result.moves.wrappers, evidence).confirmed
