"""Colour refinement: split values by the links to other values until the partition is stable.

The decision: the result is an ordered partition whose cells are named by their start positions. Cells are
split by counting, never by the numbers of values, and processed in the order of their names. So an
isomorphism of the input maps the cells of one result to those of the other, in their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

from stead_sym.relational.graph import Row, pattern


def refined(rows: Iterable[Row], colours: Sequence[Any]) -> list[int]:
    """Return the cell of each free value, given by the number of values in the cells before it.

    The values are 0 to ``len(colours)`` - 1. The initial cells are the colour classes, in the order of the
    colours. They are split until the partition is stable: for any two cells, all values of the one are linked
    equally often, at equal positions of rows of equal pattern, with values of the other.
    """
    links = _links(rows, len(colours))
    cells: dict[int, set[int]] = {}
    cell = [0] * len(colours)
    start = 0
    members: dict[Any, set[int]] = {}
    for value, colour in enumerate(colours):
        members.setdefault(colour, set()).add(value)
    for colour in sorted(members):
        start = _named(cells, cell, start, members[colour])
    waiting = deque(cells)
    queued = set(cells)
    while waiting and len(cells) < len(colours):
        splitter = waiting.popleft()
        queued.remove(splitter)
        met: dict[int, list[int]] = {}
        for value in cells[splitter]:
            for other, link in links[value]:
                met.setdefault(other, []).append(link)
        touched: dict[int, dict[tuple[int, ...], set[int]]] = {}
        for value, found in met.items():
            if len(cells[cell[value]]) > 1:
                touched.setdefault(cell[value], {}).setdefault(tuple(sorted(found)), set()).add(value)
        for name in sorted(touched):
            kinds, whole = touched[name], len(cells[name])
            split = [kinds[kind] for kind in sorted(kinds)]
            if sum(map(len, split)) < whole:  # the values without a link to the splitter stay, and come first
                rest = cells[name]
                rest.difference_update(*split)
                split.insert(0, rest)
            if len(split) == 1:
                continue
            largest, pending, start = max(split, key=len), name in queued, name
            for part in split:
                if start not in queued and (pending or part is not largest):
                    queued.add(start)
                    waiting.append(start)
                start = _named(cells, cell, start, part)
    return cell


def _named(cells: dict[int, set[int]], cell: list[int], start: int, members: set[int]) -> int:
    """Create the cell that starts at a position, and return the start of the next one."""
    if cells.get(start) is not members:
        cells[start] = members
        for value in members:
            cell[value] = start
    return start + len(members)


def _links(rows: Iterable[Row], size: int) -> Sequence[Sequence[tuple[int, int]]]:
    """Return, for each value, the values linked with it, each with the number of the kind of link.

    The kind of a link is the pattern of the row and the positions of both values.
    """
    found: list[tuple[int, int, tuple[Row, int, int]]] = []
    for row in rows:
        kind, first = pattern(row)
        for (one, here), (other, there) in permutations(first.items(), 2):
            found.append((one, other, (kind, here, there)))
    numbers: Mapping[Any, int] = {kind: i for i, kind in enumerate(sorted({kind for _, _, kind in found}))}
    links: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for one, other, linked in found:
        links[one].append((other, numbers[linked]))
    return links
