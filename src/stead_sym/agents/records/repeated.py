"""Whether an agent answers the same when it is asked about the same context again.

The decision: whether it answers differently is read off its records, each of which has all answers to one
question. So it is found again whenever the records are, and not only by the run that asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.said import SAMPLES, Samples


@dataclass(frozen=True, slots=True)
class Repeated:
    """The ``answers`` of one agent that decodes no tokens, in the order in which they were asked for."""

    answers: tuple[Answer, ...]

    @property
    def samples(self) -> int:
        """How often the agent is meant to be asked about a context."""
        return max(int(answer.model.get(SAMPLES, "1")) for answer in self.answers)

    @property
    def again(self) -> tuple[Answer, ...]:
        """The records of contexts about which it was asked more than once."""
        return tuple(answer for answer in self.answers if asked(answer) > 1)

    @property
    def divided(self) -> tuple[Answer, ...]:
        """The records of contexts about which the agent gave different answers."""
        return tuple(answer for answer in self.again if divided(answer))

    @property
    def unsteady(self) -> tuple[Answer, ...]:
        """The same, for an agent that is meant to be asked once about each context, and so to give one
        answer."""
        return self.divided if self.samples == 1 else ()


def repeated(answers: Iterable[Answer]) -> Repeated | None:
    """What the records of answers tell together; None where there are none but of decoded tokens."""
    given = tuple(answer for answer in answers if isinstance(answer.said, Samples))
    return Repeated(given) if given else None


def asked(answer: Answer) -> int:
    """How often the question was put, of an agent that decodes no tokens; else 0."""
    return len(answer.said.answers) if isinstance(answer.said, Samples) else 0


def divided(answer: Answer) -> bool:
    """Whether answers to one question differ."""
    return isinstance(answer.said, Samples) and answer.said.divided


def answers_in_words(answer: Answer) -> str:
    """The answers in their order: `read(x), then burn(x)`."""
    given = answer.said.answers if isinstance(answer.said, Samples) else ()
    return ", then ".join(" or ".join(map(str, sorted(one.calls))) for one in given)
