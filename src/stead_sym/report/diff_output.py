"""The difference of two reports on a terminal and as JSON.

One decision: verdicts stand first, whether they changed or not, then what may have changed them; the last
line says whether something got worse, which is the exit status too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import convert
from rich.console import Console, RenderableType

from stead_sym.evidence.document import Json
from stead_sym.report.diff import Change, DecisionChange, Difference, Parting, VerdictChange
from stead_sym.report.document import (
    ChoiceData,
    ComparedData,
    ContextData,
    ContextsData,
    DecisionChangeData,
    DifferenceReport,
    FactChangeData,
    FindingsData,
    PartingData,
    TraceStepData,
    VerdictChangeData,
)
from stead_sym.report.recorded import Choice, Context
from stead_sym.report.terminal import indented
from stead_sym.support.wrapping import Table, Text

_MAX_CONTEXTS = 3
"""How many of the new contexts, and of those that are gone, are listed."""


def print_difference(difference: Difference, console: Console) -> None:
    """All of it; what did not change is left out, but for the verdicts."""
    before, after = difference.before, difference.after
    console.print(Text.assemble("from ", (before.source, "bold"), " to ", (after.source, "bold")))
    _print_rows(console, [(name, _change(change)) for name, change in difference.facts.items()])
    if before.deployment and after.deployment and before.deployment != after.deployment:
        console.print("These are two deployments: what has the same name in both is compared.")
    for source, error in zip((before.source, after.source), difference.errors, strict=True):
        if error is not None:
            console.print(Text(f"{source} ended in an error: {error}"))
    if difference.verdicts:
        console.print()
        console.print(_verdicts(difference))
    _print_section(console, "decisions that changed", map(_decision, difference.decisions))
    _print_section(console, "contexts that are new", _contexts(difference.new_contexts))
    _print_section(console, "contexts that are gone", _contexts(difference.gone_contexts))
    for kind, findings in (("new", difference.new_findings), ("gone", difference.gone_findings)):
        _print_section(console, f"findings that are {kind}", ((str(finding), "") for finding in findings))
    console.print()
    console.print(_conclusion(difference))


def _print_rows(console: Console, rows: list[tuple[str, str]]) -> None:
    if rows:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", overflow="fold")
        grid.add_column(overflow="fold")
        for label, text in rows:
            grid.add_row(label, Text(text))
        console.print(indented(grid))


def _print_section(console: Console, title: str, items: Iterable[tuple[str, str]]) -> None:
    """Items, each with what is to be said of it below; nothing where there is none."""
    for index, (item, below) in enumerate(items):
        if index == 0:
            console.print()
            console.print(title)
        console.print(indented(Text(item)))
        if below:
            console.print(indented(indented(Text(below))))


def _change(change: Change) -> str:
    before, after = change
    return f"{before or '-'} -> {after or '-'}"


def _verdicts(difference: Difference) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("spec", "before", "after", "what changed"):
        table.add_column(column, no_wrap=column in ("before", "after"), overflow="fold")
    for change in difference.verdicts:
        colour = "red" if change.worse else "green" if change.better else ""
        table.add_row(
            Text(change.spec, "bold"),
            change.before or "-",
            Text(change.after or "-", colour),
            Text("; ".join(_remarks(change))),
        )
    return indented(table)


def _remarks(change: VerdictChange) -> Iterator[str]:
    if change.worse or change.better:
        yield "worse" if change.worse else "better"
    if change.before is None or change.after is None:
        yield "new" if change.before is None else "gone"
    if change.reworded:
        yield "another formula"
    if change.reason and change.before != change.after:
        yield change.reason
    if change.scope is not None:
        yield "; ".join(change.scope) or "said without a restriction now"
    if change.run and change.before != "fails":
        yield f"by {', '.join(step.label for step in change.run)}"
    if change.parting is not None:
        yield _parting(change.parting)


def _parting(parting: Parting) -> str:
    if parting.step == 0:
        return "the runs start with different databases"
    if parting.before is None and parting.after is None:
        return "the runs repeat other steps"
    taken = " -> ".join("the end" if s is None else s.label for s in (parting.before, parting.after))
    if parting.before and parting.after and parting.before.label == parting.after.label:
        taken = f"{parting.after.label}, which changes other facts"
    return f"the runs part at step {parting.step}: {taken}"


def _decision(change: DecisionChange) -> tuple[str, str]:
    return str(change.context), f"{_chosen(change.before)} -> {_chosen(change.after)}"


def _chosen(choice: Choice) -> str:
    margin = "" if choice.margin is None else f" (margin {choice.margin:.4g})"
    return f"{', '.join(choice.selected)}{margin}"


def _contexts(contexts: Mapping[Context, Choice]) -> Iterator[tuple[str, str]]:
    for context, choice in list(contexts.items())[:_MAX_CONTEXTS]:
        yield str(context), _chosen(choice)
    if len(contexts) > _MAX_CONTEXTS:
        yield f"and {len(contexts) - _MAX_CONTEXTS} more (--json lists them)", ""


def _conclusion(difference: Difference) -> str:
    if difference.is_none:
        return "no difference"
    if difference.worse:
        return f"got worse: {', '.join(change.spec for change in difference.worse)}"
    return "got worse: the run ended in an error" if difference.got_worse else "nothing got worse"


def difference_data(difference: Difference) -> dict[str, Json]:
    """The same as data: a `DifferenceReport`."""
    new, gone = difference.new_contexts, difference.gone_contexts
    return DifferenceReport(
        before=convert(difference.before, ComparedData, from_attributes=True),
        after=convert(difference.after, ComparedData, from_attributes=True),
        worse=difference.got_worse,
        verdicts={
            change.spec: VerdictChangeData(
                before=change.before,
                after=change.after,
                worse=change.worse,
                reason=change.reason,
                scope=None if change.scope is None else [*change.scope],
                reworded=change.reworded,
                run=[step.label for step in change.run],
                parting=None
                if (parting := change.parting) is None
                else PartingData(
                    step=parting.step, before=_label(parting.before), after=_label(parting.after)
                ),
            )
            for change in difference.verdicts
        },
        facts={name: FactChangeData(before=was, after=now) for name, (was, now) in difference.facts.items()},
        decisions=[
            DecisionChangeData(
                agent=change.context.agent,
                facts=[*change.context.facts],
                offered=[*change.context.offered],
                before=convert(change.before, ChoiceData, from_attributes=True),
                after=convert(change.after, ChoiceData, from_attributes=True),
            )
            for change in difference.decisions
        ],
        contexts=ContextsData(new=_contexts_data(new), gone=_contexts_data(gone)),
        findings=convert(
            {"new": difference.new_findings, "gone": difference.gone_findings},
            FindingsData,
            from_attributes=True,
        ),
    ).data()


def _label(step: TraceStepData | None) -> str | None:
    return None if step is None else step.label


def _contexts_data(contexts: Mapping[Context, Choice]) -> list[ContextData]:
    return [
        ContextData(
            agent=context.agent,
            facts=[*context.facts],
            offered=[*context.offered],
            selected=[*choice.selected],
            margin=choice.margin,
        )
        for context, choice in contexts.items()
    ]
