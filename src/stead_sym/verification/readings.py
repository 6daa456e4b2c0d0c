"""What is said of a specification where `fair` lines leave runs out.

A state is *hidden* if no fair run starts in it (`Constrained.hidden`). Fairness constraints that hide nothing
are machine-closed: every finite run is the beginning of a fair one, so that they assume something about what
never ends and nothing about what happens. Constraints that hide states assume away the finite runs that lead
there, and with them whatever these violate. So there are two readings of a specification f:

    fair        path quantifiers range over the fair runs,
    completed   they range over the fair runs and those that enter a hidden state (`Constrained.completed`).

Where nothing is hidden these are one. Elsewhere, with fair(D0) for "a fair run starts at D0",

    f holds     if it is true in both readings at every D0;
    f fails     if it is false in the fair reading at a D0 with fair(D0), or in the completed one at some D0;
    unknown     otherwise: it is only false since it asks for a fair run from a D0 that has none.

A universal specification (ACTL) is true in the fair reading where it is true in the completed one, so that
the latter decides: of a violation by a finite run, fairness takes nothing away. An existential one is decided
by the fair reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from stead_sym.agents.roles import Wrappers, known_values
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.renaming import named_run
from stead_sym.engines.protocol import Constrained, Engine, Hidden
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.syntax import TRUE, Formula, Globally, Implies, Not

FAIR_ALONE = "on the fair runs alone it holds; it fails by a run that the `fair` lines leave out"
LEFT_OUT_TOO = "it holds only by runs that the `fair` lines leave out"
NO_RUN_FAIR = "no run from the initial state is fair: it is decided on all runs"

FAIR_START = Globally("E", TRUE)
"""A fair run starts here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``holds`` is None for `unknown`. ``scope`` are sentences to be read beside the word. ``shown_by`` has
    the evidence of a formula that holds or fails."""

    formula: Formula
    holds: bool | None
    shown_by: _Showing
    scope: tuple[str, ...] = ()

    @property
    def evidence(self) -> Evidence:
        """Why it holds, or fails. Of an unknown one there is none."""
        assert self.holds is not None, "nothing shows what is unknown"
        return self.shown_by.evidence(self.formula, self.holds)


_Showing: TypeAlias = Engine | Constrained


def answer(engine: _Showing, formula: Formula) -> Answer:
    """What is said of a sentence: see the module."""
    if engine.hidden is None:
        return Answer(formula, engine.holds(formula), engine)
    fairly, completely = engine.holds(Implies(FAIR_START, formula)), engine.completed.holds(formula)
    if not fairly:
        return Answer(formula, False, engine, (LEFT_OUT_TOO,) if completely else ())
    decided_on_all = () if has_fair_run(engine) else (NO_RUN_FAIR,)
    if not completely:
        return Answer(formula, False, engine.completed, decided_on_all or (FAIR_ALONE,))
    if engine.holds(formula):
        return Answer(formula, True, engine.completed if decided_on_all else engine, decided_on_all)
    return Answer(formula, None, engine)


def has_fair_run(engine: _Showing) -> bool:
    """Whether a fair run starts at some initial state."""
    return engine.hidden is None or not engine.holds(Not(FAIR_START))


def no_fair_run(why: Iterable[str]) -> str:
    """Why a specification is unknown that is false only for want of a fair run; ``why`` says, if anything,
    why there is none at all."""
    return f"it asks for a fair run, and {next(iter(why), 'some initial state has none')}"


def left_out(hidden: Hidden, deployment: Deployment, wrappers: Wrappers) -> str:
    """The number of states that the `fair` lines hide, and a run into one of them."""
    number = f"{hidden.count} reachable state{'s' * (hidden.count > 1)}"
    steps = named_run(deployment, known_values(wrappers), hidden.run)[0].steps
    where = (
        f"such as the one after {', '.join(str(step.call) for step in steps)}"
        if steps
        else "an initial one too"
    )
    return f"no fair run starts in {number}, {where}"
