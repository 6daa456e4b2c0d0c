"""Agents that are many and alike: `agent worker for each w: worker`.

One decision: who calls is an argument of the call, the parameter `self` that each tool of such an agent has.
So in a state D the agent stands for one agent per value w of its sort, with

    offer_w(D)  =  { ω(u) ∈ Offer(D) : u has w for self },
    view_w(D)   =  { P(u) ∈ D : D ⊨ g(u) with w for self, for a line `view P(x) where g` },

and selects ⋃_w Π(view_w(D), offer_w(D)), Π being the same for all w. A w that is offered nothing is not
asked, so w is active, or a value of a finite sort. The context of w shows who it is in every call, and two
workers whose contexts are isomorphic share one canonical context: Π^can is equivariant for each of them, and
so is the union.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import SELF, AgentRole
from stead_sym.deployment.tool import Call, Tool
from stead_sym.deployment.trace import Step
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


def self_place(tool: Tool) -> int:
    """Return the place of the parameter `self` of a tool that has it."""
    return [param.name for param in tool.params].index(SELF)


def caller(deployment: Deployment, role: AgentRole, call: Call) -> AgentRole:
    """Return the agent that makes a call: ``role``, or that of the many which the call names."""
    if role.each is None or call.tool not in role.tools:
        return role
    return replace(role, me=call.args[self_place(deployment.tool(call.tool))])


def callers(
    deployment: Deployment, role: AgentRole, calls: Collection[Call]
) -> Iterator[tuple[AgentRole, frozenset[Call]]]:
    """Yield the agents that are offered some of these calls, each with those that it is offered.

    This is at most the agent itself, or those of the many that it stands for, or of these only ``me``.
    """
    offered: dict[Value | None, set[Call]] = {}
    for call in calls:
        if call.tool in role.tools:
            who = caller(deployment, role, call).me
            if role.me in (None, who):
                offered.setdefault(who, set()).add(call)
    for who in sorted(offered, key=str):
        yield role if role.me == who else replace(role, me=who), frozenset(offered[who])


def itself(role: AgentRole) -> Mapping[str, Value]:
    """Return the value of `self` for one of many agents; nothing for any other agent."""
    return {} if role.me is None else {SELF: role.me}


def called_by(role: AgentRole, tool: Tool) -> Tool:
    """Return the tool as it is offered to one of many agents: its guard also says `self = me`."""
    if role.me is None:
        return tool
    return replace(tool, guard=fo.conjunction((fo.Equal(fo.Var(SELF), fo.Const(role.me)), tool.guard)))


def step_by(deployment: Deployment, call: Call, after: Instance, actor: str | None) -> Step:
    """Return the step by a call of an agent with this name, or by an event for None."""
    role = next((role for role in deployment.agents if role.name == actor), None)
    return Step(call, after, actor, None if role is None else caller(deployment, role, call).me)
