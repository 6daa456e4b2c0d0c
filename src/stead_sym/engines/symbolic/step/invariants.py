"""Whether an effect keeps what the encoding relies on: that at most one fact of some group holds.

These are the facts of a field, which is log-coded, and those of a relation that relaxed reachability takes
to hold one fact at most. The invariant is inductive: it holds in D0, and no action that is compiled takes
a state with one such fact at most to a state with two. All states are looked at, not only reachable
ones: an invariant may be given up that holds in all reachable states, but none is kept that does not.
"""

from __future__ import annotations

from collections.abc import Mapping

from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.relational.instance import Fact


def may_meet(compiler: Compiler, stays: Bdd, inserted: Mapping[Fact, Bdd], *cases: Bdd) -> bool:
    """Whether two of some facts may hold after an action that applies in the states that all ``cases`` have
    (`meeting`); a large one is best given last."""
    met = meeting(compiler, stays, inserted)
    for case in cases:
        met = case & met
    return met != compiler.manager.false


def meeting(compiler: Compiler, stays: Bdd, inserted: Mapping[Fact, Bdd]) -> Bdd:
    """Where two of some facts hold after an action, of the states in which one at most holds before it.

    ``stays``: where one of them holds and is not deleted. ``inserted``: where each is inserted. All range
    over the state bits and what else the action depends on.
    """
    m, atom = compiler.manager, compiler.encoding.atom
    beside = m.disj(when & stays & ~atom(fact) for fact, when in inserted.items())
    together = compiler.manager.at_least(2, list(inserted.values()))
    return beside | together
