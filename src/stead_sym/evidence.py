"""Why a formula holds or fails in a state: a run read off the formula's structure.

The walk is the same for every engine; an engine contributes the truth of subformulas and the runs for
the three existential operators. A claim about all runs that holds (an `AG`, say) is shown by no single
run: where the walk meets one it ends, and the run found so far is the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, assert_never

from stead_sym.deployment.trace import Step, Trace
from stead_sym.logic.evaluate import declared
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    TRUE,
    And,
    Atom,
    Binder,
    Compare,
    Const,
    Count,
    Empty,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Same,
    Truth,
    Until,
    Use,
    is_temporal,
)
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


class Model(Protocol):
    """What an engine knows of a checked deployment; states are reachable."""

    def holds(self, formula: Expanded, state: Instance, assignment: Mapping[str, Value]) -> bool:
        """(D, σ) ⊨ f."""
        ...

    def step(self, formula: Expanded, state: Instance, assignment: Mapping[str, Value]) -> Step:
        """A transition to a state of f; there is one."""
        ...

    def until(
        self, left: Expanded, right: Expanded, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[Step, ...]:
        """A shortest run through states of f to one of g; there is one."""
        ...

    def forever(
        self, body: Expanded, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[tuple[Step, ...], int]:
        """A run that stays in f for ever, with its loop as in `Trace`; there is one."""
        ...


@dataclass(frozen=True, slots=True)
class _Reason:
    """The rest of a run, from the state at hand on."""

    claim: str
    steps: tuple[Step, ...] = ()
    loop: int | None = None
    bindings: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))

    def after(self, steps: tuple[Step, ...]) -> _Reason:
        """The same reason, ``steps`` later."""
        loop = None if self.loop is None else self.loop + len(steps)
        return _Reason(self.claim, steps + self.steps, loop, self.bindings)

    def binding(self, binder: Binder, value: Value) -> _Reason:
        return _Reason(self.claim, self.steps, self.loop, {binder.name: value, **self.bindings})


def evidence(model: Model, formula: Expanded, state: Instance, holds: bool) -> Trace:
    """The run that shows why the sentence holds, or fails, in the state; ``holds`` says which.

    Every state of it is real: each step is a transition of the restriction under the agent.
    """
    reason = _explain(model, formula, state, {}, holds)
    return Trace(state, reason.steps, reason.loop, reason.bindings, reason.claim)


def _explain(
    model: Model, formula: Formula, state: Instance, sigma: Mapping[str, Value], value: bool
) -> _Reason:
    """Why the formula has this truth value in the state."""

    def here(f: Formula, truth: bool) -> _Reason:
        return _explain(model, f, state, sigma, truth)

    def then(steps: tuple[Step, ...], f: Formula, truth: bool) -> _Reason:
        last = steps[-1].state if steps else state
        return _explain(model, f, last, sigma, truth).after(steps)

    def run(left: Formula, right: Formula) -> tuple[Step, ...]:
        return model.until(left, right, state, sigma)

    def lasso(body: Formula) -> _Reason:
        steps, loop = model.forever(body, state, sigma)
        return _Reason(f"for ever: {_instantiated(body, sigma)}", steps, loop)

    plain = _Reason(f"{_instantiated(formula, sigma)} is {'true' if value else 'false'}")
    if not is_temporal(formula) and not isinstance(formula, Exists | Forall | Implies | Not):
        return plain
    match formula:
        case Truth() | Equal() | Compare() | Atom() | Use() | Same() | Empty() | Count():
            return plain
        case Not(body):
            return here(body, not value) if is_temporal(body) else plain
        case And(parts):
            return _junction(model, parts, state, sigma, value, all_matter=value)
        case Or(parts):
            return _junction(model, parts, state, sigma, value, all_matter=not value)
        case Implies(left, right):
            if not is_temporal(formula):
                return plain
            return _junction(model, (Not(left), right), state, sigma, value, all_matter=not value)
        case Iff(left, right):
            side = left if is_temporal(left) else right
            return here(side, model.holds(side, state, sigma))
        case Exists(binder, body) | Forall(binder, body):
            if value != isinstance(formula, Exists):
                return plain  # all active values matter: no single one is evidence
            active = sorted(state.active_domain[binder.sort])
            for u in declared(state.schema, binder) if binder.declared else active:
                inner = {**sigma, binder.name: u}
                if model.holds(body, state, inner) == value:
                    return _explain(model, body, state, inner, value).binding(binder, u)
            raise AssertionError(f"no value decides {formula}")
        case Next(path, body):
            if value != (path == "E"):
                return plain
            return then((model.step(body if value else Not(body), state, sigma),), body, value)
        case Future("E", body):
            return then(run(TRUE, body), body, True) if value else plain
        case Future(_, body):
            return plain if value else lasso(_negation(body))
        case Globally("E", body):
            return lasso(body) if value else plain
        case Globally(_, body):
            return plain if value else then(run(TRUE, _negation(body)), body, False)
        case Until("E", left, right, weak):
            if not value:
                return plain
            if weak and not model.holds(Until("E", left, right), state, sigma):
                return lasso(left)
            return then(run(left, right), right, True)
        case Until(_, left, right, _):
            if value:
                return plain
            broken = And((Not(left), Not(right)))
            if model.holds(Until("E", Not(right), broken), state, sigma):
                return then(run(Not(right), broken), left, False)
            return lasso(_negation(right))
        case _:
            assert_never(formula)


def _negation(formula: Formula) -> Formula:
    """¬f, or g where f is ¬g."""
    return formula.body if isinstance(formula, Not) else Not(formula)


def _junction(
    model: Model,
    parts: tuple[Formula, ...],
    state: Instance,
    sigma: Mapping[str, Value],
    value: bool,
    *,
    all_matter: bool,
) -> _Reason:
    """Why a conjunction or disjunction has its value: by one part that decides it or, where all
    parts matter, by the first that has a run to show."""
    deciding = [part for part in parts if all_matter or model.holds(part, state, sigma) == value]
    shown = next(filter(is_temporal, deciding), deciding[0]) if all_matter else deciding[0]
    return _explain(model, shown, state, sigma, value)


def _instantiated(formula: Formula, sigma: Mapping[str, Value]) -> str:
    return str(substitute(formula, {name: Const(value) for name, value in sigma.items()}))
