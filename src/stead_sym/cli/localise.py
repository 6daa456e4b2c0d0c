"""`stead-sym verify --method local`: specifications shown on the few facts that each depends on."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from stead_sym.analyses.local.verify import localise
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.limits import display
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.errors import InputError, Undecided
from stead_sym.report.localised import localised_data, print_localised
from stead_sym.report.partial import message
from stead_sym.report.streams import console_on
from stead_sym.verification.verdict import Verdict

_REFUSED = {
    "deepen": "--deepen",
    "certify": "--certify",
    "report": "--report",
    "evidence": "--evidence",
    "contexts": "--contexts",
    "hypotheses": "--hypotheses",
    "strict": "--strict",
    "domain": "--domain",
    "force": "--force",
    "unwrapped": "--unwrapped",
    "min_mass": "--min-mass",
    "max_states": "--max-states",
    "annotate": "--annotate",
    "sarif": "--sarif",
}
"""What needs all reachable states, or is about them."""


def verify_locally(
    options: argparse.Namespace, deployment: Deployment, questions: Sequence[Question] | None
) -> int:
    """Show what can be shown on few facts, and report: status 0 if that is everything, else 3."""
    for name, option in _REFUSED.items():
        if getattr(options, name):
            raise InputError(f"{option} is about all reachable states; leave it out with --method local")
    if options.engine != "symbolic":
        raise InputError("--method local is for the symbolic engine; leave out --engine explicit")
    agents = chosen_agents(deployment, options)
    with display(options) as progress:
        found = localise(
            deployment,
            agents,
            questions,
            backend=options.backend,
            progress=progress,
            established=_teller(options),
        )
        report = json.dumps(localised_data(found), indent=2) if options.json else ""
    if options.json:
        print(report)
    else:
        print_localised(found, console_on(sys.stdout), quiet=options.quiet)
    return Undecided.exit_status if any(one.unexpected for one in found.verdicts.values()) else 0


def _teller(options: argparse.Namespace) -> Callable[[Verdict], None] | None:
    """Passes on each specification that holds."""
    if options.watcher is None:
        return None
    parent, console = options.watcher, None if options.json else console_on(sys.stdout)

    def tell(verdict: Verdict) -> None:
        if verdict.holds:
            parent.keep(verdict.spec, message(verdict, None, console))

    return tell
