"""Findings on what a language model decided: choices that the decoding forces on it."""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.agents.records.answer import recorded_answers
from stead_sym.agents.records.weight import percent, weight
from stead_sym.agents.roles import Wrappers
from stead_sym.verification.findings.finding import Finding

_LIGHT = 0.5
"""Below this mass on the offered calls the model would, more likely than not, say something else."""


def forced_choices(wrappers: Wrappers) -> Iterator[Finding]:
    """For each agent that is a language model, its decisions in which less than half of the probability is on
    the offered calls at some branching node."""
    for name, wrapper in wrappers.items():
        if wrapper is None:
            continue
        weighed = weight(recorded_answers(wrapper.agent, wrapper.decisions))
        if weighed is None or not (light := weighed.below(_LIGHT)) or weighed.lightest is None:
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
