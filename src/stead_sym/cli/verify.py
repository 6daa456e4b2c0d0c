"""`stead-sym verify`: specifications under an agent.

One decision: with limits, and for the symbolic engine in any case, the command does the work in a child
process, which can be stopped at any time (`cli.child`).
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import AbstractContextManager, nullcontext

from stead_sym.agent.backends import KINDS
from stead_sym.certificate.write import write_certificate
from stead_sym.cli.agents import add_agents, chosen_agents, wants_model
from stead_sym.cli.child import AVAILABLE, Limits, Stopped, Watcher, watched
from stead_sym.cli.options import add_domain, add_file, add_specs, domain, positive, seconds, tolerance
from stead_sym.deployment.deployment import Question
from stead_sym.errors import InputError, Undecided
from stead_sym.files import load
from stead_sym.logic.parser import parse_formula
from stead_sym.progress import Progress
from stead_sym.report.data import report_data
from stead_sym.report.progress import ProgressDisplay, progress_line
from stead_sym.report.streams import console_on, print_error
from stead_sym.report.terminal import print_verdicts, print_verification
from stead_sym.verification import Verification, verify


def add_verify(parser: argparse.ArgumentParser) -> None:
    """The arguments of `verify`."""
    parser.set_defaults(run=_verify)
    add_file(parser)
    add_agents(parser)
    parser.add_argument(
        "--unwrapped",
        action="store_true",
        help="ask the agent about literal identifiers, without the wrapper; verdicts are then unknown",
    )
    parser.add_argument("--prompts", metavar="DIR", help="take texts of the model's prompt from files there")
    parser.add_argument(
        "--store", metavar="FILE", help="the store of the model's decisions (default: your own)"
    )
    parser.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="D",
        help="let the model select all that comes within D of its choice, in log-probability (default: 0)",
    )
    add_specs(parser)
    parser.add_argument(
        "--formula", metavar="'AG ...'", action="append", help="ask this too, or only this without --spec"
    )
    parser.add_argument("--engine", choices=("symbolic", "explicit"), default="symbolic")
    add_domain(
        parser,
        "normal: fresh values have representatives (default, symbolic engine only); theorem: the literal"
        " domain (default of the explicit engine); SORT=N: that one, with more values of some sorts",
    )
    parser.add_argument(
        "--force", action="store_true", help="accept domains below the theorem's; verdicts are then unknown"
    )
    parser.add_argument("--backend", choices=("cudd", "autoref"), help="the diagrams of the symbolic engine")
    parser.add_argument(
        "--max-states", type=positive, metavar="N", help="give up past so many states (explicit engine)"
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="stop after so long; status 3")
    parser.add_argument(
        "--memory", type=positive, metavar="MIB", help="stop past so much resident memory; status 3"
    )
    parser.add_argument(
        "--findings",
        choices=("on", "off"),
        default="on",
        help="look for what makes a verdict empty: vacuous specifications, tools never called (default: on)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail with status 1 where there is any finding, after the verdicts",
    )
    parser.add_argument(
        "--certify", metavar="DIR", help="write a certificate of the verdicts there (see check-certificate)"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--quiet", action="store_true", help="print the verdicts only; no notes, no progress")


def _verify(options: argparse.Namespace) -> int:
    _refuse_conflicts(options)
    limited = options.timeout is not None or options.memory is not None
    if limited and not AVAILABLE:
        raise InputError("--timeout and --memory need a POSIX system; leave them out")
    # A long operation of the symbolic engine would keep Ctrl-C waiting.
    deaf = options.as_command and options.engine == "symbolic"
    if AVAILABLE and options.watcher is None and (limited or deaf):
        return _verify_in_child(options)
    deployment = load(options.file)
    agents = chosen_agents(deployment, options)
    asked = None if options.spec is None and options.formula is None else _asked(options)
    with _display(options) as progress:
        if progress is not None:
            progress("plan")
        result = verify(
            deployment,
            agents,
            asked,
            engine=options.engine,
            domain=domain(options.domain),
            force=options.force,
            backend=options.backend,
            max_states=options.max_states,
            progress=progress,
            wrapped=not options.unwrapped,
            findings=options.findings == "on",
        )
    if options.certify is not None:
        write_certificate(result, options.certify)
    if options.json:
        print(json.dumps(report_data(result), indent=2))
    elif options.quiet:
        print_verdicts(result, console_on(sys.stdout))
        for finding in result.findings if options.strict else ():
            print(f"stead-sym: finding: {finding}", file=sys.stderr)
    else:
        print_verification(result, console_on(sys.stdout))
    return _status(result, strict=options.strict)


def _asked(options: argparse.Namespace) -> list[Question]:
    """The specifications and formulas that are asked for."""
    formulas = (parse_formula(text, source="--formula") for text in options.formula or ())
    return [*(options.spec or ()), *formulas]


def _verify_in_child(options: argparse.Namespace) -> int:
    """The same in a process that can be stopped at any time."""
    ended = watched(options.words, Limits(options.timeout, options.memory), _display(options))
    if not isinstance(ended, Stopped):
        return ended
    reached = progress_line(ended.phase, ended.counts, ended.seconds)
    error = Undecided(f"unknown: {ended.reason}; {reached}")
    print_error(error, as_json=options.json, phase=ended.phase, counts=ended.counts)
    return error.exit_status


def _display(options: argparse.Namespace) -> AbstractContextManager[Progress | None]:
    """Where progress goes: to the parent, to stderr, or nowhere."""
    if options.watcher is not None:
        parent: Watcher = options.watcher
        return parent
    return nullcontext() if options.quiet else ProgressDisplay(console_on(sys.stderr))


def _refuse_conflicts(options: argparse.Namespace) -> None:
    """Raise `InputError` for arguments that do not go together."""
    if options.strict and options.findings == "off":
        raise InputError("--strict fails on findings; leave out --findings off, or --strict")
    if options.certify is not None and options.engine != "symbolic":
        raise InputError("--certify is for the symbolic engine; leave it out with --engine explicit")
    if options.max_states is not None and options.engine != "explicit":
        raise InputError("--max-states limits the explicit engine; add --engine explicit, or leave it out")
    if options.backend is not None and options.engine != "symbolic":
        raise InputError("--backend is for the symbolic engine; leave it out with --engine explicit")
    for name in ("prompts", "store", "tolerance"):
        if getattr(options, name) is not None and not wants_model(options):
            raise InputError(f"--{name} is for a language model; add --agent {KINDS[0]}, or leave it out")
    if domain(options.domain) == "normal" and options.engine != "symbolic":
        raise InputError(
            "--domain normal is for the symbolic engine; leave it out, or write --domain theorem,"
            f" with --engine {options.engine}"
        )


def _status(result: Verification, *, strict: bool) -> int:
    answers = {verdict.holds for verdict in result.verdicts.values()}
    if False in answers or (strict and result.findings):
        return 1
    return 3 if None in answers else 0
