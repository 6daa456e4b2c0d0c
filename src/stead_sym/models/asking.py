"""Asynchronous requests to a model; answers arrive in any order.

The decision: the caller (`pipeline`) uses one interface. A backend that accepts requests while others are
pending implements it itself (`Streaming`); any other is wrapped in `InBatches`, which collects requests while
a batch is being answered.
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
"""The answer to a `Request`: the log-probabilities of its allowed tokens; to a `Written`: an `Unforced`."""


class Asking(Protocol):
    """Requests to one model.

    ``capacity`` is the number of decisions that may be in progress at one time; ``again`` counts the repeated
    requests.
    """

    @property
    def capacity(self) -> int:
        """The number of decisions that may be in progress at one time."""
        ...

    @property
    def again(self) -> int:
        """The number of repeated requests."""
        ...

    def submit(self, number: int, question: Question, /) -> None:
        """Submit a request, under a number that its answer will have."""
        ...

    def answers(self, waiting: Callable[[], object], /) -> list[tuple[int, Said]]:
        """Return received answers, at least one; call ``waiting`` regularly until there is one."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A backend that accepts requests while others are pending."""

    def asking(self) -> AbstractContextManager[Asking]:
        """Open a session for requests; at its end none is pending."""
        ...


class InBatches:
    """`Asking` for a backend that answers one batch of requests at a time."""

    capacity = 1024
    again = 0

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._next: list[tuple[int, Question]] = []
        self._running: Iterator[tuple[int, Said]] = iter(())

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the running batch."""
        close = getattr(self._running, "close", None)
        if close is not None:
            close()

    def submit(self, number: int, question: Question) -> None:
        """Add a request to the next batch."""
        self._next.append((number, question))

    def answers(self, waiting: Callable[[], object]) -> list[tuple[int, Said]]:
        """Return one answer, so that it can be stored before the next one is computed."""
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
