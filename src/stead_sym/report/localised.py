"""Reports of the local method on a terminal and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType
from rich.console import Console

from stead_sym.evidence.data import text_digest
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import gates_data, verdict_data
from stead_sym.report.document import GateData, Positive, Seconds, VerdictData
from stead_sym.report.verdicts import heading, print_evidence, verdict_row, verdict_table
from stead_sym.support.wrapping import indented, labelled

if TYPE_CHECKING:
    from stead_sym.analyses.local.verify import Localised

_LEFT_OUT = "states, findings, the claims of the file (no verdict needs these)"


class ShownLocallyData(Document):
    """Something was shown on at most `facts` facts, in `cases` cases of values."""

    facts: Count
    cases: Positive


class LocalReport(Document):
    """The report of `verify --method local`, or of `auto` on large data.

    It has no findings. The specifications in `explored` were decided from all reachable states, so the claims
    of the file were checked for them; other verdicts do not depend on these claims. `shown` has the number of
    facts on which a specification was shown. A specification that a run decides has that run instead, and is
    in `shown` only if the evidence says something of all runs from the end of this one, too. Values outside C
    are named after one of the `sorts`, with a number.
    """

    deployment: str
    digest: str
    agent: str
    method: Literal["local"]
    sorts: list[str]
    seconds: Seconds
    specs: dict[str, VerdictData]
    shown: dict[str, ShownLocallyData]
    explored: list[str]
    gates: list[GateData] | UnsetType = UNSET
    calls: str | UnsetType = UNSET


def localised_data(found: Localised) -> dict[str, Json]:
    """Return the report as JSON data."""
    return LocalReport(
        deployment=found.deployment.name,
        digest=text_digest(found.deployment),
        agent=found.agent,
        method="local",
        sorts=[*found.deployment.bounds],
        seconds=found.seconds,
        specs={name: verdict_data(verdict, found.moves) for name, verdict in found.verdicts.items()},
        shown={
            name: ShownLocallyData(facts=how.facts, cases=how.questions) for name, how in found.shown.items()
        },
        explored=sorted(found.explored),
        gates=gates_data(found.deployment),
        calls=found.deployment.called or UNSET,
    ).data()


def _method(found: Localised) -> str:
    number = len(found.explored)
    explored = f", and all reachable states for {number} specification{'s' * (number != 1)}" if number else ""
    return f"local{explored}, {found.seconds:.2f} s"


def print_localised(found: Localised, console: Console, *, quiet: bool) -> None:
    """Print the report on a terminal; with ``quiet`` one line for each specification."""
    if quiet:
        for verdict in found.verdicts.values():
            console.print(str(verdict), soft_wrap=True)
        return
    console.print(heading(found.deployment, found.agent))
    grid = labelled()
    grid.add_row("method", _method(found))
    grid.add_row("left out", "findings" if found.explored else _LEFT_OUT)
    console.print(indented(grid))
    console.print()
    console.print(verdict_table(map(verdict_row, found.verdicts.values()), console))
    for verdict in found.verdicts.values():
        print_evidence(verdict, found.moves, console)
