"""Bounds of formulas from below and from above, each temporal node by a set of the certificate.

`bound(f, lower)` is a set over the states of R and the assignments to the free variables of f, a part of ⟦f⟧
if ``lower`` and one that ⟦f⟧ is a part of if not. First-order formulas are compiled; ¬ exchanges the two
sides; the other connectives, ∃, ∀ and "at least n" are monotone. The temporal operators come down to three,
with E = R × assignments, F the states from which a fair run starts, and F_k those of the constraints:

    EX f           from both sides   pre(f ∩ F)
    E[f U g]       from below        rings T_0 = g ∩ F, T_i ⊆ f ∩ pre(T_{i−1}):  ⋃ T_i
                   from above        U ⊇ g ∩ F, U ⊇ f ∩ pre(U)
    EG f           from below        Z ⊆ f ∩ pre(Z); for each k rings T_0 = Z ∩ F_k, T_i ⊆ f ∩ pre(T_{i−1})
    with
                                     Z ⊆ pre(⋃ T_i)
                   from above        Z_0 = f, Z_{i+1} = Z_i ∖ S_i with S_i ∩ pre(Z_i) = ∅; or for some k and
                                     W ⊇ Z_i ∩ F_k, W ⊇ Z_i ∩ pre(W) with S_i ∩ pre(W) = ∅

and AX f = ¬EX ¬f, AF f = ¬EG ¬f, AG f = ¬EF ¬f, A[f W g] = ¬E[¬g U ¬f ∧ ¬g], A[f U g] = A[f W g] ∧ AF g, E[f
W g] = E[f U g] ∨ EG f. None of it is a fixpoint. The address of a node is its place in the formula (`0.1` is
the second child of the first child), its operator and its side: `0.1 EU lower`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

from stead_sym.certificate.checker.formulas import Formulas, Scope, count_of
from stead_sym.certificate.checker.held import Pairs, Steps
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.space import Vector, same_dead_bit
from stead_sym.certificate.document import Bound, Bounds, Closed, Leaving, Rings, Set, Staying
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.syntax import (
    And,
    Atom,
    Binder,
    Compare,
    Count,
    Empty,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Same,
    Truth,
    Until,
    Use,
    is_temporal,
    unexpanded,
)  # fmt: skip

Address: TypeAlias = tuple[int, ...]


class Fairness:
    """The states of each constraint, and bounds of F, those from which a fair run starts."""

    def __init__(self, constraints: Sequence[Bdd], lower: Bdd, upper: Bdd) -> None:
        self.constraints = tuple(constraints)
        self.lower = lower
        self.upper = upper

    def bound(self, lower: bool) -> Bdd:
        return self.lower if lower else self.upper


class Bounding:
    """The bounds of one formula, from the sets that a certificate has for it."""

    def __init__(
        self,
        place: str,
        bounds: Bounds,
        sets: Callable[[Set], Bdd],
        formulas: Formulas,
        steps: Steps,
        fairness: Fairness,
        ledger: Ledger,
    ) -> None:
        """``sets`` gives the diagram of a set of the certificate."""
        self.place = place
        self.bounds = bounds
        self.sets = sets
        self.formulas = formulas
        self.steps = steps
        self.fairness = fairness
        self.ledger = ledger
        self.space = formulas.space
        self.manager = formulas.manager

    def bound(self, formula: Formula, at: Address, scope: Mapping[str, Vector], lower: bool) -> Bdd:
        """The bound of a formula at an address; ``scope`` has the vectors of the variables in scope."""
        if not is_temporal(formula):
            return self.formulas(formula, scope)
        m = self.manager

        def child(f: Formula, number: int, side: bool = lower) -> Bdd:
            return self.bound(f, (*at, number), scope, side)

        pairs = self.pairs(formula, scope)
        match formula:
            case Not(body):
                return ~child(body, 0, not lower)
            case And(parts):
                return m.conj(child(part, number) for number, part in enumerate(parts))
            case Or(parts):
                return m.disj(child(part, number) for number, part in enumerate(parts))
            case Implies(left, right):
                return ~child(left, 0, not lower) | child(right, 1)
            case Iff(left, right):
                both = child(left, 0) & child(right, 1)
                return both | ~(child(left, 0, not lower) | child(right, 1, not lower))
            case Exists(binder, body):
                vector, member = self._member(binder, body, at, scope, lower, True)
                return m.exist(frozenset(vector.bits.values()), member)
            case Forall(binder, body):
                vector, member = self._member(binder, body, at, scope, not lower, False)
                return ~m.exist(frozenset(vector.bits.values()), member)
            case Count(comparison, number, binder, body):
                return self._count(comparison, number, binder, body, at, scope, lower)
            case Next("E", body):
                return self._next(pairs, child(body, 0), lower)
            case Next(_, body):
                return ~self._next(pairs, ~child(body, 0), not lower)
            case Future("E", body):
                return self._until(pairs, m.true, child(body, 0), at, lower)
            case Future(_, body):
                return ~self._globally(pairs, ~child(body, 0), at, not lower)
            case Globally("E", body):
                return self._globally(pairs, child(body, 0), at, lower)
            case Globally(_, body):
                return ~self._until(pairs, m.true, ~child(body, 0), at, not lower)
            case Until("E", left, right, weak):
                stay = child(left, 0)
                until = self._until(pairs, stay, child(right, 1), at, lower)
                return until | self._globally(pairs, stay, at, lower) if weak else until
            case Until(_, left, right, weak):
                leave, wait = ~child(left, 0), ~child(right, 1)
                broken = self._until(pairs, wait, leave & wait, at, not lower)
                return ~(broken if weak else broken | self._globally(pairs, wait, at, not lower))
            case Use():
                raise unexpanded(formula)
            case Truth() | Equal() | Compare() | Atom() | Same() | Empty():
                raise AssertionError(f"{formula} is not temporal")
            case _:
                assert_never(formula)

    def pairs(self, formula: Formula, scope: Scope) -> Pairs:
        """The pairs over the free variables of a formula."""
        terms = (scope[name] for name in self.formulas.free(formula))
        return self.steps.pairs([term for term in terms if isinstance(term, Vector)])

    # quantifiers over temporal formulas

    def _member(
        self,
        binder: Binder,
        body: Formula,
        at: Address,
        scope: Mapping[str, Vector],
        lower: bool,
        positive: bool,
    ) -> tuple[Vector, Bdd]:
        """A vector for the bound variable, and where it names an active (for `x in s` any) value that
        satisfies the body (or, not ``positive``, its negation). It is not dead then: no bit says that it and
        another variable hold the same dead value."""
        vector = self.space.unused(binder.sort, scope.values())
        inner = {**scope, binder.name: vector}
        held = self.bound(body, (*at, 0), inner, lower if positive else not lower)
        member = (held if positive else ~held) & self.pairs(body, inner).everywhere
        if binder.name not in self.formulas.free(body):
            member = member & self.space.exactly_one(vector)
        member = member & (
            self.space.exactly_one(vector) if binder.declared else self.formulas.is_active(vector)
        )
        others = [t for name in self.formulas.free(body) if (t := inner[name]) is not vector]
        mine = [other for other in others if other.mortal and other.sort == vector.sort and vector.mortal]
        if binder.name in self.formulas.free(body):
            bits = {same_dead_bit(vector, other): False for other in mine}
            member = self.manager.cofactor(member, bits)
        return vector, member

    def _count(
        self,
        comparison: str,
        number: int,
        binder: Binder,
        body: Formula,
        at: Address,
        scope: Mapping[str, Vector],
        lower: bool,
    ) -> Bdd:
        m = self.manager

        def at_least(least: int, side: bool) -> Bdd:
            vector, member = self._member(binder, body, at, scope, side, True)
            codes = (self.space.code(vector, value) for value in vector.bits)
            return count_of(self.formulas, "atleast", least, [m.cofactor(member, code) for code in codes])

        match comparison:
            case "atleast":
                return at_least(number, lower)
            case "atmost":
                return ~at_least(number + 1, not lower)
            case _:
                return at_least(number, lower) & ~at_least(number + 1, not lower)

    # temporal operators

    def _address(self, at: Address, operator: str, lower: bool) -> str:
        where = ".".join(map(str, at)) or "top"
        return f"{where} {operator} {'lower' if lower else 'upper'}"

    def _given(self, at: Address, operator: str, lower: bool) -> tuple[Bound, str]:
        """What the certificate has for a node."""
        address = self._address(at, operator, lower)
        if address not in self.bounds:
            raise CertificateRejected("the certificate has a set for this node", f"{self.place} at {address}")
        return self.bounds[address], f"{self.place} at {address}"

    def _set(self, pairs: Pairs, number: Set, place: str) -> Bdd:
        """A set of the certificate, which is one of these pairs."""
        function = self.sets(number)
        self.ledger.true(function.support <= pairs.bits, "the set is one of pairs for this node", place)
        return pairs.everywhere & function

    def _next(self, pairs: Pairs, f: Bdd, lower: bool) -> Bdd:
        """⟦EX f⟧ = pre(⟦f⟧ ∩ F)"""
        return pairs.preimage(pairs.everywhere & f & self.fairness.bound(lower))

    def _until(self, pairs: Pairs, f: Bdd, g: Bdd, at: Address, lower: bool) -> Bdd:
        """⟦E[f U g]⟧"""
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
        """⋃ T_i, for T_0 = target and T_i ⊆ f ∩ pre(T_{i−1})."""
        found = last = target
        for number, ring in enumerate(rings, 1):
            members = self._set(pairs, ring, place)
            step = f & pairs.preimage(last)
            self.ledger.within(
                members, step, f"each member of ring {number} has a step to the one before", place
            )
            last = members
            found = found | members
        return found

    def _globally(self, pairs: Pairs, f: Bdd, at: Address, lower: bool) -> Bdd:
        """⟦EG f⟧"""
        given, place = self._given(at, "EG", lower)
        return self.globally(pairs, pairs.everywhere & f, given, place, lower)

    def globally(self, pairs: Pairs, f: Bdd, given: Bound, place: str, lower: bool) -> Bdd:
        """⟦EG f⟧ for a set f of pairs."""
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
                left = f
                for step in steps:
                    leaving = left & self._set(pairs, step.leaving, place)
                    if step.constraint is None or step.closed is None:
                        ahead = left
                    else:
                        known = step.constraint < len(self.fairness.constraints)
                        self.ledger.true(known, "the constraint is one of the deployment", place)
                        ahead = self._set(pairs, step.closed, place)
                        constraint = self.fairness.constraints[step.constraint]
                        self.ledger.within(
                            left & constraint, ahead, "the closed set holds the constraint", place
                        )
                        into = left & pairs.preimage(ahead)
                        self.ledger.within(into, ahead, "the set is closed under predecessors", place)
                    blocked = leaving & pairs.preimage(ahead)
                    self.ledger.empty(blocked, "what is left out cannot stay", place)
                    left = left & ~leaving
                return left
            case _:
                raise CertificateRejected("the set for this node is of the right kind", place)
