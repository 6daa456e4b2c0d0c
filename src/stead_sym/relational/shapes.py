"""Shapes: isomorphism classes of sets of rows, computed once and cached.

The decision: the cache has a cheap exact key, the rows with their free values numbered in the order of first
occurrence. Equal keys are the same rows up to renaming, so a hit is never wrong. Isomorphic rows usually have
equal keys. If they do not, the shape is computed again, with the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from stead_sym.relational.graph import RELATION, Permutation, Row, moved, solve
from stead_sym.relational.large import LARGE, Solved, solve_large
from stead_sym.relational.nauty import CANONICAL_SECONDS

_FEW_ROWS = 8  # the maximum number of rows that are first looked up in sorted order, without `_keyed`
_MAX_REMEMBERED = 100_000  # the size at which this cache is cleared


@dataclass(frozen=True, eq=False)
class Shape:
    """An isomorphism class of sets of rows (`graph`), given by its canonical member.

    ``rows`` are the rows of that member, ascending, with free values 0 to ``size`` - 1; two shapes are equal
    iff these are. ``generators`` generate its automorphism group.
    """

    rows: tuple[Row, ...]
    sorts: tuple[int, ...] = field(repr=False)
    generators: tuple[Permutation, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of free values."""
        return len(self.sorts)

    @cached_property
    def _hash(self) -> int:
        return hash(self.rows)

    def __hash__(self) -> int:
        """Return the hash of the rows, which is cached."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return True if the other is a shape with equal rows."""
        return self is other or (isinstance(other, Shape) and self.rows == other.rows)


class Shapes:
    """A cache of the shapes of sets of rows over one schema; it is cleared at ``most`` rows.

    ``columns`` has, per relation, the numbers of the sorts of its columns; ``seconds`` is the time limit for
    nauty on one set (`nauty.search_apart`). It is thread-safe: threads that compute a shape at once get equal
    results.
    """

    def __init__(
        self, columns: Sequence[Sequence[int]], seconds: float = CANONICAL_SECONDS, most: int = 500_000
    ) -> None:
        sorts = 1 + max((sort for column in columns for sort in column), default=0)
        # One relation for the tags of each sort follows the others.
        self._columns = [*columns, *[(sort, sort) for sort in reversed(range(sorts))]]
        self._seconds = seconds
        self._most = most
        self._remembered = 0
        self._found: dict[tuple[Row, ...], tuple[Shape, tuple[int, ...]]] = {}
        self._as_met: dict[tuple[Row, ...], tuple[Shape, tuple[int, ...]]] = {}
        self._shapes: dict[Shape, Shape] = {}

    def tag(self, sort: int, tag: int, value: int) -> Row:
        """Return a row that tags a free value of a sort with a number of at least 0."""
        return (RELATION + len(self._columns) - 1 - sort, -1 - tag, value)

    def shape(self, rows: Collection[Row]) -> tuple[Shape, list[int]]:
        """Return the shape of the rows, and their free values in the order of the shape's values.

        Raise `CanonicalLimit` if nauty does not finish in time.
        """
        if len(rows) > _FEW_ROWS:
            key, values = _keyed(rows)
            shape, order = self._found.get(key) or self._work_out(key, len(values))
            return shape, [values[i] for i in order]
        number: dict[int, int] = {}
        as_met = tuple(
            [
                tuple([code if code < 0 else number.setdefault(code, len(number)) for code in row])
                for row in sorted(rows)
            ]
        )
        known = self._as_met.get(as_met)
        values = [*number]
        if known is None:
            key, others = _keyed(as_met)
            shape, order = self._found.get(key) or self._work_out(key, len(others))
            if len(self._as_met) >= _MAX_REMEMBERED:
                self._as_met = {}
            known = self._as_met[as_met] = shape, tuple([others[i] for i in order])
        shape, order = known
        return shape, [values[i] for i in order]

    def _work_out(self, key: tuple[Row, ...], free: int) -> tuple[Shape, tuple[int, ...]]:
        sorts = [0] * free
        for row in key:
            for sort, code in zip(self._columns[row[0] - RELATION], row[1:], strict=True):
                if code >= 0:
                    sorts[code] = sort
        if len(key) > LARGE:
            order, generators = solve_large(key, sorts, self._seconds, self._solve_part)
        else:
            order, generators = solve(key, sorts)
        place = {value: i for i, value in enumerate(order)}
        shape = Shape(
            tuple(sorted(moved(row, place) for row in key)),
            tuple(sorts[value] for value in order),
            tuple({place[v]: place[w] for v, w in g.items()} for g in generators),
        )
        if self._remembered > self._most:
            self._found, self._shapes, self._remembered = {}, {}, 0
        self._remembered += len(key)
        found = self._shapes.setdefault(shape, shape), tuple(order)
        self._found[key] = found
        return found

    def _solve_part(self, rows: Sequence[Row], told: Mapping[int, tuple[int, int]]) -> Solved:
        tags = (self.tag(sort, number, value) for value, (sort, number) in told.items())
        shape, ordered = self.shape([*rows, *tags])
        return shape.rows, shape.generators, ordered


def _keyed(rows: Collection[Row]) -> tuple[tuple[Row, ...], list[int]]:
    """Return the rows with their free values numbered by first occurrence, and these values in that order.

    Rows are sorted by their invariants under renaming; ties are resolved by the rows in which their values
    occur.
    """
    blank = sorted([([code if code < 0 else 0 for code in row], row) for row in rows])
    if any(one[0] == other[0] for one, other in pairwise(blank)):
        stands: dict[int, list[int]] = {}
        for left, row in blank:
            for position, code in enumerate(row):
                if code >= 0:
                    stands.setdefault(code, []).append(hash((*left, position)))
        colours = {value: hash(tuple(sorted(found))) for value, found in stands.items()}
        blank.sort(key=lambda pair: (pair[0], [colours.get(code, 0) for code in pair[1]]))
    values = list(dict.fromkeys([code for _, row in blank for code in row if code >= 0]))
    number = {value: i for i, value in enumerate(values)}
    return tuple([moved(row, number) for _, row in blank]), values
