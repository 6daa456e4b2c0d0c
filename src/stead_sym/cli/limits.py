"""What the commands have in common that explore: limits, progress, and the child process that both need.

One decision: such a command works in a child process (`cli.child`) when it is given as a command or has
limits, and otherwise where it is.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext

from stead_sym.cli.child import AVAILABLE, Limits, Stopped, Watcher, watched
from stead_sym.cli.options import Options, positive, seconds
from stead_sym.errors import InputError, Undecided
from stead_sym.progress import Progress
from stead_sym.report.failures import print_error
from stead_sym.report.progress import ProgressDisplay, progress_line
from stead_sym.report.streams import console_on


def add_limits(parser: Options) -> None:
    """--timeout and --memory."""
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="stop after so long; status 3")
    parser.add_argument(
        "--memory", type=positive, metavar="MIB", help="stop past so much resident memory; status 3"
    )


def wants_child(options: argparse.Namespace) -> bool:
    """Whether the work is for a child process. Raises `InputError` for limits where there can be none."""
    limited = options.timeout is not None or options.memory is not None
    if limited and not AVAILABLE:
        raise InputError("--timeout and --memory need a POSIX system; leave them out")
    return AVAILABLE and options.watcher is None and (limited or options.as_command)


def in_child(options: argparse.Namespace) -> int | Stopped:
    """The same command in a process that can be stopped at any time: its exit status, or how it ended."""
    return watched(options.words, Limits(options.timeout, options.memory), display(options))


def elsewhere(options: argparse.Namespace, *, as_json: bool = False) -> int | None:
    """The exit status of the same command in a child process, where the work is for one (`wants_child`); None
    where it is to be done here. A child that is stopped is said to be so in one line."""
    if not wants_child(options):
        return None
    ended = in_child(options)
    return _stopped(ended, as_json=as_json) if isinstance(ended, Stopped) else ended


def display(options: argparse.Namespace) -> AbstractContextManager[Progress | None]:
    """Where progress goes: to the parent, to stderr, or nowhere."""
    if options.watcher is not None:
        parent: Watcher = options.watcher
        return parent
    return nullcontext() if options.quiet else ProgressDisplay(console_on(sys.stderr))


def _stopped(ended: Stopped, *, as_json: bool) -> int:
    """Print the line of a run that was ended before it had an answer; its exit status."""
    if ended.interrupted:
        raise KeyboardInterrupt
    error = Undecided(f"unknown: {ended.reason}; {progress_line(ended.phase, ended.counts, ended.seconds)}")
    print_error(error, as_json=as_json, phase=ended.phase, counts=ended.counts)
    return error.exit_status
