"""Generated deployments of every kind with agents for them, as tests of certificates take them."""

from __future__ import annotations

from hypothesis import strategies as st

from engine_pairs import by_name, some_by_name
from generated.deployments import deployments
from generated.guess_breakers import crowded_relations, named_after_others, short_of_room
from generated.messages import messages
from generated.mortality import mortal_deployments
from generated.past import past_workflows
from generated.refusals import refused_workflows
from generated.workflows import workflows
from stead_sym.errors import AgentError, DefinitionError, NoInitialState
from whole import verify

PROFILES = {
    "deployments": deployments(),
    "mortality": mortal_deployments(),
    "workflows": workflows(specs=3),
    "crowded": crowded_relations(),
    "named": named_after_others(),
    "room": short_of_room(),
    "past": past_workflows(),
    "refusals": refused_workflows(),
    "messages": messages(past=True),
}
"""By name the kinds of deployments that are generated."""

KINDS = st.tuples(*[st.sampled_from(("any", "p", "one", "some"))] * 3)
"""The kinds of up to three agents: everything, the policy `p`, or a function that looks at names."""

DOMAINS = ("normal", "theorem")


def given_agents(deployment, kinds):
    """The agents of a deployment; `p` where it has such a policy."""
    agents = {}
    for role, kind in zip(deployment.agents, kinds, strict=False):
        policies = {policy.name for policy in role.policies}
        chosen = "any" if kind == "p" and "p" not in policies else kind
        agents[role.name] = {"one": by_name(1), "some": some_by_name(2)}.get(chosen, chosen)
    return agents


def solved(deployment, agents, domain, **options):
    """The result, or None where the deployment breaks its definition, or a policy selects nothing."""
    try:
        return verify(deployment, agents, domain=domain, findings=False, **options)
    except (AgentError, DefinitionError, NoInitialState):
        return None
