"""The result of checking a certificate: an account of what was checked, or the first obligation
that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stead_sym.certificate.document import Word
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import behind
from stead_sym.errors import SteadError
from stead_sym.relational.instance import Instance


class CertificateRejected(SteadError):
    """An obligation of a certificate does not hold. ``str(error)`` is one line: which obligation, where, and,
    if there is one, a state that shows it."""

    exit_status = 1

    def __init__(self, obligation: str, place: str = "", state: Instance | None = None) -> None:
        shown = "" if state is None else f"; not so in {state}"
        super().__init__(f"rejected: {place}{': ' * bool(place)}{obligation}{shown}")
        self.obligation = obligation
        self.place = place
        self.state = state


@dataclass(frozen=True, slots=True)
class ProvedClaim:
    """A verdict that is proved: ``formula`` is the text of what it is about, as the check has read it;
    ``name`` is that of the specification with this formula, or another text of it. ``obligations`` is how
    many its proof has."""

    name: str
    formula: str
    verdict: Word
    obligations: int


@dataclass(frozen=True, slots=True)
class CheckedCertificate:
    """A certificate whose obligations all hold.

    ``deployment`` is read from the certificate; ``agents`` says who decides for
    each agent: a policy of the deployment, whose answers were found again, or a table, which is all that is
    known of that agent. ``claims`` are the verdicts that it proves. ``obligations`` counts what else was
    checked, per part; ``nodes`` are those of the diagrams that the certificate consists of. In mode
    ``every number`` the verdicts are for every number of values of the sorts ``unbounded``, and ``facts`` are
    those of its ``views``. ``gates`` are those that the certificate names: the guards of ``deployment`` have
    their conditions.
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
    gates: tuple[str, ...] = ()

    @property
    def verdicts(self) -> Mapping[str, Word]:
        """The words that are proved, by the names of what they are about."""
        return {claim.name: claim.verdict for claim in self.claims}

    @property
    def unclaimed(self) -> tuple[str, ...]:
        """The specifications of the deployment about which the certificate says nothing."""
        return tuple(spec.name for spec in self.deployment.specs if spec.name not in self.verdicts)

    @property
    def number(self) -> int:
        """How many obligations there are."""
        return sum(self.obligations.values()) + sum(claim.obligations for claim in self.claims)

    @property
    def summary(self) -> str:
        """One line without the verdicts."""
        agents = ", ".join(f"{name}: {by}" if name else by for name, by in self.agents.items())
        agents += behind(self.gates)
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
        lines = (f"  {c.name} {c.verdict}: {c.formula}" for c in self.claims)
        return "\n".join([self.summary, *lines])
