"""Who could have done otherwise at a step: the agent among the calls that it was offered, or the environment
among the outcomes of the call.

One decision: outcomes are counted up to the names of fresh values, which nobody chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.answer import Answer, recorded_answer
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.selection import presented
from stead_sym.agents.wrapper import Decision
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.restriction import Restriction, around
from stead_sym.deployment.semantics import offer, outcomes
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.relational.instance import Instance

MOST_OUTCOMES = 100
"""Outcomes are counted up to this number."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step from ``state``, with the number of other steps that were possible there.

    ``offered`` are the calls that its agent was offered and ``selected`` those that it may make; both 0 for
    an event. ``outcomes`` is the number of states that the same call, or event, may lead to. ``decision`` is
    what the wrapper of the agent decided, None for an event and for the agent that selects everything
    offered; ``answer`` is its record where a language model took it.
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
        """Who branched, in a few words: "agent 1 of 3", "environment 1 of 2"; empty where nothing else could
        have happened."""
        words = []
        if self.offered > 1:
            some = "any" if self.selected == self.offered else str(self.selected)
            words.append(f"agent {some} of {self.offered}")
        if self.outcomes > 1:
            many = f"{self.outcomes}{' or more' * (self.outcomes >= MOST_OUTCOMES)}"
            words.append(f"environment 1 of {many}")
        return ", ".join(words)


class Moves:
    """The moves of a deployment under wrapped agents, each found once. ``raised`` are the bounds that its
    runs keep, where these are others than the deployment has.
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
        """The move that a step from a state is."""
        key = state, step
        if key not in self._found:
            self._found[key] = self._move(state, step)
        return self._found[key]

    def _move(self, state: Instance, step: Step) -> Move:
        after = len(self.after(state, step.call))
        if step.actor is None:
            return Move(state, step, 0, 0, after)
        role = self.deployment.agent(step.actor)
        offered = len(offer(self.deployment, state, role))
        decided = self.decided(state, role)
        if decided is None:
            return Move(state, step, offered, offered, after)
        decision, answer = decided
        return Move(state, step, offered, len(decision.calls), after, decision, answer)

    def after(self, state: Instance, call: Call) -> tuple[Instance, ...]:
        """The states that a call may lead to, up to the names of fresh values, `MOST_OUTCOMES` at most."""
        near = around(self.deployment, self._restriction, state)
        distinct: dict[Instance, None] = {}
        for after in islice(outcomes(self.deployment, call, state, near), MOST_OUTCOMES * 10):
            distinct[after] = None
            if len(distinct) == MOST_OUTCOMES:
                break
        return tuple(distinct)

    def decided(self, state: Instance, role: AgentRole) -> tuple[Decision, Answer | None] | None:
        """What the wrapper of an agent decides in a state, with the record of it; None where the agent is
        offered nothing, and for the agent that selects everything offered."""
        offered = offer(self.deployment, state, role)
        wrapper = self.wrappers[role.name]
        if wrapper is None or not offered:
            return None
        [decision] = wrapper.decide(
            [DecisionContext(presented(self.deployment, wrapper, state, role, offered), offered)]
        )
        return decision, recorded_answer(wrapper.agent, decision.canonical)
