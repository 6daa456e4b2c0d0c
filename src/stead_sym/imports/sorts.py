"""Give the columns of a database sorts: columns that hold the same identifiers share one.

Columns are joined along foreign keys (the finest equivalence in which a foreign key and what it refers to
have one sort), and so are those of one DOMAIN of texts. A class whose values a constraint lists, or a small
table that others only refer to, is a finite sort; any other is one of unboundedly many values.

One decision: a column without a key, a reference or a list of values gets no sort. Texts, amounts and dates
would have to be values that a state keeps apart, and hardly any rule depends on which they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from stead_sym.data.spelling import prefixed
from stead_sym.imports.tables import ForeignKey, Table, TableColumn, Tables
from stead_sym.logic.names import WORDS, is_name

T = TypeVar("T")
Place: TypeAlias = tuple[str, str]
"""A table and a column, in lower case."""

MOST_LISTED = 20
"""A table of at most so many rows may become the list of values of a sort."""
MOST_NUMBERS = 33
"""A range of at most so many integers becomes a sort."""

_RESERVED = WORDS | {"any", "key", "references", "total", "rigid", "in", "for", "when", "where", "by", "did"}


def place(table: Table, column: str) -> Place:
    """Return the place of a column."""
    return table.name.lower(), column.lower()


def named(text: str) -> str:
    """Return a name of the language that is as close to a text as it can be."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "unnamed"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in _RESERVED else name


def distinct(texts: Mapping[T, str], taken: Iterable[str] = ()) -> dict[T, str]:
    """Return a name for each text, each another; the later of two alike, or of one taken, gets a number."""
    names: dict[T, str] = {}
    there = set(taken)
    for key, text in texts.items():
        first = name = named(text)
        number = 2
        while name in there:
            name, number = f"{first}_{number}", number + 1
        there.add(name)
        names[key] = name
    return names


def singular(name: str) -> str:
    """Return a name for one row of a table: `order` for orders, `category` for categories."""
    lower = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", named(name)).lower()
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if lower.endswith(ending) and len(lower) > len(ending) + 1:
            return lower[: -len(ending)] + instead
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and len(lower) > 2:
        return lower[:-1]
    return lower


@dataclass(eq=False)
class DraftSort:
    """A sort of the draft. Without ``values`` and ``low`` it has unboundedly many values."""

    name: str
    values: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    places: set[Place] = field(default_factory=set)

    @property
    def finite(self) -> bool:
        """Return True if the sort lists its values."""
        return bool(self.values) or self.low is not None


class Sorts:
    """The sorts of a draft, by columns."""

    def __init__(self, tables: Tables, extra: Iterable[Place] = (), mentioned: Iterable[str] = ()) -> None:
        """Join the columns of all tables; ``extra`` are columns that a tool's parameter names.

        Tables that are ``mentioned`` (in lower case) are no lists of values.
        """
        self._tables = tables
        self._parent: dict[Place, Place] = {}
        self._mentioned = set(mentioned)
        self.lists: set[str] = {t.name.lower() for t in tables.tables if self._is_list(t)}
        self.all: list[DraftSort] = []
        self._by_place: dict[Place, DraftSort] = {}
        joined = self._joined(set(extra))
        self._make(joined)

    def of(self, table: Table, column: str) -> DraftSort | None:
        """Return the sort of a column, None if the column has none."""
        return self._by_place.get(place(table, column))

    def at(self, where: Place) -> DraftSort | None:
        """Return the sort at a place, or None."""
        return self._by_place.get(where)

    def listing(self, name: str, values: Sequence[str], column: str | None = None) -> DraftSort:
        """Return a finite sort with at least these values, preferably that of the column, or a new one."""
        finite = [one for one in self.all if set(values) <= set(one.values)]
        same = [one for one in finite if column is not None and column.lower() in {c for _, c in one.places}]
        if found := next(iter(same or finite), None):
            return found
        return self._add(name, values=tuple(dict.fromkeys(values)))

    def numbers(self, name: str, low: int, high: int) -> DraftSort:
        """Return a new sort of integers."""
        return self._add(name, low=low, high=high)

    def spelled(self) -> Mapping[tuple[str, str], str]:
        """Return the value of each finite sort that stands for each text.

        A text that is a name, and that no other sort lists, is kept; any other gets the sort as a prefix, as
        the cells of tables do when a deployment reads them.
        """
        times: dict[str, int] = {}
        for sort in self.all:
            for text in sort.values:
                times[text] = times.get(text, 0) + 1
        names: dict[tuple[str, str], str] = {}
        for sort in self.all:
            for text in sort.values:
                kept = times[text] == 1 and is_name(text) and text not in _RESERVED
                value = text if kept else prefixed(text, sort.name)
                names[sort.name, text] = distinct({"": value}, names.values())[""]
        return names

    def reference(self, key: ForeignKey) -> tuple[Table, tuple[str, ...]] | None:
        """Return the table of a foreign key and the columns that it refers to; None if it is not there."""
        target = self._tables.table(key.table)
        if target is None:
            return None
        columns = key.referenced or target.primary_key
        there = len(columns) == len(key.columns) and all(target.column(one) for one in columns)
        return (target, columns) if there else None

    def _is_list(self, table: Table) -> bool:
        """Return True for a small table of known rows with a key of texts, which refers to nothing."""
        if len(table.primary_key) != 1 or table.foreign_keys or table.name.lower() in self._mentioned:
            return False
        key = table.column(table.primary_key[0])
        keys = [row.get(table.primary_key[0]) for row in table.rows]
        return (
            key is not None
            and key.kind == "text"
            and 0 < len(keys) <= MOST_LISTED
            and None not in keys
            and any(
                k.table.lower() == table.name.lower() for t in self._tables.tables for k in t.foreign_keys
            )
        )

    def _joined(self, extra: set[Place]) -> dict[Place, list[Place]]:
        """Return the classes of the columns that get a sort, by their first columns."""
        sorted_places = dict.fromkeys(
            place(table, column.name)
            for table in self._tables.tables
            for column in table.columns
            if self._has_sort(table, column) or place(table, column.name) in extra
        )
        for where in sorted_places:
            self._parent[where] = where
        typed: dict[str, Place] = {}
        for where in sorted_places:
            column = self._column(where)
            if column.type is not None and not _lists(column):  # a domain of identifiers
                self._join(typed.setdefault(column.type, where), where)
        for table in self._tables.tables:
            for key in table.foreign_keys:
                found = self.reference(key)
                if found is None or not all(table.column(name) for name in key.columns):
                    continue
                target, columns = found
                for here, there in zip(key.columns, columns, strict=True):
                    self._join(place(target, there), place(table, here))
        classes: dict[Place, list[Place]] = {}
        for where in list(self._parent):
            classes.setdefault(self._root(where), []).append(where)
        return classes

    def _has_sort(self, table: Table, column: TableColumn) -> bool:
        names = [*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)]
        if column.name.lower() in {n.lower() for n in names} or column.kind == "boolean" or _lists(column):
            return True
        return column.kind == "text" and column.type is not None

    def _root(self, where: Place) -> Place:
        while self._parent[where] != where:
            where = self._parent[where]
        return where

    def _join(self, one: Place, other: Place) -> None:
        for where in (one, other):
            self._parent.setdefault(where, where)
        self._parent[self._root(other)] = self._root(one)

    def _make(self, classes: Mapping[Place, Sequence[Place]]) -> None:
        """Make a sort of each class; enumerations of one type, or alike in name and values, are one."""
        listed: dict[tuple[object, ...], DraftSort] = {}
        for root, members in classes.items():
            columns = [self._column(where) for where in members]
            source = next((c for c in columns if _lists(c)), None)
            table = self._tables.table(root[0])
            if table is not None and root[0] in self.lists:
                values = tuple(str(row[table.primary_key[0]]) for row in table.rows)
                sort = self._add(singular(table.name), values=values)
            elif source is not None:
                key = (source.type, source.name.lower(), source.values, source.low, source.high)
                if source.type is not None:
                    key = (source.type, "", source.values, source.low, source.high)
                if key not in listed:
                    name = source.type or self._unique_to(root, source.name)
                    numbers = source.low is not None and source.high is not None and not source.values
                    low, high = (source.low, source.high) if numbers else (None, None)
                    listed[key] = self._add(name, values=source.values, low=low, high=high)
                sort = listed[key]
            elif all(c.kind == "boolean" for c in columns):
                if ("boolean",) not in listed:
                    listed["boolean",] = self._add("flag", values=self._tables.booleans)
                sort = listed["boolean",]
            else:
                sort = self._add(self._entity(root, members))
            for where in members:
                sort.places.add(where)
                self._by_place[where] = sort

    def _column(self, where: Place) -> TableColumn:
        table = self._tables.table(where[0])
        column = None if table is None else table.column(where[1])
        assert column is not None, "places are those of columns"
        return column

    def _unique_to(self, where: Place, name: str) -> str:
        """Return the name of a column, with that of its table before it if another one has such a column."""
        tables = [t for t in self._tables.tables if (c := t.column(name)) is not None and _lists(c)]
        return name.lower() if len(tables) == 1 else f"{singular(where[0])}_{name.lower()}"

    def _entity(self, root: Place, members: Sequence[Place]) -> str:
        """Return a name for what a class of identifiers identifies: their type, or the table with the key."""
        if (named := next((t for where in members if (t := self._column(where).type)), None)) is not None:
            return named
        for where in (root, *members):
            table = self._tables.table(where[0])
            if table is not None and [name.lower() for name in table.primary_key] == [where[1]]:
                return singular(table.name)
        column = re.sub(r"_?id$", "", self._column(root).name, flags=re.IGNORECASE)
        return singular(column or f"{root[0]}_id")

    def _add(
        self, name: str, values: tuple[str, ...] = (), low: int | None = None, high: int | None = None
    ) -> DraftSort:
        name = distinct({"": name}, (one.name for one in self.all))[""]
        sort = DraftSort(name, values, low, high)
        self.all.append(sort)
        return sort


def _lists(column: TableColumn) -> bool:
    """Return True if constraints list the values of a column, or bound it to few integers."""
    if column.values:
        return True
    return column.low is not None and column.high is not None and 0 <= column.high - column.low < MOST_NUMBERS
