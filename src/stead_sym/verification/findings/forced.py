"""Findings on decisions of a language model: choices that the decoding forces, or takes at random."""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.agents.records.answer import recorded_answers
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.weight import percent, weight
from stead_sym.agents.roles import Wrappers
from stead_sym.verification.findings.finding import Finding

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
