"""What a bounded fragment shows of a specification of the whole, in both readings of fairness.

One decision: only what follows for the whole deployment is taken over, and the law is that of `readings`: a
refutation in either reading refutes, and to be true a specification has to be so in both.
"""

from __future__ import annotations

from stead_sym.analyses.deepening.fragment import Fragment
from stead_sym.engines.protocol import Engine
from stead_sym.evidence.tree import Evidence, Parts
from stead_sym.logic.syntax import And, Expanded, Implies, Not
from stead_sym.verification.readings import FAIR_ALONE, answer

NOT_SHOWN_FAIR = "it fails by a run that is not shown to be fair: the `fair` lines may leave it out"


def evidence_within(
    part: Fragment, engine: Engine, formula: Expanded
) -> tuple[Evidence | None, tuple[str, ...]]:
    """The evidence about a reading of the formula in the fragment that an engine has explored which shows
    that the formula fails, or is true, in the whole deployment, with the scope of that; None where nothing
    does.
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
    refuted = Implies(part.goes_on, possible)
    if not engine.holds(refuted):  # at a D0 with a fair run, as `readings` asks
        root = engine.evidence(refuted, False).root
        assert isinstance(root.reason, Parts), "both sides of an implication that fails are shown"
        return Evidence(dict(root.reason.nodes)[1], engine.initial > 1), ()
    finite = part.finite(formula)
    surely = engine.holds(sure)
    if not engine.completed.holds(finite):
        evidence = engine.completed.evidence(finite, False)
        if not evidence.unshown:
            fairly = surely and not engine.holds(Not(part.goes_on))
            return evidence, (FAIR_ALONE if fairly else NOT_SHOWN_FAIR,)
    if surely and not engine.satisfying(And((Not(part.past), Not(part.goes_on))), {}).count:
        return engine.evidence(sure, True), ()  # nothing is hidden, here or beyond: the readings are one
    return None, ()
