"""Branching at each step: the agent's offered calls, and the outcomes of the call.

One decision: outcomes are counted up to the names of fresh values, since these names are arbitrary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from stead_sym.agents.records.answer import Answer, recorded_answer
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.selection import decision_contexts
from stead_sym.agents.wrapper import Decision
from stead_sym.deployment.callers import caller, callers
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.restriction import Restriction, around
from stead_sym.deployment.semantics import offer, outcomes
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.relational.instance import Instance

MOST_OUTCOMES = 100
"""The number up to which outcomes are counted."""


@dataclass(frozen=True, slots=True)
class Move:
    """A step from ``state``, with the number of alternatives to it.

    ``offered`` is the number of calls that its agent was offered, and ``selected`` the number of those that
    it may make; both are 0 for an event. ``outcomes`` is the number of states to which the same call, or
    event, may lead. ``decision`` is the decision of the agent's wrapper, None for an event and for the agent
    that selects everything offered. ``answer`` is its record if a language model took it.
    """

    state: Instance
    step: Step
    offered: int
    selected: int
    outcomes: int
    decision: Decision | None = None
    answer: Answer | None = None

    @property
    def branching(self) -> str:
        """The branching in a few words; empty if there was no alternative.

        For example "agent 1 of 3", or "environment 1 of 2".
        """
        words = []
        if self.offered > 1:
            some = "any" if self.selected == self.offered else str(self.selected)
            words.append(f"agent {some} of {self.offered}")
        if self.outcomes > 1:
            many = f"{self.outcomes}{' or more' * (self.outcomes >= MOST_OUTCOMES)}"
            words.append(f"environment 1 of {many}")
        return ", ".join(words)


class Moves:
    """The moves of a deployment under wrapped agents, each computed once.

    ``raised`` are the bounds that its runs keep, if they differ from the deployment's.
    """

    def __init__(
        self,
        deployment: Deployment,
        wrappers: Wrappers,
        restriction: Restriction,
        raised: Mapping[str, int] | None = None,
    ) -> None:
        self.deployment = deployment
        self.wrappers = wrappers
        self.raised = raised
        self._restriction = restriction
        self._found: dict[tuple[Instance, Step], Move] = {}

    def __call__(self, state: Instance, step: Step) -> Move:
        """Return the move of a step from a state."""
        key = state, step
        if key not in self._found:
            self._found[key] = self._move(state, step)
        return self._found[key]

    def _move(self, state: Instance, step: Step) -> Move:
        after = len(self.after(state, step.call))
        if step.actor is None:
            return Move(state, step, 0, 0, after)
        role = caller(self.deployment, self.deployment.agent(step.actor), step.call)
        offered = sum(
            len(calls) for _, calls in callers(self.deployment, role, offer(self.deployment, state, role))
        )
        for decision, answer in self.decided(state, role):
            return Move(state, step, offered, len(decision.calls), after, decision, answer)
        return Move(state, step, offered, offered, after)

    def after(self, state: Instance, call: Call) -> tuple[Instance, ...]:
        """Return at most `MOST_OUTCOMES` states to which a call may lead, up to the names of fresh values."""
        near = around(self.deployment, self._restriction, state)
        distinct: dict[Instance, None] = {}
        for after in islice(outcomes(self.deployment, call, state, near), MOST_OUTCOMES * 10):
            distinct[after] = None
            if len(distinct) == MOST_OUTCOMES:
                break
        return tuple(distinct)

    def decided(self, state: Instance, role: AgentRole) -> list[tuple[Decision, Answer | None]]:
        """Return the decisions of an agent's wrapper in a state, each with its record.

        There is one, or one for each caller that the agent stands for. There is none if the agent is offered
        nothing, and for the agent that selects everything offered.
        """
        wrapper = self.wrappers[role.name]
        if wrapper is None:
            return []
        decisions = wrapper.decide([*decision_contexts(self.deployment, wrapper, state, role)])
        return [(decision, recorded_answer(wrapper.agent, decision.canonical)) for decision in decisions]
