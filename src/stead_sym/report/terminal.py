"""A verification on a terminal: counts, a table of verdicts, and the run behind each of them.

The runs of failing specifications come before the findings, those of the others after. One decision: nothing
depends on colour or on symbols. If the stream has neither, the words and the layout have the same content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.repeated import Repeated, repeated
from stead_sym.agents.records.weight import Weight, is_same, percent, weight, weight_words
from stead_sym.report.domains import domain_text
from stead_sym.report.verdicts import (
    findings_table,
    heading,
    hypotheses_table,
    print_evidence,
    verdict_row,
    verdict_table,
)
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Table, Text, headed, indented, labelled
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.result import AgentRun, Verification

_MAX_CLOSE_DECISIONS = 3
"""The maximum number of decisions with the least margin that are listed."""


def nothing_checked(result: Verification) -> str:
    """Return the text for a verification without specifications."""
    others = (
        " (those of the file are for others; `--spec NAME` asks for one)" if result.deployment.specs else ""
    )
    return f"No specification was checked{others}: the deployment meets its definition and its bounds."


def print_verification(result: Verification, console: Console, *, hypotheses: bool = False) -> None:
    """Print the whole report; with ``hypotheses`` also the hypotheses of the verdicts, in full."""
    console.print(_heading(result))
    if hypotheses:
        console.print()
        console.print(hypotheses_table(result.hypotheses))
    console.print()
    if result.verdicts:
        console.print(verdict_table(map(verdict_row, result.verdicts.values()), console))
    else:
        console.print(nothing_checked(result))
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
    """Print one line per specification, and nothing else."""
    for verdict in result.verdicts.values():
        console.print(str(verdict), soft_wrap=True)


def _heading(result: Verification) -> RenderableType:
    counts = reached(result, "from ")
    if result.contexts is not None and result.queries is not None:
        counts += [plural(result.contexts, "context"), plural(result.queries, "query", "queries")]
    title = heading(result.deployment, _agent(result))
    grid = labelled()
    grid.add_row("engine", f"{result.options.engine}, {result.seconds:.2f} s")
    grid.add_row("domain", domain_text(result.restriction, result.mode))
    grid.add_row("reached", ", ".join(counts))
    for share in result.shares:
        grid.add_row("gate", str(share))
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
    """Return the counts of the exploration in words; ``before`` precedes the number of initial states."""
    if result.explored is None:
        return [f"not all: `{'' if result.broken is None else result.broken.claim}` is broken"]
    counts = [plural(result.explored.states, "state"), plural(result.explored.transitions, "transition")]
    if (databases := result.explored.databases) < result.explored.states:
        counts[0] += f" ({databases:,} without the past)"
    if result.explored.initial > 1:
        counts.insert(0, f"{before}{plural(result.explored.initial, 'initial state')}")
    return counts


def _assumed(hypotheses: Hypotheses) -> Iterator[tuple[str, str]]:
    """Yield the hypotheses of the verdicts in a few words.

    These are the bounds, which every report must show, and anything exceptional.
    """
    if hypotheses.activity:
        seen = (f"{sort} {a.most} of {a.bound}" for sort, a in hypotheses.activity.items())
        yield "bounded", f"{', '.join(seen)} in use at most"
    for one in hypotheses.all:
        if one.ground == "system":
            yield "system", f"{one.name} {one.how}"
    if hypotheses.widened:
        contexts = plural(len(hypotheses.widened), "context")
        yield "widened", f"{contexts}, where one of several calls alike is selected (stead-sym symmetry)"
    if hypotheses.missing:
        names = ", ".join(missing.name for missing in hypotheses.missing)
        yield "missing", f"not established: {names} (--hypotheses)"


def _asked(run: AgentRun) -> str:
    """Return the queries to one of several agents, in words."""
    if run.is_any:
        return "any agent (everything offered)"
    if run.contexts is None or run.queries is None:
        return f"{run.agent}: contexts not counted"
    counts = f"{plural(run.contexts, 'context')}, {plural(run.queries, 'query', 'queries')}"
    return f"{run.agent}: {counts}"


def _weight(weighed: Weight, agent: str) -> str:
    """Return the token probability of the selected calls, and the sampling that the decisions cover."""
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
    """Return how often the agent was queried in the same context, and if its answers differed."""
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


def _findings(result: Verification) -> RenderableType:
    """Return the findings, and the number of subformulas that were not examined."""
    table = findings_table(result.findings)
    for accepted in result.accepted:
        table.add_row(Text("accepted", "dim"), Text(str(accepted), "dim"))
    if result.unexamined:
        parts = plural(result.unexamined, "subformula")
        table.add_row("", f"{parts} not tried for vacuity: a long specification is looked at in part")
    return Group(Text("findings"), indented(table))


def _divided(answers: Sequence[tuple[str, Answer]]) -> RenderableType:
    """Return the decisions in which an agent answered differently when it was queried again.

    Each comes with the name of the agent, which may be empty.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for column in ("agent", "decision"):
        table.add_column(column, no_wrap=True)
    table.add_column("answers", overflow="fold")
    for name, answer in answers:
        table.add_row(name, answer.key[:12], Text(weight_words(answer)))
    return Group(Text("different answers to one question"), indented(table))


def _closest(answers: Sequence[tuple[str, Answer]], *, several: bool) -> RenderableType:
    """Return the decisions that language models took with the least margin.

    ``several``: with the agent of each.
    """
    numbers = ("margin", "on the offer")
    columns = (*numbers, "unforced", *(["agent"] if several else []), "decision", "selected")
    table = headed(*columns, folds=("selected",), right=numbers)
    for name, answer in answers:
        selected = ", ".join(map(str, sorted(answer.selected)))
        whose = (name,) if several else ()
        free = {None: "?", True: "yes", False: "no"}[is_same(answer)]
        table.add_row(
            f"{answer.margin:.4g}", percent(answer.mass), free, *whose, answer.key[:12], Text(selected)
        )
    return Group(Text("closest decisions of the model"), indented(table))
