"""Obstacles to a verdict for every number of records, on a terminal and as JSON.

One decision: an instance is shown as a small database, a line for each relation that has facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from rich.console import Console, RenderableType

from stead_sym.analyses.views.obstacle import Leading, Obstacle
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.trace import as_changes
from stead_sym.evidence.document import Count, Document
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.data import texts
from stead_sym.support.printable import plural, printable, printable_lines
from stead_sym.support.wrapping import Text, headed, indented, labelled

MOST_STEPS = 36
"""The maximum number of steps that are printed; the last ones are. JSON has all."""

MOST_FACTS = 24
"""The maximum number of facts that are printed of a relation, and of a step. JSON has all."""


class LeadingData(Document):
    """A step from a database whose local views are all known; `part` are the facts of `after` in a new view.

    Without a call, `after` is an initial database.
    """

    call: str | None
    before: list[str] | None
    after: list[str]
    part: list[str]


class ObstacleData(Document):
    """The `facts` of a database that prevents a verdict for every number of records.

    Either local views on `k` values do not exclude it, or, if something is `broken`, the last of the steps
    violates that. The `steps` lead to its local views. `run`: each starts in the last state of the one
    before, so that some agent reaches it.
    """

    k: Count
    broken: str | None
    run: bool
    facts: list[str]
    steps: list[LeadingData]


def print_obstacle(spec: str, obstacle: Obstacle, deployment: Deployment, console: Console) -> None:
    """Print the database that prevents a verdict, and the steps that lead to its local views."""
    console.print()
    console.print(Text.assemble((spec, "bold"), " ", ("unknown", "yellow")))
    console.print(indented(Text(in_the_way(obstacle))))
    console.print(indented(indented(_database(obstacle.state))))
    console.print(indented(Text(told(obstacle))))
    console.print(indented(_steps(obstacle, deployment)))


def in_the_way(obstacle: Obstacle) -> str:
    """Return the description of the database that prevents a verdict."""
    if obstacle.broken:
        return f"what stands in the way: `{obstacle.broken}` is not so in this database"
    said = f"what stands in the way: {obstacle.k}-views do not exclude this database, in which it is not so"
    if obstacle.is_run:
        return f"{said}; the steps below are a run to it, if agents may select whatever they are offered"
    return f"{said}; perhaps no run reaches it"


def told(obstacle: Obstacle) -> str:
    """Return the description of the steps below it."""
    if obstacle.is_run:
        return "the run; with larger bounds (--max-bound) it is found and replayed"
    return (
        "how its parts come about; put in is what may stand beside, as far as parts on"
        f" {obstacle.k} value{'s' * (obstacle.k != 1)} can tell"
    )


def put_in(steps: Sequence[Leading]) -> tuple[tuple[str, ...], ...]:
    """Return per step the facts of its first database that are absent after the step before."""
    before = [frozenset[Fact](), *(step.after.facts for step in steps)]
    return tuple(
        () if step.before is None else tuple(map(str, sorted(step.before.facts - last)))
        for step, last in zip(steps, before, strict=False)
    )


def changed(leading: Leading) -> tuple[str, ...]:
    """Return the changes of a step, as text."""
    before = frozenset() if leading.before is None else leading.before.facts
    after = leading.after.facts
    return tuple(map(str, as_changes(leading.after.schema, after - before, before - after)))


def call_words(leading: Leading, deployment: Deployment) -> str:
    """Return the call of a step, marked if it is an event."""
    if leading.call is None:
        return "initially"
    is_event = any(event.name == leading.call.tool for event in deployment.events)
    return f"{leading.call}, an event" if is_event else str(leading.call)


def _database(state: Instance) -> RenderableType:
    """Return the facts, a line for each relation."""
    if not state.facts:
        return Text("no facts", "dim")
    return labelled((relation, printable("  ".join(_first(facts)))) for relation, facts in rows_of(state))


def _first(lines: Sequence[str]) -> Sequence[str]:
    """Return at most `MOST_FACTS` lines, and one that gives the number of the others."""
    left = len(lines) - MOST_FACTS
    return lines if left <= 0 else (*lines[:MOST_FACTS], f"and {left:,} more")


def rows_of(state: Instance) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the relations that have facts, with their rows as text."""
    for relation in state.schema.relations:
        if rows := sorted(state.tuples(relation.name)):
            yield relation.name, tuple(", ".join(row) or "true" for row in rows)


def _steps(obstacle: Obstacle, deployment: Deployment) -> RenderableType:
    beside = put_in(obstacle.steps)
    columns = (*(["put in"] if any(beside) else []), "call", "facts")
    table = headed("step", *columns, folds=columns, right=("step",))
    earlier = max(0, len(obstacle.steps) - MOST_STEPS)
    if earlier:
        said = f"{plural(earlier, 'step')} before these; --json has all"
        table.add_row(Text(), *[Text()] * any(beside), Text(said, "dim"), Text())
    numbered = enumerate(zip(obstacle.steps, beside, strict=True))
    for number, (leading, facts) in islice(numbered, earlier, None):
        cells = [Text(str(number or ""))]
        cells += [Text(printable_lines("\n".join(_first(facts))), "dim")] * any(beside)
        cells.append(Text(printable(call_words(leading, deployment))))
        made = _first(changed(leading))
        table.add_row(*cells, Text(printable_lines("\n".join(made) or "no facts")))
    return table


def obstacle_data(obstacle: Obstacle) -> ObstacleData:
    """Return the same as data."""
    return ObstacleData(
        k=obstacle.k,
        broken=obstacle.broken or None,
        run=obstacle.is_run,
        facts=texts(obstacle.state),
        steps=[_leading_data(leading) for leading in obstacle.steps],
    )


def _leading_data(leading: Leading) -> LeadingData:
    return LeadingData(
        call=None if leading.call is None else str(leading.call),
        before=None if leading.before is None else texts(leading.before),
        after=texts(leading.after),
        part=texts(leading.part),
    )
