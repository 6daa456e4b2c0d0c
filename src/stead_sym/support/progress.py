"""What a long computation reports while it runs: the name of its phase and some counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol


class Progress(Protocol):
    """Called now and then, e.g. ``progress("reach", states=1200, contexts=4)``; must return at once.

    A count ``of`` is what the count before it comes to in the end: ``progress("plan", tools=3, of=12)``.
    """

    def __call__(self, phase: str, /, **counts: int) -> None: ...


class Report(Protocol):
    """A `Progress` on a part of a phase, which the caller has named already."""

    def __call__(self, **counts: int) -> None: ...


def saying(progress: Progress | None, where: str) -> Progress | None:
    """The progress of one of several computations, with ``where`` before each phase."""
    listener = progress
    return listener and (lambda phase, /, **counts: listener(f"{where}: {phase}", **counts))


_REPORT_SECONDS = 0.25  # seconds from one report to the next, at least
_COUNTING_RATIO = 50  # how many times as long as they took until counts are measured again


class Pulse:
    """Passes reports on to a listener, four a second at most. ``measures`` are counts that take time, added
    to what is passed on: half a second for the nodes of a large manager of diagrams. They are measured anew
    so seldom that it takes a fiftieth of the time."""

    def __init__(
        self,
        listener: Progress | None = None,
        measures: Mapping[str, Callable[[], int]] = MappingProxyType({}),
    ) -> None:
        self._listener = listener
        self._measures = measures
        self._measured: Mapping[str, int] = {}
        self._next = time.monotonic() + _REPORT_SECONDS  # the time before which nothing is passed on
        self._stale = self._next  # that after which is measured again

    def __call__(self, phase: str, /, **counts: int) -> None:
        if self._listener is None or (now := time.monotonic()) <= self._next:
            return
        if now > self._stale:
            self._measured = {name: measure() for name, measure in self._measures.items()}
            now, begun = time.monotonic(), now
            self._stale = now + _COUNTING_RATIO * (now - begun)
        self._next = now + _REPORT_SECONDS
        self._listener(phase, **self._measured, **counts)
