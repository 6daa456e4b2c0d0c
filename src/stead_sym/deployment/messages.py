"""Agents that put several calls into one message: `calls batch n` and `calls parallel n`.

One decision: a message is facts of the state. Of an agent with the tools ω and at most n calls in a message,

    ω@i(u)      the i-th call of its message is ω(u), and it is not carried out yet
    ω(u)        by the agent: writes ω@i(u) for the first free place i, and changes nothing else
    ω@message   an event: does what ω(u) does for the first call of the message, and removes this call

The places fill from 1 and empty from 1. So a message is being written if 1 is full, and carried out if 1 is
empty and another is full. Until all are empty nothing else happens: the calls of a message are decided on one
state of the database, and nobody comes between them. When its turn comes a call has to pass the guard and the
gates again; otherwise it is refused, and its message goes on without it or, with `on refusal stop`, ends.

In parallel ω@message does what ω(u) does for any call of the message. Places are emptied in any order then,
so that one more fact says that the message is carried out:

    a@carried   some call of the present message of agent a was carried out, and others are not yet

As long as it is true everything else may happen, except that a writes another message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import AgentRole, Calls, FairAction
from stead_sym.deployment.tool import Clear, Delete, Effect, Ensure, Insert, Statement, Tool, carrying
from stead_sym.errors import DeclarationError
from stead_sym.logic.folding import conjoin
from stead_sym.relational.schema import Relation, message_begun, message_place

MOST_CALLS = 3
"""The most calls that a message may have: each place is a relation for each tool."""


def calls_in_messages(agent: str, calls: Calls, tools: Iterable[Tool]) -> Calls | None:
    """Return how the agent calls these tools; None if it makes one call and is asked again.

    Raises `DeclarationError` for a number of calls that no message has, and for a tool with an `ensure`.
    """
    if calls.most == 1:
        return None
    if not 1 <= calls.most <= MOST_CALLS:
        raise DeclarationError(
            f"a message has at least 1 call and at most {MOST_CALLS}, got {calls.most}", calls.span
        )
    for tool in tools:
        if tool.has_ensure:
            raise DeclarationError(
                f"{agent} calls in batches, but {tool.name} has an `ensure`; write its effect with"
                " `insert`, `delete` and `set`",
                calls.span,
            )
    return calls


def refuse_beside_messages(agents: tuple[AgentRole, ...], actions: Iterable[FairAction]) -> None:
    """Refuse what has no meaning where some agent calls in batches."""
    batched = {name: agent for agent in agents if agent.calls is not None for name in agent.tools}
    for agent in agents:
        if agent.each is not None and agent.calls is not None:
            raise DeclarationError(
                f"agent {agent.name} is one for each {agent.each}, which make single calls; leave `calls`"
                " out",
                agent.calls.span,
            )
        for name in agent.tools:
            if name in batched and batched[name] is not agent:
                raise DeclarationError(
                    f"agent {batched[name].name} calls in batches, and its tool {name} is one of"
                    f" {agent.name} as well; give each of them a tool of its own",
                    agent.span,
                )
    for action in actions if batched else ():
        if action.kind == "outcome" and action.name in batched:
            caller = batched[action.name].name or "the agent"
            raise DeclarationError(
                f"`fair outcome {action.name}` needs calls one by one, and {caller} calls in batches; write"
                " an event",
                action.span,
            )
        if action.kind != "outcome" and not action.strong:
            raise DeclarationError(
                f"while a message is written or carried out nothing else is possible; write `fair strong"
                f" {action}`",
                action.span,
            )


def message_relations(agents: Sequence[AgentRole], tools: Iterable[Tool]) -> tuple[Relation, ...]:
    """Return the relations that hold the messages of these agents."""
    by_name = {tool.name: tool for tool in tools}
    return tuple(
        Relation(message_place(name, place), tuple(param.sort for param in by_name[name].params))
        for agent in agents
        if agent.calls is not None
        for name in agent.tools
        for place in range(1, agent.calls.most + 1)
    ) + tuple(Relation(message_begun(a.name), ()) for a in agents if a.calls and a.calls.parallel)


def in_messages(agents: Sequence[AgentRole], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return expanded tools as messages have them; the tools themselves if every agent makes single calls."""
    if any(tool.carries for tool in tools):
        return tuple(tools)
    messages = [_Messages(agent, tools) for agent in agents if agent.calls is not None]
    if not messages:
        return tuple(tools)
    idle = fo.conjunction(tuple(message.lets_others for message in messages))
    kept = tuple(Ensure(fo.Same(r.name)) for r in message_relations(agents, tools))
    found: list[Tool] = []
    for tool in tools:
        own = next((message for message in messages if tool.name in message.agent.tools), None)
        if own is None:
            effects = (
                replace(e, statements=(*e.statements, *kept)) if e.is_ensure else e for e in tool.effects
            )
            found.append(replace(tool, guard=conjoin(tool.guard, idle), effects=tuple(effects)))
        else:
            others = fo.conjunction(tuple(message.lets_others for message in messages if message is not own))
            found += (own.writing(tool, others), own.carrying(tool, others))
    return tuple(found)


class _Messages:
    """The messages of one agent."""

    def __init__(self, agent: AgentRole, tools: Iterable[Tool]) -> None:
        assert agent.calls is not None
        self.agent, self.most, self.stops = agent, agent.calls.most, agent.calls.stops
        self.parallel = agent.calls.parallel
        self.begun = fo.Atom(message_begun(agent.name))
        self.places = range(1, self.most + 1)
        own = [tool for tool in tools if tool.name in agent.tools]
        self.full = {
            place: fo.disjunction(tuple(self._some(tool, place) for tool in own)) for place in self.places
        }
        places = tuple(message_place(tool.name, place) for tool in own for place in self.places)
        self.relations = (*places, self.begun.relation) if self.parallel else places
        self.none = self._none_before(self.most + 1)
        self.lets_others = fo.disjunction((self.none, self.begun)) if self.parallel else self.none

    def writing(self, tool: Tool, others: fo.Formula) -> Tool:
        """Return the tool that writes a call; ``others`` is true if the messages of other agents let it."""
        is_written: fo.Formula = fo.disjunction((self.full[1], self.none))
        if self.parallel:
            is_written = fo.Not(self.begun)
        may_write = fo.conjunction((fo.Not(self.full[self.most]), is_written))
        effects = tuple(
            Effect(
                (Insert(self._atom(tool, place)),),
                fo.conjunction((*((self.full[place - 1],) if place > 1 else ()), fo.Not(self.full[place]))),
            )
            for place in self.places
        )
        return replace(tool, guard=conjoin(tool.guard, others, may_write), effects=effects, writes=True)

    def carrying(self, tool: Tool, others: fo.Formula) -> Tool:
        """Return the event that carries a call out; in parallel only if the messages of ``others`` let it."""
        turns = {place: self._turn(tool, place) for place in self.places}
        removed: tuple[Statement, ...] = tuple(
            Delete(self._atom(tool, place), where=turn) for place, turn in turns.items()
        )
        if self.parallel:
            more = fo.disjunction(
                tuple(conjoin(self._atom(tool, place), turns[place], self._other(place)) for place in turns)
            )
            removed += (Insert(self.begun, where=more), Delete(self.begun, where=fo.Not(more)))
        ended = (Clear(self.relations),) if self.stops else removed
        effects = [
            replace(
                e,
                when=conjoin(tool.guard, e.when),
                statements=ended if e.refused else (*e.statements, *removed),
            )
            for e in tool.effects
        ]
        if tool.guard != fo.TRUE:
            effects.append(Effect(ended, fo.Not(tool.guard), refused=True))
        is_next = fo.disjunction(tuple(conjoin(self._atom(tool, place), turns[place]) for place in turns))
        return Tool(
            carrying(tool.name),
            tool.params,
            guard=conjoin(is_next, others) if self.parallel else is_next,
            effects=tuple(effects),
            event=True,
            carries=tool.name,
            span=tool.span,
        )

    def _none_before(self, place: int) -> fo.Formula:
        """Return the formula that all places before this one are empty."""
        return fo.conjunction(tuple(fo.Not(self.full[k]) for k in self.places if k < place))

    def _turn(self, tool: Tool, place: int) -> fo.Formula:
        """Return the formula that the call of the tool at this place is the next of its kind.

        In parallel that is the first place with this call, and otherwise the first of the message.
        """
        if not self.parallel:
            return self._none_before(place)
        return fo.conjunction(tuple(fo.Not(self._atom(tool, k)) for k in self.places if k < place))

    def _other(self, place: int) -> fo.Formula:
        """Return the formula that another place is full."""
        return fo.disjunction(tuple(self.full[k] for k in self.places if k != place))

    @staticmethod
    def _atom(tool: Tool, place: int) -> fo.Atom:
        return fo.Atom(
            message_place(tool.name, place),
            fo.variables_of(tool.params),
            sorts=tuple(param.sort for param in tool.params),
        )

    @classmethod
    def _some(cls, tool: Tool, place: int) -> fo.Formula:
        """Return the formula that this place has a call of the tool."""
        binders = [fo.Binder(param.name, param.sort) for param in tool.params]
        return fo.quantify(fo.Exists, binders, cls._atom(tool, place))
