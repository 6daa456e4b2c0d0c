"""Read the schema of a live database through SQLAlchemy.

One decision: nothing is read but the schema, and the rows of tables that may be lists of values; the rows of
the others are read by the deployment (`init from`). No connection can write (`data.database`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from stead_sym.data.database import connected
from stead_sym.data.source import Database
from stead_sym.data.spelling import Unusable, text_of
from stead_sym.errors import InputError
from stead_sym.imports.ddl import with_checks
from stead_sym.imports.sorts import MOST_LISTED
from stead_sym.imports.tables import COMPUTED, ForeignKey, Kind, Table, TableColumn, Tables, on_delete

_DIALECTS = {"postgresql": "postgres", "mariadb": "mysql", "mssql": "tsql"}
"""The names that `sqlglot` has for SQLAlchemy's dialects, if it has others."""


def read_database(source: Database, folder: Path) -> Tables:
    """Return the tables of a database; the path of a SQLite file is relative to the folder.

    Raise `InputError` if it cannot be read, or has no table.
    """
    with connected(source, folder) as connection:
        found = tables_of(connection)
    if not found.tables:
        raise InputError(f"{source} has no tables; name the database that your tools work on")
    return replace(found, url=str(source))


def tables_of(connection: sa.Connection) -> Tables:
    """Return the tables of the database that a connection leads to."""
    inspector = sa.inspect(connection)
    tables = tuple(_table(connection, inspector, name) for name in sorted(inspector.get_table_names()))
    native = connection.dialect.supports_native_boolean
    return Tables(tables, booleans=("false", "true") if native else ("0", "1"))


def _table(connection: sa.Connection, inspector: sa.Inspector, name: str) -> Table:
    """Return a table with its constraints, and its rows if it may be a list of values."""
    found = inspector.get_columns(name)
    columns = {str(c["name"]).lower(): _column(c) for c in found}
    checks = [str(check["sqltext"]) for check in inspector.get_check_constraints(name)]
    dialect = _DIALECTS.get(connection.dialect.name, connection.dialect.name)
    columns = with_checks(columns, checks, dialect) if checks else columns
    key = tuple(inspector.get_pk_constraint(name)["constrained_columns"])
    foreign = tuple(
        ForeignKey(
            tuple(f["constrained_columns"]),
            f["referred_table"],
            tuple(f["referred_columns"]),
            on_delete(str(f.get("options", {}).get("ondelete") or "")),
        )
        for f in inspector.get_foreign_keys(name)
    )
    unique = frozenset(tuple(u["column_names"]) for u in inspector.get_unique_constraints(name))
    rows = _rows(connection, name, key, columns) if len(key) == 1 and not foreign else ()
    return Table(name, tuple(columns.values()), key, foreign, unique, rows)


def _default(found: Any) -> str | None:
    """Return the text of a default: a literal of SQL, or `COMPUTED` for anything else."""
    text = found.get("default")
    if text is None or str(text).upper() == "NULL":
        return None
    literal = re.fullmatch(r"'((?:[^']|'')*)'(?:::[\w ]+)?|(-?\d+|true|false)", str(text), re.IGNORECASE)
    if literal is None:
        return COMPUTED
    return literal[2].lower() if literal[1] is None else literal[1].replace("''", "'")


def _column(found: Any) -> TableColumn:
    """Return a column without the CHECK constraints of its table."""
    nullable = bool(found.get("nullable", True)) and not found.get("primary_key")
    column = TableColumn(str(found["name"]), _kind(found["type"]), nullable, default=_default(found))
    if isinstance(found["type"], sa.Enum):
        return replace(column, values=tuple(map(str, found["type"].enums)), type=found["type"].name)
    return column


def _kind(kind: sa.types.TypeEngine[Any]) -> Kind:
    """Return what a column of a type holds."""
    match kind:
        case sa.Boolean():
            return "boolean"
        case sa.String() | sa.Uuid():  # `Enum` and `Text` among them
            return "text"
        case sa.Numeric() | sa.Integer():
            return "number"
        case sa.Date() | sa.DateTime() | sa.Time() | sa.Interval():
            return "time"
        case _:
            return "other"


def _rows(
    connection: sa.Connection, name: str, key: tuple[str, ...], columns: Mapping[str, TableColumn]
) -> tuple[Mapping[str, str | None], ...]:
    """Return the keys of a small table, () for a large one, or one whose keys are no texts."""
    column = columns.get(key[0].lower())
    if column is None or column.kind != "text":
        return ()
    asked: sa.Select[Any] = (
        sa.select(sa.column(column.name)).select_from(sa.table(name)).limit(MOST_LISTED + 1)
    )
    try:
        cells = [text_of(cell) for (cell,) in connection.execute(asked)]
    except Unusable:
        return ()
    return () if len(cells) > MOST_LISTED else tuple({column.name: cell} for cell in cells)
