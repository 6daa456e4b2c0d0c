"""Limits and progress of the commands that explore (`cli.child`).

It also has the message of a run that was ended.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext

from stead_sym.cli.child import Stopped
from stead_sym.cli.numbers import positive, seconds
from stead_sym.cli.options import Options
from stead_sym.cli.watcher import Watcher
from stead_sym.errors import Undecided
from stead_sym.report.failures import print_error
from stead_sym.report.progress import progress_line, progress_on_stderr
from stead_sym.support.progress import Progress


def add_limits(parser: Options) -> None:
    """Add --timeout and --memory, and `print_stopped` for a run that they end."""
    parser.set_defaults(stopped=print_stopped)
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="stop after so long; status 3")
    parser.add_argument(
        "--memory", type=positive, metavar="MIB", help="stop past so much resident memory; status 3"
    )


def display(options: argparse.Namespace) -> AbstractContextManager[Progress | None]:
    """Return the receiver of progress: the parent, stderr, or none."""
    if options.watcher is not None:
        parent: Watcher = options.watcher
        return parent
    return nullcontext() if options.quiet else progress_on_stderr()


def print_stopped(options: argparse.Namespace, ended: Stopped) -> int:
    """Print the line of a run that was ended before it had an answer, and return its exit status."""
    if ended.interrupted:
        raise KeyboardInterrupt
    error = Undecided(f"unknown: {ended.reason}; {progress_line(ended.phase, ended.counts, ended.seconds)}")
    as_json = getattr(options, "json", False)
    print_error(error, as_json=as_json, phase=ended.phase, counts=ended.counts)
    return error.exit_status
