"""The coloured graph of a set of rows, its canonical order and its automorphisms.

The decision: data are integers here. A *row* is a fact P(u1, …, uq) as a tuple of codes. The code of P is
`RELATION` plus the position of P in its schema. The code of an argument is 0 or more for a value that may be
renamed (a *free* value), and negative for one that may not. Names are handled by the callers.

The graph has a vertex for each free value, and none for the others:

- the *pattern* of a row is the row with each free value replaced by its first position in the row: P(x, open,
  x) ↦ (P, 1, open, 1). It is invariant under renaming;
- a row without free values is fixed by every renaming: it has no vertex;
- the colour of a value is its sort and its *profile*: the patterns and positions at which it occurs in rows,
  with multiplicities. A row with one distinct free value is determined by that value's profile and has no
  vertex;
- any other row is a vertex coloured by its pattern, adjacent to its free values. The first of each sort is
  adjacent to it directly; another of that sort is adjacent through a vertex for its position, coloured by
  pattern and position.

Sort and pattern determine the positions at which a neighbour of a row occurs. So the colour-preserving
isomorphisms of the graphs are exactly the isomorphisms of the sets of rows: the sort-preserving bijections of
free values that map one set to the other.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from stead_sym.relational.nauty import search

Row: TypeAlias = tuple[int, ...]
Permutation: TypeAlias = Mapping[int, int]
"""A permutation of free values, given by those that it moves."""

Profile: TypeAlias = tuple[tuple[Row, int, int], ...]  # pattern, position, minus the multiplicity
RELATION = -(1 << 40)
"""The code of the first relation of a schema, less than every other code."""

LAST: Row = (sys.maxsize,)
END = (LAST, 0, 0)
"""Terminators of lists that are compared: of two lists with a common prefix, the longer comes first.

`LAST` is greater than all rows, `END` greater than all rows with two numbers.
"""


K = TypeVar("K")
T = TypeVar("T")


def closure(
    items: Iterable[T],
    generators: Iterable[Mapping[K, K]],
    mentioned: Callable[[T], Iterable[K]],
    image: Callable[[T, Mapping[K, K]], T],
) -> frozenset[T]:
    """Return the least set that includes ``items`` and is closed under ``image`` by each generator.

    Only the generators that move a value mentioned in an item are applied to it, since no others change it.
    So n swaps of neighbours lead from one item to n others in 2n steps.
    """
    moving: dict[K, list[Mapping[K, K]]] = {}
    for generator in generators:
        for value in generator:
            moving.setdefault(value, []).append(generator)
    reached = set(items)
    frontier = list(reached)
    while frontier:
        item = frontier.pop()
        for generator in {id(g): g for value in mentioned(item) for g in moving.get(value, ())}.values():
            found = image(item, generator)
            if found not in reached:
                reached.add(found)
                frontier.append(found)
    return frozenset(reached)


def moved(row: Row, permutation: Permutation) -> Row:
    """Return the row with each code replaced by its image."""
    return tuple(map(permutation.get, row, row))


def pattern(row: Row) -> tuple[Row, dict[int, int]]:
    """Return the pattern of a row, and the first position of each of its free values."""
    first: dict[int, int] = {}
    codes = [code if code < 0 else first.setdefault(code, place) for place, code in enumerate(row)]
    return tuple(codes), first


def profiles(rows: Iterable[Row], sorts: Sequence[int]) -> list[tuple[int, Profile]]:
    """Return the sort and the profile of each free value, 0 to ``len(sorts)`` - 1."""
    occurrences: list[Counter[tuple[Row, int]]] = [Counter() for _ in sorts]
    for row in rows:
        colour, first = pattern(row)
        for value, position in first.items():
            occurrences[value][colour, position] += 1
    return [
        (sort, (*sorted((colour, position, -often) for (colour, position), often in found.items()), END))
        for sort, found in zip(sorts, occurrences, strict=True)
    ]


def solve(rows: Collection[Row], sorts: Sequence[int]) -> tuple[list[int], list[Permutation]]:
    """Return the free values in canonical order, and generators of the automorphism group.

    The free values are 0 to ``len(sorts)`` - 1. For isomorphic sets of rows some isomorphism maps the one
    order to the other. Values are ordered by sort and profile first. Of two profiles with a common prefix the
    longer comes first, and a higher multiplicity comes before a lower one.
    """
    cells: dict[tuple[int, Profile], set[int]] = {}
    for value, colour in enumerate(profiles(rows, sorts)):
        cells.setdefault(colour, set()).add(value)
    if len(cells) == len(sorts):  # all colours are distinct
        return [value for colour in sorted(cells) for value in cells[colour]], []
    graph = _Graph(len(sorts))
    for row in rows:
        graph.add(row, sorts)
    return graph.solve([cells[colour] for colour in sorted(cells)])


class _Graph:
    """A coloured graph whose vertices are integers, the free values first."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.patterns: list[Row] = []  # of the vertices that are not values
        self.adjacent: dict[int, list[int]] = {}

    def add(self, row: Row, sorts: Sequence[int]) -> None:
        colour, first = pattern(row)
        if len(first) < 2:
            return
        neighbours = self._vertex((*colour, -1))
        direct: set[int] = set()
        for vertex, position in first.items():
            sort = sorts[vertex]
            if sort in direct:
                self._vertex((*colour, position)).append(vertex)
                vertex = self.free + len(self.patterns) - 1
            direct.add(sort)
            neighbours.append(vertex)

    def _vertex(self, colour: Row) -> list[int]:
        """Add a vertex and return its empty list of neighbours."""
        vertex = self.free + len(self.patterns)
        self.patterns.append(colour)
        return self.adjacent.setdefault(vertex, [])

    def solve(self, cells: Sequence[set[int]]) -> tuple[list[int], list[Permutation]]:
        classes: dict[Row, set[int]] = {}
        for vertex, own in enumerate(self.patterns, self.free):
            classes.setdefault(own, set()).add(vertex)
        size = self.free + len(self.patterns)
        order, permutations = search(size, self.adjacent, [*cells, *[classes[c] for c in sorted(classes)]])
        return order[: self.free], [{v: p[v] for v in range(self.free) if p[v] != v} for p in permutations]
