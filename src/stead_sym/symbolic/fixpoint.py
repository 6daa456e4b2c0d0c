"""The fixpoints of CTL over pairs of a state and an assignment: ⟦EG f⟧ and the rings of ⟦E f U g⟧.

⟦E f U g⟧ itself is `Relation.reaching`: a least fixpoint may take its steps in any order. A greatest one
may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stead_sym.symbolic.manager import Bdd
from stead_sym.symbolic.transition import Relation


def rings(relation: Relation, left: Bdd, right: Bdd) -> Iterator[Bdd]:
    """The onion rings of ⟦E f U g⟧: the pairs from which g is k steps away, k = 0, 1, …"""
    ring, seen = right, right
    while ring != relation.manager.false:
        yield ring
        ring = left & relation.preimage(ring) & ~seen
        seen = seen | ring


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
