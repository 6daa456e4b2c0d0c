"""Insert the rows of a state into tables, and delete them, also if rows refer to each other in a circle.

Tables come in an order in which each refers to those before it. A reference that no order keeps is
*circular*: one to the same table, or one of several in a circle. Rows are then inserted in an order of their
own. A row in a circle gets NULL first, if the column may be NULL, and its reference once all rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

Row = dict[str, object]


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
