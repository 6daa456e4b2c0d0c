"""Maintain the parts of a changing set of facts, so that an update costs only what it affects.

The decision: adding or removing a fact only records the affected values. Their parts are recomputed when the
layout is requested. Values are (sort, name) pairs, so identifiers of two sorts may be spelled alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import count, repeat

from stead_sym.relational.encoding import Encoding
from stead_sym.relational.graph import RELATION, Row, moved
from stead_sym.relational.instance import Fact
from stead_sym.relational.layout import Hub, Part, Placement
from stead_sym.relational.schema import Value
from stead_sym.relational.shapes import Shape

_MAX_TOUCHED = 10_000  # the maximum number of touched values before parts are recomputed


class Parts:
    """A mutable set of facts, initially empty.

    It is not thread-safe; several over one encoding may be used by several threads.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._numbers = [dict(codes) for codes in encoding.rigid]  # of the values of each sort
        self._names: dict[int, Hub] = {}
        self._next = count()
        self._rows: dict[int, set[Row]] = {}  # of each value
        self._ground: set[Row] = set()
        self._hubs: dict[int, int] = {}  # hubs with their codes
        self._hub_rows: set[Row] = set()
        self._parts: dict[int, tuple[Part, tuple[int, ...]]] = {}  # the part of each value, with its values
        self._copies: dict[Shape, dict[Part, None]] = {}
        self._touched: set[int] = set()
        self._touched_rows: set[Row] = set()
        self._placement: Placement | None = None

    def change(self, come: Iterable[Fact] = (), go: Iterable[Fact] = ()) -> None:
        """Add facts that are not present, and remove facts that are.

        Raise `DeclarationError` for an unknown relation and `ValueError` for a wrong number of arguments.
        """
        self._placement = None
        for rows, _ in self._numbered(go):
            for row in rows:
                self._go(row)
        for rows, columns in self._numbered(come):
            self._come(rows, columns)

    def placement(self) -> Placement:
        """Return the layout with the current names of its values, as an immutable snapshot."""
        if self._placement is None:
            self._placement = self._placed()
        return self._placement

    def _placed(self) -> Placement:
        encoding = self.encoding
        if len(self._rows) <= encoding.small:
            if len(self._touched) > _MAX_TOUCHED:
                self._settle()
            rows: set[Row] = set().union(*self._rows.values())
            one = ((self._part(rows)[0],),) if rows else ()
            counts = {part.shape: 1 for parts in one for part in parts}
            return Placement(encoding.lay_out(counts, {}, frozenset(), frozenset(self._ground)), one)
        self._settle()
        names = {code: self._names[value] for value, code in self._hubs.items()}
        layout = encoding.lay_out(
            {shape: len(parts) for shape, parts in self._copies.items()},
            names,
            frozenset(self._coded(self._hub_rows)),
            frozenset(self._ground),
        )
        return Placement(layout, tuple(tuple(self._copies[block.own]) for block in layout.blocks))

    def _numbered(self, facts: Iterable[Fact]) -> Iterator[tuple[list[Row], list[list[int]]]]:
        """Yield the rows of each relation's facts, with the columns of their arguments.

        A new value gets a number. The work is done column by column, because work for each fact dominates the
        cost of a large context.
        """
        relations: dict[str, list[tuple[Value, ...]]] = {}
        for relation, args in facts:
            relations.setdefault(relation, []).append(args)
        encoding = self.encoding
        for relation, tuples in relations.items():
            encoding.schema.relation(relation)  # raises if it is unknown
            place = encoding.places[relation]
            columns: list[list[int]] = []
            for sort, column in zip(encoding.columns[place], zip(*tuples, strict=True), strict=True):
                numbers = self._numbers[sort]
                new = [value for value in dict.fromkeys(column) if value not in numbers]
                for value, code in zip(new, self._next, strict=False):
                    numbers[value] = code
                    self._names[code] = (sort, value)
                    self._rows[code] = set()
                columns.append([numbers[value] for value in column])
            code = RELATION + place
            yield [*zip(repeat(code), *columns)] if columns else [(code,)] * len(tuples), columns

    def _come(self, rows: list[Row], columns: list[list[int]]) -> None:
        if not any(min(column) >= 0 for column in columns):
            self._ground.update(row for row in rows if max(row) < 0)
        for column in columns:
            for code, row in zip(column, rows, strict=True):
                if code >= 0:
                    self._rows[code].add(row)
                    self._touched.add(code)
        self._touched_rows.update(row for row in rows if max(row) >= 0)

    def _go(self, row: Row) -> None:
        values = _values(row)
        if not values:
            self._ground.remove(row)
            return
        for value in values:
            rows = self._rows[value]
            rows.remove(row)
            if not rows:
                del self._rows[value]
                sort, name = self._names.pop(value)
                del self._numbers[sort][name]
        self._touched |= values
        self._touched_rows.add(row)

    def _settle(self) -> None:
        """Bring hubs and parts up to date."""
        encoding, hubs = self.encoding, self._hubs
        seeds, nothing = self._touched, set[Row]()
        for value in list(seeds):
            rows = self._rows.get(value, nothing)
            if len(rows) > encoding.hub:
                if value not in hubs:
                    hubs[value] = encoding.hub_code(self._names[value])
                    self._touched_rows |= rows
            elif hubs.pop(value, None) is not None:
                self._touched_rows |= rows
                seeds.update(*map(_values, rows))
        for value in list(seeds):
            found = self._parts.get(value)
            if found is not None:
                part, inside = found
                del self._copies[part.shape][part]
                if not self._copies[part.shape]:
                    del self._copies[part.shape]
                for one in inside:
                    del self._parts[one]
                seeds.update(inside)
        self._hub_rows -= self._touched_rows
        for row in self._touched_rows if hubs else ():
            for code in row:
                if code >= 0 and (code not in hubs or row not in self._rows[code]):
                    break
            else:
                self._hub_rows.add(row)
        for value in sorted(seeds):
            if value in self._rows and value not in hubs and value not in self._parts:
                found = part, inside = self._part(self._coded(self._connected(value)))
                self._copies.setdefault(part.shape, {})[part] = None
                self._parts.update(dict.fromkeys(inside, found))
        self._touched, self._touched_rows = set(), set()

    def _connected(self, value: int) -> set[Row]:
        """Return the rows of the connected component of a value."""
        rows: set[Row] = set()
        hubs, seen = self._hubs, {value}
        waiting = [value]
        while waiting:
            more = self._rows[waiting.pop()] - rows
            rows |= more
            for row in more:
                for code in row:
                    if code >= 0 and code not in seen and code not in hubs:
                        seen.add(code)
                        waiting.append(code)
        return rows

    def _part(self, rows: Collection[Row]) -> tuple[Part, tuple[int, ...]]:
        """Return the part with these rows, and its values."""
        shape, values = self.encoding.shapes.shape(rows)
        return Part(shape, tuple([self._names[value][1] for value in values])), tuple(values)

    def _coded(self, rows: Collection[Row]) -> Collection[Row]:
        """Return the rows with hubs replaced by their codes."""
        return [moved(row, self._hubs) for row in rows] if self._hubs else rows


def _values(row: Row) -> set[int]:
    return {code for code in row if code >= 0}
