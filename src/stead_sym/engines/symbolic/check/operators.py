"""The operators of CTL on sets of pairs of a state and an assignment, one function each.

Every argument and every result is a subset of ``everywhere``, the reachable states with all assignments. The
operators are those of the kernel (`logic.kernel`), ¬ EX EU EG. Path quantifiers range over the fair runs:
those on which each of the ``constraints`` holds infinitely often and the constraints on steps (those of
``steps``) are met. A run is fair iff its suffix is, so it is enough that the states in which an EX or EU ends
start a fair run.
"""

from __future__ import annotations

from dataclasses import dataclass

from stead_sym.engines.symbolic.bdd.fixpoint import FairSteps, globally
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.check.held_values import Pairs


@dataclass(frozen=True)
class Operators:
    """CTL over the transitions between ``pairs`` (whose relation is built on demand).

    ``fair`` are the pairs from which a fair run starts, all of them if there are no ``constraints``.
    """

    pairs: Pairs
    everywhere: Bdd
    fair: Bdd
    constraints: tuple[Bdd, ...] = ()
    steps: FairSteps | None = None

    @property
    def relation(self) -> Relation:
        """The transitions between pairs."""
        return self.pairs.relation

    def negation(self, f: Bdd) -> Bdd:
        """Return ⟦¬f⟧ = R ∖ ⟦f⟧."""
        return self.everywhere & ~f

    def exists_next(self, f: Bdd) -> Bdd:
        """Return ⟦EX f⟧ = pre(⟦f⟧ ∩ fair)."""
        return self.everywhere & self.relation.preimage(f & self.fair)

    def exists_until(self, f: Bdd, g: Bdd) -> Bdd:
        """Return ⟦E[f U g]⟧ = μZ. (⟦g⟧ ∩ fair) ∪ (⟦f⟧ ∩ pre(Z))."""
        return self.relation.reaching(g & self.fair, f)

    def exists_globally(self, f: Bdd) -> Bdd:
        """Return ⟦EG f⟧ = νZ. ⟦f⟧ ∩ pre(Z), or with constraints the fixpoint of `globally`."""
        return globally(self.relation, f, self.constraints, self.steps)
