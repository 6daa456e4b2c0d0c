"""Fairness of a loop of states under constraints on actions, by the concrete semantics alone.

One decision: a loop is a loop of states. A step of it may be made by every call that leads from its first
state to its second. The call may differ from the recorded one, and from round to round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import FairAction
from stead_sym.deployment.restriction import Restriction, around
from stead_sym.deployment.semantics import calls_of, leads_to, outcomes
from stead_sym.deployment.tool import Call, Tool
from stead_sym.relational.instance import Instance


class FairLoop:
    """A loop through ``states``, the first of which is also the last, under constraints on actions.

    ``possible`` returns the calls that an agent may make in a state, or for None the events that are enabled.
    """

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        actions: Sequence[FairAction],
        states: Sequence[Instance],
        possible: Callable[[Instance, str | None], frozenset[Call]],
    ) -> None:
        self._deployment = deployment
        self._restriction = restriction
        self._actions = actions
        self._states = states
        self._steps = list(pairwise(states))
        self._possible = possible
        self._enabled: dict[tuple[str, Instance], frozenset[Call]] = {}

    @property
    def fault(self) -> str:
        """The way in which the loop violates the constraints, to follow "has a loop"; empty if it is fair."""
        agents = [None, *(agent.name for agent in self._deployment.agents)]
        for number in sorted({number for number, _ in self._kept_back}):
            state = self._states[number]
            if not any(
                self._makes(number, call) for agent in agents for call in self._possible(state, agent)
            ):
                [call, *_] = sorted(call for by, call in self._kept_back if by == number)
                return (
                    f"that is not fair as `fair outcome {call.tool}` says: an alternative of {call} is"
                    " possible again and again, and never comes"
                )
        for action in self._actions:
            if broken := self._missed(action):
                return f"that is not fair as `fair {action}` says: {broken}"
        return ""

    def _missed(self, action: FairAction) -> str:
        """Return how the loop violates a constraint; empty if it does not.

        A constraint on a call, or on an agent, is violated under two conditions. It is possible in each state
        (strong: in some state, and each of its values is active in every state), and no step of the loop is
        one by it.
        """
        deployment, loop = self._deployment, self._states
        if action.kind == "outcome":
            return ""  # `_kept_back` removes the calls that violate it
        if action.kind == "agent":
            for role in deployment.agents:
                if action.name in (None, role.name):
                    calls = [self._possible(state, role.name) for state in loop]
                    turns = list(map(bool, calls))
                    if (any if action.strong else all)(turns) and not self._takes(calls):
                        return f"{role.name or 'the agent'} never makes a call"
            return ""
        tool = deployment.tool(str(action.name))
        own = [self._calls(tool, state) for state in loop]
        for call in sorted(frozenset[Call]().union(*own)):
            here = [calls & {call} for calls in own]
            waits = any(here) and self._lives(tool, call) if action.strong else all(here)
            if waits and not self._takes(here):
                often = "again and again" if action.strong else "for ever"
                return f"{call} could happen {often}, and never does"
        return ""

    @cached_property
    def _kept_back(self) -> frozenset[tuple[int, Call]]:
        """The steps by number, each with a call of a line about outcomes that cannot have made it.

        An alternative of the call is possible there and never occurs in the loop. The remaining calls meet
        these lines.
        """
        lines = {str(action.name) for action in self._actions if action.kind == "outcome"}
        tools = [self._deployment.tool(name) for name in sorted(lines)]
        made = {
            (number, call)
            for tool in tools
            for number, (state, _) in enumerate(self._steps)
            for call in self._calls(tool, state)
            if self._leads(number, call)
        }
        every = frozenset(made)
        while broken := set(self._broken(made)):
            made -= broken
        return every - made

    def _broken(self, made: set[tuple[int, Call]]) -> Iterator[tuple[int, Call]]:
        """Yield the calls that have a possible alternative which never occurs, with their step."""
        for call in {call for _, call in made}:
            tool = self._deployment.tool(call.tool)
            by = [number for number, other in made if other == call]
            if self._lives(tool, call):
                for k in range(len(tool.effects)):
                    if not any(self._leads(number, call, k) for number in by):
                        yield from ((number, call) for number in by if self._may(number, call, k))

    def _takes(self, calls: Sequence[frozenset[Call]]) -> bool:
        """Return True if some step of the loop is one by a call that is possible in the state before it."""
        return any(
            self._makes(number, call)
            for number, here in enumerate(calls[: len(self._steps)])
            for call in here
        )

    def _makes(self, number: int, call: Call) -> bool:
        return (number, call) not in self._kept_back and self._leads(number, call)

    def _leads(self, number: int, call: Call, by: int | None = None) -> bool:
        """Return True if the call leads along a step, by the alternative ``by`` if one is given."""
        state, after = self._steps[number]
        near = around(self._deployment, self._restriction, state, after)
        return leads_to(self._deployment, call, state, after, near, by=by)

    def _may(self, number: int, call: Call, by: int) -> bool:
        """Return True if an alternative of the call is possible in the state before a step."""
        state, _ = self._steps[number]
        near = around(self._deployment, self._restriction, state)
        return next(outcomes(self._deployment, call, state, near, by=by), None) is not None

    def _calls(self, tool: Tool, state: Instance) -> frozenset[Call]:
        """Return the calls of a tool, or of an event, that may happen in a state."""
        if not tool.event:
            agents = [agent.name for agent in self._deployment.agents if tool.name in agent.tools]
            possible = frozenset[Call]().union(*(self._possible(state, agent) for agent in agents))
            return frozenset(call for call in possible if call.tool == tool.name)
        key = tool.name, state
        if key not in self._enabled:
            self._enabled[key] = calls_of(self._deployment, tool, state)
        return self._enabled[key]

    def _lives(self, tool: Tool, call: Call) -> bool:
        """Return True if each argument of an unbounded sort is active in every state of the loop."""
        return all(
            self._deployment.schema.is_finite(param.sort) or value in state.active_domain[param.sort]
            for param, value in zip(tool.params, call.args, strict=True)
            for state in self._states
        )
