"""The fixpoints of CTL over pairs of a state and an assignment, and shortest runs.

⟦E f U g⟧ is `Relation.reaching`, by saturation: a least fixpoint does not depend on the order of the steps.
⟦EG f⟧ is a greatest fixpoint and is computed step by step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.bdd.relation import Relation


def shortest(
    relation: Relation, start: Bdd, through: Bdd, target: Bdd, bits: Bits, *, small: bool = False
) -> Sequence[Bdd] | None:
    """Return the sets S0, S1, …, Sn of a shortest run into ``target``; None if there is no run.

    A step into each of S1, … in turn is a shortest run from the member of S0 ⊂ ``start`` through ``through``
    into ``target``. All range over ``bits``.

    The search is bidirectional and extends the smaller side: layers of states exactly i steps from the start
    and exactly j from the target, until two layers meet. With ``small`` it prefers states with as few bits
    set as possible, which have short descriptions; that takes time linear in the nodes of the layers.
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


@dataclass(frozen=True, slots=True)
class Along:
    """A fairness constraint on steps, or one for each assignment u to the bits ``params``.

    A run that visits ``asking`` infinitely often visits ``released`` infinitely often, or takes ``steps``
    infinitely often. Both sets are over the bits of states and ``params``. The ``steps`` are a part of the
    relation that may range over ``params`` too.

    Weak fairness of an action is (enabled, ¬enabled, its steps). If ``asking`` and ``released`` are not
    complementary, the constraint is a Streett pair.

    With ``asks_of_steps`` the constraint is for runs that make the call u in ``asking`` infinitely often. A
    run may stay in ``asking`` and make other steps (`FairSteps.without`).
    """

    params: Bits
    asking: Bdd
    released: Bdd
    steps: Relation
    asks_of_steps: bool = False

    def met(self, states: Bdd) -> Bdd:
        """Return the states of a set, per u, that release u or from which a step for u leads into the set."""
        return states & (self.released | self.steps.preimage(states))


class FairSteps(Protocol):
    """Steps between states, and constraints on them."""

    @property
    def relation(self) -> Relation:
        """The steps."""
        ...

    @property
    def along(self) -> Sequence[Along]:
        """The constraints."""
        ...

    def without(self, calls: Sequence[Bdd]) -> FairSteps:
        """Return the remaining steps and constraints if some calls are not made.

        ``calls`` has for each constraint a set of states with the call u. These calls do not count as steps
        by another constraint either. A step by several calls remains if one of these is still made.
        """
        ...


def globally(
    relation: Relation, body: Bdd, constraints: Sequence[Bdd], steps: FairSteps | None = None
) -> Bdd:
    """Return ⟦EG f⟧ = νZ. f ∧ pre(Z).

    With fairness constraints F_k (Emerson and Lei 1986) it is νZ. f ∧ pre(Z) ∧ ⋀_k pre(⟦E f U (Z ∧ F_k)⟧).
    With constraints on steps it is E[f U C] for the `fair_core` C.
    """
    if steps is not None:
        return relation.reaching(fair_core(steps, body, constraints)[0], body)
    relation, current = relation.within(body), body
    while True:
        smaller = current & relation.preimage(current)
        for constraint in constraints:
            smaller = smaller & relation.preimage(relation.reaching(smaller & constraint, body))
        if smaller == current:
            return current
        current = smaller


def fair_core(steps: FairSteps, body: Bdd, constraints: Sequence[Bdd]) -> tuple[Bdd, FairSteps]:
    """Return a set C ⊆ f in which a fair run may start and stay, with the steps that it may make for ever.

    Each fair run through f enters C for good. The steps are those that such a run may make infinitely often.
    C is the greatest Z ⊆ f with (Kesten, Pnueli and Raviv 1998)

        Z ⊆ pre(Z),    Z ⊆ ⟦E Z U (Z ∧ F_k)⟧,    Z ∧ asking_u ⊆ ⟦E Z U met_u(Z)⟧ for all u.

    A state that violates the last condition is not in Z. With `Along.asks_of_steps`, the state stays and the
    step by u is removed instead.

    Law. Each fair run through f makes a removed step finitely often. From any state of Z a fair run starts
    that stays in Z.

    Proof. The states that a fair run visits infinitely often, and the calls that it makes infinitely often,
    satisfy all three conditions, so none of them is ever removed. From any state of Z a run through Z leads
    into a terminal strongly connected component of Z. A run that visits all states and steps of such a
    component infinitely often is fair. ∎
    """
    current, relation = body, steps.relation.within(body)
    m = relation.manager
    while True:
        smaller = current
        while (staying := smaller & relation.preimage(smaller)) != smaller:
            smaller = staying
        for states in constraints:
            smaller = relation.reaching(smaller & states, smaller)
        broken = list[Bdd]()
        for one in steps.along:
            waiting = smaller & one.asking & ~relation.reaching(one.met(smaller), smaller)
            broken.append(waiting if one.asks_of_steps else m.false)
            if not one.asks_of_steps:
                smaller = smaller & ~m.exist(one.params, waiting)
        if any(calls != m.false for calls in broken):
            steps = steps.without(broken)
            relation = steps.relation.within(body)
        elif smaller == current:
            return current, steps
        current = smaller
