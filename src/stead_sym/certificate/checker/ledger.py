"""The obligations of a certificate, checked and counted one after another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from stead_sym.certificate.checker.space import Space
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema


@dataclass
class Ledger:
    """Counts the obligations per part of the certificate.

    The part is the ``claim`` that is being proved, or follows from the obligation's place.
    """

    space: Space
    schema: Schema
    counts: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    claim: str | None = None

    def _count(self, place: str) -> None:
        if self.claim is None:
            self.counts[_part(place)] += 1
        else:
            self.claims[self.claim] += 1

    def empty(self, counterexamples: Bdd, obligation: str, place: str) -> None:
        """Check that nothing violates the obligation; raise `CertificateRejected` with a counterexample."""
        self._count(place)
        if counterexamples != self.space.manager.false:
            raise CertificateRejected(obligation, place, self.state(counterexamples))

    def within(self, smaller: Bdd, larger: Bdd, obligation: str, place: str) -> None:
        """Check smaller ⊆ larger; raise `CertificateRejected` with a counterexample."""
        self._count(place)
        if not self.space.manager.implies(smaller, larger):
            raise CertificateRejected(obligation, place, self.state(smaller & ~larger))

    def true(self, condition: bool, obligation: str, place: str) -> None:
        """Check a condition that does not depend on a state; raise `CertificateRejected` if it is false."""
        self._count(place)
        if not condition:
            raise CertificateRejected(obligation, place)

    def state(self, states: Bdd) -> Instance:
        """Return a state of a nonempty set."""
        path = self.space.manager.path(states)
        facts = {fact for fact, bit in self.space.atoms.items() if path.get(bit, False)}
        return Instance(self.schema, frozenset(facts) | self.space.static)


def _part(place: str) -> str:
    """Return the part of the certificate that a place belongs to."""
    return place.partition(",")[0].partition(" at ")[0].partition(" of ")[0]
