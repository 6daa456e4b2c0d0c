"""The contents of the screen of `stead-sym simulate`, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from stead_sym.cli.stepping import Choice
from stead_sym.deployment.trace import Step, Trace, as_changes
from stead_sym.relational.instance import Fact, Instance
from stead_sym.support.printable import printable


def state_text(state: Instance, added: Sequence[Fact], removed: Sequence[Fact]) -> Text:
    """Return the facts, relation by relation, with the changes of the last step."""
    lines = [
        (fact, "+ " if fact in added else "  ", "bold green" if fact in added else "") for fact in state.facts
    ]
    lines += [(fact, "- ", "red strike") for fact in removed]
    order = {relation.name: number for number, relation in enumerate(state.schema.relations)}
    lines.sort(key=lambda line: (order[line[0].relation], str(line[0])))
    if not lines:
        return Text("no facts", "dim")
    return Text("\n").join(Text(f"{mark}{printable(fact)}", style) for fact, mark, style in lines)


def row_text(choice: Choice, *, several: bool) -> Text:
    """Return a choice in a line: its actor, its call, and the number of outcomes."""
    mark, style = (
        ("!", "cyan") if choice.actor is None else (">", "bold") if choice.selected else (".", "dim")
    )
    who = "event " if choice.actor is None else f"{choice.actor}: " if several else ""
    many = len(choice.after)
    more = f"  {many} outcomes" if many > 1 else "" if many else "  leads nowhere"
    return Text.assemble((f"{mark} {printable(f'{who}{choice.call}')}", style), (more, "dim"))


def changes_text(before: Instance, after: Instance) -> Text:
    """Return the changes of one outcome."""
    changes = as_changes(after.schema, after.facts - before.facts, before.facts - after.facts)
    return Text(printable(", ".join(map(str, changes)) or "no change"))


def run_text(run: Trace, position: int) -> Text:
    """Return the steps, with the current one marked and those ahead dimmed."""
    if not run.steps:
        return Text("no step is taken yet", "dim")
    lines = [_step(number, step, position) for number, step in enumerate(run.steps, 1)]
    if run.loop is not None:
        lines.append(Text(run.repeats, "dim"))
    return Text("\n").join(lines)


def _step(number: int, step: Step, position: int) -> Text:
    here = "▸" if number == position else " "
    return Text(f"{here} {number}. {printable(step.label)}", "dim" if number > position else "")
