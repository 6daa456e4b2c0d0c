"""The difference of two reports on a terminal.

One decision: all verdicts come first, changed or not, then the possible causes of a change. The last line
states if something got worse, which is also the exit status.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, RenderableType

from stead_sym.report.diff import ChoiceData, ContextData, DifferenceReport, VerdictChangeData
from stead_sym.report.parting import PartingData
from stead_sym.support.wrapping import Text, headed, indented, labelled

_MAX_CONTEXTS = 3
"""The number of new contexts, and of removed ones, that are listed."""


def print_difference(difference: DifferenceReport, console: Console) -> None:
    """Print every verdict, and everything else that has changed."""
    before, after = difference.before, difference.after
    console.print(Text.assemble("from ", (before.source, "bold"), " to ", (after.source, "bold")))
    if difference.facts:
        changes = ((name, f"{c.before or '-'} -> {c.after or '-'}") for name, c in difference.facts.items())
        console.print(indented(labelled(changes)))
    if before.deployment and after.deployment and before.deployment != after.deployment:
        console.print("These are two deployments: what has the same name in both is compared.")
    for one in (before, after):
        if one.error is not None:
            console.print(Text(f"{one.source} ended in an error: {one.error}"))
    if difference.verdicts:
        console.print()
        console.print(_verdicts(difference))
    decisions = ((str(one), f"{_chosen(one.before)} -> {_chosen(one.after)}") for one in difference.decisions)
    _print_section(console, "decisions that changed", decisions)
    _print_section(console, "contexts that are new", _contexts(difference.contexts.new))
    _print_section(console, "contexts that are gone", _contexts(difference.contexts.gone))
    for kind, findings in (("new", difference.findings.new), ("gone", difference.findings.gone)):
        found = ((f"{finding.kind}: {finding.text}", "") for finding in findings)
        _print_section(console, f"findings that are {kind}", found)
    console.print()
    console.print(_conclusion(difference))


def _print_section(console: Console, title: str, items: Iterable[tuple[str, str]]) -> None:
    """Print items, each with its details below; nothing if there are none."""
    for index, (item, below) in enumerate(items):
        if index == 0:
            console.print()
            console.print(title)
        console.print(indented(Text(item)))
        if below:
            console.print(indented(indented(Text(below))))


def _verdicts(difference: DifferenceReport) -> RenderableType:
    table = headed("spec", "before", "after", "what changed", folds=("spec", "what changed"))
    for spec, change in difference.verdicts.items():
        colour = "red" if change.worse else "green" if change.better else ""
        table.add_row(
            Text(spec, "bold"),
            change.before or "-",
            Text(change.after or "-", colour),
            Text("; ".join(_remarks(change))),
        )
    return indented(table)


def _remarks(change: VerdictChangeData) -> Iterator[str]:
    if change.worse or change.better:
        yield "worse" if change.worse else "better"
    if change.before is None or change.after is None:
        yield "new" if change.before is None else "gone"
    if change.reworded:
        yield "another formula"
    if change.reason and change.before != change.after:
        yield change.reason
    if change.scope is not None:
        yield from change.scope or _unrestricted(change)
    if change.run and change.before != "fails":
        yield f"by {', '.join(change.run)}"
    if change.parting is not None:
        yield _parting(change.parting)


def _unrestricted(change: VerdictChangeData) -> Iterator[str]:
    """Yield the remark about a verdict that has no scope now."""
    if change.every_number is None:
        yield "said without a restriction now"
    elif change.after == "holds":
        yield "within the bounds of the file now, before for every number of records"


def _parting(parting: PartingData) -> str:
    if parting.step == 0:
        return "the runs start with different databases"
    if parting.before is None and parting.after is None:
        return "the runs repeat other steps"
    taken = " -> ".join(step or "the end" for step in (parting.before, parting.after))
    if parting.before and parting.before == parting.after:
        taken = f"{parting.after}, which changes other facts"
    return f"the runs part at step {parting.step}: {taken}"


def _chosen(choice: ChoiceData | ContextData) -> str:
    margin = "" if choice.margin is None else f" (margin {choice.margin:.4g})"
    return f"{', '.join(choice.selected)}{margin}"


def _contexts(contexts: Sequence[ContextData]) -> Iterator[tuple[str, str]]:
    for context in contexts[:_MAX_CONTEXTS]:
        yield str(context), _chosen(context)
    if len(contexts) > _MAX_CONTEXTS:
        yield f"and {len(contexts) - _MAX_CONTEXTS} more (--json lists them)", ""


def _conclusion(difference: DifferenceReport) -> str:
    if difference.is_none:
        return "no difference"
    if worse := [spec for spec, change in difference.verdicts.items() if change.worse]:
        return f"got worse: {', '.join(worse)}"
    return "got worse: the run ended in an error" if difference.worse else "nothing got worse"
