"""Transactions on a live database, in SQLite and PostgreSQL."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from stead_sym.conformance.bound_tables import reason_of, shown_url
from stead_sym.errors import InputError

_SUPPORTED = ("sqlite", "postgresql")
_LOCKED = (5, 6)  # SQLITE_BUSY, SQLITE_LOCKED
_SERIALISATION = ("40001", "40P01")  # of PostgreSQL: a conflict, a deadlock
_WRITES = "stead_writes"  # an option of connections
_LOCK = 0x57EAD_6A2D  # the number of PostgreSQL's advisory lock


def live_engine(url: str) -> sa.Engine:
    """Return an engine whose transactions begin when they are meant to; raise `InputError`."""
    try:
        made = sa.make_url(url)
        name = made.get_backend_name()
        if name not in _SUPPORTED:
            raise InputError(
                f"{shown_url(url)}: a guard knows SQLite and PostgreSQL, not {name}; use one of them"
            )
        if name == "sqlite" and made.database and not Path(made.database).is_file():
            raise InputError(f"{made.database}: there is no such database; name the live one")
        engine = sa.create_engine(made, enable_from_linting=False)
    except (SQLAlchemyError, ValueError, ImportError) as error:
        raise InputError(
            f"{shown_url(url)}: cannot be opened ({reason_of(error)}); give another URL"
        ) from None
    if name == "postgresql":

        @sa.event.listens_for(engine, "connect")
        def plainly(connection: Any, _: object) -> None:
            cursor = connection.cursor()
            cursor.execute("SET jit = off")  # compiling a check takes far longer than running it
            cursor.close()
            connection.commit()

    if name == "sqlite":

        @sa.event.listens_for(engine, "connect")
        def connect(connection: Any, _: object) -> None:
            connection.isolation_level = None  # the driver begins no transaction by itself
            connection.execute("PRAGMA foreign_keys = ON")

        @sa.event.listens_for(engine, "begin")
        def begin(connection: sa.Connection) -> None:
            writes = connection.get_execution_options().get(_WRITES)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def transaction(engine: sa.Engine, *, writes: bool) -> Iterator[sa.Connection]:
    """Begin a transaction, a serialisable one if it ``writes``; commit it unless an error is raised."""
    with engine.connect() as connection:
        options: dict[str, Any] = {_WRITES: writes}
        if writes and engine.dialect.name != "sqlite":
            options["isolation_level"] = "SERIALIZABLE"
        connection = connection.execution_options(**options)
        with connection.begin():
            yield connection


@contextmanager
def alone(engine: sa.Engine) -> Iterator[None]:
    """Hold the lock of a database's guards, which one of them has at a time, also among processes.

    The lock of an SQLite database is a file beside it. Whoever holds the lock loses it by ending. Raise
    `OSError` or `SQLAlchemyError` if it cannot be had.
    """
    database = engine.url.database
    if engine.dialect.name == "postgresql":
        connection = engine.connect()
        try:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            yield
        finally:
            with suppress(SQLAlchemyError):  # what is done is done, also if the connection was lost
                connection.close()
    elif database:
        with open(f"{Path(database).resolve()}-guard", "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    else:
        yield


def is_conflict(error: DBAPIError) -> bool:
    """Return True if a transaction failed because of another one, and may be tried again."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
    return (code is not None and code & 0xFF in _LOCKED) or state in _SERIALISATION


def indexed(connection: sa.Connection) -> Iterator[tuple[str, str]]:
    """Yield the columns that some index begins with."""
    inspector = sa.inspect(connection)
    for table in inspector.get_table_names():
        keys: list[Any] = [inspector.get_pk_constraint(table)["constrained_columns"]]
        keys += [unique["column_names"] for unique in inspector.get_unique_constraints(table)]
        keys += [index["column_names"] for index in inspector.get_indexes(table)]
        yield from ((table, str(key[0])) for key in keys if key)
