"""Transactions on a live database, in SQLite and PostgreSQL."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
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
_NO_SAVEPOINT = ("3B001", "25P01")  # of PostgreSQL: none of this name, no transaction
_ABORTED = "25P02"  # of PostgreSQL: a statement of the transaction has failed
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
    """Begin a transaction on one snapshot, a serialisable one if it ``writes``; commit it unless it fails."""
    with engine.connect() as connection:
        options: dict[str, Any] = {_WRITES: writes}
        if engine.dialect.name != "sqlite":
            options["isolation_level"] = "SERIALIZABLE" if writes else "REPEATABLE READ"
        connection = connection.execution_options(**options)
        with connection.begin():
            yield connection


class EndedTransaction(InputError):
    """A function has ended the transaction that it was called in."""

    def __init__(self) -> None:
        super().__init__(
            "the function that carries the call out has ended its transaction, and what is changed is not"
            " known; leave commit and rollback to the guard"
        )


@contextmanager
def unended(connection: sa.Connection) -> Iterator[None]:
    """Raise `EndedTransaction` if the block ends the transaction, `InputError` if it cannot be committed.

    A savepoint shows both. PostgreSQL answers a commit after a statement that failed as if it were one, and
    changes nothing.
    """
    savepoint = connection.begin_nested()
    try:
        yield
    except BaseException as error:
        with suppress(SQLAlchemyError):  # such as that the connection is lost; the error is what matters
            if _has_ended(savepoint, savepoint.rollback):
                raise EndedTransaction from error
        raise
    try:
        if _has_ended(savepoint, savepoint.commit):
            raise EndedTransaction
    except DBAPIError as error:
        if _state(error) != _ABORTED:
            raise
        raise InputError(
            "a statement of the function that carries the call out has failed, and nothing is changed; let"
            " its error pass, or roll back to a savepoint"
        ) from None


def _has_ended(savepoint: sa.NestedTransaction, end: Callable[[], None]) -> bool:
    """End a savepoint; return True if its transaction has ended before."""
    if not savepoint.is_active:
        return True
    try:
        end()
    except DBAPIError as error:
        if _state(error) in _NO_SAVEPOINT or "no such savepoint" in str(error.orig):
            return True
        raise
    return False


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
    return (code is not None and code & 0xFF in _LOCKED) or _state(error) in _SERIALISATION


def _state(error: DBAPIError) -> object:
    """Return PostgreSQL's code of an error, or None."""
    return getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)


def indexed(connection: sa.Connection) -> Iterator[tuple[str, str]]:
    """Yield the columns that some index begins with."""
    inspector = sa.inspect(connection)
    for table in inspector.get_table_names():
        keys: list[Any] = [inspector.get_pk_constraint(table)["constrained_columns"]]
        keys += [unique["column_names"] for unique in inspector.get_unique_constraints(table)]
        keys += [index["column_names"] for index in inspector.get_indexes(table)]
        yield from ((table, str(key[0])) for key in keys if key)
