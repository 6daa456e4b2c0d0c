"""Decisions on the runs of evidence as text: each context as the agent was shown it, and its steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Group, RenderableType

from stead_sym.agents.records.weight import freedom_words, weight_words
from stead_sym.agents.wrapper import Decision
from stead_sym.deployment.tool import Call
from stead_sym.evidence.moves import Move
from stead_sym.evidence.outline import Outline
from stead_sym.evidence.tree import Node
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.steps import MovesOf, actor_word
from stead_sym.support.printable import printable
from stead_sym.support.wrapping import Text, labelled, spaced


def shown_decisions(shown: Outline, moves: MovesOf, *, prompts: bool) -> list[RenderableType]:
    """Return the decisions on the runs, each with its context, in the order in which they are taken.

    The result is empty if no agent decides.
    """
    return spaced(_decision(shown, *item, prompts=prompts) for item in _decisions(shown, moves))


@dataclass(frozen=True, slots=True)
class _Taken:
    """One decision of an agent, with the steps at which it was taken.

    A step is given by its run, its number, and the decision of the wrapper there.
    """

    agent: str
    move: Move
    at: tuple[tuple[Node, int, Decision], ...]


def _decisions(shown: Outline, moves: MovesOf) -> Iterable[tuple[int, _Taken]]:
    """Return the decisions on the runs, numbered from 1 in the order in which they are taken."""
    taken: dict[tuple[str, Instance, frozenset[Call]], _Taken] = {}
    for run in shown.runs:
        for state, leg in zip(run.trace.states, run.legs, strict=False):
            move = moves(state, leg.step)
            if move is None or move.decision is None:
                continue
            context = move.decision.canonical
            key = actor_word(leg.step), context.view, context.calls
            at = taken[key].at if key in taken else ()
            taken[key] = _Taken(key[0], move, (*at, (leg.node, leg.index, move.decision)))
    return enumerate(taken.values(), 1)


def _decision(shown: Outline, number: int, taken: _Taken, *, prompts: bool) -> RenderableType:
    """Return a decision with its context, and the names of the context at each step."""
    decision, answer = taken.move.decision, taken.move.answer
    assert decision is not None
    whose = f"the {taken.agent}" if taken.agent == "agent" else taken.agent
    title = Text(f"decision {number} of {printable(whose)}", "bold")
    grid = labelled()
    context = decision.canonical
    grid.add_row("shown", _list(context.view))
    grid.add_row("offered", _list(sorted(context.calls)))
    grid.add_row("chosen", _list(sorted(decision.selected)))
    if answer is not None:
        grid.add_row("weight", Text(printable(weight_words(answer))))
        if answer.rule is not None:
            grid.add_row("selected", Text(str(answer.rule)))
        if free := freedom_words(answer):
            grid.add_row("unforced", Text(printable(free)))
        grid.add_row("record", Text(answer.key))
    steps: dict[str, list[str]] = {}
    for node, index, here in taken.at:
        named = [f"{name} = {value}" for name, value in sorted(here.names.items()) if name != value]
        steps.setdefault(", ".join(named), []).append(shown.step(node, index))
    for names, where in steps.items():
        grid.add_row("taken", Text(printable(f"at {', '.join(where)}{f': {names}' if names else ''}")))
    prompt = answer.prompt if prompts and answer is not None else ()
    parts = [Text(f"[{message.role}]\n{_lines(message.content)}") for message in prompt]
    return Group(title, grid, *parts)


def _list(items: Iterable[Fact] | Iterable[Call]) -> Text:
    return Text("\n".join(map(printable, items)) or "nothing")


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.splitlines()))
