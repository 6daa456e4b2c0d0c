"""`stead-sym shield`: the most permissive restriction of agents that keeps specifications.

It is a gate, or rules of Cedar. One decision: the file itself is never changed; `--write` writes another,
which is the file with the gate at its end, or has the rules alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import get_args

from stead_sym.agents.roles import ANY
from stead_sym.analyses.shield.shield import shield
from stead_sym.cli.agent_options import add_agents, add_model_options
from stead_sym.cli.agents import chosen_agents, refuse_without_model
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.options import add_file
from stead_sym.deployment.files import load_text
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import InputError, Undecided
from stead_sym.logic.names import is_name
from stead_sym.report.shield import Form, print_shield, shield_data, text_of
from stead_sym.report.streams import console_on, refuse_source, write_file


def add_shield(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `shield`."""
    parser.set_defaults(run=_shield)
    add_file(parser)
    parser.add_argument(
        "--spec",
        nargs="+",
        metavar="NAME",
        help="the specifications that are to hold (default: all that have a largest restriction)",
    )
    add_agents(parser)
    add_model_options(parser)
    parser.add_argument(
        "--gate", metavar="NAME", default="shield", help="the name of the gate (default: shield)"
    )
    parser.add_argument(
        "--as",
        dest="form",
        choices=get_args(Form),
        default="gate",
        help="what is printed and written: a gate of the deployment, or rules of the policy language Cedar"
        " (default: gate)",
    )
    parser.add_argument(
        "--write", metavar="FILE", help="write the deployment with the gate, or the rules, there"
    )
    add_limits(parser)
    parser.add_argument("--json", action="store_true", help="print the shield as JSON")
    parser.add_argument(
        "--quiet", action="store_true", help="print the gate or the rules only, and no progress"
    )


def _shield(options: argparse.Namespace) -> int:
    refuse_without_model(options)
    if not is_name(options.gate):
        raise InputError(f"argument --gate: {options.gate!r} is no name; give letters, digits and _")
    text, name = load_text(options.file)
    deployment = parse_deployment(text, name, Path(name).parent)
    if options.write is not None:
        refuse_source(options.write, options.file)
    given = options.policy or options.agent or options.replay
    agents = chosen_agents(deployment, options) if given else ANY
    with display(options) as progress:
        found = shield(deployment, options.spec, agent=agents, name=options.gate, progress=progress)
    written = text_of(found, options.form)
    if options.json:
        print(json.dumps(shield_data(found), indent=2))
    elif not options.quiet:
        print_shield(found, console_on(sys.stdout), options.form)
    elif written:
        print(written)
    if written and options.write is not None:
        whole = f"{text.rstrip()}\n\n{written}\n" if options.form == "gate" else f"{written}\n"
        write_file(options.write, whole)
    if found.lost is not None:
        return 1
    if options.form == "cedar" and found.cedar.unsaid:
        reasons = "; ".join(f"{tool}: {reason}" for tool, reason in found.cedar.unsaid.items())
        raise Undecided(f"no rules of Cedar are given, {reasons}")
    return Undecided.exit_status if any(tool.condition is None for tool in found.tools) else 0
