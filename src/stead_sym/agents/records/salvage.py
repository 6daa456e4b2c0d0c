"""Recover the intact rows of a damaged store into a new one.

The decision: a row is kept if it passes every check of a read. Of two decisions for one key that disagree
neither is kept: the right one cannot be determined, and the model can be queried again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.store import Store, contents
from stead_sym.errors import StoreError

if TYPE_CHECKING:
    from stead_sym.agents.records.database import Row

_TABLES = ("decision", "node", "question")
_ROWS_PER_READ = 500


class Lost(NamedTuple):
    """A row that was not kept: its table, its number, its key if it can be read, and the reason."""

    table: str
    number: int
    key: str
    why: str

    def __str__(self) -> str:
        """Return the row and the reason in words."""
        key = f" (key {self.key[:12]})" if self.key else ""
        return f"{self.table} {self.number}{key}: {self.why}"


class Salvaged(NamedTuple):
    """The numbers of kept decisions and nodes, and the lost rows."""

    decisions: int
    nodes: int
    lost: tuple[Lost, ...]


class _Read(NamedTuple):
    """A row that was read, with a summary of its contents, or the reason for rejecting it."""

    number: int
    row: Row | None
    says: str
    why: str


def salvage(old: Store, new: Store) -> Salvaged:
    """Add the intact rows of one store to another, which must be empty: all of them, or none on error.

    Raise `StoreError` if it is not empty, or if ``old`` cannot be read at all.
    """
    lost: list[Lost] = []
    new.database.complete()
    for table in _TABLES:
        if next(new.database.all_rows(table), None) is not None:
            raise StoreError(f"{new.name}: there are decisions already; name a new store")
    with new.database.writing() as connection:
        kept = {}
        for table in _TABLES if old.database.is_complete else _TABLES[:2]:
            rows = list[dict[str, str]]()
            kept[table] = 0
            for _, key, body, digest in _kept(old, table, lost):
                rows.append({"key": key, "body": body, "digest": digest})
                if len(rows) == _ROWS_PER_READ:
                    kept[table] += new.database.add(connection, table, rows)
                    rows.clear()
            kept[table] += new.database.add(connection, table, rows)
    return Salvaged(kept["decision"], kept["node"], tuple(lost))


def _kept(old: Store, table: str, lost: list[Lost]) -> Iterator[Row]:
    """Yield the first intact row of every key without contradicting rows; list the lost ones."""
    said: dict[str, dict[str, int]] = {}
    for number, row, says, why in _read(old, table):
        if row is None or why:
            lost.append(Lost(table, number, "" if row is None else str(row[1]), why))
        else:
            said.setdefault(row[1], {}).setdefault(says, number)
    for number, row, _, why in _read(old, table):
        if row is None or why:
            continue
        firsts = list(said[row[1]].values())
        if len(firsts) > 1:
            others = ", ".join(str(first) for first in firsts if first != number)
            lost.append(Lost(table, number, row[1], f"says something else than {others} for one key"))
        elif number == firsts[0]:
            yield row


def _read(old: Store, table: str) -> Iterator[_Read]:
    for number, row in old.database.each_row(table):
        if row is None:
            yield _Read(number, None, "", "cannot be read")
            continue
        try:
            body = contents(row)
            if table != "decision":
                yield _Read(number, row, row[2], "")
                continue
            answer = Answer.from_data(body)
        except (ValueError, RecursionError) as error:
            yield _Read(number, row, "", f"is corrupt ({error})")
        except StoreError as error:
            yield _Read(number, row, "", error.message)
        else:
            says = " ".join(map(str, sorted(answer.selected)))
            filed = answer.key == row[1]
            yield _Read(number, row, says, "" if filed else "is filed under the key of another")
