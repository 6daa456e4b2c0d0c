"""Three other model checkers on what we export: the same verdicts and counts, case by case.

NuSMV and Storm are asked every specification, Spin those that linear time can say. Both domains: on the
literal one names last, with representatives some specifications hold values and are asked over layers.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import families
import pytest
from peers import nusmv, ours, storm

import stead_sym as st
from stead_sym.agent.roles import by_agent

TESTS = Path(__file__).parents[1]
AGENTS = json.loads((TESTS / "conformance2" / "expected.json").read_text(encoding="utf-8"))
ONE = "d003 d004 d010 d014 d020 d029 d032 d036 g004 g009 g031 g035 g039 g040 g043 g047"
TWO = "v000 v001 v002 v004 v006 v009 v012 v016 v018 v022 v024 v031 v034"


def assert_agree(found, result, export):
    """The peer has our verdicts and our counts."""
    expected = ours(result)
    assert found.answers == expected.answers
    assert replace(found, answers={}, nodes=0) == replace(expected, answers={}, nodes=0)
    assert found.nodes == len(export.nodes.nodes)


def conformance():
    """Deployments with their agents."""
    for case in ONE.split(" "):
        deployment = st.load(TESTS / "conformance" / f"{case}.stead")
        yield pytest.param(deployment, deployment.policy("p"), id=f"{case}-p")
        yield pytest.param(deployment, "any", id=f"{case}-any")
    for case in TWO.split(" "):
        deployment = st.load(TESTS / "conformance2" / f"{case}.stead")
        yield pytest.param(deployment, by_agent(deployment, AGENTS[case]["agents"]), id=case)
    refund = st.load("refund")
    for policy in ("baseline", "approving"):
        yield pytest.param(refund, refund.policy(policy), id=f"refund-{policy}")
    yield pytest.param(refund, "any", id="refund-any")


@pytest.mark.parametrize("peer", [nusmv, storm])
@pytest.mark.parametrize("domain", ["theorem", "normal"])
@pytest.mark.parametrize(("deployment", "agent"), list(conformance()))
def test_every_verdict_and_count(deployment, agent, domain, peer, tmp_path):
    result = st.verify(deployment, agent, domain=domain, findings=False)
    export = st.exported(result)
    assert_agree(peer(export, tmp_path), result, export)


@pytest.mark.parametrize("peer", [nusmv, storm])
def test_two_desks(peer, tmp_path):
    """Its six specifications, with the values that they hold."""
    result = st.verify(families.desks(2), "any", findings=False)
    export = st.exported(result)
    assert_agree(peer(export, tmp_path), result, export)
