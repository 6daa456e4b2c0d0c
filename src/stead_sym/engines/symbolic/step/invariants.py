"""Check that an effect preserves the encoding's assumption that at most one fact of a group holds.

A group is the facts of a field, which is log-coded, or of a relation that relaxed reachability assumes to
hold at most one fact. The invariant is inductive: it holds in D0, and no compiled action leads from a state
with at most one such fact to a state with two. All states are considered, not only reachable ones: an
invariant that holds in all reachable states may be dropped, but none that does not is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.relational.instance import Fact


def may_meet(compiler: Compiler, stays: Bdd, inserted: Mapping[Fact, Bdd], *cases: Bdd) -> bool:
    """Return True if two of some facts may hold after an action that applies where all ``cases`` hold.

    See `meeting`; a large case should be given last.
    """
    met = meeting(compiler, stays, inserted)
    for case in cases:
        met = case & met
    return met != compiler.manager.false


def meeting(compiler: Compiler, stays: Bdd, inserted: Mapping[Fact, Bdd]) -> Bdd:
    """Return the states with at most one of some facts before an action and two of them after it.

    ``stays``: one of them holds and is not deleted. ``inserted``: the states in which each is inserted. All
    range over the state bits and the other parameters of the action.
    """
    m, atom = compiler.manager, compiler.encoding.atom
    beside = m.disj(when & stays & ~atom(fact) for fact, when in inserted.items())
    together = compiler.manager.at_least(2, list(inserted.values()))
    return beside | together
