"""Reports of blame on a terminal and as JSON."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType

from stead_sym.analyses.blame import Blame, Decision, Mend
from stead_sym.evidence.document import Json
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Text, indented, labelled
from stead_sym.verification.result import Verification


def print_blame(result: Verification, blame: Blame, console: Console, way_out: str = "") -> None:
    """Print the smallest sets of decisions without which the specification would hold, and remedies."""
    verdict = result[blame.spec]
    harness = str(result.deployment.harness)
    title = Text.assemble((blame.spec, "bold"), " fails under ", (result.agent, "bold"), harness)
    console.print(title)
    console.print(indented(Text(str(verdict.formula), "dim")))
    console.print(indented(_summary(blame)))
    for number, mend in enumerate(blame.mends, 1):
        console.print(indented(_mend(mend, number, len(blame.mends))))
    if way_out:
        console.print(indented(Text(way_out)))
    if blame.close:
        console.print(indented(_close(blame)))
    console.print()


def _summary(blame: Blame) -> Text:
    solved = plural(blame.solved, "variant") + " solved"
    if blame.mends:
        or_fewer = "" if blame.complete else ", or perhaps with fewer: not all variants could be tried"
        with_ = f"It would hold with {_decisions(blame.mends[0])} taken otherwise"
        if not blame.mends[0].idle:
            return Text(f"{with_} ({solved}){or_fewer}:")
        acting = next((mend for mend in blame.mends if not mend.idle), None)
        if acting is None or len(acting.changes) == len(blame.mends[0].changes):
            others = "" if acting else ", each time of an agent that never does anything"
            more = "; raise --limit to try larger sets" if blame.limited and not acting else ""
            return Text(f"{with_} ({solved}){or_fewer}{others}{more}:")
        return Text(
            f"{with_}, of an agent that never does anything, and with {_decisions(acting)} of one that does"
            f" ({solved}){or_fewer}:"
        )
    if blame.complete:
        return Text(
            f"No other decisions would make it hold ({solved}): it is the tools, or the events, that fail it."
        )
    more = "; raise --limit" if blame.limited else ""
    return Text(f"No decisions were found that would make it hold ({solved}, and not all there are){more}")


def _decisions(mend: Mend) -> str:
    number = len(mend.changes)
    return "one decision" if number == 1 else f"{number} decisions"


def _mend(mend: Mend, number: int, of: int) -> RenderableType:
    table = labelled()
    if of > 1:
        table.add_row(f"{number} of {of}", "")
    for change in mend.changes:
        decision = change.decision
        if decision.agent:
            table.add_row("agent", decision.agent)
        table.add_row("shown", _listed(decision.context.view.facts) or "no facts")
        table.add_row("offered", _listed(decision.context.calls))
        table.add_row("selects", Text(_listed(decision.selected), "red"))
        if decision.answer is not None:
            table.add_row("margin", _margin(decision))
        table.add_row("instead", Text(change.words, "green"))
    if mend.broken:
        table.add_row("but then", f"{', '.join(mend.broken)} would fail")
    if mend.idle:
        table.add_row("but then", "it never does anything: the specification would hold of an idle agent")
    return Group(table)


def _close(blame: Blame) -> RenderableType:
    lines = [f"close decisions on its run (margin at most {blame.tolerance:g}):"]
    lines += [f"  {_margin(d)}  {_listed(d.selected)} of {_listed(d.context.calls)}" for d in blame.close]
    return Text("\n".join(lines))


def _margin(decision: Decision) -> str:
    key = "" if decision.answer is None else f", decision {decision.answer.key[:12]}"
    return "forced" if decision.margin is None else f"{decision.margin:.4g}{key}"


def _listed(items: object) -> str:
    assert isinstance(items, frozenset)
    return ", ".join(map(str, sorted(items)))


def blame_data(blame: Blame, gate: str | None = None) -> Json:
    """Return blame as JSON data; ``gate`` is the text of one under which the specification holds."""
    return {
        "spec": blame.spec,
        "mends": [
            {
                "changes": [
                    {**_decision(c.decision), "instead": [*map(str, sorted(c.instead))]} for c in mend.changes
                ],
                "broken": [*mend.broken],
                "idle": mend.idle,
            }
            for mend in blame.mends
        ],
        "shown": [_decision(decision) for decision in blame.shown],
        "close": [_decision(decision) for decision in blame.close],
        "tolerance": blame.tolerance,
        "solved": blame.solved,
        "complete": blame.complete,
        "limited": blame.limited,
        "gate": gate,
    }


def _decision(decision: Decision) -> dict[str, Json]:
    return {
        "agent": decision.agent,
        "facts": [*map(str, decision.context.view)],
        "offered": [*map(str, sorted(decision.context.calls))],
        "selected": [*map(str, sorted(decision.selected))],
        "margin": decision.margin,
        "key": None if decision.answer is None else decision.answer.key,
    }
