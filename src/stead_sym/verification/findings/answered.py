"""Findings on recorded agents: different answers to the same query, and a changed source.

Of language models also choices that the decoding forces, or takes at random.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.agents.records.answer import recorded_answer, recorded_answers
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.repeated import answers_in_words, repeated
from stead_sym.agents.records.weight import percent, weight
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
    answers = [recorded_answer(agent, context) for context, _ in wrapper.decisions]
    if not any(answers):
        return
    from stead_sym.agents.python import SOURCE, PythonAgent

    if not isinstance(agent, PythonAgent):
        return
    source = agent.respondent.versions.get(SOURCE)
    other = [a for a in answers if a is not None and a.versions.get(SOURCE, source) != source]
    if source is not None and other:
        yield Finding(
            "changed agent",
            None,
            f"{len(other)} of {len(answers)} answers of {agent.name} are those of another source than it has"
            f" now, such as decision {other[0].key[:12]}",
            "give it a new identity where it answers otherwise now",
        )


_MIN_MASS = 0.5
"""The probability of the offered calls below which the model more likely than not prefers another text."""


def forced_choices(wrappers: Wrappers) -> Iterator[Finding]:
    """Yield a finding for each language model with forced decisions.

    In these less than half of the probability is on the offered calls at some branching node.
    """
    for name, wrapper in wrappers.items():
        if wrapper is None:
            continue
        weighed = weight(recorded_answers(wrapper.agent, wrapper.decisions))
        if weighed is None or not (light := weighed.below(_MIN_MASS)) or weighed.lightest is None:
            continue
        whose = f" of {name}" if name else ""
        yield Finding(
            "forced choice",
            None,
            f"in {len(light)} of {len(weighed.answers)} decisions{whose} the model gives the offered calls"
            f" less than half of its probability, {percent(weighed.mass)} in decision"
            f" {weighed.lightest.key[:12]}: it would rather say something else, and no margin tells that",
            "improve the prompt; `--min-mass P` keeps verdicts to a model that means its calls",
        )


def tied_choices(wrappers: Wrappers) -> Iterator[Finding]:
    """Yield a finding for each language model with tied decisions.

    These are decisions of greedy decoding without a tolerance in which two tokens are equally likely at some
    branching node. The token with the least number is taken, which is no property of the model; another run
    may take the other.
    """
    for name, wrapper in wrappers.items():
        if wrapper is None:
            continue
        answers = recorded_answers(wrapper.agent, wrapper.decisions)
        tied = [answer for answer in answers if answer.rule == Greedy() and answer.margin == 0.0]
        if tied:
            whose = f" of {name}" if name else ""
            yield Finding(
                "tied choice",
                None,
                f"in {len(tied)} of {len(answers)} decisions{whose} two offered calls are equally likely,"
                f" such as in decision {tied[0].key[:12]}: what runs the model decides which is taken",
                "verify with a tolerance (`--tolerance 0.001`), so that each of them may happen",
            )
