"""Agents that put several calls into one message: `calls batch n`.

One decision: a message is facts of the state. Of an agent with the tools ω and at most n calls in a message,

    ω@i(u)      the i-th call of its message is ω(u), and it is not carried out yet
    ω(u)        by the agent: writes ω@i(u) for the first free place i, and changes nothing else
    ω@message   an event: does what ω(u) does for the first call of the message, and removes this call

The places fill from 1 and empty from 1. So a message is being written if 1 is full, and carried out if 1 is
empty and another is full. Until all are empty nothing else happens: the calls of a message are decided on one
state of the database, and nobody comes between them. When its turn comes a call has to pass the guard and the
gates again; otherwise it is refused, and its message goes on without it or, with `on refusal stop`, ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.tool import Clear, Delete, Effect, Ensure, Insert, Tool, carrying
from stead_sym.logic.syntax import (
    TRUE,
    Atom,
    Binder,
    Exists,
    Formula,
    Not,
    Same,
    Var,
    conjunction,
    disjunction,
)
from stead_sym.relational.schema import Relation, message_place

MOST_CALLS = 3
"""The most calls that a message may have: each place is a relation for each tool."""


def message_relations(agents: Iterable[AgentRole], tools: Iterable[Tool]) -> tuple[Relation, ...]:
    """Return the relations that hold the messages of these agents."""
    by_name = {tool.name: tool for tool in tools}
    return tuple(
        Relation(message_place(name, place), tuple(param.sort for param in by_name[name].params))
        for agent in agents
        if agent.calls is not None
        for name in agent.tools
        for place in range(1, agent.calls.most + 1)
    )


def in_messages(agents: Sequence[AgentRole], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return expanded tools as messages have them; the tools themselves if every agent makes single calls."""
    if any(tool.carries for tool in tools):
        return tuple(tools)
    messages = [_Messages(agent, tools) for agent in agents if agent.calls is not None]
    if not messages:
        return tuple(tools)
    idle = conjunction(tuple(message.idle for message in messages))
    kept = tuple(Ensure(Same(r.name)) for r in message_relations(agents, tools))
    found: list[Tool] = []
    for tool in tools:
        own = next((message for message in messages if tool.name in message.agent.tools), None)
        if own is None:
            effects = (
                replace(e, statements=(*e.statements, *kept)) if e.is_ensure else e for e in tool.effects
            )
            found.append(replace(tool, guard=_both(tool.guard, idle), effects=tuple(effects)))
        else:
            others = conjunction(tuple(message.idle for message in messages if message is not own))
            found += (own.writing(tool, others), own.carrying(tool))
    return tuple(found)


class _Messages:
    """The messages of one agent."""

    def __init__(self, agent: AgentRole, tools: Iterable[Tool]) -> None:
        assert agent.calls is not None
        self.agent, self.most, self.stops = agent, agent.calls.most, agent.calls.stops
        self.places = range(1, self.most + 1)
        own = [tool for tool in tools if tool.name in agent.tools]
        self.full = {
            place: disjunction(tuple(self._some(tool, place) for tool in own)) for place in self.places
        }
        self.relations = tuple(message_place(tool.name, place) for tool in own for place in self.places)
        self.idle = self._none_before(self.most + 1)

    def writing(self, tool: Tool, others: Formula) -> Tool:
        """Return the tool that writes a call; ``others`` is true if no other agent has a message."""
        may_write = conjunction((Not(self.full[self.most]), disjunction((self.full[1], self.idle))))
        effects = tuple(
            Effect(
                (Insert(self._atom(tool, place)),),
                conjunction((*((self.full[place - 1],) if place > 1 else ()), Not(self.full[place]))),
            )
            for place in self.places
        )
        return replace(tool, guard=_both(tool.guard, others, may_write), effects=effects)

    def carrying(self, tool: Tool) -> Tool:
        """Return the event that carries a call out."""
        removed = tuple(
            Delete(self._atom(tool, place), where=self._none_before(place)) for place in self.places
        )
        ended = (Clear(self.relations),) if self.stops else removed
        effects = [
            replace(
                e,
                when=_both(tool.guard, e.when),
                statements=ended if e.refused else (*e.statements, *removed),
            )
            for e in tool.effects
        ]
        if tool.guard != TRUE:
            effects.append(Effect(ended, Not(tool.guard), refused=True))
        turns = (_both(self._atom(tool, place), self._none_before(place)) for place in self.places)
        return Tool(
            carrying(tool.name),
            tool.params,
            guard=disjunction(tuple(turns)),
            effects=tuple(effects),
            event=True,
            carries=tool.name,
            span=tool.span,
        )

    def _none_before(self, place: int) -> Formula:
        """Return the formula that all places before this one are empty."""
        return conjunction(tuple(Not(self.full[k]) for k in self.places if k < place))

    @staticmethod
    def _atom(tool: Tool, place: int) -> Atom:
        args = tuple(Var(param.name) for param in tool.params)
        return Atom(message_place(tool.name, place), args, sorts=tuple(param.sort for param in tool.params))

    @classmethod
    def _some(cls, tool: Tool, place: int) -> Formula:
        """Return the formula that this place has a call of the tool."""
        found: Formula = cls._atom(tool, place)
        for param in reversed(tool.params):
            found = Exists(Binder(param.name, param.sort), found)
        return found


def _both(*parts: Formula) -> Formula:
    """Return the conjunction of the parts without `true`."""
    return conjunction(tuple(part for part in parts if part != TRUE))
