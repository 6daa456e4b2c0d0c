"""The operators of CTL on sets of pairs of a state and an assignment, one function each.

Every argument and every result is a subset of ``everywhere``, the reachable states with all assignments.
The kernel is ¬ EX EU EG; each of the others is what its equation says. Path quantifiers range over the
fair runs, those on which each of the ``constraints`` holds infinitely often and the constraints on steps
(``along``) are met: a run is fair iff its rest
is, so it is enough that the states in which an EX or EU ends start a fair run.
"""

from __future__ import annotations

from dataclasses import dataclass

from stead_sym.symbolic.bdd.fixpoint import Along, globally
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.bdd.relation import Relation
from stead_sym.symbolic.check.held_values import Pairs


@dataclass(frozen=True)
class Operators:
    """CTL over the transitions between ``pairs`` (whose relation is built when it is asked for).

    ``fair`` are the pairs from which a fair run starts, all of them where there are no ``constraints``.
    """

    pairs: Pairs
    everywhere: Bdd
    fair: Bdd
    constraints: tuple[Bdd, ...] = ()
    along: tuple[Along, ...] = ()

    @property
    def relation(self) -> Relation:
        """The transitions between pairs."""
        return self.pairs.relation

    def negation(self, f: Bdd) -> Bdd:
        """⟦¬f⟧ = R ∖ ⟦f⟧"""
        return self.everywhere & ~f

    def exists_next(self, f: Bdd) -> Bdd:
        """⟦EX f⟧ = pre(⟦f⟧ ∩ fair)"""
        return self.everywhere & self.relation.preimage(f & self.fair)

    def exists_until(self, f: Bdd, g: Bdd) -> Bdd:
        """⟦E[f U g]⟧ = μZ. (⟦g⟧ ∩ fair) ∪ (⟦f⟧ ∩ pre(Z))"""
        return self.relation.reaching(g & self.fair, f)

    def exists_globally(self, f: Bdd) -> Bdd:
        """⟦EG f⟧ = νZ. ⟦f⟧ ∩ pre(Z), and with constraints the fixpoint of `globally`"""
        return globally(self.relation, f, self.constraints, self.along)

    def all_next(self, f: Bdd) -> Bdd:
        """AX f = ¬EX ¬f"""
        return self.negation(self.exists_next(self.negation(f)))

    def exists_future(self, f: Bdd) -> Bdd:
        """EF f = E[true U f]"""
        return self.exists_until(self.everywhere, f)

    def all_future(self, f: Bdd) -> Bdd:
        """AF f = ¬EG ¬f"""
        return self.negation(self.exists_globally(self.negation(f)))

    def all_globally(self, f: Bdd) -> Bdd:
        """AG f = ¬EF ¬f"""
        return self.negation(self.exists_future(self.negation(f)))

    def exists_weak_until(self, f: Bdd, g: Bdd) -> Bdd:
        """E[f W g] = E[f U g] ∨ EG f"""
        return self.exists_until(f, g) | self.exists_globally(f)

    def all_weak_until(self, f: Bdd, g: Bdd) -> Bdd:
        """A[f W g] = ¬E[¬g U ¬f ∧ ¬g]"""
        return self.negation(self._broken(f, g))

    def all_until(self, f: Bdd, g: Bdd) -> Bdd:
        """A[f U g] = A[f W g] ∧ AF g"""
        return self.negation(self._broken(f, g) | self.exists_globally(self.negation(g)))

    def _broken(self, f: Bdd, g: Bdd) -> Bdd:
        """E[¬g U ¬f ∧ ¬g]: some run leaves f before g has come."""
        without_g = self.negation(g)
        return self.exists_until(without_g, self.negation(f) & without_g)
