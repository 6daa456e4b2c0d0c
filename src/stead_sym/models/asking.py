"""Questions on their way to a model: put one by one, answered in any order.

The decision: who asks (`pipeline`) sees one interface. A backend that can take questions while others are
answered has it itself (`Streaming`); in front of any other stands `InBatches`, which collects questions while
a batch of them is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, Self, TypeAlias, runtime_checkable

from stead_sym.agents.records.said import Unforced
from stead_sym.errors import ModelError
from stead_sym.models.backend import Backend, Request, Unconstrained, Written

Question: TypeAlias = Request | Written
Said: TypeAlias = Sequence[float] | Unforced
"""To a `Request` the log-probabilities of its allowed tokens, to a `Written` how far the model writes it."""


class Asking(Protocol):
    """Questions to one model. ``capacity`` is how many decisions may be in progress at one time; ``again``
    counts what had to be asked again."""

    @property
    def capacity(self) -> int: ...
    @property
    def again(self) -> int: ...

    def submit(self, number: int, question: Question, /) -> None:
        """Put a question, under a number that its answer will have."""
        ...

    def answers(self, waiting: Callable[[], object], /) -> list[tuple[int, Said]]:
        """Answers that have come in, at least one; ``waiting`` is called now and then until there is one."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A backend that takes questions while others are answered."""

    def asking(self) -> AbstractContextManager[Asking]:
        """Begin to ask; at the end nothing is under way any more."""
        ...


class InBatches:
    """`Asking` for a backend that answers a batch of questions at a time."""

    capacity = 1024
    again = 0

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._next: list[tuple[int, Question]] = []
        self._running: Iterator[tuple[int, Said]] = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        close = getattr(self._running, "close", None)
        if close is not None:
            close()

    def submit(self, number: int, question: Question) -> None:
        """Put a question into the next batch."""
        self._next.append((number, question))

    def answers(self, waiting: Callable[[], object]) -> list[tuple[int, Said]]:
        """One answer, so that it is stored before the next one is waited for."""
        waiting()
        while (answer := next(self._running, None)) is None:
            self._running = self._batch(self._next)
            self._next = []
        return [answer]

    def _batch(self, questions: Sequence[tuple[int, Question]]) -> Iterator[tuple[int, Said]]:
        requests = [(number, asked) for number, asked in questions if isinstance(asked, Request)]
        written = [(number, asked) for number, asked in questions if isinstance(asked, Written)]
        left = {number for number, _ in questions}
        if requests:
            for place, said in self._backend.next_logprobs([asked for _, asked in requests]):
                left.discard(requests[place][0])
                yield requests[place][0], said
        if written and isinstance(self._backend, Unconstrained):
            for place, unforced in self._backend.unforced([asked for _, asked in written]):
                left.discard(written[place][0])
                yield written[place][0], unforced
        if left:
            raise ModelError(
                f"{self._backend.name} left {len(left)} of {len(questions)} requests unanswered; ask again"
            )
