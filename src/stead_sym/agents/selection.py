"""Π(D, A) of a deployment: the possible calls of its agents in a state, and the events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.callers import caller, callers
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.semantics import offer, possible, shown
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
        wrapper = wrappers[agent.name]
        if wrapper is None:
            taken: Iterable[Call] = (call for call in calls if call.tool in agent.tools)
        else:
            contexts = decision_contexts(deployment, wrapper, state, agent, calls)
            taken = (call for context in contexts for call in wrapper.calls(context.view, context.calls))
        for call in taken:
            actors[call] = (*actors.get(call, ()), agent.name)
    return actors | dict.fromkeys((call for call in calls if deployment.tool(call.tool).event), ())


def decision_contexts(
    deployment: Deployment,
    wrapper: Wrapper | None,
    state: Instance,
    agent: AgentRole,
    calls: Collection[Call] | None = None,
) -> Iterator[DecisionContext]:
    """Yield the contexts in which an agent decides in a state.

    This is one if it is offered a call, or one for each of the many that it stands for. A view includes the
    agent's part of the past. ``calls`` are those `possible` in the state, if they are computed already.
    """
    told, known = ((), ()) if wrapper is None else (wrapper.told, wrapper.known)
    for own, offered in callers(
        deployment, agent, offer(deployment, state, agent) if calls is None else calls
    ):
        yield DecisionContext(shown(deployment, state, own, offered, told, known), offered)


def context_of(
    deployment: Deployment, wrapper: Wrapper | None, state: Instance, agent: AgentRole, call: Call
) -> DecisionContext:
    """Return the context in which an agent makes an offered call."""
    [context] = decision_contexts(deployment, wrapper, state, caller(deployment, agent, call))
    return context


def selection(
    deployment: Deployment,
    wrappers: Mapping[str, Wrapper | None],
    state: Instance,
) -> Mapping[Call, str | None]:
    """Return `selections` with the first agent that may select a call, and None for an event."""
    found = selections(deployment, wrappers, state)
    return {call: actors[0] if actors else None for call, actors in found.items()}
