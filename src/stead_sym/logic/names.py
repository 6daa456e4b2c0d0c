"""The symbols that a formula may use, the constants that it uses, and the syntax of names.

One decision: names of columns are translated to positions, `P(c = t)` to `P(_, t, _)`, before sorts are
inferred, so resolved formulas have none. The one statement with them, `set P(k).c = t`, is translated in
`deployment.expansion`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.errors import DeclarationError, InputError, Span
from stead_sym.relational.schema import Relation, Schema, Value, holds_message

WORDS = frozenset(
    [
        "AX",
        "EX",
        "AF",
        "EF",
        "AG",
        "EG",
        "and",
        "atleast",
        "atmost",
        "exactly",
        "exists",
        "fair",
        "false",
        "forall",
        "not",
        "or",
        "true",
    ]
)
"""Keywords that are reserved wherever a formula, or a fact of `init`, may start."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Head:
    """The signature of a tool or event for `did`: the sorts of its parameters, and the agents that have it.

    An event has no agents, and neither has a tool if there is one agent without a name.
    """

    sorts: tuple[str, ...]
    event: bool = False
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """The symbols that formulas may use: schema, constants with sorts, definitions, tools and events.

    ``constants`` has the values of finite sorts and those of D0. For a numeral that several sorts list it has
    one sort (`sorts_of` returns all). The parameters of the definitions have their sorts; the bodies are not
    read. ``tools`` are the tools and events that `did` may name; those that `offered` may name have a
    definition.
    """

    schema: Schema
    constants: Mapping[Value, str] = field(default_factory=lambda: MappingProxyType({}))
    definitions: Mapping[str, fo.Definition] = field(default_factory=lambda: MappingProxyType({}))
    tools: Mapping[str, Head] = field(default_factory=lambda: MappingProxyType({}))

    def sorts_of(self, value: Value) -> tuple[str, ...]:
        """Return the sorts of a constant: one, several for a numeral, none if it is no constant."""
        if value in self.schema.listed:
            return self.schema.listed[value]
        return (self.constants[value],) if value in self.constants else ()

    def has_symbol(self, name: str) -> bool:
        """Return True if the name is a relation or a definition."""
        return self.schema.has_relation(name) or name in self.definitions

    def signature(self, name: str, span: Span | None = None) -> tuple[str, ...]:
        """Return the sorts of the arguments of a relation or a definition.

        Raise `DeclarationError` if the name is neither.
        """
        if name in self.definitions:
            return tuple(p.sort for p in self.definitions[name].params)
        if name.startswith(fo.OFFERED):
            raise self._not_offered(name.removeprefix(fo.OFFERED), span)
        if not self.schema.has_relation(name):
            known = [r.name for r in self.schema.relations]
            hint = nearest(name, (*known, *self.definitions), f"declare it with `relation {name}(…)`")
            if holds_message(name):
                tool, _, place = name.partition("@")
                hint = (
                    f"call {place} of a message is there if the agent with the tool {tool} has `calls batch"
                    f" {place}`, or `parallel`, and not in tools, events and gates"
                )
            if name.lower() in ("true", "false"):
                hint = f"write `{name.lower()}`"
            if name in ("once", "historically", "previously"):
                hint = f"the operator stands before a formula: `{name} P(x)`"
            if name == "did":
                hint = "write `did tool(x)`: the step into the state was this call"
            if name == "refused":
                hint = "write `refused tool(x)`: the step into the state was this call, and it was refused"
            if name == "offered":
                hint = "write `offered tool(x)`: this call may be made in the state"
            if name in ("sum", "count"):
                hint = "write `count x: s. f`, or `sum t for x: s. f`, over the values that satisfy f"
            if name in self.tools:
                event = self.tools[name].event
                offered = "" if event else f", `offered {name}(…)` that it may be called"
                raise DeclarationError(
                    f"{name} is {'an event' if event else 'a tool'}, where a relation is expected;"
                    f" `did {name}(…)` says that it was the last step{offered}",
                    span,
                )
            raise DeclarationError(f"unknown relation {name}; {hint}", span)
        return self.schema.relation(name).sorts

    def _not_offered(self, name: str, span: Span | None) -> DeclarationError:
        """Return the error for `offered` before a name that is no tool."""
        if name in self.tools:
            return DeclarationError(f"{name} is an event, which no agent is offered; write its guard", span)
        tools = [tool for tool, head in self.tools.items() if not head.event]
        hint = nearest(name, tools, f"declare it with `tool {name}(…)`")
        return DeclarationError(f"unknown tool {name} after `offered`; {hint}", span)

    def head(self, step: fo.Did) -> Head:
        """Return the signature of the tool or event that a `did` or `refused` names.

        Raise `DeclarationError` for an unknown tool, for an agent that cannot have made the call, and for an
        event after `refused`.
        """
        name, agent, span = step.tool, step.agent, step.span
        word = "refused" if step.refused else "did"
        if name not in self.tools:
            hint = nearest(name, self.tools, f"declare it with `tool {name}(…)` or `event {name}(…)`")
            raise DeclarationError(f"unknown tool {name} after `{word}`; {hint}", span)
        head = self.tools[name]
        if head.event and step.refused:
            raise DeclarationError(f"{name} is an event, which nobody refuses; write `did {name}(…)`", span)
        if agent is None or agent in head.agents:
            return head
        if head.event:
            raise DeclarationError(f"{name} is an event, which no agent calls; leave out `by {agent}`", span)
        if not head.agents:
            raise DeclarationError(
                f"there is one agent, without a name; leave out `by {agent}`, or declare `agent {agent}`",
                span,
            )
        hint = nearest(agent, head.agents, f"it is a tool of {', '.join(head.agents)}")
        raise DeclarationError(f"{agent} is no agent with the tool {name}; {hint}", span)

    def sort(self, name: str, span: Span | None = None) -> str:
        """Return the name if a sort has it; raise `DeclarationError` otherwise."""
        known = [s.name for s in self.schema.sorts]
        if name not in known:
            hint = nearest(name, known, f"declare it with `sort {name}`")
            if any(relation.name == name for relation in self.schema.relations):
                hint = f"{name} is a relation: write variables for its columns, as in `exists x. {name}(x)`"
            raise DeclarationError(f"unknown sort {name}; {hint}", span)
        return name


def is_name(text: str) -> bool:
    """Return True if the text is a name: letters, digits and `_`, no leading digit, and not `_` alone."""
    return text != fo.WILDCARD and _NAME.fullmatch(text) is not None


def check_name(kind: str, name: str, span: Span | None = None, *, words: bool = True) -> None:
    """Raise `DeclarationError` for a text that is no name and, with ``words``, for a keyword of formulas."""
    if not _NAME.fullmatch(name):
        raise DeclarationError(
            f"{name!r} is no name for a {kind}; use letters, digits and _, with no digit first", span
        )
    if name == fo.WILDCARD:
        raise DeclarationError(f"{name} stands for any value; give the {kind} a name", span)
    if words and name in WORDS:
        raise DeclarationError(f"{name} is a word of the formulas; give the {kind} another name", span)


def check_known(kind: str, name: object, known: Sequence[str]) -> None:
    """Raise `InputError` if the name is not among the ``known`` ones."""
    if name not in known:
        hint = nearest(str(name), known, f"there are {', '.join(known)}")
        raise InputError(f"unknown {kind} {name!r}; {hint}")


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the question "did you mean …?" with a known name close to ``name``, or ``otherwise``."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return f"did you mean {close[0]}?" if close else otherwise


def constants(formula: fo.Expanded) -> frozenset[str]:
    """Return con(f), the constants in the formula; raise `TypeError` for one that is not expanded."""
    found: frozenset[str] = frozenset()
    for part in fo.subformulas(formula):
        if isinstance(part, fo.Use):
            raise fo.unexpanded(part)
        own = fo.terms(part)
        if isinstance(part, fo.Did):
            own = tuple(term for term in own if not isinstance(term, fo.Wildcard))
        found |= constants_among(own)
    return found


def constants_among(listed: Iterable[fo.Term]) -> frozenset[str]:
    """Return the values of the constants among the terms, outside of tallies.

    Raise `TypeError` for a `Name`, which may be a constant or a variable.
    """
    found: set[str] = set()
    for term in listed:
        match term:
            case fo.Const(value):
                found.add(value)
            case fo.Name():
                raise fo.unresolved(term)
            case fo.Wildcard():
                raise fo.unquantified(term)
            case fo.Sum() | fo.Tally():
                found |= constants_among(fo.leaves(term))
            case fo.Var():
                pass
            case _:
                assert_never(term)
    return frozenset(found)


def by_position(atom: fo.Atom, names: Names) -> fo.Atom:
    """Return `P(c = t, …)` as P(t1, …, tq), with `_` in the columns that are not named.

    Any other atom is returned unchanged. Raise `DeclarationError` for an unknown column, for one that is
    named twice, and for a definition.
    """
    if not atom.columns:
        return atom
    names.signature(atom.relation, atom.span)  # raises if the relation is unknown
    if atom.relation in names.definitions:
        raise DeclarationError(
            f"{atom.relation} is a define, which has no columns; give it its arguments in their order",
            atom.span,
        )
    relation = names.schema.relation(atom.relation)
    args: list[fo.Term] = [fo.Name(fo.WILDCARD, span=atom.span)] * relation.arity
    for column, term in zip(atom.columns, atom.args, strict=True):
        place = column_named(relation, column, term.span or atom.span)
        if atom.columns.count(column) > 1:
            raise DeclarationError(
                f"{atom.relation} has the column {column} twice here; leave one out", atom.span
            )
        args[place] = term
    return replace(atom, args=tuple(args), columns=())


def column_named(relation: Relation, column: str, span: Span | None) -> int:
    """Return the position of a column, from 0; raise `DeclarationError` if there is no such column."""
    if column in relation.columns:
        return relation.columns.index(column)
    known = [name for name in relation.columns if name]
    declare = f"name it in `relation {relation.name}(…)`, as in `{column}: SORT`"
    raise DeclarationError(f"{relation.name} has no column {column}; {nearest(column, known, declare)}", span)


def left_out(atom: fo.Atom, relation: Relation) -> str | None:
    """Return the columns of P that `P(c = t, …)` does not name, as a list in text.

    None if there are none, or if the atom has no names of columns.
    """
    missing = [
        name or f"the one of sort {sort}"
        for name, sort in zip(relation.columns, relation.sorts, strict=False)
        if atom.columns and name not in atom.columns
    ]
    return ", ".join(missing) or None
