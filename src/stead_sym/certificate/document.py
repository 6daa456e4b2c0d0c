"""A certificate as data: what stands in `certificate.json`.

Two decisions. Sets are numbers, places in the list of roots of `diagrams.json`; nothing here knows of
diagrams. The types below are the format of the file: `msgspec` writes them, and reads them with each part
checked, the alternatives told apart by `kind` and `rule`. The obligations that the parts of a proof stand for
are in `certificate.checker`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

FORMAT = "stead-sym certificate 3"
VIEWS_FORMAT = "stead-sym certificate for every number 1"
DOCUMENT = "certificate.json"
DIAGRAMS = "diagrams.json"

Number: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 31)]
Set: TypeAlias = Number
"""A set of states, or of pairs of a state and an assignment: its place among the roots of the diagrams."""


class Named(Struct, frozen=True):
    """The fresh ``variable`` of an alternative is named after the value of another variable, ``after``."""

    tool: str
    alternative: Number
    variable: str
    after: str
    names: Mapping[Value, Value]


class Entry(Struct, frozen=True):
    """A decision context K under names of its own, and what the agent selects in it."""

    shown: tuple[Fact, ...]
    offered: tuple[Call, ...]
    selected: tuple[Call, ...]


class AgentTable(Struct, frozen=True):
    """What an agent selects. ``entries`` are None for one that selects everything it is offered, and for a
    policy that is told of the past: it is checked by its rules.

    ``policy`` is the name of its policy in the deployment, None for any other agent; ``known`` are the
    constants besides the rigid ones that it knows by name, with their sorts.
    """

    name: str
    policy: str | None
    known: Mapping[Value, str]
    entries: tuple[Entry, ...] | None = field(name="contexts")


# What bounds a temporal node from one side


class Rings(Struct, frozen=True, tag_field="kind", tag="rings"):
    """E[f U g] from below: ring i has a successor of each of its members in ring i − 1; ring 0 is g."""

    rings: tuple[Set, ...]


class Closed(Struct, frozen=True, tag_field="kind", tag="closed"):
    """E[f U g] from above: a set that holds g, and every member of f with a successor in it."""

    closed: Set


class Staying(Struct, frozen=True, tag_field="kind", tag="staying"):
    """EG f from below: a set of members of f each of which has a successor in it, and per fairness
    constraint the rings of a run through f to a member of the set that fulfils the constraint."""

    closed: Set
    visits: tuple[tuple[Set, ...], ...]


class Leave(Struct, frozen=True):
    """A set that no step leads from into the states that are left; or, for a fairness constraint, no step
    leads from it into ``closed``, which holds all that can reach the constraint within the states that are
    left."""

    leaving: Set = field(name="set")
    constraint: Number | None = None
    closed: Set | None = None


class Leaving(Struct, frozen=True, tag_field="kind", tag="leaving"):
    """EG f from above: f without the members of these sets, taken away one after the other."""

    steps: tuple[Leave, ...]


Bound: TypeAlias = Rings | Closed | Staying | Leaving
Bounds: TypeAlias = Mapping[str, Bound]
"""The bounds of the temporal nodes of a formula, by their addresses (`certificate.checker.bounds`)."""


# How the verdict about the whole formula follows


class Initially(Struct, frozen=True, tag_field="rule", tag="initially"):
    """The D0 are in the lower bound of a formula that is to hold, or not in the upper one of one that is to
    fail: all of them, or one."""


class Everywhere(Struct, frozen=True, tag_field="rule", tag="everywhere"):
    """`EF f` fails at every D0, because no state of R satisfies f."""


class Run(Struct, frozen=True, tag_field="rule", tag="run"):
    """`EF f` holds at a D0, because these states are a run from it to a state of f."""

    states: tuple[tuple[Fact, ...], ...]


class Each(Struct, frozen=True, tag_field="rule", tag="each"):
    """A conjunction holds, since all of its parts do."""

    parts: tuple[Proof, ...]


class One(Struct, frozen=True, tag_field="rule", tag="one"):
    """A conjunction fails, since this part of it does."""

    part: Number
    proof: Proof


Proof: TypeAlias = Initially | Everywhere | Run | Each | One
Word: TypeAlias = Literal["holds", "fails"]


class Claim(Struct, frozen=True):
    """A verdict with its proof. ``formula`` is the text of the specification."""

    spec: str = field(name="name")
    formula: str
    verdict: Word
    proof: Proof
    bounds: Bounds


class Source(Struct, frozen=True):
    """A deployment as text of the language, with the SHA-256 digest of the text in UTF-8."""

    name: str
    text: str
    sha256: str

    @classmethod
    def of(cls, name: str, text: str) -> Source:
        return cls(name, text, digest(text))


class Certificate(Struct, frozen=True, kw_only=True):
    """A certificate. ``domain`` has the values of every sort, those of C first; ``facts`` are those that may
    come and go, ``static`` those that hold in every state; ``order`` is a hint where their variables, and
    those for values, may stand: texts of facts, and `sort=value`. ``reached`` is R, and
    ``within`` a larger set with a small diagram, in which formulas are read. ``fair`` bounds the states
    from which a fair run starts. ``asked`` are sentences for which the states keep something of the last step
    and of the past, as they do for the claims."""

    format: str = FORMAT
    package: str
    deployment: Source
    mode: Literal["normal", "theorem"]
    domain: Mapping[str, tuple[Value, ...]]
    named: tuple[Named, ...] = field(name="names")
    static: tuple[Fact, ...]
    facts: tuple[Fact, ...]
    order: tuple[str, ...]
    agents: tuple[AgentTable, ...]
    reached: Set
    within: Set
    fair: Bounds
    claims: tuple[Claim, ...] = field(name="specs")
    asked: tuple[str, ...] = ()


# verdicts for every number of records


class Follower(Struct, frozen=True):
    """Who decides for an agent: a ``policy`` of the deployment, as far as the tools ``followed``, or None for
    whatever it selects."""

    name: str
    policy: str | None
    followed: tuple[str, ...]


class Shown(Struct, frozen=True):
    """A specification that holds for every number of records. ``formula`` is its text."""

    spec: str = field(name="name")
    formula: str


class Answers(Struct, frozen=True):
    """What the agent of this name selects in ``contexts``, in which ``most`` values of each sort stand."""

    name: str
    most: Mapping[str, Annotated[int, Meta(ge=0, le=6)]]
    contexts: tuple[Entry, ...]


class Induction(Struct, frozen=True):
    """A set of ``views`` over at most ``k`` values that no step leaves where the ``invariants`` of the file
    are assumed, which are shown with it, and what is shown by it: the claims ``shown``, by their places.
    Where the deployment is ``watched`` for a claim, views have facts of the relations that remember
    (`checker.watched`). The ``constants`` of open sorts are these, if there are some at all that are values
    as any others (`checker.records`). ``answers`` are those of agents that were asked
    (`checker.answered`). Where the deployment is looked at as far as some ``relations`` go, with values that
    are ``in_use`` of these sorts, views are of that slice (`checker.sliced`). The bounds that the file
    writes of the sorts ``without_bounds`` are not assumed."""

    k: Annotated[int, Meta(ge=1, le=6)]
    invariants: tuple[str, ...]
    views: tuple[tuple[Fact, ...], ...]
    shown: tuple[Number, ...]
    watched: bool = False
    constants: tuple[Value, ...] | None = None
    answers: tuple[Answers, ...] = ()
    relations: tuple[str, ...] | None = None
    in_use: tuple[str, ...] = ()
    without_bounds: tuple[str, ...] = ()


def remembering(number: int) -> str:
    """The name of the relation that remembers for the part with this number of a claim: none of the
    language."""
    return f"watched?{number}"


def in_use(sort: str) -> str:
    """The name of the relation of the values of a sort that are in use in a slice: none of the language."""
    return f"in_use?{sort}"


class ViewsCertificate(Struct, frozen=True, kw_only=True):
    """A certificate of verdicts for every number of records."""

    format: str = VIEWS_FORMAT
    package: str
    deployment: Source
    agents: tuple[Follower, ...]
    claims: tuple[Shown, ...] = field(name="specs")
    inductions: tuple[Induction, ...]


def digest(text: str) -> str:
    """The SHA-256 digest of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")


def is_plain(text: str) -> bool:
    """Whether a text of a formula is fully visible: printable ASCII, without a comment and without blanks
    around it."""
    return _PLAIN.fullmatch(text) is not None and "#" not in text


def cut(text: str) -> str:
    """A text from a certificate on one line, in at most 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "…"


def short(data: object) -> str:
    """A part of a certificate as its `ascii`, so that characters that look alike differ, cut to 60
    characters."""
    return cut(ascii(data))
