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
    "key at risk", "no room initially",
]  # fmt: skip


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


def in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, by place; those without one first."""

    def key(finding: Finding) -> tuple[int, int, str]:
        place = finding.place
        return (place.line, place.column, finding.text) if place else (0, 0, finding.text)

    return tuple(sorted(dict.fromkeys(found), key=key))
