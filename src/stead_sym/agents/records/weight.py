"""The token probability of a language model's decisions: the share of the offered calls.

The decision: a choice among offered calls is forced by the decoding if the model prefers some other text,
whatever its margin. So the margin is always reported with the mass on the offer, at branching nodes
(`Decoding.mass`) and over the whole answer, forced tokens included (`Decoding.whole`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, assert_never

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.possible import Sampling
from stead_sym.agents.records.said import Decoding, Samples


@dataclass(frozen=True, slots=True)
class Weight:
    """The ``answers`` of one agent that decodes tokens, in the order of the queries."""

    answers: tuple[Answer, ...]

    @property
    def lightest(self) -> Answer | None:
        """The decision with the least mass on the offered calls; None if every token was forced."""
        return min(
            (answer for answer in self.answers if answer.mass is not None),
            key=lambda answer: answer.mass or 0.0,
            default=None,
        )

    @property
    def mass(self) -> float | None:
        """The least mass on the offered calls at any branching node of any decision (`Decoding.mass`)."""
        return None if self.lightest is None else self.lightest.mass

    @property
    def whole(self) -> float | None:
        """The least known mass on the offered calls over a whole answer (`Decoding.whole`)."""
        return min((answer.whole for answer in self.answers if answer.whole is not None), default=None)

    @property
    def partly_known(self) -> tuple[Answer, ...]:
        """The decisions whose mass is known at branching nodes, but not over the whole answer."""
        return tuple(answer for answer in self.answers if answer.mass is not None and answer.whole is None)

    def below(self, mass: float) -> tuple[Answer, ...]:
        """Return the decisions with less than ``mass`` on the offered calls.

        Both masses are compared: at the branching nodes and over the whole answer.
        """
        figures = ((answer, (answer.mass, answer.whole)) for answer in self.answers)
        return tuple(a for a, both in figures if any(one is not None and one < mass for one in both))

    @property
    def known(self) -> int:
        """The number of decisions with a known comparison to unconstrained decoding."""
        return sum(same is not None for same in map(is_same, self.answers))

    @property
    def same(self) -> int:
        """The number of decisions that greedy decoding also makes without the constraint."""
        return sum(same is True for same in map(is_same, self.answers))

    @property
    def sampling(self) -> Sampling | None:
        """The rule, if the decisions represent sampling."""
        rules = (answer.rule for answer in self.answers)
        return next((rule for rule in rules if isinstance(rule, Sampling)), None)

    @property
    def covered(self) -> float | None:
        """The least probability, over the contexts, that sampling picks one of the possible calls.

        None if the decisions are those of greedy decoding.
        """
        if self.sampling is None:
            return None
        return min(covered for answer in self.answers if (covered := answer.covered) is not None)


def weight(answers: Iterable[Answer]) -> Weight | None:
    """Return the decoded answers together; None if there are none."""
    decoded = tuple(answer for answer in answers if isinstance(answer.said, Decoding))
    return Weight(decoded) if decoded else None


def is_same(answer: Answer) -> bool | None:
    """Return True if greedy decoding gives the same call without the constraint; None if unknown."""
    if not isinstance(answer.said, Decoding) or answer.said.unforced is None:
        return None
    return answer.said.unforced.same


def is_weighed(answer: Answer) -> bool:
    """Return True unless every token was forced, or all answers agree."""
    match answer.said:
        case Decoding():
            return answer.margin is not None
        case Samples():
            return answer.said.divided
        case _:
            assert_never(answer.said)


def weight_words(answer: Answer) -> str:
    """Return a decision's margin and mass, or the number of answers with each call, in words."""
    match answer.said:
        case Decoding():
            if answer.margin is None:
                return "every token forced"
            whole = "" if answer.whole is None else f", {percent(answer.whole)} over the whole answer"
            return f"margin {answer.margin:.4g}, {percent(answer.mass)} on the offer{whole}"
        case Samples(answers):
            counts = answer.said.counts.most_common()
            return ", ".join(f"{call} in {count} of {len(answers)}" for call, count in counts)
        case _:
            assert_never(answer.said)


def freedom_words(answer: Answer) -> str:
    """Return the comparison with unconstrained greedy decoding in words; "" if it is unknown."""
    if not isinstance(answer.said, Decoding) or (free := answer.said.unforced) is None:
        return ""
    if free.same:
        return "the same call"
    instead = "ends there" if free.token is None else f"goes on with {free.text!r}"
    return f"{free.agreed} of {free.length} tokens of the call, then {instead}"


def weight_data(answer: Answer) -> dict[str, Any]:
    """Return the token probability of a decision as JSON data."""
    match answer.said:
        case Decoding(_, rule, unforced):
            return {
                "rule": str(rule),
                "margin": answer.margin,
                "mass": answer.mass,
                "whole": answer.whole,
                "entropy": answer.said.entropy,
                "covered": answer.covered if isinstance(rule, Sampling) else None,
                "unforced": None if unforced is None else {"same": unforced.same, **unforced._asdict()},
            }
        case Samples(answers):
            counts = {str(call): count for call, count in sorted(answer.said.counts.items())}
            return {"rule": "what it answered", "asked": len(answers), "answers": counts, "margin": None}
        case _:
            assert_never(answer.said)


def percent(share: float | None) -> str:
    """Return a probability for display, rounded down, so that nothing below 1 is shown as 100 %."""
    if share is None:
        return "none"
    if 0.0 < share < 0.0001:
        return f"{share:.1e}"
    return f"{int(share * 10000) / 100:g} %"
