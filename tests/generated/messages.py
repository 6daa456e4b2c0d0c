"""Deployments whose agents put several calls into one message, made from generated workflows."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from generated.past import past_workflows
from generated.refusals import with_gate
from generated.workflows import workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import AgentRole, Calls


def with_own_tools(d: Deployment) -> Deployment:
    """The deployment with an `agent` item for each agent; rejected if it may make no messages."""
    assume(not any(effect.is_ensure for tool in d.written.tools for effect in tool.effects))
    assume(not d.written.fair_actions)
    own = tuple(tool.name for tool in d.written.tools if not tool.event)
    agents = d.written.agents or (AgentRole("a", own),)
    assume(sum(len(agent.tools) for agent in agents) == len({n for agent in agents for n in agent.tools}))
    return replace(d, written=replace(d.written, agents=agents), text=None)


@st.composite
def messages(draw: st.DrawFn, *, past: bool = False) -> Deployment:
    """A workflow with agents that call in batches or in parallel, behind a gate or not.

    With ``past`` there are steps and the past in its formulas.
    """
    d = with_own_tools(draw(past_workflows() if past else workflows(specs=2, max_actions=3)))
    agents = d.written.agents
    number = draw(st.integers(1, len(agents)))
    calls = st.builds(Calls, st.sampled_from([2, 2, 3]), st.booleans(), st.booleans())
    calling = (*(replace(agent, calls=draw(calls)) for agent in agents[:number]), *agents[number:])
    d = parse_deployment(str(replace(d, written=replace(d.written, agents=calling))))
    if draw(st.booleans()):
        d = under_gates(draw(with_gate(d)), "g")
    return d
