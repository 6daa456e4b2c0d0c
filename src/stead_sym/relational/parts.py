"""A set of facts under change, held in parts so that a change costs what it touches.

The decision: nothing is worked out when a fact comes or goes. The values that it touches are noted, and the
parts that they were in, and are in now, are found when the layout is asked for. Values are (sort, name)
pairs, so that data in which identifiers of two sorts are spelled alike need no care.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count

from stead_sym.relational.encoding import Encoding
from stead_sym.relational.graph import RELATION, Row, moved
from stead_sym.relational.instance import Fact
from stead_sym.relational.layout import Hub, Part, Placement
from stead_sym.relational.schema import Value
from stead_sym.relational.shapes import Shape

_PATIENCE = 10_000  # values that changes touched without any need for parts


class Parts:
    """The facts, from none. Not for several threads at once; those over one encoding may be."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._numbers: list[dict[Value, int]] = [{} for _ in encoding.schema.sorts]
        self._names: dict[int, Hub] = {}
        self._next = count()
        self._rows: dict[int, set[Row]] = {}  # of each value
        self._ground: set[Row] = set()
        self._hubs: dict[int, int] = {}  # with their codes
        self._hub_rows: set[Row] = set()
        self._parts: dict[int, tuple[Part, tuple[int, ...]]] = {}  # of each value: its part, who is in there
        self._copies: dict[Shape, dict[Part, None]] = {}
        self._touched: set[int] = set()
        self._touched_rows: set[Row] = set()
        self._placement: Placement | None = None
        self._kinds: dict[str, tuple[int, list[tuple[int, dict[Value, int], dict[Value, int]]]]] = {}

    def change(self, come: Iterable[Fact] = (), go: Iterable[Fact] = ()) -> None:
        """Add the facts that come, which are not there, and take away those that go, which are.

        Raises `DeclarationError` for an unknown relation and `ValueError` for a wrong number of arguments.
        """
        self._placement = None
        for fact in go:
            self._go(self._row(fact))
        for fact in come:
            self._come(self._row(fact))

    def placement(self) -> Placement:
        """The layout, with the names that its values have now; it stays as it is when facts change."""
        if self._placement is None:
            self._placement = self._placed()
        return self._placement

    def _placed(self) -> Placement:
        encoding = self.encoding
        if len(self._rows) <= encoding.small:
            if len(self._touched) > _PATIENCE:
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

    def _row(self, fact: Fact) -> Row:
        """The row of a fact. A value without a number gets one."""
        relation, args = fact
        kinds = self._kinds.get(relation)
        if kinds is None:
            self.encoding.schema.relation(relation)  # raises where there is none
            place = self.encoding.places[relation]
            sorts = [(s, self.encoding.rigid[s], self._numbers[s]) for s in self.encoding.columns[place]]
            kinds = self._kinds[relation] = (RELATION + place, sorts)
        row = [kinds[0]]
        for (sort, rigid, numbers), value in zip(kinds[1], args, strict=True):
            code = rigid.get(value)
            if code is None:
                code = numbers.get(value)
                if code is None:
                    code = numbers[value] = next(self._next)
                    self._names[code] = (sort, value)
                    self._rows[code] = set()
            row.append(code)
        return tuple(row)

    def _come(self, row: Row) -> None:
        hub, free = self.encoding.hub, False
        for code in row:
            if code >= 0:
                free = True
                rows = self._rows[code]
                rows.add(row)
                self._touched.add(code)
                if len(rows) == hub + 1:
                    self._touched_rows |= rows
        if free:
            self._touched_rows.add(row)
        else:
            self._ground.add(row)

    def _go(self, row: Row) -> None:
        values = _values(row)
        if not values:
            self._ground.remove(row)
            return
        for value in values:
            rows = self._rows[value]
            rows.remove(row)
            if len(rows) == self.encoding.hub:
                self._touched_rows |= rows
                self._touched.update(*map(_values, rows))
            if not rows:
                del self._rows[value]
                sort, name = self._names.pop(value)
                del self._numbers[sort][name]
        self._touched |= values
        self._touched_rows.add(row)

    def _settle(self) -> None:
        """Bring hubs and parts up to date."""
        encoding, hubs = self.encoding, self._hubs
        seeds = self._touched
        for value in list(seeds):
            if len(self._rows.get(value, ())) > encoding.hub:
                hubs[value] = encoding.hub_code(self._names[value])
            else:
                hubs.pop(value, None)
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
                part, inside = self._part(self._coded(self._connected(value)))
                self._copies.setdefault(part.shape, {})[part] = None
                for one in inside:
                    self._parts[one] = part, inside
        self._touched, self._touched_rows = set(), set()

    def _connected(self, value: int) -> set[Row]:
        """The rows of all values that a value is connected with."""
        rows: set[Row] = set()
        seen = {value}
        waiting = [value]
        while waiting:
            for row in self._rows[waiting.pop()]:
                if row not in rows:
                    rows.add(row)
                    for code in row:
                        if code >= 0 and code not in seen and code not in self._hubs:
                            seen.add(code)
                            waiting.append(code)
        return rows

    def _part(self, rows: Collection[Row]) -> tuple[Part, tuple[int, ...]]:
        """The part with these rows, and its values."""
        shape, values = self.encoding.shapes.shape(rows)
        return Part(shape, tuple([self._names[value][1] for value in values])), tuple(values)

    def _coded(self, rows: Collection[Row]) -> Collection[Row]:
        """The rows, hubs by their codes."""
        return [moved(row, self._hubs) for row in rows] if self._hubs else rows


def _values(row: Row) -> set[int]:
    return {code for code in row if code >= 0}
