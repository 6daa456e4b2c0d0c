"""The fixpoints of CTL over pairs of a state and an assignment, and shortest runs.

⟦E f U g⟧ is `Relation.reaching`, by saturation: a least fixpoint is the same in whatever order the steps are
taken. ⟦EG f⟧ is a greatest fixpoint and is computed step by step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stead_sym.symbolic.bdd.manager import Bdd, Bits
from stead_sym.symbolic.bdd.relation import Relation


def shortest(
    relation: Relation, start: Bdd, through: Bdd, target: Bdd, bits: Bits, *, small: bool = False
) -> Sequence[Bdd] | None:
    """Sets S0, S1, …, Sn such that a step into each of S1, … in turn is a shortest run from the member of S0
    ⊂ ``start`` through ``through`` into ``target``; None where there is none. All range over ``bits``.

    From both ends at once, whichever is smaller by now: layers of states exactly i steps from the start and
    exactly j from the target, until two layers meet. ``small``: of several states to go through one with as
    few bits set as in any, which takes little to describe; that costs time linear in the nodes of the layers.
    """
    m = relation.manager
    empty = dict.fromkeys(bits, False)

    def pick(states: Bdd) -> Mapping[str, bool]:
        return m.nearest(states, empty) if small else m.pick(states, bits)

    ahead, behind = [start], [target]
    seen_ahead, seen_behind = start, target
    while ahead[-1] & behind[-1] == m.false:
        if ahead[-1].dag_size <= behind[-1].dag_size:
            layer = relation.image(ahead[-1] & through) & ~seen_ahead
            seen_ahead = seen_ahead | layer
            ahead.append(layer)
        else:
            layer = through & relation.preimage(behind[-1]) & ~seen_behind
            seen_behind = seen_behind | layer
            behind.append(layer)
        if layer == m.false:
            return None
    met = ahead[-1] & behind[-1]
    members: list[Bdd] = []
    for layer in reversed(ahead[1:]):
        member = m.cube(pick(met & layer))
        members.append(member)
        met = through & relation.preimage(member)
    return [m.cube(pick(met & start)), *reversed(members), *reversed(behind[:-1])]


def globally(relation: Relation, body: Bdd, constraints: Sequence[Bdd]) -> Bdd:
    """⟦EG f⟧ = νZ. f ∧ pre(Z), and with fairness constraints F_k (Emerson and Lei 1986)
    νZ. f ∧ pre(Z) ∧ ⋀_k pre(⟦E f U (Z ∧ F_k)⟧)."""
    current = body
    while True:
        smaller = current & relation.preimage(current)
        for constraint in constraints:
            smaller = smaller & relation.preimage(relation.reaching(smaller & constraint, body))
        if smaller == current:
            return current
        current = smaller
