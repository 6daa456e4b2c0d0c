"""The results of the iterative bound increase, on a terminal and as JSON.

One decision: the verdicts come first, then the reasons why bounds are exceeded, since the next task of the
reader is to bound the deployment.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType, convert
from rich.console import Console

from stead_sym.analyses.bounds import in_words
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.evidence.data import text_digest
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import findings_data, gates_data, hypotheses_data, steps, texts, verdict_data
from stead_sym.report.document import (
    AskedData,
    FindingData,
    GateData,
    HypothesesData,
    Seconds,
    TraceStepData,
    VerdictData,
)
from stead_sym.report.obstacle import ObstacleData, obstacle_data, print_obstacle
from stead_sym.report.verdicts import (
    findings_table,
    heading,
    hypotheses_table,
    print_evidence,
    print_trace,
    verdict_row,
    verdict_table,
)
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Table, Text, indented, labelled
from stead_sym.verification.result import agent_runs


class RoundData(Document):
    """A fragment with its bounds.

    `unseen` are the sorts of which an `ensure` may introduce more values at once than were examined.
    """

    bounds: dict[str, Count]
    states: Count
    exceeded: list[str]
    unseen: list[str]


class ShownData(Document):
    """The bounds of the first fragment that shows that a specification is false, or true."""

    within: dict[str, Count]
    true: bool


class EveryNumberData(Document):
    """The proof that a specification holds for every number of values of the `sorts`, by `views` local views.

    Each is a part on `k` values. Claims in `left_open` are not shown with it; the `invariants` of the file
    are. If `followed` is false, the proof holds for every choice of the agents. It is about a slice of the
    deployment for some `relations`, or the whole if this is empty.
    """

    k: Count
    views: Count
    sorts: list[str]
    left_open: list[str]
    followed: bool
    invariants: list[str]
    relations: list[str]


class ProposedData(Document):
    """A `line` for the file with which a specification is shown for every number of records.

    The proof uses `views` local views on `k` values.
    """

    line: str
    k: Count
    views: Count


class GrowthData(Document):
    """A run with a pumping loop: it gains values in each round."""

    text: str
    loop: list[str]
    enters: Count
    rounds: Count
    gained: Count
    sources: dict[str, Count]
    left: dict[str, Count]
    start: list[str]
    trace: list[TraceStepData]


class RemedyData(Document):
    """A change under which the bounds are established."""

    changes: list[str]
    bounds: list[str]
    agent: str


class DeepeningReport(Document):
    """The results of the iterative bound increase.

    No bound was raised beyond `limit`. `established`: no run exceeds the last bounds. `unbounded` are the
    sorts for which the file says `any`. `rounds` are the fragments, with growing bounds. `stopped` is the
    reason for an early end, empty if there was none. `digest` and `gates` and `calls` are as in a `Report`.
    """

    deployment: str
    digest: str
    agent: str
    agents: dict[str, AskedData]
    unbounded: list[str]
    limit: Count
    seconds: Seconds
    established: bool
    rounds: list[RoundData]
    specs: dict[str, VerdictData]
    shown: dict[str, ShownData]
    every_number: dict[str, EveryNumberData]
    obstacles: dict[str, ObstacleData]
    proposed: dict[str, ProposedData]
    findings: list[FindingData]
    hypotheses: HypothesesData
    growth: dict[str, GrowthData]
    remedy: RemedyData | None
    stopped: str
    gates: list[GateData] | UnsetType = UNSET
    calls: str | UnsetType = UNSET


def print_deepening(
    found: Deepening, console: Console, *, quiet: bool = False, hypotheses: bool = False
) -> None:
    """Print the whole report.

    With ``quiet``, print a line for each specification only; with ``hypotheses``, also the hypotheses of the
    verdicts.
    """
    if quiet:
        for one in found.found.values():
            console.print(str(one.verdict), soft_wrap=True)
        return
    console.print(heading(found.deployment, found.agent))
    console.print(indented(_reached(found)))
    if hypotheses:
        console.print()
        console.print(hypotheses_table(found.hypotheses))
    console.print()
    if found.found:
        rows = (verdict_row(one.verdict) for one in found.found.values())
        console.print(verdict_table(rows, console))
    for one in found.found.values():
        if one.decided:
            print_evidence(one.verdict, one.moves, console)
        elif one.obstacle is not None:
            print_obstacle(one.verdict.spec, one.obstacle, found.deployment, console)
    for sort, growth in found.growths.items():
        console.print()
        console.print(f"why {sort} exceeds every bound tried")
        console.print(indented(Text(str(growth))))
        first = growth.enters + 1
        again = f"steps {first}-{growth.enters + growth.length}" if growth.length > 1 else f"step {first}"
        console.print(indented(Text(f"{again} of this run, {growth.rounds} times:")))
        print_trace(growth.run, console)
    if found.findings:
        console.print()
        console.print("findings")
        console.print(indented(findings_table(found.findings)))
    for line, specs in _proposed(found).items():
        console.print()
        console.print(f"what would show {' and '.join(specs)} for every number of records")
        console.print(indented(Text(line)))
    if found.remedy is not None:
        console.print()
        console.print("what would bound it")
        console.print(indented(Text(str(found.remedy))))
    if found.lines:
        console.print()
        console.print("\n".join(found.lines), soft_wrap=True)


def _proposed(found: Deepening) -> dict[str, list[str]]:
    """Return the lines proposed for the file, each with the specifications that are shown with it."""
    lines: dict[str, list[str]] = {}
    for name, one in found.found.items():
        if one.proposed is not None:
            lines.setdefault(one.proposed.line, []).append(name)
    return lines


def _reached(found: Deepening) -> Table:
    """Return how far the bounds were raised, as a table."""
    grid = labelled()
    if found.broken:
        within = in_words(found.found[found.broken].within or {})
        grid.add_row("reached", f"not all: `{found.broken}` is broken within {within}, {found.seconds:.2f} s")
        return grid
    if not found.rounds:
        grid.add_row("starts", f"with {len(found.deployment.init):,} facts, too many to explore")
        grid.add_row("looked", f"at parts of databases of every size, {found.seconds:.2f} s")
        return grid
    last = found.rounds[-1]
    grid.add_row("raised", f"to {in_words(last.bounds)}, in {len(found.rounds)} steps, {found.seconds:.2f} s")
    grid.add_row("bounds", _kept(found))
    states = plural(last.states, "state")
    grid.add_row("reached", f"{states} within them{'' if found.established else ', or one step past'}")
    return grid


def _kept(found: Deepening) -> str:
    """Return what is known about the last bounds, in words."""
    last = found.rounds[-1]
    if found.established:
        return "kept by every run"
    open_ = found.deployment.unbounded
    if last.exceeded and open_.issuperset(last.exceeded):
        return f"none of {', '.join(sort for sort in last.bounds if sort in open_)}"
    if last.exceeded:
        return f"not kept: {', '.join(last.exceeded)} can exceed them"
    return (
        f"not known to be kept: a formula of `ensure` may bring in more of {', '.join(last.unseen)} at once"
    )


def deepening_data(found: Deepening) -> dict[str, Json]:
    """Return the same as data: a `DeepeningReport`."""
    return DeepeningReport(
        deployment=found.deployment.name,
        digest=text_digest(found.deployment),
        agent=found.agent,
        agents=convert(agent_runs(found.wrappers, met=False), dict[str, AskedData], from_attributes=True),
        unbounded=[sort for sort in found.deployment.bounds if sort in found.deployment.unbounded],
        limit=found.limit,
        seconds=found.seconds,
        established=found.established,
        rounds=convert(found.rounds, list[RoundData], from_attributes=True),
        specs={name: verdict_data(one.verdict, one.moves) for name, one in found.found.items()},
        shown={
            name: ShownData(within=dict(one.within), true=one.shown)
            for name, one in found.found.items()
            if one.within is not None
        },
        every_number={
            name: convert(one.every_number, EveryNumberData, from_attributes=True)
            for name, one in found.found.items()
            if one.every_number is not None
        },
        obstacles={
            name: obstacle_data(one.obstacle) for name, one in found.found.items() if one.obstacle is not None
        },
        proposed={
            name: ProposedData(line=one.proposed.line, k=one.proposed.shown.k, views=one.proposed.shown.views)
            for name, one in found.found.items()
            if one.proposed is not None
        },
        findings=findings_data(found.findings),
        hypotheses=hypotheses_data(found.hypotheses),
        growth={
            sort: GrowthData(
                text=str(growth),
                loop=[*map(str, growth.loop)],
                enters=growth.enters,
                rounds=growth.rounds,
                gained=growth.gained,
                sources=dict(growth.sources),
                left=dict(growth.left),
                start=texts(growth.run.start),
                trace=steps(growth.run),
            )
            for sort, growth in found.growths.items()
        },
        remedy=None
        if found.remedy is None
        else RemedyData(
            changes=[*found.remedy.words], bounds=[*found.remedy.bounds.lines], agent=found.remedy.agent
        ),
        stopped=found.stopped,
        gates=gates_data(found.deployment),
        calls=found.deployment.called or UNSET,
    ).data()
