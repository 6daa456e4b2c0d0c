"""What raising the bounds has found, on a terminal and as JSON.

One decision: first the verdicts, then why the bounds are exceeded, since whoever reads on wants to bound the
deployment.
"""

from __future__ import annotations

from msgspec import convert
from rich.console import Console

from stead_sym.analyses.bounds import in_words
from stead_sym.analyses.deepening.deepen import Deepening
from stead_sym.evidence.document import Json
from stead_sym.report.data import steps, texts, verdict_data
from stead_sym.report.document import (
    DeepeningReport,
    EveryNumberData,
    GrowthData,
    RemedyData,
    RoundData,
    ShownData,
)
from stead_sym.report.terminal import indented, print_evidence, print_trace, verdict_row, verdict_table
from stead_sym.support.wrapping import Table, Text


def print_deepening(found: Deepening, console: Console, *, quiet: bool = False) -> None:
    """The whole report; with ``quiet`` a line for each specification."""
    if quiet:
        for one in found.found.values():
            console.print(str(one.verdict), soft_wrap=True)
        return
    console.print(Text.assemble((found.deployment.name, "bold"), " under ", (found.agent, "bold")))
    console.print(indented(_reached(found)))
    console.print()
    if found.found:
        rows = (verdict_row(one.verdict) for one in found.found.values())
        console.print(verdict_table(rows, console))
    for one in found.found.values():
        if one.decided:
            print_evidence(one.verdict, one.moves, console)
    for sort, growth in found.growths.items():
        console.print()
        console.print(f"why {sort} exceeds every bound tried")
        console.print(indented(Text(str(growth))))
        first = growth.enters + 1
        again = f"steps {first}-{growth.enters + growth.length}" if growth.length > 1 else f"step {first}"
        console.print(indented(Text(f"{again} of this run, {growth.rounds} times:")))
        print_trace(growth.run, console)
    if found.remedy is not None:
        console.print()
        console.print("what would bound it")
        console.print(indented(Text(str(found.remedy))))
    if found.lines:
        console.print()
        console.print("\n".join(found.lines), soft_wrap=True)


def _reached(found: Deepening) -> Table:
    """How far the bounds were raised."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    last = found.rounds[-1]
    grid.add_row("raised", f"to {in_words(last.bounds)}, in {len(found.rounds)} steps, {found.seconds:.2f} s")
    grid.add_row("bounds", _kept(found))
    states = f"{last.states:,} state{'s' * (last.states != 1)}"
    grid.add_row("reached", f"{states} within them{'' if found.established else ', or one step past'}")
    return grid


def _kept(found: Deepening) -> str:
    """What is known of the last bounds."""
    last = found.rounds[-1]
    if found.established:
        return "kept by every run"
    if last.exceeded and found.deployment.unbounded.issuperset(last.exceeded):
        return f"none of {', '.join(last.exceeded)}"
    if last.exceeded:
        return f"not kept: {', '.join(last.exceeded)} can exceed them"
    return (
        f"not known to be kept: a formula of `ensure` may bring in more of {', '.join(last.unseen)} at once"
    )


def deepening_data(found: Deepening) -> dict[str, Json]:
    """The same as data: a `DeepeningReport`."""
    return DeepeningReport(
        deployment=found.deployment.name,
        agent=found.agent,
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
    ).data()
