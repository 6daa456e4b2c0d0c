"""The command `stead-sym blame`: the decisions of an agent that a failing specification rests on."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stead_sym.analyses.blame import MOST_SOLVED, Blame, blame
from stead_sym.analyses.shield.shield import Shield, shield
from stead_sym.cli.agents import asked_names, chosen_agents
from stead_sym.cli.child import Stopped
from stead_sym.cli.limits import add_limits, display, print_stopped
from stead_sym.cli.numbers import positive, tolerance
from stead_sym.cli.options import domain
from stead_sym.cli.request import add_request, request_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import InputError, Undecided
from stead_sym.report.blame import blame_data, print_blame
from stead_sym.report.streams import console_on
from stead_sym.support.printable import plural
from stead_sym.support.progress import Progress
from stead_sym.verification.result import Verification
from stead_sym.verification.verify import verify

if TYPE_CHECKING:
    from stead_sym.evidence.document import Json


def add_blame(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `blame`."""
    parser.usage = "stead-sym blame FILE [options]"
    parser.set_defaults(run=_blame)
    add_request(parser, questions=True, domain_help="as for verify (default: normal)")
    add_limits(parser)
    parser.set_defaults(stopped=_stopped)
    parser.add_argument(
        "--near",
        type=tolerance,
        default=0.0,
        metavar="D",
        help="list the decisions on the run that a model took with a margin of at most D",
    )
    parser.add_argument(
        "--limit", type=positive, default=MOST_SOLVED, metavar="N", help="solve so many variants at most"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("--quiet", action="store_true", help="no notes, no progress")


def _blame(options: argparse.Namespace) -> int:
    request = request_of(options)
    deployment, questions = request.load(), request.questions
    agents = chosen_agents(deployment, options)
    with display(options) as progress:
        result = verify(
            deployment, agents, questions, domain=domain(request.domain), progress=progress, findings=False
        )
        asked = asked_names(deployment, agents, questions)
        if result.broken is not None and questions is None:
            asked.insert(0, result.broken.claim)
        report = _Report(result, options)
        for name in asked:
            if result[name].holds is False:
                found = blame(
                    result,
                    name,
                    tolerance=options.near,
                    most_solved=options.limit,
                    progress=progress,
                    so_far=report.add,
                )
                report.add(found, _shielding(deployment, found, progress))
    console_on(sys.stdout).file.write(str(report))
    return 0


@dataclass
class _Report:
    """The results up to now, by specification. The parent process keeps it for a run that is ended."""

    _result: Verification
    _options: argparse.Namespace
    _data: dict[str, Json] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def add(self, found: Blame, gate: Shield | None = None) -> None:
        """Add the result for a specification, in place of an earlier one."""
        console = console_on(sys.stdout)
        way_out = "" if gate is None else _way_out(self._options.file, found.spec, gate)
        with console.capture() as printed:
            print_blame(self._result, found, console, way_out)
        self._texts[found.spec] = printed.get()
        self._data[found.spec] = blame_data(found, None if gate is None else gate.text)
        if self._options.watcher is not None:
            self._options.watcher.keep(_KEPT, {"text": str(self)})

    def __str__(self) -> str:
        if self._options.json:
            return json.dumps([*self._data.values()], indent=2) + "\n"
        return "".join(self._texts.values()) or f"no specification fails under {self._result.agent}\n"


_KEPT = "blame"


def _stopped(options: argparse.Namespace, ended: Stopped) -> int:
    """Print the results up to the point at which the run was ended."""
    if ended.kept and not ended.printing:
        console_on(sys.stdout).file.write(str(ended.kept[-1]["text"]))
        sys.stdout.flush()
        options.json = False  # the report is printed above
    return print_stopped(options, ended)


def _shielding(deployment: Deployment, found: Blame, progress: Progress | None) -> Shield | None:
    """Return a gate under which the specification holds for every agent, if all repairs are idle.

    The gate allows some call with an effect. The result is None if there is no such gate.
    """
    if not found.is_idle or deployment.gated:
        return None
    try:
        shielded = shield(deployment, found.spec, progress=progress)
    except (InputError, Undecided):  # there is no largest restriction, or none was found
        return None
    acting = {tool.name for tool in deployment.tools if any(effect.statements for effect in tool.effects)}
    if shielded.gate is None or not any(one.allowed for one in shielded.tools if one.tool in acting):
        return None
    return shielded


def _way_out(file: str, spec: str, gate: Shield) -> str:
    calls = sum(one.enabled for one in gate.tools)
    return (
        f"Behind the gate of `stead-sym shield {file} --spec {spec}` it holds of every agent, and"
        f" {sum(one.allowed for one in gate.tools)} of {plural(calls, 'call')} stay allowed"
    )
