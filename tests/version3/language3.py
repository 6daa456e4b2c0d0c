"""The content of a file of version 3 as plain values, and its text: for the reference, without the package.

A variable has its sort with it, so that nothing is inferred; text that comes of it is fully bracketed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any


@dataclass(frozen=True)
class Var:
    name: str
    sort: str


@dataclass(frozen=True)
class Value:
    """A constant: an identifier, or a numeral."""

    value: str | int


@dataclass(frozen=True)
class Sum2:
    """``left + right`` or ``left - right``."""

    op: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Binder:
    """``x: s``, and with ``declared`` the ``x in s`` that ranges over all listed values."""

    var: Var
    declared: bool = False


@dataclass(frozen=True)
class Count:
    binders: tuple[Binder, ...]
    body: Formula


@dataclass(frozen=True)
class Sum:
    term: Term
    binders: tuple[Binder, ...]
    body: Formula


@dataclass(frozen=True)
class Wild:
    """``_``."""


Term = Var | Value | Sum2 | Count | Sum | Wild


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Atom:
    relation: str
    args: tuple[Term, ...]


@dataclass(frozen=True)
class Named:
    """``P(c = t, …)``: an atom that names its columns."""

    relation: str
    columns: tuple[tuple[str, Term], ...]


@dataclass(frozen=True)
class Did:
    tool: str
    args: tuple[Term, ...]
    by: str | None = None


@dataclass(frozen=True)
class Compare:
    """``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` of two terms."""

    op: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Not:
    body: Formula


@dataclass(frozen=True)
class Binary:
    """``&``, ``|``, ``->``, ``<->``."""

    op: str
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Quantified:
    """``forall``, ``exists``; with a number ``atleast``, ``atmost``, ``exactly``."""

    word: str
    binder: Binder
    body: Formula
    number: int | None = None


@dataclass(frozen=True)
class Next:
    """``AX``, ``EX``, ``AF``, ``EF``, ``AG``, ``EG``."""

    op: str
    body: Formula


@dataclass(frozen=True)
class Until:
    """``A[f U g]``, and with ``E`` and ``W``."""

    path: str
    op: str
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Since:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Past:
    """``once``, ``historically``, ``previously``."""

    word: str
    body: Formula


Formula = Truth | Atom | Named | Did | Compare | Not | Binary | Quantified | Next | Until | Since | Past


@dataclass(frozen=True)
class Choose:
    var: Var
    where: Formula = Truth(True)


@dataclass(frozen=True)
class Fresh:
    var: Var


@dataclass(frozen=True)
class Write:
    """``insert``, ``delete`` or ``set`` of an atom, ``for`` the active values that satisfy ``where``."""

    word: str
    atom: Atom | Named
    binders: tuple[Var, ...] = ()
    where: Formula = Truth(True)


@dataclass(frozen=True)
class SetColumn:
    """``set P(k).c = t for … where …``."""

    relation: str
    key: tuple[Term, ...]
    column: str
    term: Term
    binders: tuple[Var, ...] = ()
    where: Formula = Truth(True)


@dataclass(frozen=True)
class Clear:
    relations: tuple[str, ...]


Statement = Choose | Fresh | Write | SetColumn | Clear


@dataclass(frozen=True)
class Effect:
    statements: tuple[Statement, ...] = ()
    when: Formula | None = None


@dataclass(frozen=True)
class Sort:
    """Without values it is unbounded; numerals make it an integer sort."""

    name: str
    values: tuple[str | int, ...] | None = None
    ordered: bool = False
    rigid: bool = True


@dataclass(frozen=True)
class Column:
    sort: str
    name: str | None = None
    key: bool = False
    references: str | None = None


@dataclass(frozen=True)
class Relation:
    name: str
    columns: tuple[Column, ...]
    total: str | None = None


@dataclass(frozen=True)
class Tool:
    name: str
    params: tuple[Var, ...] = ()
    guard: Formula = Truth(True)
    effects: tuple[Effect, ...] = ()
    event: bool = False


@dataclass(frozen=True)
class Rule:
    """A line of a policy (``call``) or of a gate (``permit``, ``forbid``)."""

    word: str
    tool: str
    args: tuple[Term, ...]
    when: Formula = Truth(True)


@dataclass(frozen=True)
class View:
    relation: str
    args: tuple[Var, ...]
    where: Formula = Truth(True)


@dataclass(frozen=True)
class Agent:
    """An agent of the file; the one of a file without agents has the name ""."""

    name: str
    tools: tuple[str, ...]
    views: tuple[View, ...] = ()
    policies: tuple[tuple[str, tuple[Rule, ...]], ...] = ()


@dataclass(frozen=True)
class Spec:
    name: str
    formula: Formula
    only_for: tuple[str, ...] = ()
    expect: str | None = None


@dataclass(frozen=True)
class Deployment:
    sorts: tuple[Sort, ...]
    relations: tuple[Relation, ...]
    tools: tuple[Tool, ...]
    agents: tuple[Agent, ...]
    specs: tuple[Spec, ...]
    init: tuple[Atom | Named, ...] = ()
    initially: tuple[str, ...] = ()
    initially_where: Formula = Truth(True)
    bounds: tuple[tuple[str, int], ...] = ()
    gates: tuple[tuple[str, tuple[Rule, ...]], ...] = ()
    terminal: tuple[Formula, ...] = ()
    fair: tuple[Formula, ...] = ()
    name: str = "d"
    sort: dict[str, Sort] = field(init=False, compare=False, repr=False)
    relation: dict[str, Relation] = field(init=False, compare=False, repr=False)
    tool: dict[str, Tool] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, things in (("sort", self.sorts), ("relation", self.relations), ("tool", self.tools)):
            object.__setattr__(self, name, {thing.name: thing for thing in things})

    def constants(self, sort: str) -> list[str | int]:
        """C ∩ U_S: the values listed, or those in facts of `init`, which are by position here."""
        listed = self.sort[sort].values
        if listed is not None:
            return list(listed)
        found: dict[str | int, None] = {}
        for fact in self.init:
            assert isinstance(fact, Atom)
            for column, term in zip(self.relation[fact.relation].columns, fact.args, strict=True):
                if column.sort == sort and isinstance(term, Value):
                    found[term.value] = None
        return list(found)


def below(node: Any) -> tuple[Any, ...]:
    """Return what a node, or a tuple of nodes, directly consists of."""
    if isinstance(node, tuple):
        return node
    if is_dataclass(node):
        return tuple(getattr(node, entry.name) for entry in fields(node))
    return ()


def parts(node: Any) -> Iterator[Any]:
    """The node and all that is below it, in the order of the text."""
    if is_dataclass(node):
        yield node
    for each in below(node):
        yield from parts(each)
