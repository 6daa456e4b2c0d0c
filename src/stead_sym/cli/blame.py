"""`stead-sym blame`: which decisions of an agent a failing specification rests on."""

from __future__ import annotations

import argparse
import json
import sys

from stead_sym.agents.roles import deciding
from stead_sym.analyses.blame import MOST_SOLVED, blame
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.numbers import positive, tolerance
from stead_sym.cli.options import domain
from stead_sym.cli.request import add_request, request_of
from stead_sym.report.blame import blame_data, print_blame
from stead_sym.report.streams import console_on
from stead_sym.verification.verify import verify


def add_blame(parser: argparse.ArgumentParser) -> None:
    """The arguments of `blame`."""
    parser.usage = "stead-sym blame FILE [options]"
    parser.set_defaults(run=_blame)
    add_request(parser, questions=True, domain_help="as for verify (default: normal)")
    add_limits(parser)
    parser.add_argument(
        "--near",
        type=tolerance,
        default=0.0,
        metavar="D",
        help="list the decisions on the run that a model took with a margin of at most D",
    )
    parser.add_argument(
        "--limit", type=positive, default=MOST_SOLVED, metavar="N", help="solve so many variants at most"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--quiet", action="store_true", help="no notes, no progress")


def _blame(options: argparse.Namespace) -> int:
    request = request_of(options)
    deployment, questions = request.load(), request.questions
    agents = chosen_agents(deployment, options)
    with display(options) as progress:
        result = verify(
            deployment, agents, questions, domain=domain(request.domain), progress=progress, findings=False
        )
        asked = [spec.name for spec in deployment.asked(questions, deciding(deployment, agents))[1]]
        if result.broken is not None and questions is None:
            asked.insert(0, result.broken.claim)
        failing = [name for name in asked if result[name].holds is False]
        found = [
            blame(result, name, tolerance=options.near, most_solved=options.limit, progress=progress)
            for name in failing
        ]
    if options.json:
        print(json.dumps([blame_data(one) for one in found], indent=2))
    elif not found:
        print(f"no specification fails under {result.agent}")
    else:
        for one in found:
            print_blame(result, one, console_on(sys.stdout))
    return 0
