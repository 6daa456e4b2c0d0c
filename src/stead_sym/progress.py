"""What a long computation reports while it runs: the name of its phase and some counts."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then, e.g. ``progress("reach", states=1200, contexts=4)``; must return at once."""

    def __call__(self, phase: str, /, **counts: int) -> None: ...
