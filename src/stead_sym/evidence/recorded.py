"""Agents that answer with the decisions that evidence has recorded.

One decision: if the agent is available, the recorded decisions are compared with its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.schema import Value

RECORDED = "(recorded)"
"""The suffix in the name of an agent that answers as recorded."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded decisions of one agent.

    ``agent`` is its name, and ``known`` are the constants that it knows by name, with their sorts.
    ``decisions`` are the calls that it selects in canonical contexts, given by the shown facts and the
    offered calls.
    """

    agent: str
    known: Mapping[Value, str]
    decisions: Mapping[tuple[frozenset[Fact], frozenset[Call]], frozenset[Call]]


class NotRecorded(Exception):
    """A required decision was not recorded; the text names its context."""


def recorded_wrappers(
    deployment: Deployment,
    agents: Mapping[str, Recorded | None],
    *,
    canonical_timeout: float = CANONICAL_SECONDS,
) -> Wrappers:
    """Return the agents of a deployment, answering as recorded; `InputError` if one is missing."""
    if missing := [role.name for role in deployment.agents if role.name not in agents]:
        raise InputError(
            f"the evidence has no agent {missing[0] or 'without a name'}; it is of another deployment"
        )
    return {
        role.name: None
        if (recorded := agents[role.name]) is None
        else CanonicalWrapper(
            _RecordedAgent(recorded),
            deployment.schema.revealing({f.relation for facts, _ in recorded.decisions for f in facts}),
            deployment.tools_of(role),
            recorded.known,
            canonical_timeout=canonical_timeout,
        )
        for role in deployment.agents
    }


def decisions_that_differ(
    deployment: Deployment, wrappers: Wrappers, agents: Mapping[str, Recorded | None]
) -> tuple[str, ...]:
    """Return one line for each recorded decision that differs from the wrapped agent's."""
    lines: list[str] = []
    for role in deployment.agents:
        wrapper, recorded = wrappers[role.name], agents.get(role.name)
        whose = f"agent {role.name}" if role.name else "the agent"
        if wrapper is None or recorded is None:
            if wrapper is not None or recorded is not None:
                lines.append(f"{whose} may select anything in one of the two, and not in the other")
            continue
        contexts = {
            DecisionContext(Instance(deployment.schema, facts), offered): selected
            for (facts, offered), selected in recorded.decisions.items()
        }
        try:
            decisions = wrapper.decide([*contexts])
        except NotRecorded as missing:  # raised by an agent that answers as recorded
            lines.append(f"{whose}: {missing}")
            continue
        for (context, selected), decision in zip(contexts.items(), decisions, strict=True):
            if decision.canonical != context:
                lines.append(f"{whose} is recorded for {context}, which is no canonical context")
            elif decision.selected != selected:
                is_so, is_said = _calls(decision.selected), _calls(selected)
                lines.append(f"{whose} selects {is_so} in {context}, and is recorded to select {is_said}")
    return tuple(lines)


def _calls(calls: Collection[Call]) -> str:
    return ", ".join(map(str, sorted(calls))) or "nothing"


@dataclass(frozen=True, slots=True)
class _RecordedAgent:
    """An agent that answers as recorded."""

    recorded: Recorded

    @property
    def name(self) -> str:
        return f"{self.recorded.agent} {RECORDED}"

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        return [self._select(context) for context in contexts]

    def _select(self, context: DecisionContext) -> frozenset[Call]:
        selected = self.recorded.decisions.get((context.view.facts, context.calls))
        if selected is None:
            raise NotRecorded(f"no decision is recorded for {context}")
        return selected
