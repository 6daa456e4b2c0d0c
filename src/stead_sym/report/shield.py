"""A shield on a terminal and as JSON.

One decision: the gate is printed as it is to be written, below the table with its share of the offered calls.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from rich.console import Console

import stead_sym.logic.syntax as fo
from stead_sym.analyses.shield.shield import Guarded, Shield
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import steps, texts
from stead_sym.report.document import TraceStepData
from stead_sym.report.verdicts import print_trace, verdict_table
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Text, headed, indented
from stead_sym.verification.verdict import Word

Form: TypeAlias = Literal["gate", "cedar"]


class GuardedData(Document):
    """A tool with the numbers of its calls that are enabled behind the shield, and of those allowed.

    `condition` is the condition under which a call is allowed, null if none was found.
    """

    enabled: Count
    allowed: Count
    condition: str | None


class LostData(Document):
    """A run from an initial state from which no restriction of agents keeps the specifications."""

    start: list[str]
    trace: list[TraceStepData]


class ShieldReport(Document):
    """The most permissive restriction of any agent that keeps the specifications `kept`; `left` have none.

    `gate` is the text for the file, null if nothing is denied or if a condition was not found. `cedar` are
    the rules of Cedar as text, null if there are none; `not_in_cedar` has the tools whose conditions Cedar
    does not express, with the reasons. `verdicts` are those behind the gate. `stopped` are the tools of which
    the `agent` makes a call that the gate forbids. `agent` is null if none was given.
    """

    deployment: str
    kept: list[str]
    left: dict[str, str]
    states: Count
    won: Count
    reached: Count
    tools: dict[str, GuardedData]
    lost: LostData | None
    gate: str | None
    cedar: str | None
    not_in_cedar: dict[str, str]
    verdicts: dict[str, Word]
    agent: str | None
    stopped: list[str]


def shield_data(shield: Shield) -> dict[str, Json]:
    """Return the shield as data: a `ShieldReport`."""
    lost, verified = shield.lost, shield.verified
    return ShieldReport(
        deployment=shield.deployment.name,
        kept=list(shield.kept),
        left=dict(shield.left),
        states=shield.states,
        won=shield.won,
        reached=shield.reached,
        tools={one.tool: _tool_data(one) for one in shield.tools},
        lost=None if lost is None else LostData(texts(lost.start), steps(lost)),
        gate=shield.text or None,
        cedar=shield.cedar.text or None,
        not_in_cedar=dict(shield.cedar.unsaid),
        verdicts={} if verified is None else {name: verified[name].word for name in verified.verdicts},
        agent=shield.agent,
        stopped=list(shield.stopped),
    ).data()


def _tool_data(tool: Guarded) -> GuardedData:
    condition = None if tool.condition is None else str(tool.condition)
    return GuardedData(tool.enabled, tool.allowed, condition)


def print_shield(shield: Shield, console: Console, form: Form = "gate") -> None:
    """Print the calls that any agent may make such that the specifications hold, and their gate or rules."""
    console.print(
        Text.assemble((shield.deployment.name, "bold"), f", any agent, such that {_listed(shield.kept)}")
    )
    if shield.lost is not None:
        console.print("No restriction of agents keeps that: this run may happen whatever they do.")
        print_trace(shield.lost, console)
        _print_left(shield, console)
        return
    console.print(
        f"  {shield.won:,} of {plural(shield.states, 'state')} are won, {shield.reached:,} of them reached"
    )
    table = headed(
        "tool",
        "enabled",
        "allowed",
        "a call is allowed",
        folds=("a call is allowed",),
        right=("enabled", "allowed"),
    )
    for tool in shield.tools:
        table.add_row(tool.tool, f"{tool.enabled:,}", f"{tool.allowed:,}", Text(_when(tool)))
    console.print(indented(table))
    written = text_of(shield, form)
    if not any(tool.denied for tool in shield.tools):
        console.print("Nothing is to be denied: any agent keeps that.")
    elif shield.gate is None:
        console.print("No gate is given: of a tool above no condition was found that says it.")
    else:
        console.print(f"It keeps {shield.share:.0%} of the enabled calls.", end=" " if written else "\n")
    if written:
        console.print(f"As {'a gate of the file' if form == 'gate' else 'rules of Cedar'}:\n")
        console.print(Text(written), soft_wrap=True)
    if shield.gate is not None:
        if shield.verified is not None:
            console.print("\nBehind it, under any agent:")
            verdicts = shield.verified.verdicts.values()
            rows = ((one.spec, one.said, _not_kept(shield, one.spec)) for one in verdicts)
            console.print(verdict_table(rows, console))
        if shield.agent is not None:
            stops = f"stops calls of {', '.join(shield.stopped)}" if shield.stopped else "never stops a call"
            console.print(f"\nUnder {shield.agent} it {stops}.")
    if shield.verified is None:
        _print_left(shield, console)


def _print_left(shield: Shield, console: Console) -> None:
    for spec, reason in shield.left.items():
        console.print(f"{spec} is not asked of the shield: {reason}")


def _not_kept(shield: Shield, spec: str) -> str:
    return f"not asked of the shield: {shield.left[spec]}" if spec in shield.left else ""


def text_of(shield: Shield, form: Form) -> str:
    """Return the gate, or the rules of Cedar, as text; it is empty if there are none."""
    return shield.text if form == "gate" else shield.cedar.text


def _listed(names: tuple[str, ...]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last} hold" if most else f"{last} holds"


def _when(tool: Guarded) -> str:
    if tool.condition is None:
        return "where no condition was found that says it"
    if tool.condition in (fo.TRUE, fo.FALSE):
        return "always" if tool.condition == fo.TRUE else "never"
    return f"when {tool.condition}"
