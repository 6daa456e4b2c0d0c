"""Evidence as numbered runs, with the claims about each of their states.

One decision: a run continues if another run shows the claim about its last state, so that the first run
begins with the steps of `Evidence.trace`. Terminal, text, page and replay then use the same numbers for the
same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.trace import Step, Trace
from stead_sym.evidence.tree import (
    Evaluated,
    Evidence,
    Node,
    Parts,
    Run,
    Unshown,
    Values,
    followed,
    is_witness,
)
from stead_sym.relational.instance import Instance


@dataclass(frozen=True, slots=True)
class Place:
    """The state after the first ``steps`` steps of a run, which is given by its number."""

    run: int
    steps: int


@dataclass(frozen=True, slots=True)
class Leg:
    """A step of a numbered run: number ``index``, from 0, of the run that is the reason of ``node``.

    ``fairly``: it only shows that the run continues fairly.
    """

    step: Step
    node: Node
    index: int
    fairly: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A claim about a state with its reason, in words.

    It is part of the reason of the last preceding remark with a smaller ``depth``.
    """

    depth: int
    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class Numbered:
    """A run with a number.

    It begins in the state at ``begins``, which is None for the initial state. ``remarks`` has one tuple for
    every state, in the order of the steps, the first state included. ``loop`` is as in `Trace`.
    """

    number: int
    begins: Place | None
    start: Instance
    legs: tuple[Leg, ...]
    loop: int | None
    remarks: tuple[tuple[Remark, ...], ...]

    @property
    def trace(self) -> Trace:
        """The run without the claims about its states."""
        return Trace(self.start, tuple(leg.step for leg in self.legs), self.loop)

    @property
    def is_only_fair(self) -> bool:
        """True if the run only shows that another continues fairly."""
        return bool(self.legs) and all(leg.fairly for leg in self.legs)

    @property
    def fair_part(self) -> str:
        """The steps that only show that the run continues fairly, counted from 1; empty if there are none."""
        fair = [index for index, leg in enumerate(self.legs) if leg.fairly]
        return steps_in_words(fair[0], fair[-1] + 1) if fair else ""


@dataclass(frozen=True, slots=True)
class Outline:
    """The runs of a tree of evidence by their numbers, from 1; the first begins in the initial state."""

    evidence: Evidence
    runs: tuple[Numbered, ...]

    def words(self, place: Place) -> str:
        """Return a place in words, "at the start" or "after step 3".

        If there are several runs, "after step 3 of run 2".
        """
        run = self.runs[place.run - 1]
        if place.steps == 0:
            return "at the start" if run.begins is None else self.words(run.begins)
        return f"after {self._of_run(f'step {place.steps}', place.run)}"

    def step(self, node: Node, index: int) -> str:
        """Return step ``index``, from 0, of the run that is the reason of a node, in words."""
        for run in self.runs:
            for number, leg in enumerate(run.legs, 1):
                if leg.node is node and leg.index == index:
                    return self._of_run(f"step {number}", run.number)
        return f"step {index + 1}"

    def _of_run(self, what: str, number: int) -> str:
        return f"{what} of run {number}" if len(self.runs) > 1 else what


def steps_in_words(first: int, last: int) -> str:
    """Return the steps from number ``first`` + 1 to number ``last`` in words, counted from 1."""
    return f"step {last}" if first + 1 >= last else f"steps {first + 1}-{last}"


def outline(evidence: Evidence) -> Outline:
    """Return the runs of the tree, in the order in which claims lead to them.

    It is defined for any tree of the right types, including one that was read from a file and never checked.
    """
    drafts = _Walk(evidence).drafts
    return Outline(evidence, tuple(draft.numbered(k) for k, draft in enumerate(drafts, 1)))


class _Draft:
    """A numbered run under construction.

    ``segments`` are the runs of the tree that it consists of, each with the number of steps before it.
    ``remarks`` are by state.
    """

    def __init__(self, begins: Place | None, start: Instance) -> None:
        self.begins = begins
        self.start = start
        self.legs: list[Leg] = []
        self.loop: int | None = None
        self.segments: list[tuple[int, Run]] = []
        self.remarks: dict[int, list[Remark]] = {}

    def numbered(self, number: int) -> Numbered:
        remarks = tuple(tuple(self.remarks.get(k, ())) for k in range(len(self.legs) + 1))
        return Numbered(number, self.begins, self.start, tuple(self.legs), self.loop, remarks)


class _Walk:
    """The runs so far, by their numbers less 1.

    ``_said`` has the nodes with a remark, each with its place. ``_steps`` has the runs whose steps are
    placed, each with the number of its draft and its steps in words.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.drafts = [_Draft(None, evidence.root.state)]
        self._first = _next_run([evidence.root])
        self._said: dict[int, Place] = {}
        self._steps: dict[int, tuple[int, str]] = {}
        self._say(0, 0, 0, evidence.root, f"the specification {_is(evidence.root)}")
        number = 0
        while number < len(self.drafts):
            self._follow(number)
            number += 1

    # steps

    def _begin(self, begins: Place, start: Instance) -> int:
        self.drafts.append(_Draft(begins, start))
        return len(self.drafts) - 1

    def _extend(self, number: int, node: Node, run: Run) -> None:
        """Append a run to a draft, and then the run that shows the claim about its end.

        If such a run follows, the steps that only show that the first run continues fairly become a run of
        their own.
        """
        draft = self.drafts[number]
        first = len(draft.legs)
        end = len(run.steps) if run.ends is None else min(run.ends, len(run.steps))
        legs = [Leg(step, node, k, k >= end) for k, step in enumerate(run.steps)]
        draft.segments.append((first, run))
        self._steps[id(node)] = number, steps_in_words(first, first + end)
        following = None if run.ends is None else _next_run(run.along[-1][-1:] if run.along else ())
        if following is not None and id(following) in self._steps:
            following = None
        if following is None or (end < len(legs) and (run.loop is None or run.loop < end)):
            draft.legs += legs
            if run.loop is not None and run.loop < len(legs):
                draft.loop = first + run.loop
            return
        draft.legs += legs[:end]
        if end < len(legs) and run.loop is not None:
            state = draft.legs[-1].step.state if draft.legs else draft.start
            fair = self.drafts[self._begin(Place(number + 1, first + end), state)]
            fair.legs, fair.loop = legs[end:], run.loop - end
        assert isinstance(following.reason, Run)
        self._extend(number, following, following.reason)

    def _follow(self, number: int) -> None:
        """Note the claims about the states of a run. A claim that another run shows begins that run."""
        for first, run in self.drafts[number].segments:
            together = {(claim.formula, claim.holds) for claim in _throughout(run)}
            for k, claims in enumerate(run.along[: len(run.steps) + 1]):
                for claim in claims:
                    if k == run.ends or (claim.formula, claim.holds) not in together:
                        self._say(number, first + k, 0, claim, claim.claim)

    # claims

    def _say(self, number: int, state: int, depth: int, node: Node, words: str) -> None:
        """Add a remark about a state of a draft, with the claims it rests on.

        A claim that was noted before is only referred to.
        """
        remarks = self.drafts[number].remarks.setdefault(state, [])
        place = Place(number + 1, state)
        seen = self._said.setdefault(id(node), place)

        def say(why: str = "") -> None:
            remarks.append(Remark(depth, f"{words}: {why}" if why else words, node))

        def rest(below: Node, values: str = "") -> None:
            self._say(number, state, depth + 1, below, f"{values}{below.claim}")

        if any(remark.node is node for remark in remarks) or seen != place:
            say("" if isinstance(node.reason, Evaluated) else _again(seen, place, self.drafts))
            return
        match node.reason:
            case Evaluated():
                say()
            case Unshown():
                say("a claim about all runs, which no single run shows")
            case Parts(nodes):
                say()
                for _, part in nodes:
                    rest(part)
            case Values(nodes):
                say("" if nodes else "there is no value")
                for values, below in _valued(node):
                    rest(below, f"{values}: ")
            case Run() as run if not run.steps:
                say("shown by this very state")
                for claim in run.along[-1] if run.along else ():
                    rest(claim)
            case Run() as run:
                say(f"shown by {self._where(number, state, node, run)}")
                for claim in _throughout(run):
                    when = "for ever" if run.ends is None else "until then"
                    remarks.append(Remark(depth + 1, f"{when}: {claim.claim}", claim))
            case _:
                assert_never(node.reason)

    def _where(self, number: int, state: int, node: Node, run: Run) -> str:
        """Return the steps of a run in words, and place them if no other run leads to it.

        Run 1 takes those of the first run. Any other run gets a number of its own.
        """
        if id(node) not in self._steps:
            if self.drafts[0].segments or self._first not in (None, node) or number or state:
                number_of_own = self._begin(Place(number + 1, state), node.state)
                self._extend(number_of_own, node, run)
                return f"run {number_of_own + 1}"
            self._extend(0, node, run)
        own, steps = self._steps[id(node)]
        return steps if own == number else f"{steps} of run {own + 1}"


def _next_run(nodes: Sequence[Node]) -> Node | None:
    """Return the claim with a run to which the first of some claims about a state leads, or None."""
    for node in nodes[:1]:
        for one in followed(node):
            if isinstance(one.reason, Run) and one.reason.steps and one.state == node.state:
                return one
    return None


def _throughout(run: Run) -> tuple[Node, ...]:
    """Return the evaluated claims that are the same in every state before the end of a run.

    If the run has no end, in all of its states. Those about its first state represent all of them.
    """
    before = run.along if run.ends is None else run.along[: run.ends]
    seen = [{(c.formula, c.holds) for c in claims if isinstance(c.reason, Evaluated)} for claims in before]
    return tuple(c for c in before[0] if all((c.formula, c.holds) in s for s in seen)) if before else ()


def _valued(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the claims that a quantifier rests on, each with the values of the variables.

    Nested quantifiers that one value each decides are taken together.
    """
    assert isinstance(node.reason, Values)
    for value, below in node.reason.nodes:
        values = [f"{_variable(node)} = {value}"]
        while is_witness(below) and isinstance(below.reason, Values) and len(below.reason.nodes) == 1:
            [(value, under)] = below.reason.nodes
            values.append(f"{_variable(below)} = {value}")
            below = under
        yield ", ".join(values), below


def _variable(node: Node) -> str:
    return node.formula.binder.name if isinstance(node.formula, fo.Quantified) else "value"


def _is(node: Node) -> str:
    return "is true" if node.holds else "is false"


def _again(seen: Place, place: Place, drafts: Sequence[_Draft]) -> str:
    """Return a reference to the place where a claim was noted before, seen from another place."""
    if seen == place:
        return "as above"
    if seen.steps == 0:
        begins = drafts[seen.run - 1].begins
        return "as at the start" if begins is None else _again(begins, place, drafts)
    return f"as after step {seen.steps}" + (f" of run {seen.run}" if seen.run != place.run else "")
