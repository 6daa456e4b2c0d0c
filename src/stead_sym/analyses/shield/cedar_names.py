"""Names of a deployment's records and facts in Cedar: entities, and attributes that hold facts.

Values of a sort that is not rigid are entities, numbers are `Long`, and other rigid values are `String`. A
fact is an attribute of an entity that occurs in it, or of the database. One decision: an attribute that holds
what a key determines is optional and has one value; any other one is a set that is always there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.evidence.document import Json
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Relation, Schema, Value

_RESERVED = frozenset({"true", "false", "if", "then", "else", "in", "is", "like", "has"})
_BUILT_IN = ("Action", "Bool", "Boolean", "Entity", "Extension", "Long", "Record", "Set", "String")
_EXTENSIONS = ("datetime", "decimal", "duration", "ipaddr")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


_Asked: TypeAlias = tuple[str, str, int | None, tuple[int, ...], bool]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the entities of the sort ``holder``, or of the database if that is empty.

    It holds the facts of ``relation`` that have the entity in the column ``anchor``, and of each fact the
    values in ``columns``. Any value may be in the others. If it is ``keyed`` there is one such fact at most.
    """

    name: str
    holder: str
    relation: Relation
    anchor: int | None
    columns: tuple[int, ...]
    keyed: bool

    @property
    def fact(self) -> str:
        """The fact with `this` for the entity, and a variable for each column of which the value is held."""
        names = {place: column_name(self.relation, place) for place in self.columns}
        if self.anchor is not None:
            names[self.anchor] = "this"
        args = (names.get(place, fo.WILDCARD) for place in range(self.relation.arity))
        return f"{self.relation.name}({', '.join(args)})"

    @property
    def described(self) -> str:
        """The content in words."""
        names = ", ".join(column_name(self.relation, place) for place in self.columns)
        if not names:
            return f"whether there is {self.fact}"
        return f"{names} of {self.fact}, if there is one" if self.keyed else f"every {names} of {self.fact}"


@dataclass(slots=True)
class Vocabulary:
    """The names that the rules of one deployment use; attributes are added when they are asked for."""

    schema: Schema
    namespace: str
    attributes: dict[_Asked, Attribute] = field(default_factory=dict)
    types: Mapping[str, str] = field(init=False)
    agent: str = field(init=False)
    database: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the types of entities: the agent, the database, and the sorts that are not rigid."""
        self.namespace = identifier(self.namespace)
        sorts = [sort.name for sort in self.schema.sorts if not sort.rigid]
        own: list[str] = []
        for name in ("Agent", "Database", *sorts):
            own.append(fresh_name(identifier(name), (*_BUILT_IN, *_EXTENSIONS, *own)))
        self.agent, self.database, *own = own
        self.types = dict(zip(sorts, own, strict=True))

    @property
    def sorts(self) -> tuple[str, ...]:
        """The sorts whose values are entities."""
        return tuple(self.types)

    def is_entity(self, sort: str) -> bool:
        """Return True if the values of the sort are entities."""
        return sort in self.types

    def typed(self, sort: str) -> str:
        """Return the type of the values of a sort, within the namespace."""
        if self.is_entity(sort):
            return self.types[sort]
        return "Long" if self.schema.sort(sort).is_numeric else "String"

    def entity(self, kind: str, name: str) -> str:
        """Return an entity of a type within the namespace."""
        return f"{self.namespace}::{kind}::{quoted(name)}"

    def literal(self, value: Value, sort: str) -> str:
        """Return a value of a sort as a term."""
        if self.is_entity(sort):
            return self.entity(self.types[sort], value)
        return str(int(value)) if self.schema.sort(sort).is_numeric else quoted(value)

    def data(self, value: Value, sort: str) -> Json:
        """Return a value of a sort as JSON."""
        if self.is_entity(sort):
            return {"__entity": {"type": f"{self.namespace}::{self.types[sort]}", "id": value}}
        return int(value) if self.schema.sort(sort).is_numeric else value

    def attribute(
        self, relation: Relation, anchor: int | None, columns: tuple[int, ...], *, keyed: bool = False
    ) -> Attribute:
        """Return the attribute that holds facts of a relation, under a name of its own."""
        holder = "" if anchor is None else relation.sorts[anchor]
        asked = (holder, relation.name, anchor, columns, keyed)
        if asked not in self.attributes:
            places = columns if anchor is None else (anchor, *columns)
            whole = keyed or places == tuple(range(relation.arity))
            name = "_".join((relation.name, *(relation.column(place) for place in (() if whole else places))))
            taken = {one.name for one in self.attributes.values() if one.holder == holder}
            self.attributes[asked] = Attribute(
                fresh_name(name, taken), holder, relation, anchor, columns, keyed
            )
        return self.attributes[asked]

    def held_by(self, holder: str) -> Iterator[Attribute]:
        """Yield the attributes of the entities of a sort, or of the database."""
        return (one for one in self.attributes.values() if one.holder == holder)

    def typed_attribute(self, one: Attribute) -> str:
        """Return the declaration of an attribute."""
        sorts = [one.relation.sorts[place] for place in one.columns]
        if not sorts:
            return f"{key(one.name)}: Bool"
        kind = self.typed(sorts[0])
        if len(sorts) > 1:
            columns = (
                f"{key(column_name(one.relation, place))}: {self.typed(one.relation.sorts[place])}"
                for place in one.columns
            )
            kind = f"{{ {', '.join(columns)} }}"
        return f"{key(one.name)}?: {kind}" if one.keyed else f"{key(one.name)}: Set<{kind}>"

    def attributes_of(self, holder: str, value: Value | None, state: Instance) -> dict[str, Json]:
        """Return the attributes of an entity, or of the database, in a state."""
        found: dict[str, Json] = {}
        for one in self.held_by(holder):
            pattern = [value if place == one.anchor else None for place in range(one.relation.arity)]
            held = sorted(
                {
                    tuple(args[place] for place in one.columns)
                    for args in state.matching(one.relation.name, pattern)
                }
            )
            if not one.columns:
                found[one.name] = bool(held)
            elif not one.keyed:
                found[one.name] = [self._value(one, args) for args in held]
            elif held:
                found[one.name] = self._value(one, held[0])
        return found

    def _value(self, one: Attribute, args: Sequence[Value]) -> Json:
        values = {
            column_name(one.relation, place): self.data(value, one.relation.sorts[place])
            for place, value in zip(one.columns, args, strict=True)
        }
        [first, *others] = values.values()
        return values if others else first


def column_name(relation: Relation, place: int) -> str:
    """Return the name of a column in records."""
    name = relation.columns[place] if relation.columns else ""
    return name or fresh_name(f"_{place + 1}", relation.columns)


def identifier(name: str) -> str:
    """Return the name, or with an underscore one that Cedar does not reserve."""
    return f"{name}_" if name in _RESERVED or name.startswith("__cedar") else name


def is_identifier(name: str) -> bool:
    """Return True if Cedar takes the name as it is."""
    return _NAME.fullmatch(name) is not None and identifier(name) == name


def key(name: str) -> str:
    """Return the name of an attribute as it is declared."""
    return name if is_identifier(name) else quoted(name)


def member(of: str, name: str) -> str:
    """Return the attribute of a term."""
    return f"{of}.{name}" if is_identifier(name) else f"{of}[{quoted(name)}]"


def quoted(text: str) -> str:
    """Return a text as a literal."""
    escaped = (char if char.isprintable() and char not in '"\\' else f"\\u{{{ord(char):x}}}" for char in text)
    return f'"{"".join(escaped)}"'
