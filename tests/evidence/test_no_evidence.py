"""Evidence that only looks like some: steps past a bound, other starts, values that nothing ranges over."""

from __future__ import annotations

from dataclasses import replace

import stead_sym as st
from stead_sym.evidence.replay import replay
from stead_sym.evidence.tree import Evaluated, Node, Values

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


def test_a_run_ends_past_a_bound():
    """A state past a bound is one that the deployment can reach; what comes after it nobody looks at."""
    result = st.verify(st.parse_deployment(TEXT.format(bound=2)), "any")
    evidence = result["few"].evidence
    wrappers = result.moves.wrappers
    assert replay(result.deployment, wrappers, evidence).confirmed
    assert replay(st.parse_deployment(TEXT.format(bound=1)), wrappers, evidence).confirmed
    replayed = replay(st.parse_deployment(TEXT.format(bound=0)), wrappers, evidence)
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


def test_a_value_that_is_not_there_shows_nothing():
    result = st.verify(st.parse_deployment(TEXT.format(bound=2)), "any")
    sentence = result.deployment.formula("exists x: a. ~P(x)")
    start = result["few"].evidence.root.state
    assert not st.holds(sentence, start)
    below = Node(sentence.body, True, start, {"x": "zz"}, Evaluated())
    lie = st.evidence.Evidence(Node(sentence, True, start, {}, Values((("zz", below),))))
    replayed = replay(result.deployment, result.moves.wrappers, lie)
    assert "does not range over" in replayed.fault
