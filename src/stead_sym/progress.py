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


class Pulse:
    """Passes reports on to a listener, four a second at most. ``measures`` are counts that take time,
    added to what is passed on."""

    def __init__(
        self,
        listener: Progress | None = None,
        measures: Mapping[str, Callable[[], int]] = MappingProxyType({}),
    ) -> None:
        self._listener = listener
        self._measures = measures
        self._last = time.monotonic()

    def __call__(self, phase: str, /, **counts: int) -> None:
        if self._listener is not None and time.monotonic() - self._last > 0.25:
            self._last = time.monotonic()
            self._listener(phase, **{name: measure() for name, measure in self._measures.items()}, **counts)
