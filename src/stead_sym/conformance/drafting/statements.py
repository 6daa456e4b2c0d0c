"""The statements of a draft as text of the language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from stead_sym.conformance.drafting.changes import New, Right, Step
from stead_sym.conformance.drafting.effects import Statement
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
)
from stead_sym.conformance.drafting.written import Writer, fresh_names
from stead_sym.relational.schema import Schema


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an effect with the number of runs that support it; None for one that only names values."""

    text: str
    support: int | None


def effect_lines(schema: Schema, taken: frozenset[str], statements: Sequence[Statement]) -> list[Line]:
    """Return the lines of an effect, the fresh identifiers first."""
    named: dict[New, str] = {}
    names = set(taken)
    for statement in statements:
        for right in statement.args:
            if isinstance(right, New) and right not in named:
                named[right] = next(fresh_names(names, right.sort))
                names.add(named[right])
    lines = [Line(f"fresh {name}: {new.sort}", None) for new, name in named.items()]
    taken = frozenset(names)
    return lines + [
        Line(_Writing(schema, taken, named, statement).text(), statement.support) for statement in statements
    ]


@dataclass
class _Writing:
    """One statement while it is written."""

    schema: Schema
    taken: frozenset[str]
    new: dict[New, str]
    statement: Statement
    binders: dict[str, str] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)
    looked: dict[Looked, str] = field(default_factory=dict)

    def text(self) -> str:
        statement = self.statement
        row = {one.name: one for one in statement.row}
        self.names = {*self.taken, *row}
        self.images: dict[str, Operand] = {}
        kept: list[Literal] = []
        for literal in statement.where:
            pin = _pin(literal, row)
            if pin is not None and pin[0] not in self.images:
                self.images[pin[0]] = pin[1]
            else:
                kept.append(literal)
        relation = self.schema.relation(statement.relation)
        writer = Writer(self.schema, frozenset(self.names))
        wheres = [writer.literal(_pinned(literal, self.images)) for literal in kept]
        used = {name for literal in kept for name in _own(literal)} & row.keys()
        match statement.word:
            case "set column":
                assert statement.column is not None
                used |= {n for right in statement.args for n in _own_of(right)} & row.keys()
                used -= self.images.keys()
                pinned = {k for k in range(relation.arity) if row_name(statement, k) in self.images}
                involved = {k for k in range(relation.arity) if row_name(statement, k) in used} | pinned
                right = self._right(statement.args[0])
                key = ", ".join(self._cell(statement.row[k]) for k in relation.keys)
                for k in relation.keys:
                    if row_name(statement, k) not in self.images:
                        self.binders[row_name(statement, k)] = relation.sorts[k]
                if involved - set(relation.keys):
                    cells = {k: self._cell(statement.row[k]) for k in {*involved, *relation.keys}}
                    self.conditions.insert(0, writer.atom(relation.name, cells))
                    for k in sorted(involved):
                        if row_name(statement, k) not in self.images:
                            self.binders[row_name(statement, k)] = relation.sorts[k]
                head = f"set {relation.name}({key}).{relation.column(statement.column)} = {right}"
                if not relation.columns or not relation.columns[statement.column]:
                    return self._unnamed(right, wheres)
            case "delete":
                cells = {}
                for k, one in enumerate(statement.row):
                    if one.name in self.images:
                        cells[k] = self._cell(one)
                    elif one.name in used:
                        cells[k] = one.name
                        self.binders[one.name] = one.sort
                head = f"delete {writer.atom(relation.name, cells)}"
            case "insert" | "set":
                cells = {k: self._right(right) for k, right in enumerate(statement.args)}
                head = f"{statement.word} {relation.name}({', '.join(cells[k] for k in sorted(cells))})"
                if statement.over is not None:
                    self._source(writer, used)
            case _:
                assert_never(statement.word)
        return self._whole(head, wheres)

    def _unnamed(self, right: str, wheres: list[str]) -> str:
        """Return a statement that sets a column without a name, as one that sets the row."""
        statement = self.statement
        relation = self.schema.relation(statement.relation)
        cells, old = [], {}
        for k, one in enumerate(statement.row):
            cells.append(right if k == statement.column else self._cell(one))
            if one.name not in self.images and k != statement.column:
                self.binders[one.name] = one.sort
            if k != statement.column or one.name in self.binders or one.name in self.images:
                old[k] = self._cell(one)
        there = Writer(self.schema, frozenset(self.names)).atom(relation.name, old)
        self.conditions = [there, *(c for c in self.conditions if not c.startswith(f"{relation.name}("))]
        return self._whole(f"set {relation.name}({', '.join(cells)})", wheres)

    def _source(self, writer: Writer, used: set[str]) -> None:
        """Add the rows that a statement inserts copies of."""
        assert self.statement.over is not None
        needed = {n for right in self.statement.args for n in _own_of(right)} | used
        cells = {}
        for k, one in enumerate(self.statement.row):
            if one.name in self.images:
                cells[k] = self._cell(one)
            elif one.name in needed:
                cells[k] = one.name
                self.binders[one.name] = one.sort
        self.conditions.insert(0, writer.atom(self.statement.over, cells))

    def _whole(self, head: str, wheres: list[str]) -> str:
        over = ", ".join(f"{name}: {sort}" for name, sort in self.binders.items())
        conditions = [*self.conditions, *wheres]
        where = f" where {' & '.join(conditions)}" if conditions else ""
        return f"{head}{f' for {over}' if over else ''}{where}"

    def _cell(self, one: Own) -> str:
        image = self.images.get(one.name)
        return one.name if image is None else self._right(image)

    def _right(self, right: Right) -> str:
        """Return a value; one that is looked up becomes a variable with a condition."""
        match right:
            case Own():
                return self._cell(right)
            case Constant(value):
                return value
            case New():
                return self.new[right]
            case Step(start, sign, distance):
                return f"{self._right(start)} {sign} {self._right(distance)}"
            case Looked(relation, key, place, sort):
                if right not in self.looked:
                    given = [self._right(one) for one in key]
                    for one in key:
                        if isinstance(one, Own) and one in self.statement.row and one.name not in self.images:
                            self.binders[one.name] = one.sort
                    name = next(fresh_names(self.names, sort))
                    self.names.add(name)
                    self.looked[right] = name
                    self.binders[name] = sort
                    cells = dict(zip(self.schema.relation(relation).keys, given, strict=True)) | {place: name}
                    self.conditions.append(Writer(self.schema, frozenset()).atom(relation, cells))
                return self.looked[right]
            case _:
                assert_never(right)


def row_name(statement: Statement, place: int) -> str:
    """Return the variable of a column of the row."""
    return statement.row[place].name


def _pin(literal: Literal, row: dict[str, Own]) -> tuple[str, Operand] | None:
    """Return the column of the row that a literal gives, with its value."""
    shape = literal.shape
    if not literal.positive or not isinstance(shape, Same):
        return None
    for one, other in ((shape.left, shape.right), (shape.right, shape.left)):
        if isinstance(one, Own) and one.name in row and not isinstance(other, Looked):
            return one.name, other
    return None


def _pinned(literal: Literal, images: dict[str, Operand]) -> Literal:
    """Return a literal with what the columns of the row are known to be."""

    def of(one: Operand) -> Operand:
        match one:
            case Own(name):
                return images.get(name, one)
            case Constant():
                return one
            case Looked(relation, key, place, sort):
                return Looked(relation, tuple(of(part) for part in key), place, sort)
            case _:
                assert_never(one)

    def filled(rows: Holds) -> Holds:
        return Holds(rows.relation, tuple(None if one is None else of(one) for one in rows.args))

    match literal.shape:
        case Holds() as rows:
            shape: Holds | Same | Less | Joined | Several = filled(rows)
        case Same(left, right):
            shape = Same(of(left), of(right))
        case Less(left, right, strict):
            shape = Less(of(left), of(right), strict)
        case Joined(first, second, at):
            shape = Joined(filled(first), filled(second), at)
        case Several(rows, place):
            shape = Several(filled(rows), place)
        case _:
            assert_never(literal.shape)
    return Literal(shape, literal.positive)


def _own(literal: Literal) -> set[str]:
    """Return the variables of a literal."""
    match literal.shape:
        case Holds(_, args) | Several(Holds(_, args), _):
            parts = [one for one in args if one is not None]
        case Same(left, right) | Less(left, right, _):
            parts = [left, right]
        case Joined(first, second, _):
            parts = [one for part in (first, second) for one in part.args if one is not None]
        case _:
            assert_never(literal.shape)
    return {name for one in parts for name in _own_of(one)}


def _own_of(right: Right) -> set[str]:
    match right:
        case Own(name):
            return {name}
        case Constant() | New():
            return set()
        case Looked(_, key, _):
            return {name for one in key for name in _own_of(one)}
        case Step(start, _, distance):
            return _own_of(start) | _own_of(distance)
        case _:
            assert_never(right)
