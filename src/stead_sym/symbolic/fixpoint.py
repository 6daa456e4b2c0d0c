"""The fixpoints of CTL over pairs of a state and an assignment: ⟦EX f⟧, ⟦E f U g⟧, ⟦EG f⟧.

A least fixpoint may take its steps in any order, so it chains: each partition works on what the earlier
ones have found, group by group (`Transitions.groups`). A greatest fixpoint asks of every pair
whether *some* partition keeps it, so it only looks on at those that none has kept so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stead_sym.symbolic.manager import Bdd
from stead_sym.symbolic.pairs import Pairs
from stead_sym.symbolic.transition import Partition, RelationalPartition


def until(pairs: Pairs, left: Bdd, right: Bdd) -> Bdd:
    """⟦E f U g⟧ = μZ. g ∨ (f ∧ pre(Z)). A partition is only given what it has not been given yet."""
    m, reached, grown = pairs.manager, right, True
    given: dict[Partition | RelationalPartition, Bdd] = {}
    while grown:
        grown = False
        for group in reversed(pairs.transitions.groups):
            growing = True
            while growing:
                growing = False
                for partition in reversed(group):
                    ahead = reached & ~given.get(partition, m.false)
                    if ahead == m.false:
                        continue
                    given[partition] = reached
                    new = left & pairs.through(partition, ahead) & ~reached
                    if new != m.false:
                        reached = reached | new
                        growing = grown = True
    return reached


def rings(pairs: Pairs, left: Bdd, right: Bdd) -> Iterator[Bdd]:
    """The onion rings of ⟦E f U g⟧: the pairs from which g is k steps away, k = 0, 1, …"""
    ring, seen = right, right
    while ring != pairs.manager.false:
        yield ring
        ring = left & pairs.preimage(ring) & ~seen
        seen = seen | ring


def globally(pairs: Pairs, body: Bdd, constraints: Sequence[Bdd]) -> Bdd:
    """⟦EG f⟧ = νZ. f ∧ pre(Z), and with fairness constraints F_k (Emerson and Lei 1986)
    νZ. f ∧ pre(Z) ∧ ⋀_k pre(⟦E f U (Z ∧ F_k)⟧)."""
    current = body
    while True:
        smaller = kept(pairs, current, current)
        for constraint in constraints:
            smaller = kept(pairs, smaller, until(pairs, body, smaller & constraint))
        if smaller == current:
            return current
        current = smaller


def kept(pairs: Pairs, among: Bdd, target: Bdd) -> Bdd:
    """among ∧ pre(target)."""
    lost = among
    for partition in pairs.transitions:
        if lost == pairs.manager.false:
            break
        lost = lost & ~pairs.through(partition, target)
    return among & ~lost
