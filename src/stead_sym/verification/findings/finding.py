"""What a finding is: its kind, its place, what was found and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.errors import Span

Kind: TypeAlias = Literal[
    # of specifications and fairness constraints, over the reachable states
    "unfair", "fair hides", "premise never true", "no value", "no value initially", "vacuous",
    "about no given agent",
    # of tools and policies, over the reachable states
    "never offered", "never selected", "never enabled", "no change",
    "rule never matches", "rule never selects",
    # of events and agents that keep others from acting
    "starvation", "endless event", "idle agent",
    # of what a language model decided
    "forced choice", "tied choice",
    # of what an agent of another kind answered
    "unsteady agent", "changed agent",
    # of what is written
    "never filled", "hidden relation", "exists implies", "reaching negation", "inactive values",
    "identifiers return", "unused define", "unused variable", "shadowed constant", "known constant",
    "key at risk", "no room initially", "constant comparison", "never asked", "no default",
    # of limits, pasts and gates, over the reachable states
    "limit never reached", "past never true", "gate leaves nothing",
    # of a comment that accepts a finding
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
"""The kinds that a comment in the file can accept. Each says that a part of the file does nothing here; all
others say that a verdict is not about what it seems to be about."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, printed as one line like an error: ``file:line:column: text; remedy``.

    ``spec`` is the name of the specification that it is about, if it is about one.
    """

    kind: Kind
    place: Span | None
    text: str
    remedy: str
    spec: str | None = None

    def __str__(self) -> str:
        line = f"{self.text}; {self.remedy}"
        return f"{self.place}: {line}" if self.place else line


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """A finding that a comment of the file accepts, for the ``reason`` that it gives."""

    finding: Finding
    reason: str

    def __str__(self) -> str:
        place = f"{self.finding.place}: " if self.finding.place else ""
        return f"{place}{self.finding.kind}: {self.reason}"


def in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, by place; those without one first."""

    def key(finding: Finding) -> tuple[int, int, str]:
        place = finding.place
        return (place.line, place.column, finding.text) if place else (0, 0, finding.text)

    return tuple(sorted(dict.fromkeys(found), key=key))
