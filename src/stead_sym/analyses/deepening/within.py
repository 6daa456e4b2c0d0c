"""Decision of a specification by a bounded fragment, in both readings of fairness.

One decision: only consequences for the whole deployment are returned, by the rule of `readings`. A refutation
in either reading refutes, and a specification is true only if it is so in both.
"""

from __future__ import annotations

import stead_sym.logic.syntax as fo
from stead_sym.analyses.deepening.fragment import Fragment
from stead_sym.engines.protocol import Engine
from stead_sym.evidence.tree import Evidence, Parts
from stead_sym.verification.readings import FAIR_ALONE, NOT_SHOWN_FAIR, answer


def evidence_within(
    part: Fragment, engine: Engine, formula: fo.Expanded
) -> tuple[Evidence | None, tuple[str, ...]]:
    """Return evidence in the fragment that decides the formula in the whole deployment, with its scope.

    The evidence is about a reading of the formula. It shows that the formula fails, or is true; it is None if
    nothing is shown. The engine has explored the fragment.
    """
    possible, sure = part.possible(formula), part.sure(formula)
    if not part.whole.fair:
        if not engine.holds(possible):
            return engine.evidence(possible, False), ()
        return (engine.evidence(sure, True) if engine.holds(sure) else None), ()
    if not engine.satisfying(part.past, {}).count:  # the fragment is the whole deployment
        said = answer(engine, possible)
        if said.holds:
            said = answer(engine, sure)
        return (None if said.holds is None else said.evidence), said.scope
    refuted = fo.Implies(part.goes_on, possible)
    if not engine.holds(refuted):  # at a D0 with a fair run, as `readings` requires
        root = engine.evidence(refuted, False).root
        assert isinstance(root.reason, Parts), "both sides of an implication that fails are shown"
        return Evidence(dict(root.reason.nodes)[1], engine.initial > 1), ()
    finite = part.finite(formula)
    surely = engine.holds(sure)
    if not engine.completed.holds(finite):
        evidence = engine.completed.evidence(finite, False)
        if not evidence.unshown:
            fairly = surely and not engine.holds(fo.Not(part.goes_on))
            return evidence, (FAIR_ALONE if fairly else NOT_SHOWN_FAIR,)
    if surely and not engine.satisfying(fo.And((fo.Not(part.past), fo.Not(part.goes_on))), {}).count:
        return engine.evidence(sure, True), ()  # no state is hidden: the readings agree
    return None, ()
