"""`stead-sym conform`: whether a running system does what its deployment says.

One decision: status 0 says that every reachable state was run. If some were not, and no difference was found,
the answer is unknown, status 3.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace

from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.modules import user_object
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import add_file
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import MAX_STATES, conform
from stead_sym.conformance.printed import conformance_data, print_conformance
from stead_sym.deployment.files import load
from stead_sym.errors import InputError, Undecided
from stead_sym.report.streams import console_on


def add_conform(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `conform`."""
    parser.set_defaults(run=_conform)
    add_file(parser)
    parser.add_argument(
        "--binding",
        metavar="MODULE[:NAME]",
        required=True,
        help="the Binding of the system (default name: binding)",
    )
    parser.add_argument("--database", metavar="URL", help="another scratch database than the binding's")
    parser.add_argument(
        "--max-states",
        type=positive,
        default=MAX_STATES,
        metavar="N",
        help=f"run at most so many states, the smallest (default: {MAX_STATES})",
    )
    add_limits(parser)
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _conform(options: argparse.Namespace) -> int:
    deployment = load(options.file)
    binding = _binding(options.binding)
    if options.database is not None:
        binding = replace(binding, database=options.database)
    with display(options) as progress:
        found = conform(deployment, binding, max_states=options.max_states, progress=progress)
    if options.json:
        print(json.dumps(conformance_data(found), indent=2))
    else:
        print_conformance(deployment, found, console_on(sys.stdout))
    if not found.agrees:
        return 1
    return 0 if found.complete else Undecided.exit_status


def _binding(words: str) -> Binding:
    """Return the binding that a module holds."""
    module, _, name = words.partition(":")
    binding = user_object(words, module, name or "binding")
    if not isinstance(binding, Binding):
        raise InputError(f"{words}: {name or 'binding'} is no Binding; name one: MODULE:NAME")
    return binding
