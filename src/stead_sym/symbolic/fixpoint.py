"""The two fixpoints of CTL, over any preimage: ⟦E f U g⟧ and ⟦EG f⟧."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stead_sym.symbolic.manager import Bdd


def until(pre: Callable[[Bdd], Bdd], left: Bdd, right: Bdd, false: Bdd) -> Bdd:
    """⟦E f U g⟧ = μZ. g ∨ (f ∧ pre(Z)), by the preimages of what is new."""
    reached = right
    for ring in rings(pre, left, right, false):
        reached = reached | ring
    return reached


def rings(pre: Callable[[Bdd], Bdd], left: Bdd, right: Bdd, false: Bdd) -> Iterator[Bdd]:
    """The onion rings of ⟦E f U g⟧: the states from which g is k steps away, k = 0, 1, …"""
    ring, seen = right, right
    while ring != false:
        yield ring
        ring = left & pre(ring) & ~seen
        seen = seen | ring


def globally(pre: Callable[[Bdd], Bdd], body: Bdd, constraints: Sequence[Bdd], false: Bdd) -> Bdd:
    """⟦EG f⟧ = νZ. f ∧ pre(Z), and with fairness constraints F_k (Emerson and Lei 1986)
    νZ. f ∧ pre(Z) ∧ ⋀_k pre(⟦E f U (Z ∧ F_k)⟧)."""
    current = body
    while True:
        smaller = current & pre(current)
        for constraint in constraints:
            smaller = smaller & pre(until(pre, body, smaller & constraint, false))
        if smaller == current:
            return current
        current = smaller
