"""Lower and upper bounds of formulas; each temporal node is bounded by a set of the certificate.

`bound(f, lower)`, for a formula of the kernel (`logic.kernel`), is a set over the states of R and the
assignments to the free variables of f: a subset of ⟦f⟧ if ``lower``, otherwise a superset. First-order
formulas are compiled; ¬ exchanges the two sides, ↔ uses both, ∧, ∃ and "at least n" are monotone. With E = R
× assignments, F the states from which a fair run starts, and F_k those of the constraints:

    EX f           both bounds       pre(f ∩ F)
    E[f U g]       lower bound       rings T_0 = g ∩ F, T_i ⊆ f ∩ pre(T_{i−1}):  ⋃ T_i
                   upper bound       U ⊇ g ∩ F, U ⊇ f ∩ pre(U)
    EG f           lower bound       Z ⊆ f ∩ pre(Z); for each k rings T_0 = Z ∩ F_k, T_i ⊆ f ∩ pre(T_{i−1})
    with
                                     Z ⊆ pre(⋃ T_i)
                   upper bound       Z_0 = f, Z_{i+1} = Z_i ∖ S_i with S_i ∩ pre(Z_i) = ∅; or for some k and
                                     W ⊇ Z_i ∩ F_k, W ⊇ Z_i ∩ pre(W) with S_i ∩ pre(W) = ∅

No fixpoint is computed. The address of a node is its position in the core of the claim's formula (`0.1` is
the second child of the first child), its operator and its side: `0.1 EU lower`. A node that occurs at several
positions under the same vectors has the address of the first in a traversal from the left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.formulas import Formulas, Scope
from stead_sym.certificate.checker.held import Pairs, Steps
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.space import Vector, same_dead_bit
from stead_sym.certificate.document import Bound, Bounds, Closed, Leaving, Rings, Set, Staying
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.kernel import Core, outside_kernel

Address: TypeAlias = tuple[int, ...]
"""The numbers of the children on the path from the root of a formula."""


def written(at: Address, *about: str) -> str:
    """Return an address as in a certificate, followed by words about it, for example `0.1 EU lower`."""
    return " ".join((".".join(map(str, at)) or "top", *about))


def side_of(lower: bool) -> str:
    """Return the word for the side of a bound."""
    return "lower" if lower else "upper"


@dataclass(frozen=True, slots=True)
class Fairness:
    """The states of each constraint, and the bounds of F, the states from which a fair run starts."""

    constraints: Sequence[Bdd]
    lower: Bdd
    upper: Bdd

    def bound(self, lower: bool) -> Bdd:
        """Return the lower or upper bound of F."""
        return self.lower if lower else self.upper


@dataclass
class Bounding:
    """Computes the bounds of one formula from the sets that a certificate has for it.

    ``sets`` returns the diagram of a set.
    """

    place: str
    bounds: Bounds
    sets: Callable[[Set], Bdd]
    formulas: Formulas
    steps: Steps
    fairness: Fairness
    ledger: Ledger
    _known: dict[tuple[Core, tuple[Vector, ...], bool], Bdd] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Take the space and the manager of the formulas."""
        self.space, self.manager = self.formulas.space, self.formulas.manager

    def bound(self, formula: Core, at: Address, scope: Mapping[str, Vector], lower: bool) -> Bdd:
        """Return the bound of a formula at an address; ``scope`` has the vectors of the variables in scope.

        A formula that was bounded on this side at another address, under the same vectors, is not bounded
        again.
        """
        if not fo.is_temporal(formula):
            return self.formulas(formula, scope)
        key = formula, tuple(scope[name] for name in self.formulas.free(formula)), lower
        if key not in self._known:
            self._known[key] = self._bound(formula, at, scope, lower)
        return self._known[key]

    def _bound(self, formula: Core, at: Address, scope: Mapping[str, Vector], lower: bool) -> Bdd:
        m = self.manager

        def child(f: Core, number: int, side: bool = lower) -> Bdd:
            return self.bound(f, (*at, number), scope, side)

        match formula:
            case fo.Not(body):
                return ~child(body, 0, not lower)
            case fo.And(parts):
                return m.conj([child(part, number) for number, part in enumerate(parts)])
            case fo.Iff(left, right):
                both = child(left, 0) & child(right, 1)
                return both | ~(child(left, 0, not lower) | child(right, 1, not lower))
            case fo.Exists(binder, body):
                vector, member = self._member(binder, body, at, scope, lower)
                return m.exist(frozenset(vector.bits.values()), member)
            case fo.Count(_, number, binder, body):
                vector, member = self._member(binder, body, at, scope, lower)
                codes = (self.space.code(vector, value) for value in vector.bits)
                return m.at_least(number, [m.cofactor(member, code) for code in codes])
            case fo.Next(_, body):
                return self._next(self.pairs(formula, scope), child(body, 0), lower)
            case fo.Globally(_, body):
                return self._globally(self.pairs(formula, scope), child(body, 0), at, lower)
            case fo.Until(_, left, right):
                f, g = child(left, 0), child(right, 1)
                return self._until(self.pairs(formula, scope), f, g, at, lower)
            case _:
                raise outside_kernel(formula)

    def pairs(self, formula: fo.Formula, scope: Scope) -> Pairs:
        """Return the pairs over the free variables of a formula."""
        terms = (scope[name] for name in self.formulas.free(formula))
        return self.steps.pairs([term for term in terms if isinstance(term, Vector)])

    # quantifiers over temporal formulas

    def _member(
        self, binder: fo.Binder, body: Core, at: Address, scope: Mapping[str, Vector], lower: bool
    ) -> tuple[Vector, Bdd]:
        """Return a vector for the bound variable, and where it names a value that satisfies the body.

        The value is active, or for `x in s` arbitrary. So it is not dead: no bit states that it and another
        variable hold the same dead value.
        """
        vector = self.space.unused(binder.sort, scope.values())
        inner = {**scope, binder.name: vector}
        member = self.bound(body, (*at, 0), inner, lower) & self.pairs(body, inner).everywhere
        free = self.formulas.free(body)
        if binder.declared or binder.name not in free:
            member = member & self.space.exactly_one(vector)
        if not binder.declared:
            member = member & self.formulas.is_active(vector)
        if binder.name in free and vector.mortal:
            others = [inner[name] for name in free if name != binder.name]
            mine = [other for other in others if other.mortal and other.sort == vector.sort]
            bits = {same_dead_bit(vector, other): False for other in mine}
            member = self.manager.cofactor(member, bits)
        return vector, member

    # temporal operators

    def _given(self, at: Address, operator: str, lower: bool) -> tuple[Bound, str]:
        """Return the bound that the certificate has for a node, and its place."""
        address = written(at, operator, side_of(lower))
        if address not in self.bounds:
            raise CertificateRejected("the certificate has a set for this node", f"{self.place} at {address}")
        return self.bounds[address], f"{self.place} at {address}"

    def _set(self, pairs: Pairs, number: Set, place: str) -> Bdd:
        """Return a set of the certificate, which must be a set of these pairs."""
        function = self.sets(number)
        self.ledger.true(function.support <= pairs.bits, "the set is one of pairs for this node", place)
        return pairs.everywhere & function

    def _next(self, pairs: Pairs, f: Bdd, lower: bool) -> Bdd:
        """Return a bound of ⟦EX f⟧ = pre(⟦f⟧ ∩ F)."""
        return pairs.preimage(pairs.everywhere & f & self.fairness.bound(lower))

    def _until(self, pairs: Pairs, f: Bdd, g: Bdd, at: Address, lower: bool) -> Bdd:
        """Return a bound of ⟦E[f U g]⟧."""
        given, place = self._given(at, "EU", lower)
        target = pairs.everywhere & g & self.fairness.bound(lower)
        match given:
            case Rings(rings) if lower:
                return self._reaching(pairs, pairs.everywhere & f, target, rings, place)
            case Closed(number) if not lower:
                closed = self._set(pairs, number, place)
                self.ledger.within(target, closed, "the closed set holds the goal", place)
                into = pairs.preimage(closed) & f
                self.ledger.within(into, closed, "the set is closed under predecessors", place)
                return closed
            case _:
                raise CertificateRejected("the set for this node is of the right kind", place)

    def _reaching(self, pairs: Pairs, f: Bdd, target: Bdd, rings: Sequence[Set], place: str) -> Bdd:
        """Return ⋃ T_i, for T_0 = target and T_i ⊆ f ∩ pre(T_{i−1})."""
        reaching = last = target
        for number, ring in enumerate(rings, 1):
            members = self._set(pairs, ring, place)
            step = f & pairs.preimage(last)
            self.ledger.within(
                members, step, f"each member of ring {number} has a step to the one before", place
            )
            last = members
            reaching = reaching | members
        return reaching

    def _globally(self, pairs: Pairs, f: Bdd, at: Address, lower: bool) -> Bdd:
        """Return a bound of ⟦EG f⟧."""
        given, place = self._given(at, "EG", lower)
        return self.globally(pairs, pairs.everywhere & f, given, place, lower)

    def globally(self, pairs: Pairs, f: Bdd, given: Bound, place: str, lower: bool) -> Bdd:
        """Return a bound of ⟦EG f⟧ for a set f of pairs."""
        match given:
            case Staying(number, visits) if lower:
                stay = self._set(pairs, number, place)
                self.ledger.within(stay, f, "the set that runs stay in satisfies the formula", place)
                self.ledger.within(
                    stay, pairs.preimage(stay), "each member has a successor in the set", place
                )
                constraints = self.fairness.constraints
                self.ledger.true(len(visits) == len(constraints), "each constraint is visited", place)
                for constraint, rings in zip(constraints, visits, strict=True):
                    near = self._reaching(pairs, f, stay & constraint, rings, place)
                    ahead = pairs.preimage(near)
                    self.ledger.within(stay, ahead, "each member can go on to each constraint", place)
                return stay
            case Leaving(steps) if not lower:
                staying = f
                for step in steps:
                    leaving = staying & self._set(pairs, step.leaving, place)
                    if step.constraint is None or step.closed is None:
                        ahead = staying
                    else:
                        exists = step.constraint < len(self.fairness.constraints)
                        self.ledger.true(exists, "the constraint is one of the deployment", place)
                        ahead = self._set(pairs, step.closed, place)
                        constraint = self.fairness.constraints[step.constraint]
                        self.ledger.within(
                            staying & constraint, ahead, "the closed set holds the constraint", place
                        )
                        into = staying & pairs.preimage(ahead)
                        self.ledger.within(into, ahead, "the set is closed under predecessors", place)
                    blocked = leaving & pairs.preimage(ahead)
                    self.ledger.empty(blocked, "what is left out cannot stay", place)
                    staying = staying & ~leaving
                return staying
            case _:
                raise CertificateRejected("the set for this node is of the right kind", place)
