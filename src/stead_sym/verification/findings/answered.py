"""Findings on recorded agents: different answers to the same query, and a changed source."""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.agents.python import SOURCE, PythonAgent
from stead_sym.agents.records.answer import recorded_answer, recorded_answers
from stead_sym.agents.records.repeated import answers_in_words, repeated
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.verification.findings.finding import Finding


def answer_findings(wrappers: Wrappers) -> Iterator[Finding]:
    """Yield the findings of both kinds for each agent."""
    for name, wrapper in wrappers.items():
        if wrapper is not None:
            whose = f" of {name}" if name else ""
            yield from _unsteady(wrapper, whose)
            yield from _changed(wrapper)


def _unsteady(wrapper: CanonicalWrapper, whose: str) -> Iterator[Finding]:
    contexts = {
        answer.key: context
        for context, _ in wrapper.decisions
        if (answer := recorded_answer(wrapper.agent, context)) is not None
    }
    told = repeated(recorded_answers(wrapper.agent, wrapper.decisions))
    if told is None or not (unsteady := told.unsteady):
        return
    first = unsteady[0]
    yield Finding(
        "unsteady agent",
        None,
        f"asked again, {wrapper.agent.name} answers differently in {len(unsteady)} of {len(told.again)}"
        f" contexts{whose}: {answers_in_words(first)}, in {contexts[first.key]} (decision {first.key[:12]})",
        "make it answer alike, or ask it several times (`samples`), so that all of its answers count",
    )


def _changed(wrapper: CanonicalWrapper) -> Iterator[Finding]:
    agent = wrapper.agent
    if not isinstance(agent, PythonAgent):
        return
    source = agent.respondent.versions.get(SOURCE)
    answers = [agent.answer(context) for context, _ in wrapper.decisions]
    other = [a for a in answers if a is not None and a.versions.get(SOURCE, source) != source]
    if source is not None and other:
        yield Finding(
            "changed agent",
            None,
            f"{len(other)} of {len(answers)} answers of {agent.name} are those of another source than it has"
            f" now, such as decision {other[0].key[:12]}",
            "give it a new identity where it answers otherwise now",
        )
