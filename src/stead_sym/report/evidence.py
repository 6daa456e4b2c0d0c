"""Evidence as text: its runs step by step, the claims about each state, and the agents' decisions.

One decision: the text has everything in the tree, each claim once, and refers to that place if a claim is
needed again. Only facts of large states are left out, and counted.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.padding import Padding

import stead_sym.logic.syntax as fo
from stead_sym.agents.records.weight import freedom_words, weight_words
from stead_sym.agents.wrapper import Decision
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import FairAction
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.errors import InputError
from stead_sym.evidence.moves import Move
from stead_sym.evidence.outline import Leg, Numbered, Outline, Remark, outline
from stead_sym.evidence.tree import Evidence, Node
from stead_sym.logic.evaluate import holds
from stead_sym.logic.names import check_known
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.steps import MovesOf, StepRow, actor_word, step_table
from stead_sym.support.printable import printable
from stead_sym.support.wrapping import Text, labelled, spaced
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict

Fairness: TypeAlias = fo.Formula | FairAction
"""A fairness constraint: on states, or on actions."""

MOST_FACTS = 60
"""The maximum number of facts of one state that are listed."""

MARKER = "evidence of stead-sym: "
"""The beginning of the text."""

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of evidence: a specification of a deployment under an agent.

    It has the formula as it was written, and the verdict with its scope. ``fair`` are the fairness
    constraints of the deployment.
    """

    deployment: str
    agent: str
    spec: str
    formula: str
    verdict: str
    evidence: Evidence
    fair: Sequence[Fairness] = ()
    scope: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The title, such as "auth fails, desk under baseline"."""
        return f"{self.spec} {self.verdict}, {self.deployment} under {self.agent}"


def subject(result: Verification | Deepening, spec: str) -> Subject:
    """Return the subject of the evidence for a verdict; `InputError` if there is no evidence."""
    check_known("spec", spec, list(result.verdicts))
    verdict, deployment = result[spec], result.deployment
    if verdict.evidence is None:
        raise InputError(f"there is no evidence for {spec}: {verdict.reason or verdict.word}")
    return subject_of(verdict, deployment, result.agent)


def subject_of(verdict: Verdict, deployment: Deployment, agent: str) -> Subject:
    """Return the subject of the evidence for this verdict, which must have some."""
    assert verdict.evidence is not None, f"there is no evidence for {verdict.spec}"
    return Subject(
        deployment.name,
        agent,
        verdict.spec if verdict.claim or verdict.spec.isidentifier() else "the formula",
        str(verdict.formula),
        verdict.said,
        verdict.evidence,
        constraints_of(deployment),
        verdict.scope,
    )


class Checked(Protocol):
    """The result of a check: a mark for each step and each claim, empty for what was not reached."""

    def step(self, leg: Leg) -> str:
        """Return the mark of a step."""
        ...

    def claim(self, node: Node) -> str:
        """Return the mark of a claim."""
        ...


def evidence_text(subject: Subject, moves: MovesOf, width: int = _WIDTH) -> str:
    """Return all of the evidence as plain text, including prompts of language models."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False, no_color=True)
    shown = outline(subject.evidence)
    console.print(Text(f"{MARKER}{printable(subject.title)}"))
    below = "\n".join(map(printable, (subject.formula, *subject.scope)))
    console.print(Padding(Text(below), (0, 0, 1, 2), expand=False))
    console.print(shown_runs(shown, moves, fair=subject.fair))
    if decisions := shown_decisions(shown, moves, prompts=True):
        console.print()
        console.print(Group(*decisions))
    lines = (line.rstrip() for line in stream.getvalue().splitlines())
    return "\n".join(lines).rstrip() + "\n"


def shown_runs(
    shown: Outline,
    moves: MovesOf,
    *,
    fair: Sequence[Fairness] = (),
    checked: Checked | None = None,
    ascii_only: bool = False,
) -> RenderableType:
    """Return the runs with their claims, and with the marks of a check."""
    return Group(
        *spaced(
            _run(shown, run, moves, fair=fair, checked=checked, ascii_only=ascii_only) for run in shown.runs
        )
    )


def some_facts(state: Instance) -> str:
    """Return the facts of a state as text, at most `MOST_FACTS` of them."""
    facts = sorted(state.facts)
    listed = [printable(fact) for fact in facts[:MOST_FACTS]]
    if len(facts) > MOST_FACTS:
        listed.append(f"and {len(facts) - MOST_FACTS:,} more")
    return ", ".join(listed) or "no facts"


def constraints_of(deployment: Deployment) -> Sequence[Fairness]:
    """Return the fairness constraints of a deployment."""
    return (*deployment.fair, *deployment.fair_actions)


def constraints_met(run: Numbered, fair: Sequence[Fairness]) -> Iterable[tuple[Fairness, int]]:
    """Yield the fairness constraints that the loop of a run meets, each with a number of steps.

    It is the number of steps after which the constraint is met first. For one on actions, such an action has
    then been taken.
    """
    if run.loop is None:
        return
    for constraint in fair:
        for steps in range(run.loop, len(run.legs)):
            if isinstance(constraint, FairAction):
                if _is_by(constraint, run.legs[steps].step):
                    yield constraint, steps + 1
                    break
            elif holds(constraint, run.trace.states[steps]):
                yield constraint, steps
                break


def _is_by(action: FairAction, step: Step) -> bool:
    """Return True if the constraint is met by taking this step; no single step meets one on outcomes."""
    if action.kind == "agent":
        return step.actor is not None and action.name in (None, step.actor)
    return action.kind != "outcome" and step.call.tool == action.name


def _unmet(run: Numbered, fair: Sequence[Fairness], *, completed: bool) -> Iterable[str]:
    """Yield why the loop of a run counts although none of its steps, as shown, meets a constraint.

    In a fair loop every call that leads from one of its states to the next counts as taken, not only the call
    that is shown.
    """
    if run.loop is None or run.is_only_fair:
        return
    met = {constraint for constraint, _ in constraints_met(run, fair)}
    for constraint in fair:
        if constraint in met:
            continue
        if isinstance(constraint, FairAction) and constraint.kind == "outcome":
            yield f"{constraint} is kept: every possible outcome comes, or another call leads there"
        elif isinstance(constraint, FairAction):
            when = "at some point of" if constraint.strong else "all along"
            yield f"{constraint} is kept: none is possible {when} the loop, or it leads to the same states"
        elif completed:
            yield f"{constraint} is never met, and no fair run goes on from here: the run counts all the same"


def _run(
    shown: Outline,
    run: Numbered,
    moves: MovesOf,
    *,
    fair: Sequence[Fairness],
    checked: Checked | None,
    ascii_only: bool,
) -> RenderableType:
    parts: list[RenderableType] = []
    if len(shown.runs) > 1:
        begins = "" if run.begins is None else f", from the state {shown.words(run.begins)}"
        why = ", only to go on fairly" if run.is_only_fair else ""
        parts.append(Text(f"run {run.number} of {len(shown.runs)}{begins}{why}", "bold"))
    notes = labelled()
    if run.begins is None:
        one_of = "one of several initial states: " if shown.evidence.of_many else ""
        notes.add_row("begins in", Text(f"{one_of}{some_facts(run.start)}"))
    if run.legs:
        rows = [
            StepRow(
                leg.step,
                *run.trace.changes(k),
                moves(run.trace.states[k], leg.step),
                run.loop is not None and k >= run.loop,
                checked.step(leg) if checked else "",
            )
            for k, leg in enumerate(run.legs)
        ]
        parts += [notes, step_table(rows, ascii_only=ascii_only)] if run.begins is None else []
        parts += [step_table(rows, ascii_only=ascii_only)] if run.begins is not None else []
        notes = labelled()
    if run.trace.repeats:
        notes.add_row("loop", Text(f"{'*' if ascii_only else '↺'} {run.trace.repeats}"))
    if run.fair_part and not run.is_only_fair:
        notes.add_row("fair", Text(f"{run.fair_part}: there only to show that the run goes on fairly"))
    for constraint, steps in constraints_met(run, fair):
        notes.add_row("fair", Text(printable(f"{constraint} is met {_here(run, steps)}, again and again")))
    for why in _unmet(run, fair, completed=shown.evidence.completed):
        notes.add_row("fair", Text(printable(why)))
    if run.legs and any(run.remarks):
        parts, notes = [*parts, *([notes] if notes.row_count else []), Text("")], labelled()
    for steps, remarks in enumerate(run.remarks):
        if remarks:
            notes.add_row(_here(run, steps), Group(*(_remark(remark, checked) for remark in remarks)))
    return Group(*parts, notes)


def _here(run: Numbered, steps: int) -> str:
    """Return the name, within its run, of the state after ``steps`` steps."""
    if steps:
        return f"after step {steps}"
    return "at the start" if run.begins is None else "where it begins"


def _remark(remark: Remark, checked: Checked | None) -> RenderableType:
    mark = checked.claim(remark.node) if checked else ""
    text = f"{mark} {printable(remark.text)}" if mark else printable(remark.text)
    return Padding(Text(text), (0, 0, 0, 2 * remark.depth), expand=False)


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
