"""The steps of a run as a table: the actor of each call, its alternatives, and the changed facts.

One decision: a column appears only if some step has content for it. The branching is printed below the actor
if there is a column for that. Repetitions of the same steps are one line, unless each of them is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from stead_sym.agents.records.weight import is_weighed, weight_words
from stead_sym.deployment.trace import Folded, Step, as_changes, folded
from stead_sym.evidence.moves import Move
from stead_sym.relational.instance import Fact, Instance
from stead_sym.support.printable import printable, printable_lines
from stead_sym.support.wrapping import Table, Text, headed

MovesOf = Callable[[Instance, Step], Move | None]
"""A function that returns the move of a step from a state, or None if it is not known."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a run, with the facts that it added and removed.

    ``move`` has the alternatives to it. ``repeats``: the step is part of the loop. ``check`` is the mark of a
    replay.
    """

    step: Step
    added: tuple[Fact, ...]
    removed: tuple[Fact, ...]
    move: Move | None = None
    repeats: bool = False
    check: str = ""


def step_table(rows: Sequence[StepRow], *, ascii_only: bool) -> Table:
    """Return the steps as a table, numbered from 1, with a mark at those that repeat."""
    checked = any(row.check for row in rows)
    by_whom = any(row.step.actor != "" for row in rows)
    branched = [_branched(row.move) for row in rows]
    own_column = any(branched) and not by_whom
    more = ["by"] * by_whom, ["branched"] * own_column
    columns = ("", *([""] * checked), "step", *more[0], "call", *more[1], "facts")
    table = headed(*columns, folds=("by", "call", "branched", "facts"), right=("step",))
    for part in range(len(rows)) if checked else _folded(rows):
        if isinstance(part, Folded):
            repeats = rows[part.first].repeats
            cells = [Text(("*" if ascii_only else "↺") if repeats else ""), Text(part.numbers)]
            cells += [Text(printable(actor_word(rows[part.first].step)), "dim")] * by_whom
            cells.append(Text(printable(part.words)))
            table.add_row(*cells, *([Text("")] * own_column), Text(printable_lines("\n".join(part.changes))))
            continue
        row, words = rows[part], branched[part]
        cells = [Text(("*" if ascii_only else "↺") if row.repeats else "")]
        cells += [Text(row.check)] * checked
        cells.append(Text(str(part + 1)))
        by = "\n".join([printable(actor_word(row.step)), *([words] if words else [])])
        cells += [Text(by, "dim")] * by_whom
        cells.append(Text(printable(row.step.call.carried or row.step.call)))
        cells += [Text(words, "dim")] * own_column
        table.add_row(*cells, _changes(row))
    return table


def _folded(rows: Sequence[StepRow]) -> Sequence[int | Folded]:
    loop = next((number for number, row in enumerate(rows) if row.repeats), None)
    return folded([row.step for row in rows], [(row.added, row.removed) for row in rows], loop)


def actor_word(step: Step) -> str:
    """Return the actor of the step: the name of the agent, "agent" if it has none, "event", or "message"."""
    if step.call.carried:
        return "message"
    return "event" if step.actor is None else step.who or "agent"


def _branched(move: Move | None) -> str:
    """Return the branching at the step, one per line, and the margin of a language model's decision."""
    if move is None:
        return ""
    words = move.branching.split(", ") if move.branching else []
    if move.answer is not None and is_weighed(move.answer):
        words.append(weight_words(move.answer))
    return "\n".join(words)


def _changes(row: StepRow) -> RenderableType:
    """Return the changes of a step, one per line."""
    styles = {"+": "green", "-": "red"}
    changes = as_changes(row.step.state.schema, row.added, row.removed)
    lines = [Text(printable(change), styles.get(change.sign, "yellow")) for change in changes]
    return Text("\n").join(lines) if lines else Text("no change", "dim")
