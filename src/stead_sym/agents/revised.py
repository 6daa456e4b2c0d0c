"""An agent with some of its answers replaced: what would follow if it decided otherwise there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.agents.base import Agent, DecisionContext
from stead_sym.agents.records.answer import Answer, recorded_answer
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.tool import Call


@dataclass(frozen=True, slots=True)
class RevisedAgent:
    """``agent`` but for the canonical contexts of ``instead``, in which it selects the calls there."""

    agent: Agent
    instead: Mapping[DecisionContext, frozenset[Call]]

    @property
    def name(self) -> str:
        return f"{self.agent.name}, revised"

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        """The calls of ``instead`` for a context that it has, and the answer of the agent for any other."""
        asked = [context for context in contexts if context not in self.instead]
        answers = dict(zip(asked, self.agent.select(asked), strict=True)) if asked else {}
        return [self.instead.get(context) or answers[context] for context in contexts]

    def answer(self, context: DecisionContext) -> Answer | None:
        """The record of a decision that is the agent's own."""
        return None if context in self.instead else recorded_answer(self.agent, context)


def revised(
    wrapper: CanonicalWrapper, instead: Mapping[DecisionContext, frozenset[Call]]
) -> CanonicalWrapper:
    """The wrapper around its agent with other answers to some canonical contexts."""
    if not instead:
        return wrapper.again()
    return CanonicalWrapper(
        RevisedAgent(wrapper.agent, instead),
        wrapper.schema,
        wrapper.tools,
        wrapper.known,
        canonical_timeout=wrapper.canonical_timeout,
    )
