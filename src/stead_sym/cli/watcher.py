"""The child's side of a verification in a process of its own (`cli.child`), which sends the results."""

from __future__ import annotations

import ctypes
import json
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead_sym.evidence.document import Json

_PR_SET_PDEATHSIG = 1
_TELL_SECONDS = 0.1  # seconds between two messages about one phase


class Watcher:
    """The connection of the child to its parent: a `Progress`, to be used as a context manager.

    It surrounds the run. On exit the child waits until the parent has removed its display.
    """

    def __init__(self, descriptor: int) -> None:
        self._connection = socket.socket(fileno=descriptor)
        self._phase = ""
        self._told = 0.0
        self.has_kept_failure = False
        die_with_parent()

    def __enter__(self) -> Watcher:
        """Return the connection itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Announce that the child is about to print, and wait for the parent."""
        with suppress(ConnectionError):
            self._connection.sendall(b"null\n")
            self._connection.recv(1)
        self._connection.close()

    def __call__(self, phase: str, /, **counts: int) -> None:
        """Send the phase and its counts, at most once per `_TELL_SECONDS` within a phase."""
        now = time.monotonic()
        if phase != self._phase or now - self._told > _TELL_SECONDS:
            self._phase, self._told = phase, now
            self._tell([phase, counts])

    def keep(self, name: str, found: Mapping[str, Json]) -> None:
        """Have the parent keep ``found`` under a name, replacing what it has under that name."""
        self._tell({"keep": name, "as": found})

    def keep_findings(self, findings: Sequence[Json]) -> None:
        """Have the parent keep the findings on the text, which are known before anything is explored."""
        self._tell({"findings": findings})

    def give_up(self, reason: str) -> None:
        """Have the parent end the run for this reason, as it does at a limit."""
        self._tell(reason)

    def _tell(self, message: object) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\n")


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends.

    On systems other than Linux it ends when it next reports progress and finds the connection closed.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
