"""The result of checking a certificate: a summary of the checked obligations, or the first that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stead_sym.certificate.document import Word
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AS_WRITTEN, Harness
from stead_sym.errors import SteadError
from stead_sym.relational.instance import Instance


class CertificateRejected(SteadError):
    """An obligation of a certificate fails.

    ``str(error)`` is one line: the obligation, its place, and, if there is one, a state as counterexample.
    """

    exit_status = 1

    def __init__(self, obligation: str, place: str = "", state: Instance | None = None) -> None:
        shown = "" if state is None else f"; not so in {state}"
        super().__init__(f"rejected: {place}{': ' * bool(place)}{obligation}{shown}")
        self.obligation = obligation
        self.place = place
        self.state = state


@dataclass(frozen=True, slots=True)
class ProvedClaim:
    """A verdict that is proved.

    ``formula`` is the text of its formula as the checker parsed it; ``name`` is that of the specification
    with this formula, or another text of the formula. ``obligations`` is the number of obligations of its
    proof.
    """

    name: str
    formula: str
    verdict: Word
    obligations: int


@dataclass(frozen=True, slots=True)
class CheckedCertificate:
    """A certificate whose obligations all hold.

    ``deployment`` is parsed from the certificate; ``agents`` states for each agent who decides: a policy of
    the deployment, whose answers were recomputed, or a table, which is all that is known of that agent.
    ``claims`` are the proved verdicts. ``obligations`` counts the other obligations, per part; ``nodes`` is
    the number of nodes of the certificate's diagrams. In mode ``every number`` the verdicts hold for an
    arbitrary number of values of the sorts ``unbounded``, and ``facts`` counts the facts of its ``views``.
    ``harness`` is the one that the certificate names; the guards of ``deployment`` contain the conditions of
    its gates.
    """

    deployment: Deployment
    mode: str
    agents: Mapping[str, str]
    claims: tuple[ProvedClaim, ...]
    obligations: Mapping[str, int]
    facts: int
    nodes: int
    seconds: float
    unbounded: tuple[str, ...] = ()
    views: int = 0
    harness: Harness = AS_WRITTEN

    @property
    def verdicts(self) -> Mapping[str, Word]:
        """The proved verdicts by the names of their claims."""
        return {claim.name: claim.verdict for claim in self.claims}

    @property
    def unclaimed(self) -> tuple[str, ...]:
        """The specifications of the deployment about which the certificate has no claim."""
        return tuple(spec.name for spec in self.deployment.specs if spec.name not in self.verdicts)

    @property
    def number(self) -> int:
        """The number of obligations."""
        return sum(self.obligations.values()) + sum(claim.obligations for claim in self.claims)

    @property
    def summary(self) -> str:
        """A summary in one line, without the verdicts."""
        agents = ", ".join(f"{name}: {by}" if name else by for name, by in self.agents.items())
        agents += str(self.harness)
        if self.unbounded:
            return (
                f"accepted: {self.deployment.name} under {agents}, for every number of"
                f" {' and '.join(self.unbounded)}: {self.number} obligations over {self.views} views"
            )
        return (
            f"accepted: {self.deployment.name} under {agents}, mode {self.mode}: {self.number} obligations"
            f" over {self.facts} facts and {self.nodes} nodes"
        )

    def __str__(self) -> str:
        """Return the summary, and a line per verdict."""
        lines = (f"  {c.name} {c.verdict}: {c.formula}" for c in self.claims)
        return "\n".join([self.summary, *lines])
