"""Π(D, A) of a deployment: what its agents may do in a state, and what happens without them."""

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
    """The policy Π of one agent as an engine needs it: from what is shown and offered, the calls it may
    select.

    ``contexts`` counts the canonical decision contexts met so far. ``told`` are the relations by which the
    agent is told of the past, ``known`` the values that it has by name.
    """

    @property
    def contexts(self) -> int: ...
    @property
    def told(self) -> Collection[str]: ...
    @property
    def known(self) -> Collection[Value]: ...

    def calls(self, view: Instance, offered: frozenset[Call]) -> frozenset[Call]: ...


def selections(
    deployment: Deployment,
    wrappers: Mapping[str, Wrapper | None],
    state: Instance,
    calls: frozenset[Call] | None = None,
) -> Mapping[Call, tuple[str, ...]]:
    """Π(D, A): the calls that may be made in D, each with all agents that may select it, and the enabled
    events, each with none.

    Π(D, A) is the union of what each agent selects among the calls of its tools, if it is offered any, and
    of all enabled events. ``wrappers`` has the policy of every agent, None for one that selects everything
    it is offered. ``calls`` are the `possible` ones in D, for a caller that knows them.
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
    """What a wrapped agent is shown in a state, and is told of the past."""
    told, known = ((), ()) if wrapper is None else (wrapper.told, wrapper.known)
    return shown(deployment, state, agent, offered, told, known)


def selection(
    deployment: Deployment,
    wrappers: Mapping[str, Wrapper | None],
    state: Instance,
) -> Mapping[Call, str | None]:
    """`selections` with the first of the agents that may select a call, and None for an event."""
    found = selections(deployment, wrappers, state)
    return {call: actors[0] if actors else None for call, actors in found.items()}
