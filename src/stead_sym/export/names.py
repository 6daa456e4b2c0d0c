"""What can be said of a node of an export, and the identifiers that other checkers read for it.

One decision: an identifier begins with a word that says what it stands for (`fact_`, `active_`, `held1_`), so
that however a value is spelled it meets no keyword of any input language; and it is made of ASCII letters,
digits and underscores. Two things whose spelling comes out alike are told apart by a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, assert_never

from stead_sym.logic.syntax import Atom
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

_MAX_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A place for a value that a specification holds while time goes on: the ``depth``-th of the quantifiers
    around a formula that hold one, from 1, with its sort."""

    depth: int
    sort: str

    def __str__(self) -> str:
        return f"held{self.depth} ({self.sort})"


Layer: TypeAlias = tuple[Slot, ...]
"""Which slots hold a value."""


@dataclass(frozen=True, slots=True)
class Holds:
    """The state holds a fact."""

    fact: Fact

    def __str__(self) -> str:
        return str(self.fact)


@dataclass(frozen=True, slots=True)
class Active:
    """A value is active: some fact of the state has it."""

    sort: str
    value: Value

    def __str__(self) -> str:
        return f"{self.value} of {self.sort} is active"


@dataclass(frozen=True, slots=True)
class Named:
    """A slot holds the value that the state calls so, active or a constant."""

    slot: Slot
    value: Value

    def __str__(self) -> str:
        return f"{self.slot} is {self.value}"


@dataclass(frozen=True, slots=True)
class Same:
    """Two slots hold the same value, dead or alive."""

    left: Slot
    right: Slot

    def __str__(self) -> str:
        return f"{self.left} and {self.right} are the same value"


@dataclass(frozen=True, slots=True)
class InLayer:
    """Exactly these slots hold a value."""

    layer: Layer

    def __str__(self) -> str:
        return f"what is held: {', '.join(map(str, self.layer)) or 'nothing'}"


Proposition: TypeAlias = Holds | Active | Named | Same | InLayer


@dataclass
class Names:
    """An injective map from propositions, and whatever else needs one, to identifiers."""

    _given: dict[object, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def atom(self, proposition: Proposition) -> Atom:
        """The proposition in a formula: an atom without arguments, its relation the identifier."""
        return Atom(self.of(proposition))

    def of(self, proposition: Proposition) -> str:
        """The identifier of a proposition, the same whenever it is asked for."""
        return self.unique(proposition, _spelled(proposition))

    def unique(self, key: object, wish: str) -> str:
        """The identifier of a key: legal, as near to the wish as can be, and no other key's."""
        if key not in self._given:
            legal = re.sub(r"[^A-Za-z0-9_]", "_", wish)[:_MAX_NAME_CHARACTERS]
            name, number = legal, 1
            while name in self._taken:
                number += 1
                name = f"{legal}_{number}"
            self._taken.add(name)
            self._given[key] = name
        return self._given[key]

    @property
    def propositions(self) -> Mapping[str, Proposition]:
        """The propositions that have been named, by identifier, in the order of their first use."""
        return MappingProxyType({name: key for key, name in self._given.items() if isinstance(key, _KINDS)})


_KINDS = (Holds, Active, Named, Same, InLayer)


def _spelled(proposition: Proposition) -> str:
    match proposition:
        case Holds(fact):
            return "_".join(("fact", fact.relation, *fact.args))
        case Active(sort, value):
            return f"active_{sort}_{value}"
        case Named(slot, value):
            return f"{slot_name(slot)}_is_{value}"
        case Same(left, right):
            return f"{slot_name(left)}_same_{slot_name(right)}"
        case InLayer(layer):
            return "_".join(("holding", *(map(slot_name, layer) if layer else ("nothing",))))
        case _:
            assert_never(proposition)


def slot_name(slot: Slot) -> str:
    """`held1_case`"""
    return f"held{slot.depth}_{slot.sort}"


def plain(text: str) -> str:
    """A text as it can stand in a comment of any of the languages: ASCII on one line, without anything that
    ends a comment or goes on to the next line."""
    shown = text.encode("ascii", "backslashreplace").decode("ascii")
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in shown)
    return shown.replace("*/", "* /").rstrip("\\ ")
