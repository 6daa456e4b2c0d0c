"""Tables as the reader of facts sees them: named columns, and rows in batches.

One decision: a batch is a list of columns, so that turning cells into values runs over whole columns at once;
only where a cell is wrong is its row looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from stead_sym.data.source import Column
from stead_sym.errors import DeclarationError
from stead_sym.logic.names import nearest

BATCH = 20_000
"""So many rows are in memory at a time."""

Cells: TypeAlias = Sequence[object]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows: the cells of each column that was asked for, in that order. ``place`` says where a row
    stands, from 0 within the batch."""

    rows: int
    columns: Sequence[Cells]
    place: Callable[[int], str]


class Table(Protocol):
    """Rows under named columns."""

    def batches(self, columns: Sequence[Column]) -> Iterator[Batch]:
        """The rows, these columns of them. Raises `InputError`: with the row where one cannot be read, and
        `DeclarationError` at a column that the table has not."""
        ...


def positions(columns: Sequence[Column], header: Sequence[str], table: str) -> list[int]:
    """Where the columns stand under a header. Raises `DeclarationError`."""
    found = []
    for column in columns:
        times = header.count(column.name)
        if times == 0:
            there = ", ".join(map(_shown, header[:12])) + ", …" * (len(header) > 12)
            hint = nearest(column.name, header, f"its columns are {there or 'none'}")
            raise DeclarationError(f"{table} has no column {_shown(column.name)}; {hint}", column.span)
        if times > 1:
            raise DeclarationError(
                f"{table} has {times} columns {_shown(column.name)}; rename all but one", column.span
            )
        found.append(header.index(column.name))
    return found


def _shown(name: str) -> str:
    """The name of a column, cut where it is long: without a header it may be anything."""
    cut = name if len(name) <= 40 else f"{name[:39]}…"
    return cut if cut.isprintable() and cut.strip() == cut != "" else repr(cut)
