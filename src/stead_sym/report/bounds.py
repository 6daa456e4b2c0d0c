"""The least bounds of a deployment on a terminal and as JSON.

One decision: the lines to paste into the file come last, as they are to be written.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType, convert
from rich.console import Console

from stead_sym.analyses.bounds import Bounds, SortBound
from stead_sym.deployment.deployment import Deployment
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import gates_data, steps, texts
from stead_sym.report.document import GateData, TraceStepData
from stead_sym.report.verdicts import heading, print_trace
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Text, headed, indented


class BoundData(Document):
    """A bound: as written in the file, the least one, and the number of values in use.

    `written` is null if the file has no line for it, or `any`. `least` is null if none was found; otherwise
    it is established. `seen` values are in use in some reachable state. `chosen`: `initially any` admits as
    many as the bound allows.
    """

    written: Count | None
    least: Count | None
    seen: Count
    chosen: bool


class OutgrownData(Document):
    """The sort with more values than the limit, with a run to them and the tools that introduce them."""

    sort: str
    sources: dict[str, Count]
    start: list[str]
    trace: list[TraceStepData]


class BoundsReport(Document):
    """The least bounds of a deployment.

    `states` counts the reachable states, with representatives; null if not all were reached. `gates` are as
    in a `Report`.
    """

    deployment: str
    agent: str
    limit: Count
    states: Count | None
    bounds: dict[str, BoundData]
    outgrown: OutgrownData | None
    gates: list[GateData] | UnsetType = UNSET
    calls: str | UnsetType = UNSET


def print_bounds(deployment: Deployment, agent: str, bounds: Bounds, console: Console) -> None:
    """Print the bounds of a deployment under an agent, and the run that exceeds the limit if there is one."""
    title = heading(deployment, agent)
    if bounds.states is not None:
        title.append(f", {plural(bounds.states, 'state')} (representatives)")
    console.print(title)
    if not bounds.sorts:
        console.print("Every sort is finite: there is nothing to bound.")
        return
    table = headed("sort", "in the file", "least", "", folds=("",), right=("in the file", "least"))
    for bound in bounds.sorts.values():
        written = "any" if bound.any else "-" if bound.written is None else str(bound.written)
        least = "?" if bound.least is None else str(bound.least)
        table.add_row(bound.sort, written, least, Text(_remark(bound, bounds)))
    console.print(indented(table))
    console.print()
    if bounds.run is not None and bounds.outgrown is not None:
        brought = ", ".join(f"{number} by {tool}" for tool, number in bounds.sources.items())
        console.print(f"no bound up to {bounds.limit} for {bounds.outgrown}; brought in: {brought}")
        print_trace(bounds.run, console)
    if bounds.lines:
        console.print("\n".join(bounds.lines), soft_wrap=True)
    elif bounds.outgrown is None:
        console.print("no line is needed: nothing but the constants is ever in use")


def _remark(bound: SortBound, bounds: Bounds) -> str:
    if bound.least is None:
        more = f"no bound up to {bounds.limit}" if bound.sort == bounds.outgrown else "not settled"
        return f"{more}; {bound.seen} are in use in some state"
    chosen = "D0 has as many as the bound allows" if bound.chosen else ""
    return "; ".join(filter(None, (bound.remark, chosen)))


def bounds_data(deployment: Deployment, agent: str, bounds: Bounds) -> dict[str, Json]:
    """Return the same as data: a `BoundsReport`."""
    return BoundsReport(
        deployment=deployment.name,
        agent=agent,
        gates=gates_data(deployment),
        calls=deployment.called or UNSET,
        limit=bounds.limit,
        states=bounds.states,
        bounds={
            bound.sort: convert(bound, BoundData, from_attributes=True) for bound in bounds.sorts.values()
        },
        outgrown=None
        if bounds.run is None or bounds.outgrown is None
        else OutgrownData(
            sort=bounds.outgrown,
            sources=dict(bounds.sources),
            start=texts(bounds.run.start),
            trace=steps(bounds.run),
        ),
    ).data()
