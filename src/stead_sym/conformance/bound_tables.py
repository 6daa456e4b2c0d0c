"""The tables of a database that stand for a deployment's relations, their rows, and the cells beyond them.

One decision: the names of tables and columns bind a relation unless the binding does, as `stead-sym import`
drafts them.

Rows are inserted and deleted also if they refer to each other in a circle. Tables come in an order in which
each refers to those before it. A reference that no order keeps is *circular*: one to the same table, or one
of several in a circle. Rows are then inserted in an order of their own. A row in a circle gets NULL first, if
the column may be NULL, and its reference once all rows are there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from stead_sym.conformance.binding import Binding, Rows
from stead_sym.data.spelling import Unusable, spelled
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import InputError
from stead_sym.imports.draft import camel
from stead_sym.imports.reflect import tables_of
from stead_sym.imports.sorts import distinct
from stead_sym.imports.tables import Table
from stead_sym.relational.schema import Relation, Value, is_numeral
from stead_sym.support.printable import printable

_LONGEST = 300
"""The most characters of what an error says."""

Row = dict[str, object]

Cells = Mapping[str, Mapping[object, object]]
"""By table or by column, its cells by the keys of their rows. A table of no relation has its rows as keys."""


class BoundTables:
    """The rows of every relation in a database.

    ``tables`` are all its tables by name, in an order in which rows can be inserted, ``found`` are the same
    with their constraints, and ``rows`` are the bound rows by relation.
    """

    def __init__(self, deployment: Deployment, binding: Binding, connection: sa.Connection) -> None:
        """Find the rows of every relation; raise `InputError` if there are none."""
        self.found = tables_of(connection)
        metadata = sa.MetaData()
        metadata.reflect(connection)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # references in a circle, which `Loader` deals with
            self.tables = {table.name: table for table in metadata.sorted_tables}
        self._schema = deployment.schema
        self._relations = binding.relations
        self.rows: Mapping[str, Rows] = {r.name: self._rows_of(r) for r in self._schema.relations}

    def _rows_of(self, relation: Relation) -> Rows:
        """Return the rows of a relation, by the binding or by its name."""
        given = self._relations.get(relation.name)
        if given is None:
            given = self._by_name(relation)
        table = self.tables.get(given.table)
        if table is None:
            raise InputError(f"{relation.name} is bound to the table {given.table}, which is not there")
        for column in (*given.columns, *given.where):
            if column not in table.c:
                raise InputError(f"{relation.name} is bound to {given.table}.{column}, which is not there")
        if len(given.columns) != len(relation.sorts):
            raise InputError(
                f"{relation.name} has {len(relation.sorts)} columns and is bound to {len(given.columns)}"
            )
        return given

    def _by_name(self, relation: Relation) -> Rows:
        """Return the rows of the table whose name the relation's begins with, in columns of its names."""
        tables = [t for t in self.found.tables if relation.name.startswith(camel(t.name))]
        for table in sorted(tables, key=lambda table: -len(table.name)):
            called = distinct({column.name: column.name for column in table.columns})
            columns = {name.lower(): column for column, name in called.items()}
            found = [columns.get(name.lower()) for name in relation.columns]
            if found and None not in found and len(found) == len(relation.sorts):
                return Rows(table.name, tuple(column for column in found if column is not None))
        raise InputError(f"no table stands for {relation.name}; bind it to the Rows of one")

    def columns_of(self, sort: str) -> Iterator[tuple[Table, str]]:
        """Yield the columns that hold values of a sort."""
        for relation in self._schema.relations:
            bound = self.rows[relation.name]
            table = self.found.table(bound.table)
            for name, one in zip(bound.columns, relation.sorts, strict=True):
                if one == sort and table is not None:
                    yield table, name

    def contents(self, sort: str) -> Mapping[Value, object]:
        """Return what stands for each value of a finite sort: the text that a constraint lists, or itself."""
        known = self._schema.sort(sort)
        if known.values is None:
            return {}
        contents: dict[Value, object] = {}
        for value in known.values:
            contents[value] = int(value) if is_numeral(value) else value
        for table, name in self.columns_of(sort):
            column = table.column(name)
            if column is None:
                continue
            texts: Iterable[tuple[str, object]] = [(text, text) for text in column.values]
            if column.kind == "boolean":
                texts = zip(self.found.booleans, (False, True), strict=True)
            for text, content in texts:
                try:
                    contents[spelled(text, known, self._schema)] = content
                except Unusable:
                    continue  # the deployment knows fewer values than the database allows
        return contents


def shown_url(url: str) -> str:
    """Return a URL without its password and options, which may be secret."""
    try:
        return sa.make_url(url).set(query={}).render_as_string(hide_password=True)
    except (SQLAlchemyError, ValueError):
        return "the database of the binding"


def reason_of(error: BaseException) -> str:
    """Return the first line of what an error says, or the name of its class if it says nothing."""
    try:
        text = str(getattr(error, "orig", None) or error)
    except Exception:  # noqa: BLE001 (the error is of a tool, and so is its text)
        text = ""
    return printable((text.strip().splitlines() or [type(error).__name__])[0][:_LONGEST])


class Loader:
    """Tables with their circular references."""

    def __init__(self, tables: Mapping[str, sa.Table], emptied: Sequence[sa.Table]) -> None:
        """Take all tables by name, in their order, and those that are emptied, in the opposite order."""
        self._tables = tables
        self._emptied = emptied
        places = {name: place for place, name in enumerate(tables)}
        self._circular = {
            name: tuple(
                c for c in table.foreign_key_constraints if places.get(_target(c), -1) >= places[name]
            )
            for name, table in tables.items()
        }

    def empty(self, connection: sa.Connection) -> None:
        """Delete all rows."""
        row_by_row = connection.dialect.name in ("mysql", "mariadb")
        for table in self._emptied:
            for one in self._circular[table.name]:
                cells = dict.fromkeys(_nullable(one)) if row_by_row or _target(one) != table.name else {}
                if cells:
                    connection.execute(table.update().values(cells))
        for table in self._emptied:
            connection.execute(table.delete())

    def insert(self, connection: sa.Connection, rows: Mapping[str, list[Row]]) -> None:
        """Insert rows, by table in the order of the tables; those of one table have the same columns."""
        later: list[tuple[sa.Table, Row, Row]] = []
        for name, found in rows.items():
            table = self._tables[name]
            for some, held in self._ordered(name, found):
                _insert(connection, table, some)
                later += [(table, row, cells) for row, cells in held]
        for table, row, cells in later:
            same = [table.c[key].is_not_distinct_from(cell) for key, cell in row.items() if key not in cells]
            connection.execute(table.update().where(*same).values(cells))

    def _ordered(self, name: str, rows: list[Row]) -> Iterator[tuple[list[Row], list[tuple[Row, Row]]]]:
        """Yield the rows of a table in turns, each with the references that it gets later."""
        circular = self._circular[name]
        if not circular:
            yield rows, []
            return
        own = [one for one in circular if _target(one) == name]
        away = [one for one in circular if _target(one) != name]
        waiting = list(rows)
        while waiting:
            missing = {one: {_referred(one, row) for row in waiting} for one in own}
            ready = [row for row in waiting if not any(_waits(one, row, missing[one]) for one in own)]
            held = away if ready else circular
            turn, later = [], []
            for row in ready or waiting[:1]:
                cells = {key: row[key] for one in held for key in _nullable(one) if row.get(key) is not None}
                turn.append({**row, **dict.fromkeys(cells)})
                later += [(row, cells)] if cells else []
            yield turn, later
            done = {id(row) for row in ready or waiting[:1]}
            waiting = [row for row in waiting if id(row) not in done]


def _insert(connection: sa.Connection, table: sa.Table, rows: list[Row]) -> None:
    """Insert rows, also into columns that the database always numbers by itself (PostgreSQL)."""
    numbered = [one for one in table.c if one.identity is not None and one.identity.always]
    if not any(column.name in rows[0] for column in numbered):
        connection.execute(table.insert(), rows)
        return
    compiled = table.insert().compile(connection, column_keys=list(rows[0]))
    text = compiled.string.replace(" VALUES ", " OVERRIDING SYSTEM VALUE VALUES ", 1)
    connection.exec_driver_sql(text, [compiled.construct_params(row) for row in rows])


def _target(constraint: sa.ForeignKeyConstraint) -> str:
    return constraint.referred_table.name


def _nullable(constraint: sa.ForeignKeyConstraint) -> list[str]:
    """Return the columns of a reference that may be NULL."""
    return [column.name for column in constraint.columns if column.nullable and not column.primary_key]


def _referring(constraint: sa.ForeignKeyConstraint, row: Row) -> tuple[Any, ...]:
    return tuple(row.get(one.parent.name) for one in constraint.elements)


def _referred(constraint: sa.ForeignKeyConstraint, row: Row) -> tuple[Any, ...]:
    return tuple(row.get(one.column.name) for one in constraint.elements)


def _waits(constraint: sa.ForeignKeyConstraint, row: Row, missing: set[tuple[Any, ...]]) -> bool:
    """Return True if a row refers to another one that is not there yet."""
    cells = _referring(constraint, row)
    return None not in cells and cells in missing and cells != _referred(constraint, row)


class Beyond:
    """The tables that no relation is bound to, and the columns of the others that none has."""

    def __init__(self, tables: Mapping[str, sa.Table], rows: Mapping[str, Rows]) -> None:
        """Find them, by the names of the tables and the bound rows of each relation."""
        self._found: list[tuple[str, int, list[sa.Column[object]]]] = []
        for name, table in tables.items():
            bound = [one for one in rows.values() if one.table == name]
            known = {column for one in bound for column in (*one.columns, *one.where)}
            keys = list(table.primary_key) or [column for column in table.c if column.name in known]
            more = [column for column in table.c if column.name not in known and column not in keys]
            if not bound:
                self._found.append((name, len(table.c), list(table.c)))
            elif more:
                self._found.append((name, len(keys), [*keys, *more]))
        self._queries = [sa.select(*columns) for _, _, columns in self._found]
        self._last: dict[int, tuple[object, Cells]] = {}
        """By place in ``_found``: the rows that were read last, and their cells."""

    @property
    def is_empty(self) -> bool:
        """Return True if the relations have all tables and columns."""
        return not self._found

    def cells(self, connection: sa.Connection) -> Cells:
        """Return what they hold."""
        found: dict[str, Mapping[object, object]] = {}
        for place, (name, width, columns) in enumerate(self._found):
            read = connection.execute(self._queries[place]).all()
            if self._last.get(place, (None,))[0] != read:
                self._last[place] = read, dict(_cells(name, width, columns, read))
            found.update(self._last[place][1])
        return found


def _cells(
    name: str, width: int, columns: list[sa.Column[object]], read: Sequence[Sequence[object]]
) -> Iterator[tuple[str, Mapping[object, object]]]:
    """Yield a table, or its columns after the first ``width``, with their cells by the keys of the rows."""
    rows = [tuple(map(repr, row)) for row in read]
    if width == len(columns):
        yield name, dict.fromkeys(rows)
    for place, column in enumerate(columns[width:], width):
        yield f"{name}.{column.name}", {row[:width]: row[place] for row in rows}


def differing(before: Cells, after: Cells) -> Iterator[str]:
    """Yield the tables of no relation that changed, and the columns that did in rows that are still there."""
    for name, cells in after.items():
        old = before.get(name, {})
        rows_differ = "." not in name and old.keys() != cells.keys()
        if rows_differ or any(old[key] != cell for key, cell in cells.items() if key in old):
            yield name
