"""`stead-sym bounds`: the least bounds that a deployment keeps, for its file.

One decision: status 0 means that the bounds printed are established. If a sort has exceeded the limit the
answer is `unknown`, status 3, with the run.
"""

from __future__ import annotations

import argparse
import json
import sys

from stead_sym.agents.roles import named_wrappers, wrap_all
from stead_sym.analyses.bounds import LIMIT, least_bounds
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.numbers import positive
from stead_sym.cli.request import add_request, request_of
from stead_sym.errors import Undecided
from stead_sym.report.bounds import bounds_data, print_bounds
from stead_sym.report.streams import console_on


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `bounds`."""
    parser.usage = "stead-sym bounds FILE [options]"
    parser.set_defaults(run=_bounds)
    add_request(parser)
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="N",
        default=LIMIT,
        help=f"look no further than N values of a sort (default: {LIMIT})",
    )
    add_limits(parser)
    parser.add_argument("--json", action="store_true", help="print the bounds as JSON")
    parser.add_argument("--quiet", action="store_true", help="no notes, no progress")


def _bounds(options: argparse.Namespace) -> int:
    deployment = request_of(options).load()
    wrappers = wrap_all(deployment, chosen_agents(deployment, options))
    agent = named_wrappers(wrappers)
    given = {name: "any" if made is None else made for name, made in wrappers.items()}
    with display(options) as progress:
        bounds = least_bounds(deployment, given, limit=options.limit, progress=progress)
    if options.json:
        print(json.dumps(bounds_data(deployment, agent, bounds), indent=2))
    else:
        print_bounds(deployment, agent, bounds, console_on(sys.stdout))
    return 0 if bounds.outgrown is None else Undecided.exit_status
