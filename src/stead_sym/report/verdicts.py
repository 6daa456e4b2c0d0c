"""Verdicts on a terminal: the table of them, and the run behind each.

One decision: nothing depends on colour or on symbols. If the stream has neither, the words and the layout
have the same content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich import text
from rich.console import Console, Group, RenderableType

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.trace import Trace
from stead_sym.evidence.outline import outline
from stead_sym.report.steps import MovesOf, StepRow, step_table
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Table, Text, headed, indented, labelled
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.verdict import OF_NOTHING, Verdict

MARKS: Mapping[str, tuple[str, str, str]] = {
    "holds": ("✔", "+", "green"),
    OF_NOTHING: ("○", "o", "yellow"),
    "fails": ("✘", "x", "red"),
    "unknown": ("?", "?", "yellow"),
}
"""A symbol for each verdict, one in ASCII, and a colour."""


def heading(deployment: Deployment, agent: str) -> text.Text:
    """Return the title of a report on a deployment: its name, the agent, the harness."""
    return Text.assemble((deployment.name, "bold"), " under ", (agent, "bold"), str(deployment.harness))


def print_evidence(verdict: Verdict, moves: MovesOf | None, console: Console) -> None:
    """Print the run that shows a verdict, below an empty line; nothing if there is none."""
    if verdict.trace is not None:
        console.print()
        console.print(_evidence(verdict, verdict.trace, moves, ascii_only=_is_ascii(console)))


def print_trace(trace: Trace, console: Console) -> None:
    """Print one run, such as the one that leads to an error."""
    console.print(indented(_run(trace, ascii_only=_is_ascii(console))))


def _is_ascii(console: Console) -> bool:
    return console.options.ascii_only


def verdict_row(verdict: Verdict) -> tuple[str, str, str]:
    """Return the row of a verdict: what shows it, and below it the violation of a claim, and its scope."""
    shown = shown_by(verdict)  # the reason if it is unknown
    return verdict.spec, verdict.said, "\n".join(dict.fromkeys(filter(None, (shown, *verdict.remarks))))


def verdict_table(rows: Iterable[tuple[str, str, str]], console: Console) -> RenderableType:
    """Return a table of specifications with their verdicts and the remarks about these, if any."""
    rows = [*rows]
    ascii_only = _is_ascii(console)
    columns = ["", "spec", "verdict", *(["what shows it"] if any(shown for *_, shown in rows) else [])]
    table = headed(*columns, folds=("spec", "what shows it"))
    for spec, word, shown in rows:
        symbol, plain, colour = MARKS[word]
        mark = Text(plain if ascii_only else symbol, colour)
        table.add_row(*(mark, Text(spec, "bold"), Text(word, colour), Text(shown))[: len(columns)])
    return indented(table)


def shown_by(verdict: Verdict) -> str:
    """Return what shows a verdict, in a few words; empty if no run does."""
    if verdict.holds is None and verdict.reason:
        return verdict.reason
    if verdict.trace is None:
        return ""
    if not verdict.trace.steps:
        return "the initial state, below"
    steps = plural(len(verdict.trace.steps), "step")
    return f"a run of {steps}, below" if verdict.trace.loop is None else f"an endless run of {steps}, below"


def _evidence(verdict: Verdict, trace: Trace, moves: MovesOf | None, *, ascii_only: bool) -> RenderableType:
    title = Text.assemble((verdict.spec, "bold"), " ", (verdict.said, MARKS[verdict.said][2]))
    body = [Text(str(verdict.formula), "dim"), _run(trace, moves, ascii_only=ascii_only)]
    runs = outline(verdict.evidence).runs[1:] if verdict.evidence else ()
    if more := sum(not run.is_only_fair for run in runs):
        body.append(Text(f"{plural(more, 'more run')}: --evidence DIR has all", "dim"))
    return Group(title, indented(Group(*body)))


def _run(trace: Trace, moves: MovesOf | None = None, *, ascii_only: bool) -> RenderableType:
    """Return the steps as a table, a mark at those that repeat, and the remarks below it."""
    mark = "*" if ascii_only else "↺"
    rows = [
        StepRow(
            step,
            *trace.changes(index),
            None if moves is None else moves(trace.states[index], step),
            trace.loop is not None and index >= trace.loop,
        )
        for index, step in enumerate(trace.steps)
    ]
    steps = step_table(rows, ascii_only=ascii_only)
    remarks = labelled((name, f"{mark} {said}" if name == "loop" else said) for name, said in trace.remarks)
    start = [Text(f"from {trace.start}", "dim")] if trace.of_many else []
    return Group(*start, steps, remarks) if trace.steps else Group(*start, remarks)


def findings_table(findings: Iterable[Finding]) -> Table:
    """Return the findings as a table, a line for each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="yellow", no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        place = f"{finding.place}: " if finding.place else ""
        table.add_row(finding.kind, Text(f"{place}{finding.text}; {finding.remedy}"))
    return table


def hypotheses_table(hypotheses: Hypotheses) -> RenderableType:
    """Return every hypothesis with how it was established, and the contexts with a widened choice."""
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for hypothesis in hypotheses.all:
        table.add_row(hypothesis.name, hypothesis.status, Text(hypothesis.how.replace("; ", "\n")))
    parts: list[RenderableType] = [Text("hypotheses"), indented(table)]
    for widened in hypotheses.widened:
        who = f"{widened.agent} " if widened.agent else ""
        parts.append(indented(Text(f"widened: {who}in {widened.context}: {widened}")))
    return Group(*parts)
