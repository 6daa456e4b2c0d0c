"""What the decisions of a language model weigh together: how much of its probability is on what was offered.

The decision: a choice among offered calls is forced by the decoding where the model would rather say
something else, whatever its margin. So the margin never stands alone: the mass on the offer is beside it,
where calls part (`Decoding.mass`) and over the whole answer, forced tokens too (`Decoding.whole`).
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
    """The ``answers`` of one agent that decodes tokens, in the order in which they were asked for."""

    answers: tuple[Answer, ...]

    @property
    def lightest(self) -> Answer | None:
        """The decision with the least mass on the offered calls; None where every token was forced."""
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
        """The least mass on the offered calls over a whole answer (`Decoding.whole`), of those known."""
        return min((answer.whole for answer in self.answers if answer.whole is not None), default=None)

    @property
    def partly_known(self) -> tuple[Answer, ...]:
        """The decisions whose mass is known where calls part, and not over the whole answer."""
        return tuple(answer for answer in self.answers if answer.mass is not None and answer.whole is None)

    def below(self, mass: float) -> tuple[Answer, ...]:
        """The decisions with less mass on the offered calls, where calls part or over the whole answer."""
        figures = ((answer, (answer.mass, answer.whole)) for answer in self.answers)
        return tuple(a for a, both in figures if any(one is not None and one < mass for one in both))

    @property
    def known(self) -> int:
        """Of how many decisions it is known whether the model takes them without the constraint too."""
        return sum(same is not None for same in map(is_same, self.answers))

    @property
    def same(self) -> int:
        """How many decisions greedy decoding takes without the constraint too."""
        return sum(same is True for same in map(is_same, self.answers))

    @property
    def sampling(self) -> Sampling | None:
        """The rule, where the decisions stand for sampling."""
        rules = (answer.rule for answer in self.answers)
        return next((rule for rule in rules if isinstance(rule, Sampling)), None)

    @property
    def covered(self) -> float | None:
        """In every context, sampling picks one of the calls taken to be possible with at least this
        probability; None where the decisions are those of greedy decoding."""
        if self.sampling is None:
            return None
        return min(covered for answer in self.answers if (covered := answer.covered) is not None)


def weight(answers: Iterable[Answer]) -> Weight | None:
    """The weight of the answers that were decoded; None where there are none."""
    decoded = tuple(answer for answer in answers if isinstance(answer.said, Decoding))
    return Weight(decoded) if decoded else None


def is_same(answer: Answer) -> bool | None:
    """Whether greedy decoding without the constraint is the call that greedy decoding takes inside the offer;
    None where that is not known."""
    if not isinstance(answer.said, Decoding) or answer.said.unforced is None:
        return None
    return answer.said.unforced.same


def is_weighed(answer: Answer) -> bool:
    """Whether there is something to weigh: not where every token was forced, or every answer the same."""
    match answer.said:
        case Decoding():
            return answer.margin is not None
        case Samples():
            return answer.said.divided
        case _:
            assert_never(answer.said)


def weight_words(answer: Answer) -> str:
    """Margin and mass of a decision, or how often each call was answered, in a few words."""
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
    """Whether the model writes its greedy choice without the constraint too, and what it writes else; empty
    where that is not known."""
    if not isinstance(answer.said, Decoding) or (free := answer.said.unforced) is None:
        return ""
    if free.same:
        return "the same call"
    instead = "ends there" if free.token is None else f"goes on with {free.text!r}"
    return f"{free.agreed} of {free.length} tokens of the call, then {instead}"


def weight_data(answer: Answer) -> dict[str, Any]:
    """What a decision weighs, as JSON data."""
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
    """A probability for people to read, rounded down, so that nothing below 1 reads as 100 %."""
    if share is None:
        return "none"
    if 0.0 < share < 0.0001:
        return f"{share:.1e}"
    return f"{int(share * 10000) / 100:g} %"
