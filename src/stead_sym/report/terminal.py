"""A verification on a terminal: counts, a table of verdicts, and the run behind each of them.

What fails is shown before the findings, what holds below them.

One decision: nothing depends on colour or on symbols. Where the stream has neither, the words and the
layout say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.repeated import Repeated, repeated
from stead_sym.agents.records.weight import Weight, is_same, percent, weight, weight_words
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.trace import Trace
from stead_sym.evidence.outline import outline
from stead_sym.report.steps import MovesOf, StepRow, step_table
from stead_sym.support.wrapping import Table, Text
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.options import Domain
from stead_sym.verification.result import AgentRun, Verification
from stead_sym.verification.verdict import OF_NOTHING, Verdict

_MAX_CLOSE_DECISIONS = 3
"""So many of the decisions with the least margin are listed."""
MARKS: Mapping[str, tuple[str, str, str]] = {
    "holds": ("✔", "+", "green"),
    OF_NOTHING: ("○", "o", "yellow"),
    "fails": ("✘", "x", "red"),
    "unknown": ("?", "?", "yellow"),
}
"""A symbol for what is said of a specification, one in ASCII, and a colour."""


def print_verification(result: Verification, console: Console, *, hypotheses: bool = False) -> None:
    """The whole report; with ``hypotheses`` also what the verdicts rest on, in full."""
    console.print(_heading(result))
    if hypotheses:
        console.print()
        console.print(_hypotheses(result))
    console.print()
    if result.verdicts:
        console.print(verdict_table(map(verdict_row, result.verdicts.values()), console))
    else:
        console.print("No specification was checked: the deployment meets its definition and its bounds.")
    for verdict in result.verdicts.values():
        if not verdict.holds:
            print_evidence(verdict, result.moves, console)
    if result.findings or result.accepted or result.unexamined:
        console.print()
        console.print(_findings(result))
    answers = [
        (name, answer)
        for name, run in result.agents.items()
        for answer in run.answers
        if answer.margin is not None
    ]
    if closest := sorted(answers, key=lambda pair: pair[1].margin or 0.0):
        console.print()
        console.print(_closest(closest[:_MAX_CLOSE_DECISIONS], several=len(result.agents) > 1))
    divided = [
        (name, answer)
        for name, run in result.agents.items()
        if (told := repeated(run.answers))
        for answer in told.divided
    ]
    if divided:
        console.print()
        console.print(_divided(divided[:_MAX_CLOSE_DECISIONS]))
    for verdict in result.verdicts.values():
        if verdict.holds:
            print_evidence(verdict, result.moves, console)


def print_verdicts(result: Verification, console: Console) -> None:
    """One line per specification, and nothing else."""
    for verdict in result.verdicts.values():
        console.print(str(verdict), soft_wrap=True)


def print_evidence(verdict: Verdict, moves: MovesOf | None, console: Console) -> None:
    """What shows a verdict, below an empty line; nothing where nothing does."""
    if verdict.trace is not None:
        console.print()
        console.print(_evidence(verdict, verdict.trace, moves, ascii_only=_is_ascii(console)))


def print_trace(trace: Trace, console: Console) -> None:
    """One run, such as the one that leads to an error."""
    console.print(indented(_run(trace, ascii_only=_is_ascii(console))))


def _is_ascii(console: Console) -> bool:
    return console.options.ascii_only


def indented(body: RenderableType) -> Padding:
    """A part of a report, below the line that it belongs to."""
    return Padding(body, (0, 0, 0, 2), expand=False)


def _heading(result: Verification) -> RenderableType:
    counts = reached(result, "from ")
    if result.contexts is not None and result.queries is not None:
        counts += [plural(result.contexts, "context"), plural(result.queries, "query", "queries")]
    title = Text.assemble((result.deployment.name, "bold"), " under ", (_agent(result), "bold"))
    if result.deployment.gated:
        title.append(f", behind {' and '.join(result.deployment.gated)}")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    grid.add_row("engine", f"{result.options.engine}, {result.seconds:.2f} s")
    grid.add_row("domain", domain_text(result.restriction, result.mode))
    grid.add_row("reached", ", ".join(counts))
    for label, text in _assumed(result.hypotheses):
        grid.add_row(label, text)
    for name, run in result.agents.items():
        if weighed := weight(run.answers):
            grid.add_row("weight", _weight(weighed, name))
        if told := repeated(run.answers):
            grid.add_row("asked", _repeated(told, name))
    for name, run in result.agents.items() if len(result.agents) > 1 else ():
        grid.add_row(name, _asked(run))
    return Group(title, indented(grid))


def reached(result: Verification, before: str = "") -> list[str]:
    """What was reached, in words; ``before`` stands before the number of initial states."""
    if result.explored is None:
        return [f"not all: `{'' if result.broken is None else result.broken.claim}` is broken"]
    counts = [plural(result.explored.states, "state"), plural(result.explored.transitions, "transition")]
    if result.explored.initial > 1:
        counts.insert(0, f"{before}{plural(result.explored.initial, 'initial state')}")
    return counts


def _assumed(hypotheses: Hypotheses) -> Iterator[tuple[str, str]]:
    """What the verdicts rest on, in a few words: the bounds, which every report has to show, and what is out
    of the ordinary."""
    if hypotheses.activity:
        seen = (f"{sort} {a.most} of {a.bound}" for sort, a in hypotheses.activity.items())
        yield "bounded", f"{', '.join(seen)} in use at most"
    if hypotheses.widened:
        contexts = plural(len(hypotheses.widened), "context")
        yield "widened", f"{contexts}, where one of several calls alike is selected (stead-sym symmetry)"
    if hypotheses.missing:
        names = ", ".join(missing.name for missing in hypotheses.missing)
        yield "missing", f"not established: {names} (--hypotheses)"


def _hypotheses(result: Verification) -> RenderableType:
    """Every hypothesis with how it was established, and the contexts in which a choice was widened."""
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for hypothesis in result.hypotheses.all:
        table.add_row(hypothesis.name, hypothesis.status, Text(hypothesis.how.replace("; ", "\n")))
    parts: list[RenderableType] = [Text("hypotheses"), indented(table)]
    for widened in result.hypotheses.widened:
        who = f"{widened.agent} " if widened.agent else ""
        parts.append(indented(Text(f"widened: {who}in {widened.context}: {widened}")))
    return Group(*parts)


def _asked(run: AgentRun) -> str:
    """What one of several agents was asked."""
    if run.is_any:
        return "any agent (everything offered)"
    if run.contexts is None or run.queries is None:
        return f"{run.agent}: contexts not counted"
    counts = f"{plural(run.contexts, 'context')}, {plural(run.queries, 'query', 'queries')}"
    return f"{run.agent}: {counts}"


def _weight(weighed: Weight, agent: str) -> str:
    """How far the model means the calls that it selects, and what its decisions stand for."""
    whose = f"{agent}: " if agent else ""
    parts = []
    if weighed.mass is not None:
        mass = percent(weighed.mass)
        parts.append(f"where calls part, {mass} or more of the probability is on the offered ones")
        if weighed.partly_known:
            parts.append("the tokens between, which are forced, are not counted")
        elif weighed.whole is not None:
            parts.append(f"over whole answers, forced tokens too, {percent(weighed.whole)} or more")
    if weighed.known:
        parts.append(f"{weighed.same} of {weighed.known} choices are made without the constraint too")
    if weighed.sampling is not None:
        parts.append(f"{weighed.sampling}, which takes in {percent(weighed.covered)} or more")
    return whose + "; ".join(parts or ["every token was forced"])


def _repeated(told: Repeated, agent: str) -> str:
    """How often it was asked the same, and whether it answered the same."""
    whose = f"{agent}: " if agent else ""
    again = plural(len(told.again), "context")
    if told.samples > 1:
        again = f"{told.samples} times in {again}"
    else:
        again = f"again in {again}" if told.again else "once in each context"
    if not told.again:
        return whose + again
    return f"{whose}{again}, with different answers in {len(told.divided) or 'none'}"


def _agent(result: Verification) -> str:
    return "any agent (everything offered)" if result.is_any else result.agent


def domain_text(restriction: Restriction, mode: Domain) -> str:
    """The sizes of the domains, and what they rest on."""
    sizes = ", ".join(f"{sort} {size}" for sort, size in restriction.sizes.items())
    if not restriction.exact:
        return f"{sizes} (forced below the theorem: nothing carries over)"
    if mode == "normal":
        return f"{sizes} (representatives)"
    by_theorem = all(d.size == d.required for d in restriction.derivation.values())
    return f"{sizes} ({'by the theorem' if by_theorem else 'above the theorem'})"


def plural(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def verdict_row(verdict: Verdict) -> tuple[str, str, str]:
    """The row of a verdict: what shows it, and beneath that what breaks a claim, and its scope."""
    shown = shown_by(verdict)  # of an unknown one the reason
    return verdict.spec, verdict.said, "\n".join(dict.fromkeys(filter(None, (shown, *verdict.remarks))))


def verdict_table(rows: Iterable[tuple[str, str, str]], console: Console) -> RenderableType:
    """Specifications with their verdicts and what is said of these, if that is anything."""
    rows = [*rows]
    ascii_only = _is_ascii(console)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    columns = ["", "spec", "verdict", *(["what shows it"] if any(shown for *_, shown in rows) else [])]
    for column in columns:
        table.add_column(column, no_wrap=column in ("", "verdict"), overflow="fold")
    for spec, word, shown in rows:
        symbol, plain, colour = MARKS[word]
        mark = Text(plain if ascii_only else symbol, colour)
        table.add_row(*(mark, Text(spec, "bold"), Text(word, colour), Text(shown))[: len(columns)])
    return indented(table)


def shown_by(verdict: Verdict) -> str:
    """What shows a verdict, in a few words; empty where no run does."""
    if verdict.holds is None and verdict.reason:
        return verdict.reason
    if verdict.trace is None:
        return ""
    if not verdict.trace.steps:
        return "the initial state, below"
    steps = plural(len(verdict.trace.steps), "step")
    return f"a run of {steps}, below" if verdict.trace.loop is None else f"an endless run of {steps}, below"


def _findings(result: Verification) -> RenderableType:
    """What makes a verdict say less than it seems to, and how much was not looked at."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="yellow", no_wrap=True)
    table.add_column(overflow="fold")
    for finding in result.findings:
        place = f"{finding.place}: " if finding.place else ""
        table.add_row(finding.kind, Text(f"{place}{finding.text}; {finding.remedy}"))
    for accepted in result.accepted:
        table.add_row(Text("accepted", "dim"), Text(str(accepted), "dim"))
    if result.unexamined:
        parts = plural(result.unexamined, "subformula")
        table.add_row("", f"{parts} not tried for vacuity: a long specification is looked at in part")
    return Group(Text("findings"), indented(table))


def _divided(answers: Sequence[tuple[str, Answer]]) -> RenderableType:
    """The decisions in which an agent answered differently when it was asked again; each with the name of
    the agent, which may be empty."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for column in ("agent", "decision"):
        table.add_column(column, no_wrap=True)
    table.add_column("answers", overflow="fold")
    for name, answer in answers:
        table.add_row(name, answer.key[:12], Text(weight_words(answer)))
    return Group(Text("different answers to one question"), indented(table))


def _closest(answers: Sequence[tuple[str, Answer]], *, several: bool) -> RenderableType:
    """The decisions that language models took with the least margin; ``several``: with the agents whose they
    are."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("margin", justify="right", no_wrap=True)
    table.add_column("on the offer", justify="right", no_wrap=True)
    table.add_column("unforced", no_wrap=True)
    for column in ("agent", "decision") if several else ("decision",):
        table.add_column(column, no_wrap=True)
    table.add_column("selected", overflow="fold")
    for name, answer in answers:
        selected = ", ".join(map(str, sorted(answer.selected)))
        whose = (name,) if several else ()
        free = {None: "?", True: "yes", False: "no"}[is_same(answer)]
        table.add_row(
            f"{answer.margin:.4g}", percent(answer.mass), free, *whose, answer.key[:12], Text(selected)
        )
    return Group(Text("closest decisions of the model"), indented(table))


def _evidence(verdict: Verdict, trace: Trace, moves: MovesOf | None, *, ascii_only: bool) -> RenderableType:
    title = Text.assemble((verdict.spec, "bold"), " ", (verdict.said, MARKS[verdict.said][2]))
    body = [Text(str(verdict.formula), "dim"), _run(trace, moves, ascii_only=ascii_only)]
    runs = outline(verdict.evidence).runs[1:] if verdict.evidence else ()
    if more := sum(not run.is_only_fair for run in runs):
        body.append(Text(f"{plural(more, 'more run')}: --evidence DIR has all", "dim"))
    return Group(title, indented(Group(*body)))


def _run(trace: Trace, moves: MovesOf | None = None, *, ascii_only: bool) -> RenderableType:
    """The steps as a table, a mark at those that repeat, and the remarks below it."""
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
    remarks = Table.grid(padding=(0, 2))
    remarks.add_column(style="dim", no_wrap=True)
    remarks.add_column(overflow="fold")
    for label, text in trace.remarks:
        remarks.add_row(label, Text(f"{mark} {text}" if label == "loop" else text))
    start = [Text(f"from {trace.start}", "dim")] if trace.of_many else []
    return Group(*start, steps, remarks) if trace.steps else Group(*start, remarks)
