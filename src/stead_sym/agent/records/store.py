"""The store of decisions: one SQLite file, to which rows are only ever added.

The decision: two tables. `node` has what the model said at one branching node, written the moment it is
known; `decision` has the finished answers. So a process that ends in the middle of a batch loses no answer of
the model: the next one finds the nodes. A row carries the digest of its contents, and every read checks it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from stead_sym.agent.records.answer import Answer
from stead_sym.agent.records.digest import digest, spelled
from stead_sym.errors import StoreError

_APPLICATION = 0x53544541  # "STEA": tells a store from other SQLite files
_VERSION = 1
_TABLES = ("decision", "node")
_SCHEMA = "".join(
    f"""
    CREATE TABLE {table} (
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, body TEXT NOT NULL, digest TEXT NOT NULL
    );
    CREATE INDEX {table}_key ON {table} (key);
    CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table}
        BEGIN SELECT RAISE(ABORT, 'rows of a store are never changed'); END;
    CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
        BEGIN SELECT RAISE(ABORT, 'rows of a store are never deleted'); END;
    """
    for table in _TABLES
)


class Store:
    """The decisions in a file; without a file, in memory. A file that is not there is made with ``create``,
    and an error without.

    Every method raises `StoreError` for a row that is corrupt, for two rows of one key that disagree (both
    name the row), and for a file that SQLite cannot work with. Several processes may use one file.
    """

    def __init__(self, path: str | Path | None = None, *, create: bool = True) -> None:
        if not isinstance(path, str | Path | None):
            raise TypeError(f"{path!r} is no path of a store; give one, or None for a store in memory")
        self.name = "the store in memory" if path is None else str(path)
        if path is not None and not create and not (os.path.exists(path) and os.path.getsize(path)):
            raise StoreError(f"{path}: there is no store of decisions; name the file of one")
        with self._reporting():
            self._db = sqlite3.connect(
                ":memory:" if path is None else str(path), isolation_level=None, timeout=60.0
            )
            self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def get(self, key: str) -> Answer | None:
        """The decision of that key, if there is one."""
        rows = self._rows("decision", key)
        return self._only(rows, key) if rows else None

    def put(self, answer: Answer) -> Answer:
        """Add a decision, and return the one that is then in the store.

        If there is one of that key already, nothing is added; `StoreError` where it selects otherwise.
        """
        with self._transaction():
            rows = self._rows("decision", answer.key)
            if not rows:
                self._insert("decision", answer.key, answer.data())
                return answer
            kept = self._only(rows, answer.key)
        if kept.selected != answer.selected:
            raise StoreError(
                f"{self.name}: decision {rows[0][0]} selects {_calls(kept)} where {_calls(answer)} was "
                "selected now; "
                "a near-tie went the other way: verify with a tolerance, or with the store that served before"
            )
        return kept

    def get_node(self, key: str) -> tuple[float, ...] | None:
        """The log-probabilities at the branching node of that key, if they are known."""
        rows = self._rows("node", key)
        for number, body in rows[1:]:
            if body != rows[0][1]:
                raise StoreError(
                    f"{self.name}: nodes {rows[0][0]} and {number} are two answers for one key; use "
                    "another store"
                )
        return tuple(rows[0][1]) if rows else None

    def put_node(self, key: str, logprobs: Sequence[float]) -> None:
        """Add what the model said at a branching node, unless it is known."""
        with self._transaction():
            if not self._rows("node", key):
                self._insert("node", key, list(logprobs))

    def answers(self) -> Iterator[tuple[int, Answer]]:
        """All decisions with the numbers of their rows, oldest first."""
        with self._reporting():
            numbers = [row[0] for row in self._db.execute("SELECT id FROM decision ORDER BY id")]
        for number in numbers:
            with self._reporting():
                row = self._db.execute("SELECT id, key, body, digest FROM decision WHERE id = ?", (number,))
                number, body = self._checked("decision", row.fetchone())
            yield number, self._answer(number, body)

    def _open(self) -> None:
        self._db.execute("PRAGMA busy_timeout = 60000")
        application, version = self._pragma("application_id"), self._pragma("user_version")
        if not application and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            self._db.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                # Another process may have made the tables since this one looked.
                if not self._pragma("application_id"):
                    for statement in _statements(_SCHEMA):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
                    self._db.execute(f"PRAGMA user_version = {_VERSION}")
        elif (application, version) != (_APPLICATION, _VERSION):
            raise StoreError(
                f"{self.name}: an SQLite file, but no store of decisions of version {_VERSION}; name "
                "another file"
            )
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _pragma(self, name: str) -> int:
        value: int = self._db.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    def _insert(self, table: str, key: str, body: Any) -> None:
        row = (key, spelled(body), digest([key, body]))
        self._db.execute(f"INSERT INTO {table} (key, body, digest) VALUES (?, ?, ?)", row)

    def _rows(self, table: str, key: str) -> list[tuple[int, Any]]:
        """The numbers and the contents of the rows of a key, checked."""
        with self._reporting():
            found = self._db.execute(
                f"SELECT id, key, body, digest FROM {table} WHERE key = ? ORDER BY id", (key,)
            ).fetchall()
        return [self._checked(table, row) for row in found]

    def _checked(self, table: str, row: tuple[int, str, str, str]) -> tuple[int, Any]:
        number, key, text, recorded = row
        try:
            body = json.loads(text)
        except (TypeError, ValueError):
            body = None
        if digest([key, body]) != recorded:
            raise StoreError(
                f"{self.name}: {table} {number} is corrupt (its digest does not match); restore the file "
                "from a backup"
            )
        return number, body

    def _answer(self, number: int, body: Any) -> Answer:
        try:
            return Answer.from_data(body)
        except StoreError as error:
            raise StoreError(f"{self.name}: decision {number}: {error.message}; use another store") from None

    def _only(self, rows: Sequence[tuple[int, Any]], key: str) -> Answer:
        """The answer of the rows, which are of one key and must agree."""
        (first, body), *others = rows
        answer = self._answer(first, body)
        if answer.key != key:
            raise StoreError(
                f"{self.name}: decision {first} is filed under the key of another; use another store"
            )
        for number, other in others:
            if self._answer(number, other).selected != answer.selected:
                raise StoreError(
                    f"{self.name}: decisions {first} and {number} are two answers for one key; use "
                    "another store"
                )
        return answer

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._reporting():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.name}: {error}; name a file that can be read and written") from None


def _statements(script: str) -> Iterator[str]:
    """The statements of an SQL script, which are executed one by one to stay inside a transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _calls(answer: Answer) -> str:
    return ", ".join(map(str, sorted(answer.selected)))
