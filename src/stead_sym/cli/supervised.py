"""Which commands work in a child process (`cli.child`), and what their parent reads of the words.

One decision: the parent parses nothing but the limits and how much is to be said. The child, which is the
same command, reads the rest and reports what is wrong with it, so that the parent imports next to nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from stead_sym.cli.child import AVAILABLE, Limits, Stopped, watched
from stead_sym.cli.numbers import positive, seconds
from stead_sym.errors import InputError
from stead_sym.report.progress import progress_on_stderr
from stead_sym.support.progress import Progress

EXPLORING = frozenset({"blame", "bounds", "export", "graph", "symmetry", "verify"})
"""The commands that explore."""
_HELP = frozenset({"-h", "--help"})


def supervised(words: Sequence[str], *, as_command: bool) -> int | Stopped | None:
    """Run the command in a child where it explores, and is given as a command or has limits: its exit status,
    or how it ended before it had one. None where it is to be run here. Raises `InputError` for limits where
    there can be none."""
    if not words or words[0] not in EXPLORING or not _HELP.isdisjoint(words):
        return None
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--timeout", type=seconds)
    parser.add_argument("--memory", type=positive)
    parser.add_argument("--quiet", action="store_true")
    try:
        known, _ = parser.parse_known_args(words[1:])
    except argparse.ArgumentError:  # the command says what is wrong with it, and does nothing
        return None
    limits = Limits(known.timeout, known.memory)
    if limits != Limits() and not AVAILABLE:
        raise InputError("--timeout and --memory need a POSIX system; leave them out")
    if not AVAILABLE or not (as_command or limits != Limits()):
        return None

    def display() -> AbstractContextManager[Progress | None]:
        return nullcontext() if known.quiet else progress_on_stderr()

    return watched(words, limits, display)
