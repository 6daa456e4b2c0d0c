"""`stead-sym conform`: whether a running system does what its deployment says.

One decision: status 0 says that every reachable state was run. If some were not, and no difference was found,
the answer is unknown, status 3.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.modules import files_read, prints_to_stderr, user_binding
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import add_binding, add_file
from stead_sym.conformance.conform import MAX_STATES, conform
from stead_sym.conformance.found import Conformance
from stead_sym.conformance.kept import tests_of
from stead_sym.conformance.printed import conformance_data, print_conformance
from stead_sym.conformance.report import sources_of
from stead_sym.deployment.files import load
from stead_sym.errors import InputError, Undecided
from stead_sym.report.streams import console_on


def add_conform(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `conform`."""
    parser.set_defaults(run=_conform)
    add_file(parser)
    add_binding(parser)
    parser.add_argument(
        "--max-states",
        type=positive,
        default=MAX_STATES,
        metavar="N",
        help=f"run at most so many states, the smallest (default: {MAX_STATES})",
    )
    parser.add_argument(
        "--concurrent",
        action="store_true",
        help="run every two calls that a state offers at the same time too",
    )
    parser.add_argument(
        "--walks",
        type=positive,
        default=0,
        metavar="N",
        help="make so many random walks too: calls one after the other, without loading between them",
    )
    add_limits(parser)
    parser.add_argument("--test", metavar="OUT.py", help="write each difference there as a test for pytest")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _conform(options: argparse.Namespace) -> int:
    deployment = load(options.file)
    if options.test is not None:
        _prepare(options.test)
    with prints_to_stderr(), files_read() as read:  # what the tools print is no part of the report
        binding, module = user_binding(options.binding)
        if options.database is not None:
            binding = replace(binding, database=options.database)
        with display(options) as progress:
            found = conform(
                deployment,
                binding,
                max_states=options.max_states,
                concurrent=options.concurrent,
                walks=options.walks,
                progress=progress,
            )
    if options.json:
        print(json.dumps(conformance_data(found) | {"sources": sources_of(binding, module, read)}, indent=2))
    else:
        print_conformance(deployment, found, console_on(sys.stdout))
    if not found.agrees:
        if options.test is not None:
            _write_tests(found, options)
        return 1
    return 0 if found.complete else Undecided.exit_status


def _prepare(test: str) -> None:
    """Raise `InputError` if tests cannot be written there."""
    if not test.endswith(".py"):
        raise InputError(f"{test} is no Python file; name it test_….py")
    if os.path.exists(test):
        raise InputError(f"{test} is there already; name another file, or remove it")
    if not os.path.isdir(os.path.dirname(test) or "."):
        raise InputError(f"{test} cannot be written (there is no such folder)")


def _write_tests(found: Conformance, options: argparse.Namespace) -> None:
    file = repr(options.file)
    if os.path.isfile(options.file):
        path = Path(os.path.relpath(options.file, os.path.dirname(options.test) or ".")).as_posix()
        file = f"Path(__file__).parent / {path!r}"
    Path(options.test).write_text(tests_of(found, file, options.binding), encoding="utf-8")
