"""Other model checkers on what we export: the same verdicts and counts, case by case.

NuSMV and Storm check every specification. Both domains: on the literal one names last, with representatives
some specifications hold values and are checked over layers.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import families
import pytest
from peers import assert_agree, nusmv, ours, storm

import stead_sym as st
from stead_sym.agents.roles import by_agent

TESTS = Path(__file__).parents[1]
AGENTS = json.loads((TESTS / "conformance2" / "expected.json").read_text(encoding="utf-8"))
ONE = "d003 d004 d010 d014 d020 d029 d032 d036 g004 g009 g031 g035 g039 g040 g043 g047"
TWO = "v000 v001 v002 v004 v006 v009 v012 v016 v018 v022 v024 v031 v034"


def conformance():
    """Deployments with their agents."""
    for case in ONE.split(" "):
        deployment = st.load(TESTS / "conformance" / f"{case}.stead")
        agent = "any" if case[-1] in "13579" else deployment.policy("p")
        yield pytest.param(deployment, agent, id=case)
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


FAIR = """
deployment counter
sort job
relation Waiting(job)
relation Open()
bound job 1
tool rest()
tool arrive()
  guard Open() & ~exists j: job. Waiting(j)
  effect
    fresh j: job
    insert Waiting(j)
tool serve(j: job)
  guard Waiting(j)
  effect delete Waiting(j)
tool open()
  effect insert Open()
tool close()
  guard ~exists j: job. Waiting(j)
  effect clear Open
fair Open() -> ~exists j: job. Waiting(j)
fair Open() | exists j: job. Waiting(j)
spec served AG forall j: job. Waiting(j) -> AF ~Waiting(j)
spec again AG exists j: job. Waiting(j) & EF EX EF Waiting(j)
spec opened AF Open()
spec never_closes AG (Open() -> AG Open())
spec may_close EF EG ~Open()
spec comes AG (Open() -> EF exists j: job. Waiting(j))
spec same_job EF exists j: job. Waiting(j) & EF (~Waiting(j) & EF Waiting(j))
spec next_time AG forall j: job. AX (Waiting(j) | EF Waiting(j))
spec until A[~(exists j: job. Waiting(j)) U Open()]
"""


@pytest.mark.parametrize("peer", [nusmv, storm])
@pytest.mark.parametrize("domain", ["theorem", "normal"])
@pytest.mark.parametrize("fair", [True, False])
def test_fair_runs(fair, domain, peer, tmp_path):
    """The constraints change four of the verdicts, so that a peer that ignored them would be noticed."""
    text = FAIR if fair else FAIR.replace("\nfair ", "\n# fair ")
    result = st.verify(st.parse_deployment(text), "any", domain=domain, findings=False)
    export = st.exported(result)
    found = peer(export, tmp_path)
    assert_agree(found, result, export)


def test_the_constraints_matter():
    with_them, without = (
        ours(st.verify(st.parse_deployment(text), "any", findings=False)).answers
        for text in (FAIR, FAIR.replace("\nfair ", "\n# fair "))
    )
    assert {name for name in with_them if with_them[name] != without[name]} == {
        "served",
        "opened",
        "may_close",
        "until",
    }


@pytest.mark.parametrize("peer", [nusmv, storm])
@pytest.mark.parametrize("altered", ["step", "fact", "start"])
def test_an_altered_export_is_noticed(altered, peer, tmp_path):
    """One step left out, one fact taken away from a state, another state to start from."""
    refund = st.load("refund")
    result = st.verify(refund, refund.policy("approving"), domain="theorem", findings=False)
    export = st.exported(result)
    graph = export.graph
    match altered:
        case "step":
            source = next(i for i, out in enumerate(graph.steps) if len(out) > 1)
            kept = dict(list(graph.steps[source].items())[1:])
            steps = (*graph.steps[:source], kept, *graph.steps[source + 1 :])
            graph = replace(graph, steps=steps)
        case "fact":
            last = graph.states[-1]
            less = st.Instance(last.schema, frozenset(sorted(last.facts)[1:]))
            graph = replace(graph, states=(*graph.states[:-1], less))
        case "start":
            graph = replace(graph, initial=2)
    found = peer(replace(export, graph=graph), tmp_path)
    expected = replace(ours(result), nodes=found.nodes)
    assert found != expected
