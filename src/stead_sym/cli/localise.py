"""The options `--method local` and `auto` of `stead-sym verify`: specifications decided on few facts each.

With `auto` the specifications that these leave open are decided from all reachable states.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from stead_sym.cli.agents import asked_names, chosen_agents
from stead_sym.cli.limits import display
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.errors import InputError
from stead_sym.evidence.moves import Moves
from stead_sym.report.folder import prepare, write_early
from stead_sym.report.localised import localised_data, print_localised
from stead_sym.report.partial import message
from stead_sym.report.streams import console_on
from stead_sym.verification.verdict import Verdict, exit_status
from stead_sym.verification.verify import verify

_REFUSED = {
    "deepen": "--deepen",
    "certify": "--certify",
    "report": "--report",
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
    "conformed": "--conformed",
}
"""The options that need all reachable states, or are about them."""

FEW_IDENTIFIERS = 24
"""With `--method auto` all states of a deployment whose data have no more identifiers are explored."""


def is_local_first(options: argparse.Namespace, deployment: Deployment) -> bool:
    """Return True if `--method auto` tries few facts first: the data are large, and no option forbids it."""
    sorts = deployment.schema.infinite_sorts
    return (
        options.method == "auto"
        and options.engine == "symbolic"
        and not any(getattr(options, name) for name in _REFUSED)
        and sum(len(deployment.constants[sort]) for sort in sorts) > FEW_IDENTIFIERS
    )


def verify_locally(
    options: argparse.Namespace, deployment: Deployment, questions: Sequence[Question] | None
) -> int:
    """Decide the specifications for which few facts suffice, report, and return the exit status.

    With `--method auto` the others are decided from all reachable states. The status is 1 if some decided
    specification is not as expected, else 3 if one is unknown.
    """
    from stead_sym.analyses.local.verify import localise  # most runs explore all states, and start faster

    for name, option in _REFUSED.items():
        if getattr(options, name):
            raise InputError(f"{option} is about all reachable states; leave it out with --method local")
    if options.engine != "symbolic":
        raise InputError("--method local is for the symbolic engine; leave out --engine explicit")
    agents = chosen_agents(deployment, options)
    names = asked_names(deployment, agents, questions)
    if options.evidence is not None:
        prepare(Path(options.evidence), names)
    with display(options) as progress:
        tell = _teller(options, names)
        found = localise(
            deployment, agents, questions, backend=options.backend, progress=progress, established=tell
        )
        left = [name for name, verdict in found.verdicts.items() if verdict.holds is None]
        if options.method == "auto" and left:
            explored = verify(
                deployment,
                agents,
                left,
                backend=options.backend,
                progress=progress,
                findings=False,
                established=tell,
            )
            found = found.followed_by(explored)
        report = json.dumps(localised_data(found), indent=2) if options.json else ""
    if options.json:
        print(report)
    else:
        print_localised(found, console_on(sys.stdout), quiet=options.quiet)
    return exit_status(found.verdicts.values())


def _teller(options: argparse.Namespace, names: Sequence[str]) -> Callable[[Verdict, Moves | None], None]:
    """Return a callback that passes on each decided verdict, and writes its evidence if requested."""
    console = None if options.json else console_on(sys.stdout)

    def tell(verdict: Verdict, moves: Moves | None) -> None:
        if options.watcher is not None and verdict.holds is not None:
            options.watcher.keep(verdict.spec, message(verdict, moves, console))
            options.watcher.has_kept_failure |= verdict.not_as_expected
        if options.evidence is not None and moves is not None:
            write_early(verdict, moves, names, Path(options.evidence))

    return tell
