"""The messages of a verification in a child process (`cli.child`) to its parent while it runs.

They are each verdict once it is established, and the reason if it gives up.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from stead_sym.agents.roles import AgentLike, deciding
from stead_sym.cli.watcher import Watcher
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.engines.symbolic.bdd.manager import says_out_of_memory
from stead_sym.errors import SteadError
from stead_sym.evidence.moves import Moves
from stead_sym.report.data import findings_data
from stead_sym.report.partial import message
from stead_sym.report.streams import console_on
from stead_sym.verification.findings.static import lint
from stead_sym.verification.verdict import Verdict


def teller(
    deployment: Deployment,
    agents: Mapping[str, AgentLike],
    asked: Sequence[Question] | None,
    options: argparse.Namespace,
) -> Callable[[Verdict, Moves], None] | None:
    """Return the function that sends an established verdict to the parent; None if there is no parent.

    The findings on the text and the requested specifications are sent first.
    """
    if options.watcher is None:
        return None
    parent: Watcher = options.watcher
    console = None if options.json and options.report is None else console_on(sys.stdout)
    asking, chosen = deployment.asked(asked, deciding(deployment, agents))
    if options.findings == "on":
        about = {None, *(spec.name for spec in chosen)}
        found = findings_data(one for one in lint(asking) if one.spec in about)
        parent.keep_findings([finding.data() for finding in found])
    written = {spec.name: spec.formula for spec in asking.written.specs}
    for spec in chosen:
        open_question = Verdict(spec.name, written[spec.name], None, expected=spec.expected)
        parent.keep(spec.name, message(open_question, None, None, established=False))

    def tell(verdict: Verdict, moves: Moves) -> None:
        parent.keep(verdict.spec, message(verdict, moves, console))
        parent.has_kept_failure |= verdict.holds is not None and verdict.unexpected
        if options.evidence is not None:
            from stead_sym.report.folder import write_early

            write_early(verdict, moves, [spec.name for spec in chosen], Path(options.evidence))

    return tell


@contextmanager
def told_of_memory(options: argparse.Namespace) -> Iterator[None]:
    """Report to the parent, in a child, that an exception is due to a lack of memory."""
    try:
        yield
    except (MemoryError, SystemError, RuntimeError) as error:
        if options.watcher is not None and says_out_of_memory(error):
            options.watcher.give_up("memory has run out: make room")
        raise


@contextmanager
def told_of_errors(options: argparse.Namespace) -> Iterator[None]:
    """Have the parent report the verdicts if an error ends the child after a failed specification.

    An error is for example that of an agent. The failure remains valid in spite of the error.
    """
    try:
        yield
    except SteadError as error:
        if options.watcher is not None and options.watcher.has_kept_failure:
            options.watcher.give_up(str(error))
        raise
