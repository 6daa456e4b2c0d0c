"""The conformance cases and the paper's example: states, transitions, domain sizes, verdicts."""

from __future__ import annotations

import json

import pytest

from shared_folder import shared_folder
from stead_sym.agent.rules import RuleAgent
from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.language import read_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.explicit.check import Labelling
from stead_sym.explicit.explore import explore

CASES = shared_folder() / "conformance"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))


def wrapped(deployment, policy):
    """A policy of the file in the wrapper, relative to the constants that it names."""
    agent = RuleAgent.of(deployment, policy)
    return CanonicalWrapper(agent, deployment.schema, deployment.tools, agent.constants)


def answers(deployment, wrapper):
    """What the explicit engine finds."""
    restriction = theorem_restriction(deployment, deployment.specs)
    graph = explore(deployment, wrapper, restriction)
    labelling = Labelling(graph, restriction)
    return {
        "states": len(graph.states),
        "transitions": graph.transitions,
        "domain": dict(restriction.sizes),
        "specs": {spec.name: labelling.holds_initially(spec) for spec in deployment.specs},
    }


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_everything_offered(case):
    assert answers(read_deployment(CASES / f"{case}.stead"), None) == EXPECTED[case]["any"]


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_the_policy(case):
    deployment = read_deployment(CASES / f"{case}.stead")
    assert answers(deployment, wrapped(deployment, "p")) == EXPECTED[case]["p"]


@pytest.mark.parametrize(
    ("policy", "states", "transitions", "queries", "auth", "prog"),
    [
        ("baseline", 55, 72, 4, False, True),
        ("approving", 73, 90, 5, True, True),
        ("any", 217, 360, None, False, False),
    ],
)
def test_the_worked_example(policy, states, transitions, queries, auth, prog):
    deployment = read_deployment(shared_folder() / "examples" / "refund.stead")
    wrapper = None if policy == "any" else wrapped(deployment, policy)
    assert answers(deployment, wrapper) == {
        "states": states,
        "transitions": transitions,
        "domain": {"case": 3, "task": 3, "service": 4, "status": 2},
        "specs": {"auth": auth, "prog": prog},
    }
    assert queries == (None if wrapper is None else wrapper.queries)
