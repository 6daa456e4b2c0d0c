"""Progress of a long run on stderr: a spinner on a terminal, otherwise occasional lines.

One decision: a short run prints nothing. The words for a phase are those of the user, not of the engine. A
phase continues to show how much of it is done, if that is known, while parts of it report counts of their
own. A run without output does not wait for the import of `rich`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_WORDS = {
    "plan": "preparing",
    "reach": "exploring",
    "saturate": "exploring",
    "check": "checking",
    "findings": "looking for findings",
    "report": "writing the report",
    "blame": "trying other decisions",
    "symmetry": "trying single choices",
    "sweeps": "rounds",
    "nodes": "nodes of diagrams in memory",
    "sets": "sets of states",
    "subformulas": "parts of specifications",
    "hold": "verdicts that hold",
    "fail": "that fail",
    "open": "unknown",
}
"""Words for the phases and counts of the engines; others are printed as they are."""


class ProgressDisplay:
    """A `Progress` on a console, to be used as a context manager around the run.

    ``make_console`` creates the console on first use. There is no output for ``patience`` seconds; then a
    spinner, or a line at most every ``interval`` seconds.
    """

    def __init__(
        self, make_console: Callable[[], Console], patience: float = 2.0, interval: float = 10.0
    ) -> None:
        self._make_console = make_console
        self._interval = interval
        self._started = time.monotonic()
        self._speaks = self._started + patience
        self._status: Status | None = None
        self._phase = ""
        self._done: Mapping[str, int] = {}
        """The last reported counts of the completed part of the phase."""

    @cached_property
    def _console(self) -> Console:
        return self._make_console()

    def __enter__(self) -> ProgressDisplay:
        """Return the display itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the spinner."""
        if self._status is not None:
            self._status.stop()

    def __call__(self, phase: str, /, **counts: int) -> None:
        """Show the phase and its counts, at most once per interval if there is no terminal."""
        now = time.monotonic()
        if "of" in counts or phase != self._phase:
            self._phase, self._done = phase, counts if "of" in counts else {}
        if now < self._speaks:
            return
        text = progress_line(phase, {**self._done, **counts}, now - self._started)
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            if self._status is None:
                self._status = self._console.status(text)
                self._status.start()
            else:
                self._status.update(text)
        else:
            self._speaks = now + self._interval
            self._console.print(f"stead-sym: {text}", highlight=False, markup=False, soft_wrap=True)


def progress_on_stderr() -> ProgressDisplay:
    """Return a display of progress on stderr."""

    def console() -> Console:
        from stead_sym.report.streams import console_on

        return console_on(sys.stderr)

    return ProgressDisplay(console)


def progress_line(phase: str, counts: Mapping[str, int], elapsed: float) -> str:
    """Return phase, counts and seconds in one line.

    For example: "preparing: 3 of 12 tools, 40 actions of ship (21 s)".
    """
    phase = _WORDS.get(phase, phase)
    parts: list[tuple[str, str]] = []
    for name, number in counts.items():
        if name == "of" and parts:  # the total of the count before it
            so_far, counted = parts.pop()
            parts.append((f"{so_far} of {number:,}", counted))
        else:
            parts.append((f"{number:,}", _WORDS.get(name, name)))
    shown = ", ".join(map(" ".join, parts))
    return f"{phase}: {shown} ({elapsed:.0f} s)" if shown else f"{phase} ({elapsed:.0f} s)"
