"""Π(D, A) of a deployment: the possible calls of its agents in a state, and the events."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.semantics import possible, shown
from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


class Wrapper(Protocol):
    """The policy Π of one agent, for engines: from the view and the offer to the selected calls.

    ``contexts`` is the number of canonical decision contexts so far. ``told`` are the relations of the past
    in the agent's view, ``known`` the values that it knows by name.
    """

    @property
    def contexts(self) -> int:
        """The number of canonical decision contexts so far."""
        ...

    @property
    def told(self) -> Collection[str]:
        """The relations of the past in the agent's view."""
        ...

    @property
    def known(self) -> Collection[Value]:
        """The values that the agent knows by name."""
        ...

    def calls(self, view: Instance, offered: frozenset[Call]) -> frozenset[Call]:
        """Return the selected calls."""
        ...


def selections(
    deployment: Deployment,
    wrappers: Mapping[str, Wrapper | None],
    state: Instance,
    calls: frozenset[Call] | None = None,
) -> Mapping[Call, tuple[str, ...]]:
    """Return Π(D, A): the possible calls in D with their agents, and the enabled events with none.

    Each call comes with all agents that may select it. Π(D, A) is the union of each agent's selection among
    the calls of its tools, if it is offered any, and of all enabled events. ``wrappers`` has the policy of
    every agent, None for one that selects everything it is offered. ``calls`` are the `possible` ones in D,
    if the caller has computed them.
    """
    calls = possible(deployment, state) if calls is None else calls
    actors: dict[Call, tuple[str, ...]] = {}
    for agent in deployment.agents:
        if offered := frozenset(call for call in calls if call.tool in agent.tools):
            wrapper = wrappers[agent.name]
            context = presented(deployment, wrapper, state, agent, offered)
            taken = offered if wrapper is None else wrapper.calls(context, offered)
            for call in taken:
                actors[call] = (*actors.get(call, ()), agent.name)
    return actors | dict.fromkeys((call for call in calls if deployment.tool(call.tool).event), ())


def presented(
    deployment: Deployment,
    wrapper: Wrapper | None,
    state: Instance,
    agent: AgentRole,
    offered: frozenset[Call],
) -> Instance:
    """Return the view of a wrapped agent in a state, including its part of the past."""
    told, known = ((), ()) if wrapper is None else (wrapper.told, wrapper.known)
    return shown(deployment, state, agent, offered, told, known)


def selection(
    deployment: Deployment,
    wrappers: Mapping[str, Wrapper | None],
    state: Instance,
) -> Mapping[Call, str | None]:
    """Return `selections` with the first agent that may select a call, and None for an event."""
    found = selections(deployment, wrappers, state)
    return {call: actors[0] if actors else None for call, actors in found.items()}
