"""An agent with some answers replaced, for the consequences of other decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.agents.base import Agent, DecisionContext
from stead_sym.agents.records.answer import Answer, recorded_answer
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.tool import Call


@dataclass(frozen=True, slots=True)
class RevisedAgent:
    """``agent`` with the calls of ``instead`` in its canonical contexts."""

    agent: Agent
    instead: Mapping[DecisionContext, frozenset[Call]]

    @property
    def name(self) -> str:
        """The name of the agent, marked as revised."""
        return f"{self.agent.name}, revised"

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        """Return the calls of ``instead`` for its contexts, and the agent's answer for any other."""
        asked = [context for context in contexts if context not in self.instead]
        answers = dict(zip(asked, self.agent.select(asked), strict=True)) if asked else {}
        return [self.instead.get(context) or answers[context] for context in contexts]

    def answer(self, context: DecisionContext) -> Answer | None:
        """Return the record of a decision that is the agent's own."""
        return None if context in self.instead else recorded_answer(self.agent, context)


def revised(
    wrapper: CanonicalWrapper, instead: Mapping[DecisionContext, frozenset[Call]]
) -> CanonicalWrapper:
    """Return the wrapper around its agent with other answers in some canonical contexts."""
    if not instead:
        return wrapper.again()
    return CanonicalWrapper(
        RevisedAgent(wrapper.agent, instead),
        wrapper.schema,
        wrapper.tools,
        wrapper.known,
        canonical_timeout=wrapper.canonical_timeout,
    )


def rules_of(wrapper: CanonicalWrapper) -> RuleAgent | None:
    """Return the agent of rules that is wrapped, perhaps with some answers replaced; None for any other."""
    agent = wrapper.agent.agent if isinstance(wrapper.agent, RevisedAgent) else wrapper.agent
    return agent if isinstance(agent, RuleAgent) else None


def replaced(wrapper: CanonicalWrapper) -> Mapping[DecisionContext, frozenset[Call]]:
    """Return the answers that replace those of the wrapped agent, by canonical context."""
    return wrapper.agent.instead if isinstance(wrapper.agent, RevisedAgent) else {}
