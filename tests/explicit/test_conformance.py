"""The conformance cases and the paper's example: states, transitions, domain sizes, verdicts.

The cases apply a policy as it stands. Its rules may name any constant of C, which keeps it C-equivariant, as
the theorem asks; the canonical wrapper hides the constants outside B from an agent, so that it gives
the same only for the policies that name none.
"""

from __future__ import annotations

import json

import pytest

from shared_folder import shared_folder
from stead_sym.agent.base import DecisionContext
from stead_sym.agent.rules import RuleAgent
from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.language import read_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.explicit.check import Labelling
from stead_sym.explicit.explore import explore
from stead_sym.logic.syntax import Const, Equal, subformulas

CASES = shared_folder() / "conformance"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))


class Unwrapped:
    """A rule policy applied to the contexts as they are."""

    contexts = 0

    def __init__(self, agent: RuleAgent) -> None:
        self.agent = agent

    def calls(self, view, offered):
        return self.agent.select([DecisionContext(view, offered)])[0]


def wrapped(deployment, policy):
    return CanonicalWrapper(RuleAgent.of(deployment, policy), deployment.schema, deployment.tools)


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


def names_opaque_constants(deployment, policy):
    """Whether a rule of the policy mentions a constant outside B."""
    rules = deployment.core.policy(policy).rules
    terms = [term for rule in rules for term in rule.args]
    for formula in (part for rule in rules for part in subformulas(rule.when)):
        terms += getattr(formula, "args", ())
        terms += [formula.left, formula.right] if isinstance(formula, Equal) else []
    return any(isinstance(term, Const) and term.value not in deployment.schema.rigid for term in terms)


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_everything_offered(case):
    assert answers(read_deployment(CASES / f"{case}.stead"), None) == EXPECTED[case]["any"]


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_the_policy(case):
    deployment = read_deployment(CASES / f"{case}.stead")
    unwrapped = Unwrapped(RuleAgent.of(deployment, "p"))
    assert answers(deployment, unwrapped) == EXPECTED[case]["p"]


def test_the_wrapper_preserves_policies_that_name_no_opaque_constant():
    deployments = {case: read_deployment(CASES / f"{case}.stead") for case in EXPECTED}
    cases = [case for case, d in deployments.items() if not names_opaque_constants(d, "p")]
    assert len(cases) > 20
    for case in cases:
        assert answers(deployments[case], wrapped(deployments[case], "p")) == EXPECTED[case]["p"], case


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
