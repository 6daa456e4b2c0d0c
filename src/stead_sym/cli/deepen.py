"""`stead-sym verify --deepen`: specifications without established bounds.

One decision: the report is complete after each step, and the child passes it on. If a limit ends the run, the
parent prints the last one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from stead_sym.analyses.bounds import LIMIT
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.certificate.write import check_directory, uncertifiable_views, write_certificate
from stead_sym.cli.agents import asked_names, chosen_agents
from stead_sym.cli.child import Stopped
from stead_sym.cli.limits import display
from stead_sym.cli.located import locate_error, write_located
from stead_sym.cli.watcher import Watcher
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.errors import InputError, Undecided
from stead_sym.evidence.document import Json
from stead_sym.report.deepening import deepening_data, print_deepening
from stead_sym.report.failures import print_error
from stead_sym.report.folder import prepare, write_evidence
from stead_sym.report.page import prepare_report, write_report
from stead_sym.report.progress import progress_line
from stead_sym.report.streams import console_on
from stead_sym.support.printable import printable
from stead_sym.verification.verdict import exit_status

_DEEPENING = "deepening"
"""The name under which the parent keeps the results."""

_REFUSED = {
    "unwrapped": "--unwrapped",
    "domain": "--domain",
    "force": "--force",
    "min_mass": "--min-mass",
    "contexts": "--contexts",
}
"""The options that require established bounds."""


def verify_deepening(
    options: argparse.Namespace, deployment: Deployment, questions: list[Question] | None
) -> int:
    """Raise the bounds, and report: status 1 if a specification fails, 0 if all hold, else 3."""
    for name, option in _REFUSED.items():
        if getattr(options, name):
            raise InputError(
                f"{option} is for bounds that the file has; leave it out with {_without_bounds(deployment)}"
            )
    if options.watcher is not None:
        options.watcher.keep(_DEEPENING, {_DEEPENING: True})
    if options.certify is not None:
        check_directory(options.certify)
    if options.report is not None:
        prepare_report(Path(options.report))
    agents = chosen_agents(deployment, options)
    if options.evidence is not None:
        prepare(Path(options.evidence), asked_names(deployment, agents, questions))
    with display(options) as progress:
        found = deepen(
            deployment,
            agents,
            questions,
            engine=options.engine,
            backend=options.backend,
            max_states=options.max_states,
            limit=options.max_bound or LIMIT,
            progress=progress,
            findings=options.findings == "on",
            told=_teller(options),
        )
        report = json.dumps(deepening_data(found), indent=2) if options.json else ""
    if options.evidence is not None:
        write_evidence(found, Path(options.evidence))
    if options.report is not None:
        write_report(found, options.report)
    certified = options.certify is not None and not uncertifiable_views(found)
    if certified:
        write_certificate(found, options.certify)
    if options.json:
        print(report)
    else:
        print_deepening(found, console_on(sys.stdout), quiet=options.quiet, hypotheses=options.hypotheses)
        for finding in found.findings if options.quiet else ():
            print(printable(f"stead-sym: finding: {finding}"), file=sys.stderr)
    if options.certify is not None and not certified:
        print(f"stead-sym: no certificate is written: {uncertifiable_views(found)}", file=sys.stderr)
    write_located(found, options)
    if found.stopped:
        sys.stdout.flush()
        print(f"stead-sym: unknown: {found.stopped}", file=sys.stderr)
    return _status(found, strict=options.strict)


def _status(found: Deepening, *, strict: bool) -> int:
    verdicts = (one.verdict for one in found.found.values())
    return exit_status(verdicts, refused=strict and bool(found.findings))


def is_deepening(ended: Stopped) -> bool:
    """Return True if the run that was ended raised bounds."""
    return any(_DEEPENING in known for known in ended.kept)


def _without_bounds(deployment: Deployment) -> str:
    """Return the words of the file, or the option, for which bounds are raised."""
    return next((f"`bound {sort} any`" for sort in sorted(deployment.unbounded)), "--deepen")


def _teller(options: argparse.Namespace) -> Callable[[Deepening], None] | None:
    """Return a function that sends the results after each step, as text or as data."""
    if options.watcher is None:
        return None
    parent: Watcher = options.watcher
    console = console_on(sys.stdout)

    def tell(found: Deepening) -> None:
        if options.evidence is not None:
            write_evidence(found, Path(options.evidence))
        if options.report is not None:
            write_report(found, options.report)
        with console.capture() as printed:
            print_deepening(found, console, quiet=options.quiet, hypotheses=options.hypotheses)
        data: Json = deepening_data(found) if options.json else None
        said: dict[str, Json] = {
            "text": printed.get(),
            "data": data,
            "status": _status(found, strict=options.strict),
        }
        parent.keep(_DEEPENING, {_DEEPENING: True, **said})

    return tell


def stopped_deepening(options: argparse.Namespace, ended: Stopped) -> int:
    """Report the results known when the run was ended."""
    reached = progress_line(ended.phase, ended.counts, ended.seconds)
    error = Undecided(f"unknown: {ended.reason}; {reached}")
    report = ended.kept[-1] if ended.kept and "text" in ended.kept[-1] and not ended.printing else None
    locate_error(error, options)
    if report is None:
        print_error(error, as_json=options.json, phase=ended.phase, counts=ended.counts)
    elif options.json:
        data = report["data"]
        assert isinstance(data, dict), "the child reports data where it is asked for it"
        print(json.dumps({**data, "stopped": ended.reason}, indent=2))
        print(f"stead-sym: {error}", file=sys.stderr)
    else:
        console_on(sys.stdout).file.write(str(report["text"]))
        print(f"stead-sym: {error}", file=sys.stderr)
    sys.stdout.flush()
    if ended.interrupted:
        raise KeyboardInterrupt
    return 1 if report is not None and report["status"] == 1 else error.exit_status
