"""`stead-sym simulate`: step through a deployment on a full screen.

One decision: the library of the screen (`textual`, extra `tui`) is imported when the command runs, and only
by `cli.stepper`.
"""

from __future__ import annotations

import argparse
import sys

from stead_sym.agents.roles import deciding, wrap_all
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.request import add_request, request_of
from stead_sym.cli.stepping import Stepper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import load_json
from stead_sym.deployment.harness import under_recorded
from stead_sym.errors import InputError
from stead_sym.evidence.reading import read_evidence
from stead_sym.support.extras import install


def add_simulate(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `simulate`."""
    parser.set_defaults(run=_simulate)
    add_request(parser)
    parser.add_argument(
        "--evidence", metavar="FILE", help="begin with the run of a file of `verify --evidence`"
    )


def _simulate(options: argparse.Namespace) -> int:
    request = request_of(options)
    if options.file == "-":
        raise InputError("simulate reads keys from stdin; give the path of a file")
    try:
        from stead_sym.cli.stepper import StepperApp
    except ImportError:
        raise InputError(f"simulate needs the library textual; {install('tui')}") from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("simulate wants a terminal; `stead-sym replay` prints a run to a file or a pipe")
    StepperApp(stepper_of(request.load(), options)).run()
    return 0


def stepper_of(deployment: Deployment, options: argparse.Namespace) -> Stepper:
    """Return the stepper for the options. Raises `InputError`."""
    source = options.evidence
    data = None if source is None else load_json(source, "a file of `verify --evidence`")
    if source is not None:
        deployment = under_recorded(deployment, read_evidence(deployment, data, source).harness, source)
    agents = chosen_agents(deployment, options)
    deployment = deployment.following(deployment.specs, deciding(deployment, agents))
    stepper = Stepper(deployment, wrap_all(deployment, agents))
    if source is not None:
        stepper.follow(read_evidence(deployment, data, source).evidence.trace)
    return stepper
