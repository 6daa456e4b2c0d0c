"""The cells of a database that no relation of a deployment has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sqlalchemy as sa

from stead_sym.conformance.binding import Rows

Cells = Mapping[str, Mapping[object, object]]
"""By table or by column, its cells by the keys of their rows. A table of no relation has its rows as keys."""


class Beyond:
    """The tables that no relation is bound to, and the columns of the others that none has."""

    def __init__(self, tables: Mapping[str, sa.Table], rows: Mapping[str, Rows]) -> None:
        """Find them, by the names of the tables and the bound rows of each relation."""
        self._found: list[tuple[str, int, list[sa.Column[object]]]] = []
        for name, table in tables.items():
            bound = [one for one in rows.values() if one.table == name]
            known = {column for one in bound for column in (*one.columns, *one.where)}
            keys = list(table.primary_key) or [column for column in table.c if column.name in known]
            more = [column for column in table.c if column.name not in known and column not in keys]
            if not bound:
                self._found.append((name, len(table.c), list(table.c)))
            elif more:
                self._found.append((name, len(keys), [*keys, *more]))
        self._queries = [sa.select(*columns) for _, _, columns in self._found]
        self._last: dict[int, tuple[object, Cells]] = {}
        """By place in ``_found``: the rows that were read last, and their cells."""

    @property
    def is_empty(self) -> bool:
        """Return True if the relations have all tables and columns."""
        return not self._found

    def cells(self, connection: sa.Connection) -> Cells:
        """Return what they hold."""
        found: dict[str, Mapping[object, object]] = {}
        for place, (name, width, columns) in enumerate(self._found):
            read = connection.execute(self._queries[place]).all()
            if self._last.get(place, (None,))[0] != read:
                self._last[place] = read, dict(_cells(name, width, columns, read))
            found.update(self._last[place][1])
        return found


def _cells(
    name: str, width: int, columns: list[sa.Column[object]], read: Sequence[Sequence[object]]
) -> Iterator[tuple[str, Mapping[object, object]]]:
    """Yield a table, or its columns after the first ``width``, with their cells by the keys of the rows."""
    rows = [tuple(map(repr, row)) for row in read]
    if width == len(columns):
        yield name, dict.fromkeys(rows)
    for place, column in enumerate(columns[width:], width):
        yield f"{name}.{column.name}", {row[:width]: row[place] for row in rows}


def differing(before: Cells, after: Cells) -> Iterator[str]:
    """Yield the tables of no relation that changed, and the columns that did in rows that are still there."""
    for name, cells in after.items():
        old = before.get(name, {})
        rows_differ = "." not in name and old.keys() != cells.keys()
        if rows_differ or any(old[key] != cell for key, cell in cells.items() if key in old):
            yield name
