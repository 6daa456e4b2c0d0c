"""Convert the rows of tables to facts of D0, with the checks that facts of a deployment get.

One decision: a column is converted by a dictionary that is filled on demand. Each distinct cell is checked
once, and rows are assembled without further checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from pathlib import Path

from stead_sym.data.files import file_table
from stead_sym.data.source import Column, FactsFrom, File, Given, Into, Loaded
from stead_sym.data.spelling import Unusable, spelled, text_of
from stead_sym.data.tables import Batch, Table
from stead_sym.errors import DeclarationError, InputError
from stead_sym.logic.names import Names, is_name
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Schema, Sort, Value
from stead_sym.support.memory import seldom_collecting


@dataclass(slots=True)
class Known:
    """The part of D0 read so far: constants with their sorts, facts, and the fact of each key."""

    schema: Schema
    constants: dict[Value, str]
    facts: set[Fact] = field(default_factory=set)
    keyed: dict[tuple[str, object], Fact] = field(default_factory=dict)
    texts: dict[Value, str] = field(default_factory=dict)
    """The cell's text of each value that is spelled differently from its cell."""

    def value(self, cell: object, sort: Sort, optional: bool) -> Value | None:
        """Return the value that a cell denotes; None if the cell is empty and optional. Raise `Unusable`."""
        text = text_of(cell)
        if not text:
            if optional:
                return None
            raise Unusable("is empty; fill it in, or write `?` after the column to leave such rows out")
        value = spelled(text, sort, self.schema)
        if sort.values is not None:
            return value
        known = self.constants.setdefault(value, sort.name)
        if known != sort.name:
            raise Unusable(
                f"holds {text!r}, which is a {known} as well as a {sort.name}; give one of the two a prefix"
            )
        other = self.texts.setdefault(value, text)
        if other != text:
            raise Unusable(
                f"holds {text!r}, and {other!r} stands elsewhere: both are spelled {value}; change one"
            )
        return value


class _Values(dict[object, Value | None]):
    """A map from the cells of a column to values, filled on demand."""

    def __init__(self, known: Known, sort: Sort, *, optional: bool) -> None:
        super().__init__()
        self._known = known
        self._sort = sort
        self._optional = optional

    def __missing__(self, cell: object) -> Value | None:
        value = self._known.value(cell, self._sort, self._optional)
        self[cell] = value
        return value


@dataclass(frozen=True, slots=True)
class _Maker:
    """A converter from batches to the facts of one relation."""

    into: Into
    columns: tuple[int | None, ...]  # the column's position for each argument, None for a constant
    values: tuple[_Values, ...]
    key: Callable[[tuple[Value, ...]], object] | None

    def tuples(self, batch: Batch) -> list[tuple[Value, ...]]:
        """Return the tuple of each row, with None for an empty optional cell. Raise `Unusable`."""
        listed = [self._named(k, batch) for k in range(len(self.columns))]
        return list(zip(*listed, strict=True)) if listed else [()] * batch.rows

    def _named(self, argument: int, batch: Batch) -> Iterable[Value]:
        place = self.columns[argument]
        if place is None:
            given = self.into.arguments[argument]
            assert isinstance(given, Given)
            return repeat(self.values[argument][given.text], batch.rows)  # type: ignore[arg-type]
        return map(self.values[argument].__getitem__, batch.columns[place])  # type: ignore[arg-type]


def read_facts_from(item: FactsFrom, known: Known, folder: Path) -> Loaded:
    """Add the facts of an item to the known ones; paths are relative to the folder.

    Raise `InputError` with the row for a cell that is no value of its sort, a file that cannot be read, or
    two facts with one key. Raise `DeclarationError` at the item for a relation or sort that the schema
    lacks, or a column that the table lacks.
    """
    table = _table(item, folder)
    columns = item.columns
    shared: dict[tuple[str | None, str, bool], _Values] = {}
    makers = [_maker(into, columns, known, shared) for into in item.into]
    rows, before = 0, len(known.facts)
    with seldom_collecting():
        for batch in table.batches(columns):
            rows += batch.rows
            for maker in makers:
                try:
                    made = maker.tuples(batch)
                except (Unusable, TypeError):  # TypeError: an unhashable cell, such as a list
                    raise _wrong(maker, columns, batch) from None
                _add(maker, made, batch, known)
    return Loaded(item, rows, len(known.facts) - before)


def _table(item: FactsFrom, folder: Path) -> Table:
    if isinstance(item.source, File):
        return file_table(folder / item.source.path, item.span)
    from stead_sym.data.database import database_table

    return database_table(item.source, folder, item.span)


def _maker(
    into: Into,
    columns: Sequence[Column],
    known: Known,
    shared: dict[tuple[str | None, str, bool], _Values],
) -> _Maker:
    """Return the converter for one fact of each row.

    ``shared`` has the values of each column for each sort; several facts of a row may use the same ones.
    """
    sorts = Names(known.schema).signature(into.relation, into.span)
    if len(sorts) != len(into.arguments):
        raise DeclarationError(
            f"{into} has {len(into.arguments)} arguments, but {into.relation} takes {len(sorts)};"
            " give it that many",
            into.span,
        )
    places = {column.name: place for place, column in enumerate(columns)}
    relation = known.schema.relation(into.relation)
    values = []
    for argument, sort in zip(into.arguments, map(known.schema.sort, sorts), strict=True):
        column = argument if isinstance(argument, Column) else None
        optional = column is not None and column.optional
        which = (None if column is None else column.name, sort.name, optional)
        values.append(shared.setdefault(which, _Values(known, sort, optional=optional)))
        if isinstance(argument, Given):
            try:
                values[-1][argument.text]
            except Unusable as error:
                raise DeclarationError(f"the constant {argument} {error}", into.span) from None
    return _Maker(
        into,
        tuple(places[arg.name] if isinstance(arg, Column) else None for arg in into.arguments),
        tuple(values),
        itemgetter(*relation.keys) if relation.keys else None,
    )


def _add(maker: _Maker, made: list[tuple[Value, ...]], batch: Batch, known: Known) -> None:
    relation = maker.into.relation
    partial = any(isinstance(arg, Column) and arg.optional for arg in maker.into.arguments)
    if maker.key is None:
        whole: Iterable[tuple[Value, ...]] = (args for args in made if None not in args) if partial else made
        known.facts.update(map(Fact, repeat(relation), whole))
        return
    for number, args in enumerate(made):
        if partial and None in args:
            continue
        fact = Fact(relation, args)
        first = known.keyed.setdefault((relation, maker.key(args)), fact)
        if first != fact:
            raise InputError(
                f"{batch.place(number)}: {first} and {fact} have the same key, of which a state may hold one"
                " fact; remove one"
            )
        known.facts.add(fact)


def _wrong(maker: _Maker, columns: Sequence[Column], batch: Batch) -> InputError:
    """Return the error of the first row in the batch with a cell that is no value."""
    for number in range(batch.rows):
        for values, place in zip(maker.values, maker.columns, strict=True):
            if place is None:
                continue
            cell = batch.columns[place][number]
            try:
                values[cell]
            except Unusable as error:
                why = str(error)
            except TypeError:
                why = f"holds {type(cell).__name__}, which is no value; give texts, numbers or dates"
            else:
                continue
            name = columns[place].name
            shown = name if is_name(name) else repr(name)
            return InputError(f"{batch.place(number)}: the column {shown} {why}")
    raise AssertionError("a batch was refused in which every cell is a value")
