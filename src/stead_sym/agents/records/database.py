"""The database of a store: an SQLite file, memory, or a PostgreSQL server.

The decision: SQLAlchemy Core handles the differences between the two, and messages never have a database's
user, password or options. A writing transaction on an SQLite file is exclusive from its start, so that its
reads are still valid when it inserts; on PostgreSQL the unique index of the keys ensures that. `import
sqlalchemy` takes a quarter of a second, so this module is imported only when a store is opened.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool

from stead_sym.errors import StoreError
from stead_sym.support.extras import install
from stead_sym.support.interrupts import uninterrupted
from stead_sym.support.printable import printable, without_secrets

APPLICATION = 0x53544541  # "STEA", which identifies the SQLite files of stores
VERSION = 2
_READ = (1, VERSION)
"""The readable versions.

Files of version 1 have keys that are not unique, no questions and no claims; the rest is the same.
"""
_WAIT_SECONDS = 60  # the time to wait for other users of a database, in seconds
_PAUSE_SECONDS = 0.02
_ROWS_PER_STATEMENT = 500  # the maximum number of keys in one statement, and of rows that are read at a time

Row: TypeAlias = tuple[int, str, str, str]
"""The number of a row, its key, its contents as JSON, and the digest of both."""

_METADATA = sa.MetaData()


def _append_only(name: str) -> sa.Table:
    return sa.Table(
        name,
        _METADATA,
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Index(f"{name}_key", "key", unique=True),
        sqlite_autoincrement=True,
    )


DECISION = _append_only("decision")
NODE = _append_only("node")
QUESTION = _append_only("question")
WORKER = sa.Table(
    "worker",
    _METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("until", sa.Double, nullable=False),
)
CLAIM = sa.Table(
    "claim",
    _METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("worker", sa.Text, nullable=False, index=True),
)
_APPEND_ONLY = (DECISION, NODE, QUESTION)
_TABLES = {table.name: table for table in _APPEND_ONLY}
_BY_KEY = {
    table.name: sa.select(table)
    .where(table.c.key.in_(sa.bindparam("keys", expanding=True)))
    .order_by(table.c.id)
    for table in _APPEND_ONLY
}

NOW = {
    "sqlite": sa.literal_column("(julianday('now') - 2440587.5) * 86400.0", sa.Double),
    "postgresql": sa.literal_column("extract(epoch from clock_timestamp())", sa.Double),
}
"""The clock that all users of a database share, in seconds."""


class Database:
    """The tables of a store.

    ``place`` is a path, a PostgreSQL URL, or None for memory; ``name`` is its name for messages, without
    secrets. It is thread-safe. Every method raises `StoreError` for an error of the database.
    """

    def __init__(self, place: str | None, *, create: bool = True) -> None:
        self._create = create
        self._closed = False
        self.is_read_only = False
        self._secrets: tuple[str, ...] = ()
        self._reading: AbstractContextManager[object] = nullcontext()
        self._writing: AbstractContextManager[object] = nullcontext()
        self.kind = "sqlite" if place is None or "://" not in place else "postgresql"
        if self.kind == "sqlite":
            self._connect_sqlite(place)
        else:
            self._connect_postgresql(str(place))
        self.now = NOW[self.kind]
        try:
            with self.reporting():
                self.has_unique_keys = self._open() == VERSION
                self.is_complete = self.has_unique_keys
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection for reading."""
        with self.reporting(), uninterrupted(), self._reading, self._reader.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a connection in a transaction, which is committed at the end, or rolled back after an error.

        Ctrl-C is delayed until then: an open transaction would lock the store for all others.
        """
        if self.is_read_only:
            raise StoreError(
                f"{self.name}: the store can be read here and not be written, and something has to be"
                " written; make the file and its folder writable, or go on with a copy"
            )
        with self.reporting(), uninterrupted(), self._writing, self._writer.begin() as connection:
            yield connection

    def rows(self, connection: sa.Connection, name: str, keys: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of these keys; rows of one key are in the order of their ids."""
        for part in parts(keys):
            yield from map(_plain, connection.execute(_BY_KEY[name], {"keys": part}))

    def all_rows(self, name: str) -> Iterator[Row]:
        """Yield the rows of a table by their ids, without those that are added meanwhile."""
        table = _TABLES[name]
        after, last = 0, self._last(table)
        while after < last:
            page = sa.select(table).where(table.c.id > after, table.c.id <= last).order_by(table.c.id)
            with self.reading() as connection:
                rows = connection.execute(page.limit(_ROWS_PER_STATEMENT)).all()
            yield from map(_plain, rows)
            after = rows[-1][0] if rows else last

    def each_row(self, name: str) -> Iterator[tuple[int, Row | None]]:
        """Yield the rows of a damaged table with their numbers; None for a row that cannot be read."""
        table = _TABLES[name]
        try:
            last = self._last(table)
        except StoreError:  # the end of the table is damaged, but SQLite also counts its rows elsewhere
            counted = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name")
            with self.reading() as connection:
                last = int(connection.execute(counted, {"name": name}).scalar_one())
        for number in range(1, last + 1):
            try:
                with self.reading() as connection:
                    row = connection.execute(sa.select(table).where(table.c.id == number)).first()
            except StoreError:
                yield number, None
            else:
                if row is not None:
                    yield number, _plain(row)

    def _last(self, table: sa.Table) -> int:
        """Return the greatest number of a row; 0 if there is none."""
        with self.reading() as connection:
            return int(connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0)

    def add(self, connection: sa.Connection, name: str, rows: Sequence[Mapping[str, str]]) -> int:
        """Insert the rows whose keys are new, if keys are unique; return the number of inserted rows."""
        if not rows:
            return 0
        adding = self.adding(_TABLES[name]).on_conflict_do_nothing()
        if self.kind == "sqlite":
            return connection.execute(adding, rows).rowcount
        rows = sorted(rows, key=lambda row: row["key"])  # in a common order: see `parts`
        return len(connection.execute(adding.returning(_TABLES[name].c.key), rows).all())

    def adding(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT of the dialect, whose ON CONFLICT has the same methods in both."""
        return sqlite.insert(table) if self.kind == "sqlite" else postgresql.insert(table)

    def complete(self) -> None:
        """Create the tables that a file of version 1 lacks, before they are written."""
        if not self.is_complete:
            with self.writing() as connection:
                self._make_tables(connection, [QUESTION, WORKER, CLAIM])
            self.is_complete = True

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Convert errors of the database to `StoreError`, in one line."""
        if self._closed:
            raise StoreError(f"{self.name}: the store is closed; open it again")
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            said = str(getattr(error, "orig", None) or error).strip()
            said = without_secrets(said, self._secrets)
            reason = " ".join((said.splitlines() or [type(error).__name__])[0].split())
            mend = "name one that can be used"
            if self.kind == "sqlite":
                mend = "name a file that can be read and written"
            if "malformed" in reason:
                mend = (
                    "keep what is sound with `stead-sym models decisions salvage OLD NEW`, or restore a copy"
                )
            raise StoreError(f"{self.name}: {reason}; {mend}") from None

    def _connect_sqlite(self, path: str | None) -> None:
        self.name = "the store in memory" if path is None else path
        if path is not None and not _is_path(path):
            raise StoreError(f"{printable(path)}: no path of a file; name one that can be read and written")
        self._writing = threading.RLock()  # SQLite's waiters sleep; a lock is faster
        options: dict[str, Any] = {"timeout": float(_WAIT_SECONDS), "check_same_thread": False}
        if path is None:
            # The memory belongs to one connection, so its users take turns.
            self._reading = self._writing
            self._engine = sa.create_engine("sqlite://", poolclass=StaticPool, connect_args=options)
        else:
            uri = _read_only_uri(path)
            self.is_read_only = uri is not None
            place = {} if uri is None else {"creator": lambda: sqlite3.connect(uri, uri=True, **options)}
            self._engine = sa.create_engine(
                sa.URL.create("sqlite", database=os.path.abspath(path)),
                **place,
                poolclass=QueuePool,
                pool_size=16,
                max_overflow=-1,
                connect_args=options,
            )

        @sa.event.listens_for(self._engine, "connect")
        def prepare(connection: Any, _record: object) -> None:
            connection.isolation_level = None  # only `begin` starts transactions
            connection.execute("PRAGMA synchronous = NORMAL")

        self._reader: sa.Engine = self._engine
        self._writer: sa.Engine = self._engine.execution_options(writes=True)

        @sa.event.listens_for(self._engine, "begin")
        def begin(connection: sa.Connection) -> None:
            if connection.get_execution_options().get("writes"):
                connection.exec_driver_sql("BEGIN IMMEDIATE")

    def _connect_postgresql(self, words: str) -> None:
        self.name = "the store at a URL"
        try:
            url = sa.make_url(words)
        except (SQLAlchemyError, ValueError):
            raise StoreError(
                "the store's URL cannot be read; write postgresql+psycopg://USER:PASSWORD@HOST:PORT/DATABASE"
            ) from None
        if url.drivername not in ("postgresql", "postgresql+psycopg", "postgres"):
            raise StoreError(
                f"stores are no {url.drivername} databases; write a path of a file, or "
                "postgresql+psycopg://USER:PASSWORD@HOST:PORT/DATABASE"
            )
        hosts = url.query.get("host", url.host or "")
        host = hosts if isinstance(hosts, str) else ",".join(hosts)
        port = f":{url.port}" if url.port else ""
        self.name = f"postgresql://{host}{port}/{url.database or ''}"
        hidden = [url.password, *(v for k, v in url.query.items() if "pass" in k)]
        self._secrets = tuple(str(secret) for secret in hidden if secret)
        milliseconds = _WAIT_SECONDS * 1000
        try:
            self._engine = sa.create_engine(
                url.set(drivername="postgresql+psycopg"),
                pool_size=8,
                max_overflow=8,
                pool_timeout=_WAIT_SECONDS,
                pool_pre_ping=True,  # reconnect to a restarted server
                connect_args={
                    "connect_timeout": 10,
                    "tcp_user_timeout": milliseconds,
                    "options": f"-c lock_timeout={milliseconds} -c statement_timeout={milliseconds}",
                },
            )
        except ImportError:
            raise StoreError(
                f"{self.name} needs the library psycopg, which is not installed; {install('postgres')}"
            ) from None
        except (SQLAlchemyError, ValueError, TypeError):
            raise StoreError(f"{self.name}: an option of the URL cannot be read; leave it out") from None
        self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._writer = self._engine

    def _open(self) -> int:
        """Create the tables if there are none; return the version of the existing ones."""
        return self._open_sqlite() if self.kind == "sqlite" else self._open_postgresql()

    def _open_sqlite(self) -> int:
        def pragma(connection: sa.Connection, name: str) -> int:
            return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())

        with self._engine.connect() as connection:
            # Another process may create and mark the tables, atomically, between any two of these reads. The
            # mark is read last, so that existing tables are never seen without it.
            empty = connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is None
            found = pragma(connection, "application_id"), pragma(connection, "user_version")
            new = empty and not found[0] and not self.is_read_only
            if new:
                _write_ahead(connection)
        if new:
            with self._writer.begin() as connection:
                # Another process may have created the tables meanwhile.
                if not pragma(connection, "application_id"):
                    self._make_tables(connection, list(_METADATA.tables.values()))
                    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
                    connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")
                found = pragma(connection, "application_id"), pragma(connection, "user_version")
        application, version = found
        if application == APPLICATION and version > VERSION:
            raise self._newer(version, "file")
        if application != APPLICATION or version not in _READ:
            raise StoreError(
                f"{self.name}: an SQLite file, but no store of decisions of version {VERSION}; name "
                "another file"
            )
        return version

    def _newer(self, version: int, kind: str) -> StoreError:
        return StoreError(
            f"{self.name}: a store of version {version}, which a newer version of this program wrote; this"
            f" one reads version {VERSION}: use the newer program, or name another {kind}"
        )

    def _make_tables(self, connection: sa.Connection, tables: Sequence[sa.Table]) -> None:
        """Create tables in an SQLite file, unless they exist."""
        _METADATA.create_all(connection, tables)
        for table in set(tables) & set(_APPEND_ONLY):
            for verb, done in (("UPDATE", "changed"), ("DELETE", "deleted")):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER IF NOT EXISTS {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN "
                    f"SELECT RAISE(ABORT, 'rows of a store are never {done}'); END"
                )

    def _open_postgresql(self) -> int:
        with self._engine.begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(APPLICATION)))
            there = {table.name for table in _METADATA.tables.values()} & set(
                sa.inspect(connection).get_table_names()
            )
            if not there and not self._create:
                raise StoreError(f"{self.name}: there is no store of decisions; name the database of one")
            if not there:
                _METADATA.create_all(connection)
                connection.exec_driver_sql(
                    "CREATE FUNCTION stead_row_is_kept() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$BEGIN RAISE EXCEPTION 'rows of a store are never changed or deleted'; END$$"
                )
                for table in _APPEND_ONLY:
                    connection.exec_driver_sql(
                        f"CREATE TRIGGER {table}_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                        "EXECUTE FUNCTION stead_row_is_kept()"
                    )
                connection.exec_driver_sql(f"COMMENT ON TABLE decision IS 'stead-sym {VERSION}'")
            said = connection.exec_driver_sql("SELECT obj_description(to_regclass('decision'))").scalar()
            newer = re.fullmatch(r"stead-sym ([0-9]{1,9})", str(said))
            if newer and int(newer[1]) > VERSION:
                raise self._newer(int(newer[1]), "database")
            if said != f"stead-sym {VERSION}":
                raise StoreError(
                    f"{self.name}: a database, but no store of decisions of version {VERSION}; name another "
                    "database"
                )
        return VERSION


def _plain(row: Any) -> Row:
    return row[0], row[1], row[2], row[3]


def parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """Yield the keys in lists that fit into a statement, in a common order, which prevents deadlocks."""
    listed = sorted(set(keys))
    for start in range(0, len(listed), _ROWS_PER_STATEMENT):
        yield listed[start : start + _ROWS_PER_STATEMENT]


def _write_ahead(connection: sa.Connection) -> None:
    """Enable the write-ahead log, so that readers and a writer do not block each other.

    If another process is doing so, SQLite reports the file as locked at once, without waiting.
    """
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def is_there(path: str) -> bool:
    """Return True if there is a nonempty file."""
    return _is_path(path) and os.path.exists(path) and os.path.getsize(path) > 0


def _read_only_uri(path: str) -> str | None:
    """Return the URI by which SQLite opens a file that cannot be written, or whose folder cannot.

    None if both can, or if there is no file. To read a file with a write-ahead log SQLite creates others next
    to it, unless the file is declared immutable. It is not declared so while it is open elsewhere, nor if the
    log has data that the file lacks.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not is_there(path) or (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
        return None
    if is_there(f"{path}-wal") and not os.path.exists(f"{path}-shm"):
        raise StoreError(
            f"{path}: the store cannot be written, and its last decisions are in {path}-wal; open it once"
            " where it can be written"
        )
    how = "mode=ro" if os.path.exists(f"{path}-shm") else "immutable=1"
    return f"file:{quote(os.path.abspath(path))}?{how}"


def _is_path(path: str) -> bool:
    """Return True if a file system and SQLite, whose paths are in UTF-8, can have the path."""
    try:
        return b"\0" not in path.encode()
    except UnicodeEncodeError:
        return False
