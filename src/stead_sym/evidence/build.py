"""Construction of evidence along the structure of a formula, with the results of an engine.

The traversal is the same for every engine. An engine contributes the truth of subformulas, and the runs for
the three existential operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.trace import Step
from stead_sym.evidence.tree import Evaluated, Node, Parts, Reason, Run, Unshown, Values, negation
from stead_sym.logic.evaluate import declared
from stead_sym.logic.evaluate import holds as evaluated
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


class Model(Protocol):
    """The results of an engine for a checked deployment; all states are reachable."""

    @property
    def goes_on(self) -> bool:
        """True if a finite run counts only if it extends to a fair run."""
        ...

    def holds(self, formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value]) -> bool:
        """Return True if (D, σ) ⊨ f."""
        ...

    def step(self, formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value]) -> Step:
        """Return a transition to a state of f from which a fair run starts; one exists."""
        ...

    def until(
        self, left: fo.Expanded, right: fo.Expanded, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[Step, ...]:
        """Return a shortest run through states of f to one of g from which a fair run starts; one exists."""
        ...

    def forever(
        self, body: fo.Expanded, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[tuple[Step, ...], int]:
        """Return a fair run that stays in f for ever, with its loop as in `Trace`; one exists."""
        ...


def explain(model: Model, sentence: fo.Expanded, state: Instance, holds: bool) -> Node:
    """Return the reason why the sentence holds (``holds``), or fails, in the state.

    Every run in it is real: each step is a transition of the restriction under the agent.
    """
    return _Walk(model).node(sentence, state, {}, holds)


def seen(formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value], holds: bool) -> Node:
    """Return why a first-order formula holds, or fails, in a state under an assignment.

    ``holds`` is its truth value.
    """
    return _Walk(_Seen()).node(formula, state, assignment, holds)


class _Seen:
    """The model of a single state: a first-order formula needs no run."""

    goes_on = False

    def holds(self, formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value]) -> bool:
        return evaluated(formula, state, assignment)

    def step(self, formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value]) -> Step:
        raise AssertionError(f"{formula} is no claim about runs")

    def until(
        self, left: fo.Expanded, right: fo.Expanded, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[Step, ...]:
        raise AssertionError(f"{right} is no claim about runs")

    def forever(
        self, body: fo.Expanded, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[tuple[Step, ...], int]:
        raise AssertionError(f"{body} is no claim about runs")


class _Walk:
    """The nodes built so far; each is built once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._made: dict[tuple[fo.Formula, Instance, tuple[tuple[str, Value], ...], bool], Node] = {}

    def node(self, formula: fo.Formula, state: Instance, sigma: Mapping[str, Value], truth: bool) -> Node:
        """Return the claim with its reason; σ may also have values of other variables."""
        own = {name: sigma[name] for name in sorted(fo.free_variables(formula))}
        key = formula, state, tuple(own.items()), truth
        if key not in self._made:
            reason = _At(self, self._model, state, own).reason(formula, truth)
            self._made[key] = Node(formula, truth, state, own, reason)
        return self._made[key]


_Aim: TypeAlias = tuple[fo.Formula, bool]
"""A formula and the truth value to show for it."""


@dataclass(frozen=True, slots=True)
class _At:
    """The traversal at one state, under one assignment."""

    walk: _Walk
    model: Model
    state: Instance
    sigma: Mapping[str, Value]

    def reason(self, formula: fo.Formula, truth: bool) -> Reason:
        """Return the reason why the formula has this truth value here."""
        if not fo.is_temporal(formula) and not _decided_by_one(formula, truth):
            return Evaluated()
        match formula:
            case fo.Not(body):
                return Parts(((0, self._here(body, not truth)),))
            case fo.And(parts):
                return self._junction(parts, dict.fromkeys(range(len(parts)), truth), all_matter=truth)
            case fo.Or(parts):
                return self._junction(parts, dict.fromkeys(range(len(parts)), truth), all_matter=not truth)
            case fo.Implies(left, right):
                return self._junction((left, right), {0: not truth, 1: truth}, all_matter=not truth)
            case fo.Iff(left, right):
                sides = (self._here(side, self._holds(side)) for side in (left, right))
                return Parts(tuple(enumerate(sides)))
            case fo.Exists(binder, body) | fo.Forall(binder, body) | fo.Count(_, _, binder, body):
                return self._values(formula, binder, body, truth)
            case fo.Next(path, body) if truth == (path == "E"):
                step = self.model.step(body if truth else negation(body), self.state, self.sigma)
                return self._run((step,), (), ((body, truth),))
            case fo.Future("E", body) if truth:
                return self._until(fo.TRUE, body, (), ((body, True),))
            case fo.Future("A", body) if not truth:
                return self._lasso(body, False)
            case fo.Globally("E", body) if truth:
                return self._lasso(body, True)
            case fo.Globally("A", body) if not truth:
                return self._until(fo.TRUE, negation(body), (), ((body, False),))
            case fo.Until("E", left, right, weak) if truth:
                if weak and not self._holds(fo.Until("E", left, right)):
                    return self._lasso(left, True)
                return self._until(left, right, ((left, True),), ((right, True),))
            case fo.Until("A", left, right, _) if not truth:
                broken = fo.And((negation(left), negation(right)))
                if not self._holds(fo.Until("E", negation(right), broken)):
                    return self._lasso(right, False)
                never = (right, False)
                return self._until(negation(right), broken, (never,), (never, (left, False)))
            case _ if isinstance(formula, fo.Temporal):
                return Unshown()
            case _:
                raise AssertionError(f"{formula} is seen in the state")

    def _here(self, formula: fo.Formula, truth: bool) -> Node:
        return self.walk.node(formula, self.state, self.sigma, truth)

    def _holds(self, formula: fo.Formula) -> bool:
        return self.model.holds(formula, self.state, self.sigma)

    def _junction(
        self, parts: Sequence[fo.Formula], truths: Mapping[int, bool], *, all_matter: bool
    ) -> Parts:
        """Return the parts that decide a connective: all of them, or one.

        ``truths`` are the truth values with which the parts decide it. If one part suffices, a part that is
        evaluated in the state is preferred to one about runs.
        """
        if all_matter:
            return Parts(tuple((k, self._here(part, truths[k])) for k, part in enumerate(parts)))
        for k, part in sorted(enumerate(parts), key=lambda pair: fo.is_temporal(pair[1])):
            if self._holds(part) == truths[k]:
                return Parts(((k, self._here(part, truths[k])),))
        raise AssertionError(f"no part of {parts} decides in {self.state}")

    def _values(self, formula: fo.Quantified, binder: fo.Binder, body: fo.Formula, truth: bool) -> Values:
        """Return the first value that decides, or otherwise every value that the variable ranges over."""
        active = sorted(self.state.active_domain[binder.sort])
        candidates = declared(self.state.schema, binder) if binder.declared else active
        under = {u: {**self.sigma, binder.name: u} for u in candidates}
        if not _decided_by_one(formula, truth):
            truths = {u: self.model.holds(body, self.state, sigma) for u, sigma in under.items()}
            return Values(
                tuple((u, self.walk.node(body, self.state, under[u], value)) for u, value in truths.items())
            )
        for u, sigma in under.items():
            if self.model.holds(body, self.state, sigma) == truth:
                return Values(((u, self.walk.node(body, self.state, sigma, truth)),))
        raise AssertionError(f"no value decides {formula} in {self.state}")

    def _until(
        self, left: fo.Formula, right: fo.Formula, during: Sequence[_Aim], last: Sequence[_Aim]
    ) -> Run:
        """Return a shortest run through states of ``left`` to one of ``right``.

        ``during`` are the claims to show in the states before its last state, ``last`` those to show there.
        """
        return self._run(self.model.until(left, right, self.state, self.sigma), during, last)

    def _run(self, steps: tuple[Step, ...], during: Sequence[_Aim], last: Sequence[_Aim]) -> Run:
        states = (self.state, *(step.state for step in steps))
        aims = [*(during for _ in steps), last]
        along = tuple(self._claims(state, aim) for state, aim in zip(states, aims, strict=True))
        if not self.model.goes_on:
            return Run(steps, along, len(steps))
        tail, loop = entered_early(states[-1], *self.model.forever(fo.TRUE, states[-1], {}))
        return Run((*steps, *tail), along, len(steps), len(steps) + loop)

    def _lasso(self, body: fo.Formula, truth: bool) -> Run:
        """Return a run on which the formula has this truth value for ever."""
        shown = body if truth else negation(body)
        steps, loop = entered_early(self.state, *self.model.forever(shown, self.state, self.sigma))
        states = (self.state, *(step.state for step in steps[:-1]))
        return Run(steps, tuple(self._claims(state, ((body, truth),)) for state in states), None, loop)

    def _claims(self, state: Instance, aims: Sequence[_Aim]) -> tuple[Node, ...]:
        return tuple(self.walk.node(formula, state, self.sigma, truth) for formula, truth in aims)


def entered_early(start: Instance, steps: tuple[Step, ...], loop: int) -> tuple[tuple[Step, ...], int]:
    """Return the same lasso with as few steps as possible before its loop.

    While the last of these steps equals the last step of the loop, the loop is made to begin with it.
    """
    states = (start, *(step.state for step in steps))
    last = len(steps)
    while loop and steps[loop - 1] == steps[last - 1] and states[loop - 1] == states[last - 1]:
        loop, last = loop - 1, last - 1
    return steps[:last], loop


def _decided_by_one(formula: fo.Formula, truth: bool) -> bool:
    """Return True if one value decides: the formula is an ∃ with truth value true, or a ∀ with false."""
    return isinstance(formula, fo.Exists if truth else fo.Forall)
