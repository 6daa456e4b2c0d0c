"""The options of `verify` in groups, and their conflicts."""

from __future__ import annotations

import argparse

from stead_sym.analyses.bounds import LIMIT
from stead_sym.cli.limits import add_limits
from stead_sym.cli.located import add_located
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import Options, add_domain, domain
from stead_sym.cli.request import DOMAIN
from stead_sym.errors import InputError


def add_written(group: Options) -> None:
    """Add the options for output and files."""
    group.add_argument("--quiet", action="store_true", help="print the verdicts only; no notes, no progress")
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument(
        "--hypotheses", action="store_true", help="print in full what the verdicts rest on, and why it is so"
    )
    group.add_argument(
        "--contexts", action="store_true", help="count the contexts of policies too where they are many"
    )
    group.add_argument(
        "--report", metavar="OUT.html", help="write all of it as one HTML page, which needs no network"
    )
    group.add_argument(
        "--evidence",
        metavar="DIR",
        help="write the evidence for each verdict there: NAME.json for `replay`, NAME.txt to be read",
    )
    add_located(group)
    group.add_argument(
        "--certify", metavar="DIR", help="write a certificate of the verdicts there (see check-certificate)"
    )


def add_solving(group: Options) -> None:
    """Add the options for the engine, the domain, and the limits."""
    add_limits(group)
    group.add_argument(
        "--method",
        choices=("auto", "local", "monolithic"),
        default="monolithic",
        help="monolithic: from all reachable states (default); local: on the few facts that a specification"
        " depends on; what these do not decide is unknown; auto: where the data are large, local, and"
        " monolithic what is left open",
    )
    group.add_argument("--engine", choices=("symbolic", "explicit"), default="symbolic")
    group.add_argument("--backend", choices=("cudd", "autoref"), help="the diagrams of the symbolic engine")
    group.add_argument(
        "--max-states", type=positive, metavar="N", help="give up past so many states (explicit engine)"
    )
    add_domain(
        group,
        DOMAIN,
    )
    group.add_argument(
        "--force", action="store_true", help="accept domains below the theorem's; verdicts are then unknown"
    )
    group.add_argument(
        "--unwrapped",
        action="store_true",
        help="ask the agent about literal identifiers, without the wrapper; verdicts are then unknown",
    )
    group.add_argument(
        "--deepen",
        action="store_true",
        help="raise the bounds step by step: what fails on the way is a verdict, what is shown for every"
        " number of records holds, and why no bound is kept is explained",
    )
    group.add_argument(
        "--max-bound",
        type=positive,
        metavar="N",
        help=f"raise no bound past N, with --deepen (default: {LIMIT})",
    )


def refuse_conflicts(options: argparse.Namespace) -> None:
    """Raise `InputError` for conflicting options."""
    if options.annotate and options.json:
        raise InputError(
            "--annotate prints lines of its own; leave it out with --json, or write --sarif FILE"
        )
    if options.strict and options.findings == "off":
        raise InputError("--strict fails on findings; leave out --findings off, or --strict")
    if options.certify is not None and options.engine != "symbolic":
        raise InputError("--certify is for the symbolic engine; leave it out with --engine explicit")
    if options.max_states is not None and options.engine != "explicit":
        raise InputError("--max-states limits the explicit engine; add --engine explicit, or leave it out")
    if options.backend is not None and options.engine != "symbolic":
        raise InputError("--backend is for the symbolic engine; leave it out with --engine explicit")
    if domain(options.domain) == "normal" and options.engine != "symbolic":
        raise InputError(
            "--domain normal is for the symbolic engine; leave it out, or write --domain theorem,"
            f" with --engine {options.engine}"
        )
