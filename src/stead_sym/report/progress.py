"""What a long run says on stderr while it runs: a spinner on a terminal, else a line now and then.

One decision: a short run says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from rich.console import Console
from rich.status import Status


class ProgressDisplay:
    """A `Progress` on ``console``, to be used as a context manager around the run.

    Silent for ``patience`` seconds; then a spinner, or a line at most every ``interval`` seconds.
    """

    def __init__(self, console: Console, patience: float = 2.0, interval: float = 10.0) -> None:
        self._console = console
        self._interval = interval
        self._started = time.monotonic()
        self._speaks = self._started + patience
        self._status: Status | None = None

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, phase: str, /, **counts: int) -> None:
        now = time.monotonic()
        if now < self._speaks:
            return
        text = progress_line(phase, counts, now - self._started)
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            if self._status is None:
                self._status = self._console.status(text)
                self._status.start()
            else:
                self._status.update(text)
        else:
            self._speaks = now + self._interval
            self._console.print(f"stead-sym: {text}", highlight=False, markup=False, soft_wrap=True)


def progress_line(phase: str, counts: Mapping[str, int], elapsed: float) -> str:
    """Phase, counts and seconds in one line: "plan: 3 of 12 tools, 40 actions of ship (21 s)"."""
    parts: list[tuple[str, str]] = []
    for name, number in counts.items():
        if name == "of" and parts:  # what the count before it comes to in the end
            so_far, counted = parts.pop()
            parts.append((f"{so_far} of {number:,}", counted))
        else:
            parts.append((f"{number:,}", name))
    shown = ", ".join(map(" ".join, parts))
    return f"{phase}: {shown} ({elapsed:.0f} s)" if shown else f"{phase} ({elapsed:.0f} s)"
