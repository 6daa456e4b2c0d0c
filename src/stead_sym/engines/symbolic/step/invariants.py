"""Check that an effect preserves the encoding's assumption that at most one fact of a group holds.

A group is the facts of a field, which is log-coded, or of a relation that relaxed reachability assumes to
hold at most one fact. The invariant is inductive: it holds in D0, and no compiled action leads from a state
with at most one such fact to a state with two. All states are considered, not only reachable ones: an
invariant that holds in all reachable states may be dropped, but none that does not is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.engines.symbolic.encode.encoding import Field

Codes: TypeAlias = tuple[Sequence[Bdd], Sequence[Bdd]]
"""Per bit of a field where a fact with the bit in its code is meant, and where one without it is."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The facts of one field that an effect inserts, bit by bit of their codes.

    ``ones`` are, per bit, the states in which a fact is inserted whose code has the bit, and ``zeros`` those
    in which one is whose code lacks it. All range over the state bits and the other parameters of the action.
    """

    field: Field
    ones: tuple[Bdd, ...]
    zeros: tuple[Bdd, ...]

    @classmethod
    def of(cls, manager: Manager, field: Field, parts: Iterable[Codes]) -> Arrival:
        """Return the union of some insertions."""
        ones, zeros = zip(*parts, strict=True)
        return cls(field, *(tuple(map(manager.disj, zip(*each, strict=True))) for each in (ones, zeros)))

    @property
    def some(self) -> Bdd:
        """The states in which some fact is inserted."""
        return self.ones[0] | self.zeros[0]


def may_meet(manager: Manager, stays: Bdd, arrivals: Sequence[Arrival], *cases: Bdd) -> bool:
    """Return True if two of some facts may hold after an action that applies where all ``cases`` hold.

    See `meeting`; a large case should be given last.
    """
    met = meeting(manager, stays, arrivals)
    for case in cases:
        met = case & met
    return met != manager.false


def meeting(manager: Manager, stays: Bdd, arrivals: Sequence[Arrival]) -> Bdd:
    """Return the states with at most one of some facts before an action and two of them after it.

    ``stays``: one of them holds and is not deleted. Two facts differ in some bit of their codes.
    """
    m = manager
    bits = [
        bit
        for arrival in arrivals
        for bit in zip(arrival.field.bits, arrival.ones, arrival.zeros, strict=True)
    ]
    beside = stays & m.disj(m.ite(m.var(bit), zero, one) for bit, one, zero in bits)
    together = m.disj(one & zero for _, one, zero in bits)
    if len(arrivals) > 1:
        together = together | m.at_least(2, [arrival.some for arrival in arrivals])
    return beside | together
