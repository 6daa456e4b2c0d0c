"""Progress reports of long computations: the name of a phase and some counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol


class Progress(Protocol):
    """A callback for progress, e.g. ``progress("reach", states=1200, contexts=4)``; it must return at once.

    A count ``of`` is the final value of the count before it: ``progress("plan", tools=3, of=12)``.
    """

    def __call__(self, phase: str, /, **counts: int) -> None:
        """Report the counts of a phase."""
        ...


class Report(Protocol):
    """A `Progress` whose phase is already bound."""

    def __call__(self, **counts: int) -> None:
        """Report counts."""
        ...


def saying(progress: Progress | None, where: str) -> Progress | None:
    """Return a callback that puts ``where`` before each phase, or None if there is no callback."""
    listener = progress
    return listener and (lambda phase, /, **counts: listener(f"{where}: {phase}", **counts))


_REPORT_SECONDS = 0.25  # the minimum time between two reports, in seconds
_COUNTING_RATIO = 50  # the minimum time between two measurements, as a multiple of one's duration


class Pulse:
    """A callback that forwards at most four reports a second to a listener.

    ``measures`` are counts that take time to compute (half a second for the nodes of a large manager of
    decision diagrams). They are added to each report, and recomputed so seldom that they take at most a
    fiftieth of the time.
    """

    def __init__(
        self,
        listener: Progress | None = None,
        measures: Mapping[str, Callable[[], int]] = MappingProxyType({}),
    ) -> None:
        self._listener = listener
        self._measures = measures
        self._measured: Mapping[str, int] = {}
        self._next = time.monotonic() + _REPORT_SECONDS  # no report is forwarded before this time
        self._stale = self._next  # counts are measured again after this time

    def __call__(self, phase: str, /, **counts: int) -> None:
        """Forward the report if it is due."""
        if self._listener is None or (now := time.monotonic()) <= self._next:
            return
        if now > self._stale:
            self._measured = {name: measure() for name, measure in self._measures.items()}
            now, begun = time.monotonic(), now
            self._stale = now + _COUNTING_RATIO * (now - begun)
        self._next = now + _REPORT_SECONDS
        self._listener(phase, **self._measured, **counts)
