"""`stead-sym symmetry`: contexts that are not action-rigid, and choices among symmetric records."""

from __future__ import annotations

import argparse
import json
import sys

from stead_sym.analyses.symmetry import MOST_STATES, symmetry
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.numbers import positive
from stead_sym.cli.request import add_request, request_of
from stead_sym.report.streams import console_on
from stead_sym.report.symmetry import print_symmetry, symmetry_data
from stead_sym.verification.orbits import MOST_CHOICES


def add_symmetry(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `symmetry`."""
    parser.usage = "stead-sym symmetry FILE [options]"
    parser.set_defaults(run=_symmetry)
    add_request(parser, questions=True)
    add_limits(parser)
    parser.add_argument(
        "--limit",
        type=positive,
        default=MOST_CHOICES,
        metavar="N",
        help=f"verify so many single choices at most (default: {MOST_CHOICES})",
    )
    parser.add_argument(
        "--max-states",
        type=positive,
        default=MOST_STATES,
        metavar="N",
        help=f"give up past so many states of the literal domain (default: {MOST_STATES})",
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--quiet", action="store_true", help="no notes, no progress")


def _symmetry(options: argparse.Namespace) -> int:
    request = request_of(options)
    deployment = request.load()
    agents = chosen_agents(deployment, options)
    with display(options) as progress:
        found = symmetry(
            deployment,
            agents,
            request.questions,
            most_choices=options.limit,
            max_states=options.max_states,
            progress=progress,
        )
    if options.json:
        print(json.dumps(symmetry_data(found), indent=2))
    else:
        print_symmetry(found, console_on(sys.stdout))
    return 0
