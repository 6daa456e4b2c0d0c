"""The two readings of a specification under `fair` lines that leave runs out.

A state is *hidden* if no fair run starts in it (`Constrained.hidden`). Fairness constraints that hide no
state are machine-closed: every finite run is the prefix of a fair one. They restrict what happens infinitely
often and no finite behaviour. Constraints that hide states exclude the finite runs that lead there, and with
them every violation on these. So there are two readings of a specification f:

    fair        path quantifiers range over the fair runs,
    completed   they range over the fair runs and those that enter a hidden state (`Constrained.completed`).

If no state is hidden, the readings agree. Otherwise, with fair(D0) for "a fair run starts at D0",

    f holds     if it is true in both readings at every D0;
    f fails     if it is false in the fair reading at a D0 with fair(D0), or in the completed one at some D0;
    unknown     otherwise: it is false only because it asks for a fair run from a D0 that has none.

A universal specification (ACTL) that is true in the completed reading is true in the fair one, so that the
completed reading decides it: fairness does not excuse a violation by a finite run. The fair reading decides
an existential specification.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers, known_values
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.renaming import named_run
from stead_sym.engines.protocol import Constrained, Engine, Hidden
from stead_sym.evidence.tree import Evidence

FAIR_ALONE = "on the fair runs alone it holds; it fails by a run that the `fair` lines leave out"
NOT_SHOWN_FAIR = "it fails by a run that is not shown to be fair: the `fair` lines may leave it out"
LEFT_OUT_TOO = "it holds only by runs that the `fair` lines leave out"
NO_RUN_FAIR = "no run from the initial state is fair: it is decided on all runs"

FAIR_START = fo.Globally("E", fo.TRUE)
"""The formula that a fair run starts here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a sentence.

    ``holds`` is None for `unknown`. ``scope`` are sentences that qualify the word. ``shown_by`` is the
    engine, or the reading of it, with the evidence of a formula that holds or fails.
    """

    formula: fo.Formula
    holds: bool | None
    shown_by: _Showing
    scope: tuple[str, ...] = ()

    @property
    def evidence(self) -> Evidence:
        """The evidence that the sentence holds or fails; an unknown answer has none."""
        assert self.holds is not None, "nothing shows what is unknown"
        return self.shown_by.evidence(self.formula, self.holds)


_Showing: TypeAlias = Engine | Constrained


def answer(engine: _Showing, formula: fo.Formula) -> Answer:
    """Return the answer to a sentence by the two readings of this module."""
    if engine.hidden is None:
        return Answer(formula, engine.holds(formula), engine)
    fairly, completely = engine.holds(fo.Implies(FAIR_START, formula)), engine.completed.holds(formula)
    if not fairly:
        return Answer(formula, False, engine, (LEFT_OUT_TOO,) if completely else ())
    decided_on_all = () if has_fair_run(engine) else (NO_RUN_FAIR,)
    if not completely:
        return Answer(formula, False, engine.completed, decided_on_all or (FAIR_ALONE,))
    if engine.holds(formula):
        return Answer(formula, True, engine.completed if decided_on_all else engine, decided_on_all)
    return Answer(formula, None, engine)


def has_fair_run(engine: _Showing) -> bool:
    """Return True if a fair run starts at some initial state."""
    return engine.hidden is None or not engine.holds(fo.Not(FAIR_START))


def no_fair_run(why: Iterable[str]) -> str:
    """Return the reason of `unknown` for a specification that is false only for want of a fair run.

    ``why`` explains why no run is fair at all; it may be empty.
    """
    return f"it asks for a fair run, and {next(iter(why), 'some initial state has none')}"


def left_out(hidden: Hidden, deployment: Deployment, wrappers: Wrappers) -> str:
    """Return the number of states that the `fair` lines hide, and a run into one of them, in words."""
    number = f"{hidden.count} reachable state{'s' * (hidden.count > 1)}"
    steps = named_run(deployment, known_values(wrappers), hidden.run)[0].steps
    where = (
        f"such as the one after {', '.join(str(step.call) for step in steps)}"
        if steps
        else "an initial one too"
    )
    return f"no fair run starts in {number}, {where}"
