"""`stead-sym guard`: the tools of an MCP server, behind the guards, gates and shield of a deployment."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING

from stead_sym.cli.modules import user_binding
from stead_sym.cli.numbers import seconds
from stead_sym.cli.options import add_binding, add_file
from stead_sym.deployment.files import load

if TYPE_CHECKING:
    from stead_sym.analyses.shield.shield import Shield
    from stead_sym.deployment.deployment import Deployment


def add_guard(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `guard`."""
    parser.set_defaults(run=_guard)
    add_file(parser)
    add_binding(
        parser,
        help="the Binding that names the live database and its tables (default name: binding)",
        database="another database than the binding's",
    )
    parser.add_argument(
        "--mcp", metavar="COMMAND", required=True, help="the server with the tools: a command, or a URL"
    )
    parser.add_argument(
        "--mcp-timeout",
        metavar="SECONDS",
        type=seconds,
        default=30.0,
        help="the time limit on an answer of that server (default: 30)",
    )
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve by HTTP there, on this machine, to any number of clients, instead of on stdin and stdout",
    )
    parser.add_argument(
        "--gate", metavar="NAME", action="append", default=[], help="a gate to enforce; again for the next"
    )
    parser.add_argument("--shield", action="store_true", help="compute the shield first, and enforce it too")
    parser.add_argument("--agent", metavar="NAME", help="the agent, if there are several")
    parser.add_argument(
        "--no-bounds",
        action="store_true",
        help="allow calls also past the bounds of the file, for what holds for every number of records",
    )
    parser.add_argument(
        "--verified",
        metavar="REPORT",
        help="hold the agent to the decisions in a report, what `verify --json` prints",
    )
    parser.add_argument(
        "--never-met",
        choices=("deny", "allow", "ask"),
        default="deny",
        help="what happens to a call that the report does not cover; `ask` answers that a person has to"
        " approve it (default: deny)",
    )
    parser.add_argument("--log", metavar="FILE", help="append every decision there, in a chain of hashes")


def _guard(options: argparse.Namespace) -> int:
    from stead_sym.guard.guard import Guard
    from stead_sym.guard.proxy import listening, serve

    deployment = load(options.file)
    with redirect_stdout(sys.stderr):  # stdout is the protocol's
        binding, _ = user_binding(options.binding)
    if options.database is not None:
        binding = replace(binding, database=options.database)
    http = None if options.http is None else listening(options.http)
    with Guard(
        deployment,
        binding,
        gates=options.gate,
        shield=_shield_of(deployment) if options.shield else None,
        agent=options.agent,
        bounds=not options.no_bounds,
        verified=options.verified,
        never_met=options.never_met,
        log=options.log,
    ) as guard:
        serve(guard, options.mcp, options.mcp_timeout, http)
    return 0


def _shield_of(deployment: Deployment) -> Shield:
    from stead_sym.analyses.shield.shield import shield  # only with --shield: it imports the symbolic engine

    return shield(deployment)
