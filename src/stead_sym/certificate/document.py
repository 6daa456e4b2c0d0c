"""A certificate as data: what stands in `certificate.json`, apart from how it is written there.

One decision: sets are numbers, places in the list of roots of `diagrams.json`. Nothing here knows of
diagrams. The obligations that the parts of a proof stand for are in `certificate.checker`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

FORMAT = "stead-sym certificate 1"
DOCUMENT = "certificate.json"
DIAGRAMS = "diagrams.json"

Set: TypeAlias = int
"""A set of states, or of pairs of a state and an assignment: its place among the roots of the diagrams."""


@dataclass(frozen=True, slots=True)
class Named:
    """The fresh ``variable`` of an alternative is named after the value of another variable, ``after``."""

    tool: str
    alternative: int
    variable: str
    after: str
    names: Mapping[Value, Value]


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision context K under names of its own, and what the agent selects in it."""

    shown: tuple[Fact, ...]
    offered: tuple[Call, ...]
    selected: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class AgentTable:
    """What an agent selects. ``entries`` are None for one that selects everything it is offered.

    ``policy`` is the name of its policy in the deployment, None for any other agent; ``known`` are the
    constants besides the rigid ones that it knows by name, with their sorts.
    """

    name: str
    policy: str | None
    known: Mapping[Value, str]
    entries: tuple[Entry, ...] | None


# What bounds a temporal node from one side


@dataclass(frozen=True, slots=True)
class Rings:
    """E[f U g] from below: ring i has a successor of each of its members in ring i − 1; ring 0 is g."""

    rings: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Closed:
    """E[f U g] from above: a set that holds g, and every member of f with a successor in it."""

    closed: Set


@dataclass(frozen=True, slots=True)
class Staying:
    """EG f from below: a set of members of f each of which has a successor in it, and per fairness
    constraint the rings of a run through f to a member of the set that fulfils the constraint."""

    closed: Set
    visits: tuple[tuple[Set, ...], ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """A set without a successor in what is left; or, for a fairness constraint, without a successor in
    ``closed``, which holds all that can reach the constraint within what is left."""

    leaving: Set
    constraint: int | None = None
    closed: Set | None = None


@dataclass(frozen=True, slots=True)
class Leaving:
    """EG f from above: f without the members of these sets, taken away one after the other."""

    steps: tuple[Leave, ...]


Bound: TypeAlias = Rings | Closed | Staying | Leaving
Bounds: TypeAlias = Mapping[str, Bound]
"""The bounds of the temporal nodes of a formula, by their addresses (`certificate.checker.bounds`)."""


# How the verdict about the whole formula follows


@dataclass(frozen=True, slots=True)
class Initially:
    """Every D0 is in the lower bound of the formula (holds), or one is not in the upper bound (fails)."""


@dataclass(frozen=True, slots=True)
class Everywhere:
    """`AG f` holds, or `EF f` fails, since every state of R satisfies f, or none does."""


@dataclass(frozen=True, slots=True)
class Run:
    """`AG f` fails, or `EF f` holds, since these states are a run to one that shows it."""

    states: tuple[tuple[Fact, ...], ...]


@dataclass(frozen=True, slots=True)
class Each:
    """The verdict follows from those about all parts of the formula."""

    parts: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class One:
    """The verdict follows from that about one part of the formula."""

    part: int
    proof: Proof


Proof: TypeAlias = Initially | Everywhere | Run | Each | One
Word: TypeAlias = Literal["holds", "fails"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A verdict with its proof. ``formula`` is the text of the specification."""

    spec: str
    formula: str
    verdict: Word
    proof: Proof
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate. ``domain`` has the values of every sort, those of C first; ``facts`` are those that may
    come and go, ``static`` those that hold in every state; ``order`` is a hint where their variables, and
    those for values, may stand: texts of facts, and `sort=value`. ``reached`` is R, and
    ``within`` a larger set with a small diagram, in which formulas are read. ``fair`` bounds the states
    from which a fair run starts."""

    package: str
    deployment: str
    text: str
    mode: Literal["normal", "theorem"]
    domain: Mapping[str, tuple[Value, ...]]
    named: tuple[Named, ...]
    static: tuple[Fact, ...]
    facts: tuple[Fact, ...]
    order: tuple[str, ...]
    agents: tuple[AgentTable, ...]
    reached: Set
    within: Set
    fair: Bounds
    claims: tuple[Claim, ...]


_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")


def is_plain(text: str) -> bool:
    """Whether all of a text of a formula can be seen, and all of it counts: printable ASCII, no blanks around
    it, no comment."""
    return _PLAIN.fullmatch(text) is not None and "#" not in text


def cut(text: str) -> str:
    """A text from a certificate on one line, in at most 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "…"


def short(data: object) -> str:
    """A part of a certificate as Python writes it in ASCII, so that look-alikes differ, and cut."""
    return cut(ascii(data))
