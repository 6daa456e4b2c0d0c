"""The commands that run in a child process (`cli.child`), and the arguments that the parent reads.

One decision: the parent parses the limits and the options on the amount of output, and nothing else. The
child, which is the same command, parses all arguments and reports errors in them, so that the parent imports
little.
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
