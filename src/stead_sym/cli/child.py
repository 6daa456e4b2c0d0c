"""A verification in a child process, so that limits and Ctrl-C take effect at any time.

The verdicts that it has established are kept however it ends. A long operation on diagrams holds the
interpreter, so that no signal handler and no other thread runs. The library of diagrams may also crash, or
the system may end the process that takes the most memory.

One decision: the child is the same command on the same streams and prints its own report and errors. It sends
its progress to the parent over a socket. The parent shows it, watches the clock and the child's memory, and
kills the child at a limit. Before the child prints, it waits until the parent has removed its display. The
child sends each established verdict at once, and the parent keeps it (`Watcher.keep`). The parent parses the
limits and the options on the amount of output, and nothing else; so it imports little.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stead_sym.cli.numbers import positive, seconds
from stead_sym.errors import SIGNALLED, InputError
from stead_sym.report.progress import progress_on_stderr
from stead_sym.support.memory import resident, with_huge_pages
from stead_sym.support.progress import Progress

if TYPE_CHECKING:
    from stead_sym.evidence.document import Json

AVAILABLE = os.name == "posix"
"""True if this system has the signals and sockets that watching a child requires."""

_TICK_SECONDS = 0.2
_MIB = 2**20
_START_PHASE = "start"
"""The phase before the first that the child reports.

No progress is shown in it: the child may print notes, and libraries of models print what they load.
"""
_ADVICE: Mapping[int, str] = {
    signal.SIGKILL: "perhaps for lack of memory: make room, or set --memory to be stopped before",
    signal.SIGABRT: "perhaps because the library of diagrams ran out of memory: make room, or try"
    " --backend autoref",
    **dict.fromkeys(
        (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL),
        "a crash in a compiled library: try --backend autoref or --engine explicit, and report it",
    ),
}
"""The likely cause of each signal that can end the child, and a remedy."""
_OUT_OF_MEMORY = "the library of diagrams ran out of memory and ended the process: make room"
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from stead_sym.cli.main import main;"
    " sys.exit(main(sys.argv[3:], watcher=int(sys.argv[1])))"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in seconds from the start, and in MiB of resident memory; None: no limit."""

    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The end of a run without an answer: the ``reason``, and the ``phase`` and ``counts`` reached.

    ``seconds`` is its duration. ``kept`` is what it had sent by then, in its order, and ``findings`` are
    those on the text. ``interrupted``: it was ended by Ctrl-C. ``printing``: part of its report may be
    printed.
    """

    reason: str
    phase: str
    counts: Mapping[str, int]
    seconds: float
    kept: Sequence[Mapping[str, Json]] = ()
    findings: Sequence[Json] = ()
    interrupted: bool = False
    printing: bool = False


def watched(
    words: Sequence[str], limits: Limits, display: Callable[[], AbstractContextManager[Progress | None]]
) -> int | Stopped:
    """Run the command ``words`` in a child, and return its exit status, or why it ended without one.

    ``display`` is called when the child has been started. The child never outlives the call: it is killed if
    the call ends in any other way. Ctrl-C while the child works is one of the reasons to stop; at other times
    it raises `KeyboardInterrupt`.
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
                environment = with_huge_pages(os.environ)
                child = subprocess.Popen([*command, *words], pass_fds=[its.fileno()], env=environment)
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                watch = _Watch(child.pid, own, limits, started)
                try:
                    with display() as progress:
                        reason = watch.follow(progress)
                except KeyboardInterrupt:
                    return replace(watch.stopped("interrupted"), interrupted=True)
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
        ended = f"{SIGNALLED} {-status} ({signal.strsignal(-status)})"
        return watch.stopped(", ".join(filter(None, (ended, _ADVICE.get(-status)))))
    if status == 1 and not watch.answered:
        if watch.has_begun:  # exit(1) is then called by a library, not by Python
            return watch.stopped(_OUT_OF_MEMORY)
        raise RuntimeError("the child process has ended before it had an answer")
    if status == 0 and not watch.answered:  # 0 would mean that every specification holds
        return watch.stopped("the process was ended from within, perhaps by code of an agent (`os._exit`)")
    return status


class _Watch:
    """The known state of a running child."""

    def __init__(self, pid: int, connection: socket.socket, limits: Limits, started: float) -> None:
        self._pid = pid
        self._connection = connection
        self._limits = limits
        self._started = started
        self._phase = _START_PHASE
        self._counts: dict[str, int] = {}
        self._kept: dict[str, Mapping[str, Json]] = {}
        self._findings: Sequence[Json] = ()
        self._unread = b""
        self._given_up = ""
        self.answered = False  # the child has reported that it is about to print

    def follow(self, progress: Progress | None) -> str:
        """Show progress until the child is about to print, has ended, exceeds a limit or gives up.

        Returns the reason for the last two, and an empty text otherwise.
        """
        while True:
            if select.select([self._connection], [], [], _TICK_SECONDS)[0] and not self._read():
                return self._given_up
            if reason := self._exceeded():
                return reason
            if progress is not None and self.has_begun:
                progress(self._phase, **self._counts)

    @property
    def has_begun(self) -> bool:
        """True if the child has begun to work."""
        return self._phase != _START_PHASE

    def stopped(self, reason: str) -> Stopped:
        """Return the report of a run that ends now for this reason."""
        seconds, kept = time.monotonic() - self._started, tuple(self._kept.values())
        return Stopped(
            reason, self._phase, self._counts, seconds, kept, self._findings, printing=self.answered
        )

    def _read(self) -> bool:
        """Read messages of the child; return False once it is about to print or has ended."""
        try:
            received = self._connection.recv(65536)
        except ConnectionError:
            return False
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            match json.loads(line):
                case None:
                    self.answered = True
                    return False
                case str(reason):
                    self._given_up = reason
                    return False
                case {"findings": findings}:
                    self._findings = findings
                case {"keep": name, "as": found}:
                    self._kept[name] = found
                case [phase, counts]:
                    self._phase, self._counts = phase, counts
        return bool(received)

    def _exceeded(self) -> str:
        limits = self._limits
        if limits.seconds is not None and time.monotonic() - self._started > limits.seconds:
            return f"stopped at the limit of {limits.seconds:g} s (--timeout)"
        if limits.memory is not None and (used := resident(self._pid) // _MIB) > limits.memory:
            return f"stopped at {used:,} MiB, past the limit of {limits.memory:,} MiB (--memory)"
        return ""


# the commands that run in a child process, and the arguments that the parent reads


EXPLORING = frozenset(
    {"blame", "bounds", "conform", "draft", "export", "graph", "shield", "symmetry", "verify"}
)
"""The commands that explore."""
_HELP = frozenset({"-h", "--help"})


def supervised(words: Sequence[str], *, as_command: bool) -> int | Stopped | None:
    """Run the command in a child if it explores and was called as a command or with limits.

    Returns its exit status, or how it ended without one; None if it is to be run in this process. Raises
    `InputError` for limits if the system cannot watch a child.
    """
    if not words or words[0] not in EXPLORING or not _HELP.isdisjoint(words):
        return None
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--timeout", type=seconds)
    parser.add_argument("--memory", type=positive)
    parser.add_argument("--quiet", action="store_true")
    try:
        known, _ = parser.parse_known_args(words[1:])
    except argparse.ArgumentError:  # the command itself reports the error, and does nothing
        return None
    limits = Limits(known.timeout, known.memory)
    if limits != Limits() and not AVAILABLE:
        raise InputError("--timeout and --memory need a POSIX system; leave them out")
    if not AVAILABLE or not (as_command or limits != Limits()):
        return None

    def display() -> AbstractContextManager[Progress | None]:
        return nullcontext() if known.quiet else progress_on_stderr()

    return watched(words, limits, display)
