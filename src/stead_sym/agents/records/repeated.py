"""Check that an agent gives the same answer when it is queried about the same context again.

The decision: differing answers are detected in the records, each of which has all answers to one query. So
they are detected whenever the records are read, and not only in the run that made the queries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.said import SAMPLES, Samples


@dataclass(frozen=True, slots=True)
class Repeated:
    """The ``answers`` of one agent that decodes no tokens, in the order of the queries."""

    answers: tuple[Answer, ...]

    @property
    def samples(self) -> int:
        """The intended number of queries about a context."""
        return max(int(answer.model.get(SAMPLES, "1")) for answer in self.answers)

    @property
    def again(self) -> tuple[Answer, ...]:
        """The records of contexts with more than one query."""
        return tuple(answer for answer in self.answers if asked(answer) > 1)

    @property
    def divided(self) -> tuple[Answer, ...]:
        """The records of contexts with different answers."""
        return tuple(answer for answer in self.again if divided(answer))

    @property
    def unsteady(self) -> tuple[Answer, ...]:
        """The records of `divided`, for an agent with one intended query about each context."""
        return self.divided if self.samples == 1 else ()


def repeated(answers: Iterable[Answer]) -> Repeated | None:
    """Return the records of answers together; None if there are only records of decoded tokens."""
    given = tuple(answer for answer in answers if isinstance(answer.said, Samples))
    return Repeated(given) if given else None


def asked(answer: Answer) -> int:
    """Return the number of queries, for an agent that decodes no tokens; else 0."""
    return len(answer.said.answers) if isinstance(answer.said, Samples) else 0


def divided(answer: Answer) -> bool:
    """Return True if answers to one query differ."""
    return isinstance(answer.said, Samples) and answer.said.divided


def answers_in_words(answer: Answer) -> str:
    """Return the answers in their order: `read(x), then burn(x)`."""
    given = answer.said.answers if isinstance(answer.said, Samples) else ()
    return ", then ".join(" or ".join(map(str, sorted(one.calls))) for one in given)
