"""Blame on a terminal and as JSON."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType

from stead_sym.analyses.blame import Blame, Decision, Mend
from stead_sym.deployment.gates import behind
from stead_sym.evidence.document import Json
from stead_sym.support.wrapping import Text, indented, labelled
from stead_sym.verification.result import Verification


def print_blame(result: Verification, blame: Blame, console: Console) -> None:
    """The smallest sets of decisions without which the specification would hold."""
    verdict = result[blame.spec]
    gates = behind(result.deployment.gated)
    title = Text.assemble((blame.spec, "bold"), " fails under ", (result.agent, "bold"), gates)
    console.print(title)
    console.print(indented(Text(str(verdict.formula), "dim")))
    console.print(indented(_summary(blame)))
    for number, mend in enumerate(blame.mends, 1):
        console.print(indented(_mend(mend, number, len(blame.mends))))
    if blame.close:
        console.print(indented(_close(blame)))
    console.print()


def _summary(blame: Blame) -> Text:
    solved = f"{blame.solved} variant{'s' * (blame.solved != 1)} solved"
    if blame.mends:
        number = len(blame.mends[0].changes)
        decisions = "one decision" if number == 1 else f"{number} decisions"
        or_fewer = "" if blame.complete else ", or perhaps with fewer: not all variants could be tried"
        return Text(f"It would hold with {decisions} taken otherwise ({solved}){or_fewer}:")
    if blame.complete:
        return Text(
            f"No other decisions would make it hold ({solved}): it is the tools, or the events, that fail it."
        )
    more = "; raise --limit" if blame.limited else ""
    return Text(f"No decisions were found that would make it hold ({solved}, and not all there are){more}")


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


def blame_data(blame: Blame) -> Json:
    """Blame as JSON data."""
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
