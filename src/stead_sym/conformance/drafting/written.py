"""Literals and operands as text of the language."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from stead_sym.conformance.drafting.literals import (
    Constant,
    Holds,
    Joined,
    Less,
    Literal,
    Looked,
    Operand,
    Own,
    Same,
    Several,
    Shape,
)
from stead_sym.relational.schema import Schema

_NAMED_FROM = 4
"""The number of columns from which an atom is written with the names of its columns."""


def fresh_names(taken: Collection[str], sort: str) -> Iterator[str]:
    """Yield names for variables of a sort that are not taken, the first letter of it first."""
    letter = next((c for c in sort.lower() if c.isascii() and c.isalpha()), "x")
    number = 0
    while True:
        name = letter if number == 0 else f"{letter}{number}"
        number += 1
        if name not in taken and name not in _WORDS:
            yield name


_WORDS = {"A", "E", "U", "W"}


@dataclass
class Writer:
    """Text for the literals of one condition; ``taken`` are names that its variables must not have."""

    schema: Schema
    taken: frozenset[str]
    _names: dict[Operand, str] = field(default_factory=dict)

    def conjunction(self, literals: Sequence[Literal]) -> str:
        """Return the literals joined by `&`."""
        return " & ".join(self.literal(one) for one in literals)

    def literal(self, literal: Literal) -> str:
        """Return one literal."""
        text, binders, compound = self._shape(literal.shape)
        if not literal.positive and isinstance(literal.shape, Same) and not binders:
            return text.replace(" = ", " != ", 1)
        if binders:
            text = f"exists {', '.join(binders)}. {f'({text})' if compound else text}"
            return f"~{text}" if not literal.positive else f"({text})"
        if not literal.positive:
            return f"~({text})" if isinstance(literal.shape, Less) else f"~{text}"
        return f"({text})" if isinstance(literal.shape, Several) else text

    def _shape(self, shape: Shape) -> tuple[str, list[str], bool]:
        """Return the text, the variables to be quantified, and True if there are several parts."""
        names: dict[Looked, str] = {}
        before: list[str] = []
        binders: list[str] = []

        def term(one: Operand) -> str:
            match one:
                case Own(name):
                    return name
                case Constant(value):
                    return value
                case Looked(relation, key, place, sort):
                    if one not in names:
                        given = [term(part) for part in key]
                        name = self._new(sort, names.values())
                        names[one] = name
                        binders.append(f"{name}: {sort}")
                        keys = self.schema.relation(relation).keys
                        cells = dict(zip(keys, given, strict=True)) | {place: name}
                        before.append(self.atom(relation, cells))
                    return names[one]
                case _:
                    assert_never(one)

        match shape:
            case Holds(relation, args):
                text = self.atom(relation, {k: term(one) for k, one in enumerate(args) if one is not None})
            case Same(Looked() as left, Looked() as right):
                shared = term(left)
                key = [term(part) for part in right.key]
                cells = dict(zip(self.schema.relation(right.relation).keys, key, strict=True))
                text = self.atom(right.relation, cells | {right.place: shared})
            case Same(Looked() as left, right) | Same(right, Looked() as left):
                key = [term(part) for part in left.key]
                cells = dict(zip(self.schema.relation(left.relation).keys, key, strict=True))
                text = self.atom(left.relation, cells | {left.place: term(right)})
            case Same(left, right):
                text = f"{term(left)} = {term(right)}"
            case Less(left, right, strict):
                text = f"{term(left)} {'<' if strict else '<='} {term(right)}"
            case Joined(first, second, at):
                sort = self.schema.relation(first.relation).sorts[at[0]]
                name = self._new(sort, names.values())
                binders.append(f"{name}: {sort}")
                parts = []
                for part, place in zip((first, second), at, strict=True):
                    cells = {k: term(one) for k, one in enumerate(part.args) if one is not None}
                    parts.append(self.atom(part.relation, cells | {place: name}))
                text = " & ".join(parts)
                return text, binders, True
            case Several(rows, place):
                sort = self.schema.relation(rows.relation).sorts[place]
                name = self._new(sort, names.values())
                cells = {k: term(one) for k, one in enumerate(rows.args) if one is not None}
                return (
                    f"atleast 2 {name}: {sort}. {self.atom(rows.relation, cells | {place: name})}",
                    [],
                    False,
                )
            case _:
                assert_never(shape)
        return " & ".join([*before, text]), binders, bool(before)

    def _new(self, sort: str, also: Collection[str]) -> str:
        return next(fresh_names({*self.taken, *also}, sort))

    def atom(self, relation: str, cells: dict[int, str]) -> str:
        """Return an atom with these cells and `_` in the others."""
        known = self.schema.relation(relation)
        if known.arity == 0:
            return f"{relation}()"
        has_names = len(known.columns) == known.arity >= _NAMED_FROM and all(known.columns)
        if has_names and cells and len(cells) < known.arity:
            named = (f"{known.columns[k]} = {cells[k]}" for k in sorted(cells))
            return f"{relation}({', '.join(named)})"
        return f"{relation}({', '.join(cells.get(k, '_') for k in range(known.arity))})"
