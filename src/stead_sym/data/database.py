"""Read tables of databases through SQLAlchemy.

One decision: no message can reveal a password. A URL with a password is refused in a deployment; one from the
environment is referred to by the name of its variable; both are removed from the driver's messages. Access is
read-only: SQLite is opened so that it cannot write, PostgreSQL in a read-only transaction, and no transaction
is ever committed. `import sqlalchemy` is slow, so this module is imported only when a database is read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, NoSuchTableError, SQLAlchemyError

from stead_sym.data.source import Column, Database
from stead_sym.data.tables import BATCH, Batch, Table, positions
from stead_sym.errors import InputError, Span

_SECRET = ("pass", "pwd", "secret", "token", "key")
"""Substrings of the names of URL options whose values are secret."""


def connected(source: Database, folder: Path) -> AbstractContextManager[sa.Connection]:
    """Connect to the database of a source, so that nothing can be written; raise `InputError`."""
    return _rows(source, folder, None).connected()


def database_table(source: Database, folder: Path, span: Span | None) -> Table:
    """Return the table, or the rows of the query; the path of a SQLite file is relative to the folder.

    Raise `InputError`.
    """
    return _rows(source, folder, span)


def _rows(source: Database, folder: Path, span: Span | None) -> _Rows:
    if source.url is not None:
        words, name = source.url, "the database's URL"
    else:
        variable = source.variable or ""
        name = f"env {variable}"
        if not (words := os.environ.get(variable, "")):
            raise InputError(
                f"the environment variable {variable} is not set; let it hold the URL of a database", span
            )
    try:
        url = sa.make_url(words)
    except (SQLAlchemyError, ValueError):
        raise InputError(
            f"{name} cannot be read; write sqlite:///FILE, or postgresql+psycopg://HOST/DATABASE", span
        ) from None
    secrets = [url.password, *(v for k, v in url.query.items() if any(word in k.lower() for word in _SECRET))]
    hidden = tuple(str(secret) for secret in secrets if secret)
    if source.url is not None:
        if hidden:
            raise InputError(
                "the URL holds a password, which is not for a file that others read; put the URL into an"
                " environment variable and write `env NAME` in its place",
                span,
            )
        name = url.render_as_string()
    return _Rows(source, url, name, hidden if source.url is not None else (words, *hidden), folder, span)


@dataclass(frozen=True, slots=True)
class _Rows:
    source: Database
    url: sa.URL
    name: str
    hidden: tuple[str, ...]
    folder: Path
    span: Span | None

    def batches(self, columns: Sequence[Column]) -> Iterator[Batch]:
        """Yield the rows with these columns; see `Table.batches`."""
        with self.connected() as connection:
            yield from self._read(connection.execution_options(stream_results=True), columns)

    @contextmanager
    def connected(self) -> Iterator[sa.Connection]:
        """Yield a connection that cannot write; raise `InputError` for every error of the database."""
        try:
            engine = self._engine()
        except NoSuchModuleError:
            raise InputError(
                f"{self.name}: no kind of database that SQLAlchemy knows here; write sqlite:///FILE, or"
                " postgresql+psycopg://HOST/DATABASE",
                self.span,
            ) from None
        except ImportError as error:
            raise InputError(
                f"{self.name} needs the library {error.name}, which is not installed; install it", self.span
            ) from None
        except (SQLAlchemyError, ValueError, TypeError) as error:
            raise self._failed(error) from None
        try:
            with engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:
            raise self._failed(error) from None
        finally:
            engine.dispose()

    def _engine(self) -> sa.Engine:
        if self.url.get_backend_name() != "sqlite":
            engine = sa.create_engine(self.url)
            only = {"postgresql_readonly": True} if engine.dialect.name == "postgresql" else {}
            return engine.execution_options(**only)
        path = self.folder / (self.url.database or "")
        if not path.is_file():
            raise InputError(f"{path}: there is no such database; give the path of a SQLite file", self.span)
        uri = f"file:{quote(os.path.abspath(path))}?mode=ro"
        return sa.create_engine("sqlite://", creator=lambda: _read_only(uri))

    def _read(self, connection: sa.Connection, columns: Sequence[Column]) -> Iterator[Batch]:
        table = (
            f"{self.name}, {'the query' if self.source.query is not None else f'table {self.source.table}'}"
        )
        result = connection.execute(self._statement(connection, columns, table))
        places = positions(columns, list(result.keys()), table)
        read = 0
        for rows in result.partitions(BATCH):
            whole: list[Any] = list(zip(*rows, strict=True))
            first = read + 1
            yield Batch(
                len(rows),
                [whole[place] for place in places],
                lambda number, first=first: f"{table}, row {first + number}",  # type: ignore[misc]
            )
            read += len(rows)

    def _statement(self, connection: sa.Connection, columns: Sequence[Column], table: str) -> sa.Executable:
        if self.source.query is not None:
            return sa.text(self.source.query.replace(":", "\\:"))  # literal colons
        schema, _, name = (self.source.table or "").rpartition(".")
        try:
            there = [
                str(column["name"]) for column in sa.inspect(connection).get_columns(name, schema or None)
            ]
        except NoSuchTableError:
            raise InputError(
                f"{self.name} has no table {self.source.table}; name one of its", self.span
            ) from None
        positions(columns, there, table)  # SQLite reads a quoted name that is no column as text
        asked: list[sa.ColumnElement[Any]] = [sa.column(column.name) for column in columns] or [sa.literal(1)]
        return sa.select(*asked).select_from(sa.table(name, schema=schema or None))

    def _failed(self, error: Exception) -> InputError:
        said = str(getattr(error, "orig", None) or error)
        for secret in sorted(self.hidden, key=len, reverse=True):
            said = said.replace(secret, "***")
        lines = said.strip().splitlines() or [type(error).__name__]
        what = "the query" if self.source.query is not None else f"table {self.source.table}"
        if self.source.query is None and self.source.table is None:
            what = "the schema"
        return InputError(f"{self.name}: {what} cannot be read ({lines[0]}); see to the database", self.span)


def _read_only(uri: str) -> sqlite3.Connection:
    """Return a connection that writes no file.

    ATTACH is denied, because attaching a database that does not exist creates it, as `vacuum into` does.
    """
    connection = sqlite3.connect(uri, uri=True)
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK
    )
    return connection
