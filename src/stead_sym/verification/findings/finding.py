"""The data of a finding: its kind, its position, the text and the remedy. A comment may accept it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import Span

Kind: TypeAlias = Literal[
    # on specifications and fairness constraints, over the reachable states
    "unfair", "fair hides", "premise never true", "no value", "no value initially", "vacuous",
    "about no given agent",
    # on tools and policies, over the reachable states
    "never offered", "never selected", "never enabled", "no change",
    "rule never matches", "rule never selects",
    # on events and agents that keep others from acting
    "starvation", "endless event", "idle agent",
    # on decisions of a language model
    "forced choice", "tied choice",
    # on answers of other recorded agents
    "unsteady agent", "changed agent",
    # on the text
    "never filled", "hidden relation", "exists implies", "reaching negation", "inactive values",
    "identifiers return", "unused define", "unused variable", "shadowed constant", "known constant",
    "key at risk", "no room initially", "constant comparison", "never asked", "no default",
    # on limits, pasts and gates, over the reachable states
    "limit never reached", "past never true", "gate leaves nothing",
    # on agents that call otherwise than in the file
    "several calls",
    # on comments that accept a finding
    "not accepted",
]  # fmt: skip

ACCEPTABLE: frozenset[str] = frozenset(
    {
        "vacuous", "never offered", "never selected", "never enabled", "no change", "rule never matches",
        "rule never selects", "endless event", "never filled", "unused define", "unused variable",
        "shadowed constant", "known constant", "no room initially", "constant comparison", "never asked",
        "limit never reached", "past never true",
    }
)  # fmt: skip
"""The kinds that a comment in the file can accept.

Each reports that a part of the file has no effect. All others report that a verdict is not about what it
seems to be about.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, printed as one line like an error: ``file:line:column: text; remedy``.

    ``spec`` is the name of the specification that it is about, or None.
    """

    kind: Kind
    place: Span | None
    text: str
    remedy: str
    spec: str | None = None

    def __str__(self) -> str:
        """Return the finding as one line."""
        line = f"{self.text}; {self.remedy}"
        return f"{self.place}: {line}" if self.place else line


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """A finding that a comment of the file accepts, with the ``reason`` that it gives."""

    finding: Finding
    reason: str

    def __str__(self) -> str:
        """Return the finding's position, kind and reason as one line."""
        place = f"{self.finding.place}: " if self.finding.place else ""
        return f"{place}{self.finding.kind}: {self.reason}"


def in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, sorted by position; those without one come first."""

    def key(finding: Finding) -> tuple[int, int, str]:
        place = finding.place
        return (place.line, place.column, finding.text) if place else (0, 0, finding.text)

    return tuple(sorted(dict.fromkeys(found), key=key))


def without_accepted(
    deployment: Deployment, findings: Iterable[Finding], agents: Collection[str] = ()
) -> tuple[tuple[Finding, ...], tuple[AcceptedFinding, ...]]:
    """Split findings into active and accepted ones, each in order.

    A comment of the file accepts a finding if it is for every agent or for one of ``agents``. A finding by
    which an agent or a specification does less than expected can be accepted. A finding by which a verdict
    does not establish what it seems to cannot; a comment that attempts it is a finding itself.
    """
    comments = [one for one in deployment.accepted if one.agent is None or one.agent in agents]
    reasons = {(one.kind, one.line): one.reason for one in comments if one.kind in ACCEPTABLE}
    standing = [_refused(one.kind, one.place) for one in comments if one.kind not in ACCEPTABLE]
    accepted = []
    for finding in in_order(findings):
        reason = reasons.get((finding.kind, finding.place.line)) if finding.place else None
        if reason is None:
            standing.append(finding)
        else:
            accepted.append(AcceptedFinding(finding, reason))
    return in_order(standing), tuple(accepted)


def _refused(kind: str, place: Span) -> Finding:
    return Finding(
        "not accepted",
        place,
        f"no finding `{kind}` can be accepted",
        f"a comment can accept {', '.join(sorted(ACCEPTABLE))}; mend what any other finding is about",
    )
