"""A verification in a process of its own, so that limits and Ctrl-C reach it whatever it is doing.

A long operation on diagrams holds the interpreter: no signal handler and no other thread gets a turn.
One decision: the child is the same command on the same streams and prints its own report and errors.
The parent shows the progress that the child tells it over a socket, looks at the clock and at
the child's memory, and kills the child; before the child prints, it waits until the display is gone.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from stead_sym.memory import resident
from stead_sym.progress import Progress

AVAILABLE = os.name == "posix"
"""Whether this system has what watching takes."""

_TICK = 0.2
_MIB = 2**20
_PR_SET_PDEATHSIG = 1
_START_PHASE = "start"
"""The phase before the first that the child reports. No progress is shown in it: the child may print notes,
and libraries of models print what they load."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from stead_sym.cli.main import main;"
    " sys.exit(main(sys.argv[3:], watcher=int(sys.argv[1])))"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds from the start, and MiB of resident memory; None: no limit."""

    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a run has ended without an answer, and how far it had come after so many seconds."""

    reason: str
    phase: str
    counts: Mapping[str, int]
    seconds: float


# the parent's side


def watched(
    words: Sequence[str], limits: Limits, display: AbstractContextManager[Progress | None]
) -> int | Stopped:
    """Run the command ``words`` in a child, and return its exit status, or why it was stopped.

    The child does not outlive the call: whatever ends it, `KeyboardInterrupt` included, kills the child.
    """
    started = time.monotonic()
    own, its = socket.socketpair()
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT}
    )  # the child inherits it: Ctrl-C is for the parent
    try:
        with own:
            with its:
                command = [sys.executable, "-P", "-c", _START, str(its.fileno()), json.dumps(sys.path)]
                child = subprocess.Popen([*command, *words], pass_fds=[its.fileno()])
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                watch = _Watch(child.pid, own, limits, started)
                with display as progress:
                    reason = watch.follow(progress)
                if reason:
                    return watch.stopped(reason)
                with suppress(ConnectionError):
                    own.sendall(b"\n")  # now the child may print
                status = child.wait()
            finally:
                child.kill()
                child.wait()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if status < 0:
        name = f"signal {-status} ({signal.strsignal(-status)})"
        return watch.stopped(f"the process was ended by {name}, perhaps for lack of memory")
    if status == 1 and not watch.answered:  # the status of Python itself, before `main` was called
        raise RuntimeError("the child process has ended before it had an answer")
    return status


class _Watch:
    """What is known of a running child."""

    def __init__(self, pid: int, connection: socket.socket, limits: Limits, started: float) -> None:
        self._pid = pid
        self._connection = connection
        self._limits = limits
        self._started = started
        self._phase = _START_PHASE
        self._counts: dict[str, int] = {}
        self._unread = b""
        self.answered = False  # the child has said that it is about to print

    def follow(self, progress: Progress | None) -> str:
        """Show progress until the child is about to print, has ended or passes a limit. Returns what to say
        of the limit that it has passed, and nothing otherwise."""
        while True:
            if select.select([self._connection], [], [], _TICK)[0] and not self._read():
                return ""
            if reason := self._exceeded():
                return reason
            if progress is not None and self._phase != _START_PHASE:
                progress(self._phase, **self._counts)

    def stopped(self, reason: str) -> Stopped:
        """What to report of a run that ends now for this reason."""
        return Stopped(reason, self._phase, self._counts, time.monotonic() - self._started)

    def _read(self) -> bool:
        """Read messages of the child; False once it is about to print or has ended."""
        try:
            received = self._connection.recv(65536)
        except ConnectionError:
            return False
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if message is None:
                self.answered = True
                return False
            self._phase, self._counts = message
        return bool(received)

    def _exceeded(self) -> str:
        limits = self._limits
        if limits.seconds is not None and time.monotonic() - self._started > limits.seconds:
            return f"stopped at the limit of {limits.seconds:g} s (--timeout)"
        if limits.memory is not None and (used := resident(self._pid) // _MIB) > limits.memory:
            return f"stopped at {used:,} MiB, past the limit of {limits.memory:,} MiB (--memory)"
        return ""


# the child's side


class Watcher:
    """The parent as the child sees it: a `Progress`, to be used as a context manager around the run.

    On the way out the child waits until the parent has taken its display away.
    """

    def __init__(self, descriptor: int) -> None:
        self._connection = socket.socket(fileno=descriptor)
        self._phase = ""
        self._told = 0.0
        if sys.platform == "linux":
            _die_with_parent()

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(ConnectionError):
            self._connection.sendall(b"null\n")
            self._connection.recv(1)
        self._connection.close()

    def __call__(self, phase: str, /, **counts: int) -> None:
        now = time.monotonic()
        if phase != self._phase or now - self._told > _TICK / 2:
            self._phase, self._told = phase, now
            self._connection.sendall(json.dumps([phase, counts]).encode() + b"\n")


def _die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, for whatever reason. On other systems than
    Linux it ends when it next reports progress and finds the connection closed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
