"""The interface of tables for the reader of facts: named columns, and rows in batches.

One decision: a batch is a list of columns, so that cells are converted column by column; a row is located
only if one of its cells is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from stead_sym.data.source import Column
from stead_sym.errors import DeclarationError
from stead_sym.logic.names import nearest

BATCH = 20_000
"""The number of rows in memory at a time."""

Cells: TypeAlias = Sequence[object]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows, as the cells of each requested column in the requested order.

    ``place`` returns the location of a row, given by its number from 0 in the batch.
    """

    rows: int
    columns: Sequence[Cells]
    place: Callable[[int], str]


class Table(Protocol):
    """A table with named columns."""

    def batches(self, columns: Sequence[Column]) -> Iterator[Batch]:
        """Yield the rows, restricted to these columns.

        Raise `InputError` with the row that cannot be read, and `DeclarationError` at a column that the
        table lacks.
        """
        ...


def positions(columns: Sequence[Column], header: Sequence[str], table: str) -> list[int]:
    """Return the positions of the columns under a header. Raise `DeclarationError`."""
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
    """Return the name of a column for a message, truncated if long: without a header it may be any text."""
    cut = name if len(name) <= 40 else f"{name[:39]}…"
    return cut if cut.isprintable() and cut.strip() == cut != "" else repr(cut)
