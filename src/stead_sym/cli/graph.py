"""`stead-sym graph`: drawings of what was explored, the states or the decisions of an agent."""

from __future__ import annotations

import argparse
from pathlib import Path

from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import domain
from stead_sym.cli.request import add_request, request_of
from stead_sym.errors import InputError
from stead_sym.logic.names import check_known
from stead_sym.report.diagram import diagram_dot
from stead_sym.report.drawing import diagram_svg
from stead_sym.report.graphs import MOST_STATES, graph_of_decisions, graph_of_states, the_only
from stead_sym.report.streams import refuse_source, write_file
from stead_sym.verification.verify import verify


def add_graph(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `graph`."""
    parser.set_defaults(run=_graph)
    add_request(
        parser,
        domain_help="normal: fresh values have representatives (default); theorem: the literal domain",
    )
    parser.add_argument(
        "--of",
        choices=("states", "decisions"),
        default="states",
        help="states: every reachable state and step; decisions: what the agent is shown and selects",
    )
    parser.add_argument(
        "--whose", metavar="AGENT", help="whose decisions, where the deployment has several agents"
    )
    parser.add_argument("--format", choices=("svg", "dot"), help="default: by the name of OUT, else svg")
    parser.add_argument("--out", metavar="OUT", default="-", help="the file to write (default: stdout)")
    parser.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        default=MOST_STATES,
        help=f"draw at most so many states (default: {MOST_STATES})",
    )
    add_limits(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _graph(options: argparse.Namespace) -> int:
    request = request_of(options)
    if options.whose is not None and options.of != "decisions":
        raise InputError("--whose says whose decisions to draw; add --of decisions, or leave it out")
    refuse_source(options.out, options.file)
    deployment = request.load()
    agents = chosen_agents(deployment, options)
    names = [role.name for role in deployment.agents]
    if options.whose is not None:
        check_known("agent", options.whose, names)
    elif options.of == "decisions":
        the_only(names)
    size = domain(request.domain)
    with display(options) as progress:
        result = verify(
            deployment,
            agents,
            [] if size in (None, "normal") else None,  # the theorem's sizes depend on the specifications
            domain=size,
            progress=progress,
            findings=False,
        )
        if options.of == "decisions":
            diagram = graph_of_decisions(result, options.whose)
        else:
            diagram = graph_of_states(result, options.max_states)
        text = diagram_dot(diagram) if _format(options) == "dot" else diagram_svg(diagram).svg
    if options.out == "-":
        print(text, end="")
        return 0
    write_file(options.out, text)
    return 0


def _format(options: argparse.Namespace) -> str:
    if options.format is not None:
        return str(options.format)
    return "dot" if Path(options.out).suffix in (".dot", ".gv") else "svg"
