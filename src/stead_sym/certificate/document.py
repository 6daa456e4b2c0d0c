"""A certificate as data: the contents of `certificate.json`.

Two decisions. Sets are numbers, namely indices into the list of roots of `diagrams.json`; this module
does not depend on diagrams. The types below define the file format: `msgspec` writes them, and reads them
with each part validated; `kind` and `rule` distinguish the alternatives. `certificate.checker` defines the
obligations of each part of a proof.
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
"""A set of states, or of pairs of a state and an assignment: its index among the roots of the diagrams."""


class Named(Struct, frozen=True):
    """The fresh ``variable`` of an alternative is named after the value of another variable, ``after``."""

    tool: str
    alternative: Number
    variable: str
    after: str
    names: Mapping[Value, Value]


class Entry(Struct, frozen=True):
    """A decision context K under its own names, and the calls that the agent selects in it."""

    shown: tuple[Fact, ...]
    offered: tuple[Call, ...]
    selected: tuple[Call, ...]


class AgentTable(Struct, frozen=True):
    """The decision table of an agent.

    ``entries`` is None for an agent that selects everything that is offered, and for a policy that reads the
    history: such a policy is checked by its rules. ``policy`` is the name of its policy in the deployment,
    None for any other agent; ``known`` are the constants besides the rigid ones that it knows by name, with
    their sorts.
    """

    name: str
    policy: str | None
    known: Mapping[Value, str]
    entries: tuple[Entry, ...] | None = field(name="contexts")


# One-sided bounds of a temporal node


class Rings(Struct, frozen=True, tag_field="kind", tag="rings"):
    """Lower bound of E[f U g]: each member of ring i has a successor in ring i − 1; ring 0 is g."""

    rings: tuple[Set, ...]


class Closed(Struct, frozen=True, tag_field="kind", tag="closed"):
    """Upper bound of E[f U g]: a set that contains g and each member of f with a successor in the set."""

    closed: Set


class Staying(Struct, frozen=True, tag_field="kind", tag="staying"):
    """Lower bound of EG f: a set of members of f, each with a successor in the set.

    For each fairness constraint, ``visits`` has the rings of a run through f to a member of the set that
    satisfies the constraint.
    """

    closed: Set
    visits: tuple[tuple[Set, ...], ...]


class Leave(Struct, frozen=True):
    """A set from which no step leads into the remaining states.

    With a fairness constraint: no step leads from it into ``closed``, which contains all states that can
    reach the constraint within the remaining states.
    """

    leaving: Set = field(name="set")
    constraint: Number | None = None
    closed: Set | None = None


class Leaving(Struct, frozen=True, tag_field="kind", tag="leaving"):
    """Upper bound of EG f: f without the members of these sets, removed one after another."""

    steps: tuple[Leave, ...]


Bound: TypeAlias = Rings | Closed | Staying | Leaving
Bounds: TypeAlias = Mapping[str, Bound]
"""The bounds of the temporal nodes of a formula, by their addresses (`certificate.checker.bounds`)."""


# Rules that derive the verdict about the whole formula


class Initially(Struct, frozen=True, tag_field="rule", tag="initially"):
    """The D0 are in the lower bound of a formula that holds, or outside the upper bound of one that fails.

    All of them if the claim holds, one of them if it fails.
    """


class Everywhere(Struct, frozen=True, tag_field="rule", tag="everywhere"):
    """`EF f` fails at every D0, because no state of R satisfies f."""


class Run(Struct, frozen=True, tag_field="rule", tag="run"):
    """`EF f` holds at a D0, because ``states`` is a run from it to a state of f."""

    states: tuple[tuple[Fact, ...], ...]


class Each(Struct, frozen=True, tag_field="rule", tag="each"):
    """A conjunction holds, because all of its parts hold."""

    parts: tuple[Proof, ...]


class One(Struct, frozen=True, tag_field="rule", tag="one"):
    """A conjunction fails, because the given part fails."""

    part: Number
    proof: Proof


Proof: TypeAlias = Initially | Everywhere | Run | Each | One
Word: TypeAlias = Literal["holds", "fails"]


class Claim(Struct, frozen=True):
    """A verdict with its proof; ``formula`` is the text of the specification."""

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
        """Return the source with the digest of its text."""
        return cls(name, text, digest(text))


class Certificate(Struct, frozen=True, kw_only=True):
    """A certificate of verdicts of one verification.

    ``domain`` has the values of every sort, those of C first; ``facts`` are those that may change, ``static``
    those that hold in every state. ``order`` is a hint for the positions of their variables and of those for
    values: texts of facts, and `sort=value`. ``reached`` is R, and ``within`` a superset with a small
    diagram, in which formulas are read. ``fair`` bounds the states from which a fair run starts. ``asked``
    are sentences for which, as for the claims, states record something of the last step and of the past. The
    text is that of the deployment behind ``gates`` and, if ``calls`` is not None, with such calls.
    """

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
    gates: tuple[str, ...] = ()
    calls: str | None = None


# verdicts for an arbitrary number of records


class Follower(Struct, frozen=True):
    """The policy that decides for an agent.

    ``policy`` is a policy of the deployment, applied for the tools ``followed``; None for arbitrary
    selections.
    """

    name: str
    policy: str | None
    followed: tuple[str, ...]


class Shown(Struct, frozen=True):
    """A specification that holds for an arbitrary number of records; ``formula`` is its text."""

    spec: str = field(name="name")
    formula: str


class Answers(Struct, frozen=True):
    """The selections of the named agent in ``contexts``, which have up to ``most`` values of each sort."""

    name: str
    most: Mapping[str, Annotated[int, Meta(ge=0, le=6)]]
    contexts: tuple[Entry, ...]


class LeftOut(Struct, frozen=True):
    """A ``conjunct`` of a condition that a ``tool`` is taken without, numbered from 0 in the kernel's form.

    The condition is the guard if ``alternative`` is 0, else the `when` of that alternative if ``statement``
    is 0, else the `where` of that statement.
    """

    tool: str
    alternative: Number
    statement: Number
    conjunct: Number

    @property
    def place(self) -> tuple[str, int, int, int]:
        """Return the place of the conjunct."""
        return self.tool, self.alternative, self.statement, self.conjunct


class Induction(Struct, frozen=True):
    """A set of ``views`` over at most ``k`` values, and the claims that it proves.

    No step leaves the set if the ``invariants`` of the file, which are proved together with it, are assumed.
    ``shown`` are the indices of the claims. If the deployment is ``watched`` for a claim, views have facts of
    the relations that remember (`checker.watched`). ``constants`` are the constants of open sorts if some
    constants are treated as ordinary values (`checker.starting`). ``answers`` are those of agents that were
    queried (`checker.answered`). If only ``relations`` of the deployment are considered, together with the
    values ``in_use`` of these sorts, the views are those of that slice (`checker.sliced`).
    The bounds that the file declares for the sorts ``without_bounds`` are not assumed. The tools
    are taken without the conjuncts ``left_out`` (`checker.weaker`), and those of a slice without
    ``left_out_of_slice``.
    """

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
    left_out: tuple[LeftOut, ...] = ()
    left_out_of_slice: tuple[LeftOut, ...] = ()


def remembering(number: int) -> str:
    """Return the name of the relation that remembers for a part of a claim; the language has no such name."""
    return f"watched?{number}"


def free(tool: str, number: int) -> str:
    """Return the name of a relation in the place of a condition of a tool; the language has no such name."""
    return f"free?{tool}?{number}"


def in_use(sort: str) -> str:
    """Return the name of the relation of the used values of a sort in a slice.

    The language has no such name.
    """
    return f"in_use?{sort}"


class ViewsCertificate(Struct, frozen=True, kw_only=True):
    """A certificate of verdicts for an arbitrary number of records.

    ``gates`` and ``calls`` are as in `Certificate`.
    """

    format: str = VIEWS_FORMAT
    package: str
    deployment: Source
    agents: tuple[Follower, ...]
    claims: tuple[Shown, ...] = field(name="specs")
    inductions: tuple[Induction, ...]
    gates: tuple[str, ...] = ()
    calls: str | None = None


def digest(text: str) -> str:
    """Return the SHA-256 digest of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")


def is_plain(text: str) -> bool:
    """Return whether the text of a formula is fully visible.

    Such a text is printable ASCII, without a comment and without leading or trailing blanks.
    """
    return _PLAIN.fullmatch(text) is not None and "#" not in text


def cut(text: str) -> str:
    """Return a text from a certificate on one line of at most 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "…"


def short(data: object) -> str:
    """Return part of a certificate as its `ascii`, cut to 60 characters.

    Characters that look alike differ in it.
    """
    return cut(ascii(data))
