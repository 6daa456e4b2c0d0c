"""The conformance cases and the paper's example: states, transitions, domain sizes, verdicts.

The folder `conformance` holds a hundred generated deployments with the answers of an independent explicit
checker, written from the definitions.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stead_sym as st
from shared_folder import shared_folder

CASES = Path(__file__).parent / "conformance"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))


def answers(deployment, agent, engine, domain="theorem"):
    """What an engine finds, in the words of the expected answers."""
    result = st.verify(deployment, agent, engine=engine, domain=domain, findings=False)
    return {
        "states": result.states,
        "transitions": result.transitions,
        "domain": dict(result.domain),
        "specs": {name: verdict.holds for name, verdict in result.verdicts.items()},
    }


def agents(deployment):
    return {"p": deployment.policy("p"), "any": "any"}


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_the_literal_restriction(case, engine):
    deployment = st.load(CASES / f"{case}.stead")
    for name, agent in agents(deployment).items():
        assert answers(deployment, agent, engine) == EXPECTED[case][name]


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_representatives(case):
    deployment = st.load(CASES / f"{case}.stead")
    for name, agent in agents(deployment).items():
        assert answers(deployment, agent, "symbolic", "normal")["specs"] == EXPECTED[case][name]["specs"]


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize(
    ("policy", "states", "transitions", "queries", "auth", "prog"),
    [
        ("baseline", 55, 72, 4, False, True),
        ("approving", 73, 90, 5, True, True),
        ("any", 217, 360, None, False, False),
    ],
)
def test_the_worked_example(policy, states, transitions, queries, auth, prog, engine):
    deployment = st.load("refund")
    agent = "any" if policy == "any" else deployment.policy(policy)
    result = st.verify(deployment, agent, engine=engine, domain="theorem")
    assert (result.states, result.transitions) == (states, transitions)
    assert result.contexts == result.queries == queries
    assert dict(result.domain) == {"case": 3, "task": 3, "service": 4, "status": 2}
    assert (result["auth"].holds, result["prog"].holds) == (auth, prog)


def test_the_cases_are_those_of_the_shared_folder():
    """They are kept twice, so that a checkout alone can run them."""
    shared = shared_folder() / "conformance"
    for path in (*shared.glob("*.stead"), shared / "expected.json"):
        assert (CASES / path.name).read_bytes() == path.read_bytes(), path.name
