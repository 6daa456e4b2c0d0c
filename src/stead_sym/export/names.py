"""The propositions about a node of an export, and their identifiers for other checkers.

One decision: an identifier starts with a word for its kind (`fact_`, `active_`, `held1_`), so that it is no
keyword of any input language, however a value is spelled. It consists of ASCII letters, digits and
underscores. Identifiers that would be equal are distinguished by a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

_MAX_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A slot for a value that a specification holds across steps.

    ``depth`` is its position among the enclosing quantifiers that hold a value, from 1; ``sort`` is its sort.
    """

    depth: int
    sort: str

    def __str__(self) -> str:
        """Return a description of the slot."""
        return f"held{self.depth} ({self.sort})"


Layer: TypeAlias = tuple[Slot, ...]
"""The slots that hold a value."""


@dataclass(frozen=True, slots=True)
class Holds:
    """The proposition that the state holds a fact."""

    fact: Fact

    def __str__(self) -> str:
        """Return the fact as text."""
        return str(self.fact)


@dataclass(frozen=True, slots=True)
class Active:
    """The proposition that a value is active: it occurs in some fact of the state."""

    sort: str
    value: Value

    def __str__(self) -> str:
        """Return a description of the proposition."""
        return f"{self.value} of {self.sort} is active"


@dataclass(frozen=True, slots=True)
class Named:
    """The proposition that a slot holds the value with this name, active or a constant."""

    slot: Slot
    value: Value

    def __str__(self) -> str:
        """Return a description of the proposition."""
        return f"{self.slot} is {self.value}"


@dataclass(frozen=True, slots=True)
class Same:
    """The proposition that two slots hold the same value, dead or alive."""

    left: Slot
    right: Slot

    def __str__(self) -> str:
        """Return a description of the proposition."""
        return f"{self.left} and {self.right} are the same value"


@dataclass(frozen=True, slots=True)
class InLayer:
    """The proposition that exactly these slots hold a value."""

    layer: Layer

    def __str__(self) -> str:
        """Return a description of the proposition."""
        return f"what is held: {', '.join(map(str, self.layer)) or 'nothing'}"


Proposition: TypeAlias = Holds | Active | Named | Same | InLayer


@dataclass
class Names:
    """An injective map from propositions, and from other keys, to identifiers."""

    _given: dict[object, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def atom(self, proposition: Proposition) -> fo.Atom:
        """Return the proposition as an atom without arguments, with the identifier as its relation."""
        return fo.Atom(self.of(proposition))

    def of(self, proposition: Proposition) -> str:
        """Return the identifier of a proposition, the same in every call."""
        return self.unique(proposition, _spelled(proposition))

    def unique(self, key: object, wish: str) -> str:
        """Return the identifier of a key: legal, as close to the wish as possible, and unique."""
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
        """The named propositions, by identifier, in the order of their first use."""
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
    """Return an identifier such as `held1_case`."""
    return f"held{slot.depth}_{slot.sort}"


def plain(text: str) -> str:
    """Return a text that is safe in a comment of any of the languages.

    It is ASCII on one line, without sequences that end a comment or continue the line.
    """
    shown = text.encode("ascii", "backslashreplace").decode("ascii")
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in shown)
    return shown.replace("*/", "* /").rstrip("\\ ")
