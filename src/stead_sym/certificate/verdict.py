"""What a check of a certificate ends in: an account of what was checked, or the first obligation that
fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stead_sym.deployment.deployment import Deployment
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
class CheckedCertificate:
    """A certificate whose obligations all hold.

    ``deployment`` is read from the certificate; ``agents`` says who decides for
    each agent: a policy of the deployment, whose answers were found again, or a table, which is all that is
    known of that agent. ``verdicts`` are the words of the specifications that it
    proves. ``obligations`` counts what was checked per part; ``nodes`` are those of the diagrams that the
    certificate consists of.
    """

    deployment: Deployment
    mode: str
    agents: Mapping[str, str]
    verdicts: Mapping[str, str]
    obligations: Mapping[str, int]
    facts: int
    nodes: int
    seconds: float

    @property
    def summary(self) -> str:
        """One line without the verdicts."""
        number = sum(self.obligations.values())
        agents = ", ".join(f"{name}: {by}" if name else by for name, by in self.agents.items())
        return (
            f"accepted: {self.deployment.name} under {agents}, mode {self.mode}: {number} obligations"
            f" over {self.facts} facts and {self.nodes} nodes"
        )

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {spec} {word}" for spec, word in self.verdicts.items())])
