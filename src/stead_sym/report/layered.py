"""Layered layout of a small directed graph, with edges pointing down if possible.

The method is Sugiyama's, in the usual phases. Edges against the order of discovery are reversed temporarily,
and nodes get layers. Edges that cross layers get a joint in each. Sweeps order the layers to reduce
crossings, and joints and nodes are moved below their neighbours.

One decision: the last phase is exact for each layer, so that no rule for priorities is needed. With the order
given, the positions nearest to the desired ones that keep the distances are an isotonic regression (pool
adjacent violators).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]

_SWEEPS = (4, 16)  # at least and at most
_MOVES = 100_000  # bounds the sweeps times the nodes and joints
_BETWEEN = 26.0  # the distance of two boxes of one layer
_WIDEST = 1200.0  # the maximum width of a layer, unless the side of a square drawing is larger
_BESIDE = 14.0  # joints
_BELOW = 44.0  # layers
_STRAIGHT = 8.0  # the weight of a joint relative to a node


@dataclass(frozen=True, slots=True)
class Placed:
    """A layout: ``centres`` of the nodes, and for each edge its ``routes``, in pixels, y growing downwards.

    A route has the points of the edge from the border of its source to that of its target; a self-loop has
    none.
    """

    width: float
    height: float
    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]


def placed(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    roots: Sequence[int],
    beside: Mapping[int, float],
) -> Placed:
    """Return the layout of nodes with these widths and heights, the roots at the top.

    It is deterministic. No two edges have the same ends. ``beside`` is the width that some nodes need to
    their right, for self-loops.
    """
    return _Layering(sizes, edges, roots, beside).placed()


class _Layering:
    """The layers, each with the numbers of its nodes and joints; joints have the numbers after the nodes."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[tuple[int, int]],
        roots: Sequence[int],
        beside: Mapping[int, float],
    ) -> None:
        self.edges = edges
        self.beside = beside
        self.sizes = list(sizes)
        rank = _discovery(len(sizes), edges, roots)
        widths = [w + beside.get(k, 0.0) for k, (w, _) in enumerate(sizes)]
        square = sqrt(sum((w + _BETWEEN) * (h + _BELOW) for w, (_, h) in zip(widths, sizes, strict=True)))
        layer = _layer_of(widths, edges, rank, max(_WIDEST, square))
        self.nodes = len(sizes)
        self.layers: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
        for node in sorted(range(self.nodes), key=rank.__getitem__):
            self.layers[layer[node]].append(node)
        self.chains: list[list[int]] = []  # of each edge, downwards, its ends included
        self.above: dict[int, list[int]] = {}
        self.below: dict[int, list[int]] = {}
        for a, b in edges:
            top, bottom = (a, b) if rank[a] <= rank[b] else (b, a)
            chain = [top, *(self._joint(k) for k in range(layer[top] + 1, layer[bottom])), bottom]
            self.chains.append(chain if a != b else [])
            for upper, lower in pairwise(chain if a != b else ()):
                self.below.setdefault(upper, []).append(lower)
                self.above.setdefault(lower, []).append(upper)
        fewest, most = _SWEEPS
        self.sweeps = min(most, max(fewest, _MOVES // max(1, len(self.sizes)) // 2 * 2))

    def _joint(self, layer: int) -> int:
        self.sizes.append((0.0, 0.0))
        self.layers[layer].append(len(self.sizes) - 1)
        return len(self.sizes) - 1

    def placed(self) -> Placed:
        self._order()
        x = self._across()
        tops: list[float] = []
        y = 0.0
        for layer in self.layers:
            tops.append(y)
            y += max((self.sizes[k][1] for k in layer), default=0.0) + _BELOW
        height = y - _BELOW
        tall = [max((self.sizes[k][1] for k in layer), default=0.0) for layer in self.layers]
        at = {
            node: (x[node], top + room / 2)
            for layer, top, room in zip(self.layers, tops, tall, strict=True)
            for node in layer
        }
        left = min((at[k][0] - self.sizes[k][0] / 2 for k in at), default=0.0)
        right = max((at[k][0] + self._right(k) for k in at), default=0.0)
        at = {node: (a - left, b) for node, (a, b) in at.items()}
        ports = self._ports(at)
        height_of = {node: room for layer, room in zip(self.layers, tall, strict=True) for node in layer}
        return Placed(
            right - left,
            height,
            tuple(at[node] for node in range(self.nodes)),
            tuple(self._route(number, at, ports, height_of) for number in range(len(self.edges))),
        )

    # order in each layer

    def _order(self) -> None:
        """Order each layer by the mean positions of neighbours, in sweeps down and up.

        The order with the fewest crossings is kept.
        """
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(self.sweeps):
            down = sweep % 2 == 0
            joined = self.above if down else self.below
            order = range(1, len(self.layers)) if down else range(len(self.layers) - 2, -1, -1)
            for k in order:
                place = {n: i for i, n in enumerate(self.layers[k - 1 if down else k + 1])}
                own = {n: float(i) for i, n in enumerate(self.layers[k])}
                self.layers[k].sort(key=lambda n: _mean([place[m] for m in joined.get(n, ())], own[n]))
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best

    def _crossings(self) -> int:
        """Return the number of crossing pairs of edges between neighbouring layers."""
        total = 0
        for upper, lower in pairwise(self.layers):
            place = {n: i for i, n in enumerate(lower)}
            ends = [end for n in upper for end in sorted(place[m] for m in self.below.get(n, ()))]
            total += inversions(ends, len(lower))
        return total

    # places

    def _across(self) -> dict[int, float]:
        """Return the x coordinates of all nodes and joints."""
        x: dict[int, float] = {}
        for layer in self.layers:
            here = 0.0
            for before, node in zip([None, *layer], layer, strict=False):
                here += 0.0 if before is None else self._apart(before, node)
                x[node] = here
        for sweep in range(self.sweeps):
            down = sweep % 2 == 0
            for layer in self.layers if down else reversed(self.layers):
                if sweep < self.sweeps - 2:
                    joined = [(self.above if down else self.below).get(n, []) for n in layer]
                else:
                    joined = [[*self.above.get(n, []), *self.below.get(n, [])] for n in layer]
                wished = [_mean([x[m] for m in of], x[n]) for n, of in zip(layer, joined, strict=True)]
                weights = [_STRAIGHT if n >= self.nodes else 1.0 for n in layer]
                apart = [self._apart(a, b) for a, b in pairwise(layer)]
                x.update(zip(layer, spread(wished, weights, apart), strict=True))
        return x

    def _apart(self, a: int, b: int) -> float:
        gap = _BESIDE if a >= self.nodes or b >= self.nodes else _BETWEEN
        return self._right(a) + self.sizes[b][0] / 2 + gap

    def _right(self, node: int) -> float:
        return self.sizes[node][0] / 2 + self.beside.get(node, 0.0)

    # edges

    def _ports(self, at: Mapping[int, Point]) -> Mapping[tuple[int, int], float]:
        """Return where each edge, by its number, meets the borders of its two ends.

        Edges at one end are side by side, in the order of their next points.
        """
        met: dict[tuple[int, int], list[int]] = {}
        for k, chain in enumerate(self.chains):
            for end in (0, -1) if chain else ():
                met.setdefault((chain[end], end), []).append(k)
        ports: dict[tuple[int, int], float] = {}
        for (node, end), edges in met.items():
            edges.sort(key=lambda k: at[self.chains[k][1 if end == 0 else -2]][0])
            width = min(self.sizes[node][0] * 0.7, 26.0 * (len(edges) - 1))
            for place, k in enumerate(edges):
                share = place / (len(edges) - 1) - 0.5 if len(edges) > 1 else 0.0
                ports[k, end] = at[node][0] + width * share
        return ports

    def _route(
        self,
        number: int,
        at: Mapping[int, Point],
        ports: Mapping[tuple[int, int], float],
        tall: Mapping[int, float],
    ) -> tuple[Point, ...]:
        """Return the points of an edge between the borders of its ends.

        It is vertical within the layers in between.
        """
        chain = self.chains[number]
        if not chain:
            return ()
        top, bottom = chain[0], chain[-1]
        points = (
            (ports[number, 0], at[top][1] + self.sizes[top][1] / 2),
            *((at[k][0], at[k][1] + side * tall[k] / 2) for k in chain[1:-1] for side in (-1, 1)),
            (ports[number, -1], at[bottom][1] - self.sizes[bottom][1] / 2),
        )
        return points if self.edges[number][0] == top else tuple(reversed(points))


def inversions(numbers: Sequence[int], below: int) -> int:
    """Return the number of pairs i < j with numbers[i] > numbers[j], all from 0 to ``below`` - 1.

    For edges from left to right by their upper ends, with these lower ends, it is the number of crossings. A
    Fenwick tree counts the preceding numbers, in n·log ``below`` steps.
    """
    counted = [0] * (below + 1)
    total = 0
    for seen, number in enumerate(numbers):
        at, before = number + 1, 0
        while at:
            before += counted[at]
            at -= at & -at
        total += seen - before
        at = number + 1
        while at <= below:
            counted[at] += 1
            at += at & -at
    return total


def spread(wished: Sequence[float], weights: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Return the x that minimise Σ weight·(x - wished)² with x[k+1] - x[k] ≥ apart[k]."""
    offset = [0.0]
    for gap in apart:
        offset.append(offset[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # mean, weight, number
    for wish, weight, shift in zip(wished, weights, offset, strict=False):
        mean, heavy, many = wish - shift, weight, 1
        while pools and pools[-1][0] > mean:
            other, more, others = pools.pop()
            mean = (mean * heavy + other * more) / (heavy + more)
            heavy, many = heavy + more, many + others
        pools.append((mean, heavy, many))
    flat = [mean for mean, _, many in pools for _ in range(many)]
    return [place + shift for place, shift in zip(flat, offset, strict=False)]


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


# layers


def _discovery(nodes: int, edges: Sequence[tuple[int, int]], roots: Sequence[int]) -> list[int]:
    """Return the rank of each node in a breadth-first search from the roots.

    The search then continues from the nodes that it has not reached.
    """
    after: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in edges:
        after[a].append(b)
    rank: dict[int, int] = {}

    def search(start: Sequence[int]) -> None:
        queue = [node for node in start if node not in rank]
        for node in queue:
            rank[node] = len(rank)
        for node in queue:  # grows during the loop
            for other in after[node]:
                if other not in rank:
                    rank[other] = len(rank)
                    queue.append(other)

    search(list(roots))
    for node in range(nodes):
        search([node])
    return [rank[node] for node in range(nodes)]


def _layer_of(
    widths: Sequence[float], edges: Sequence[tuple[int, int]], rank: Sequence[int], widest: float
) -> list[int]:
    """Return the layer of each node: below all its predecessors, and the first of these with room.

    Every edge is turned towards the later discovery. In a square of n nodes an edge crosses √n layers and not
    n, each with a joint.
    """
    before: list[list[int]] = [[] for _ in widths]
    for a, b in _turned(edges, rank):
        before[b].append(a)
    layer = [0] * len(widths)
    taken: dict[int, float] = {}
    for node in sorted(range(len(widths)), key=rank.__getitem__):
        here = max((layer[other] + 1 for other in before[node]), default=0)
        while taken.get(here, 0.0) and taken[here] + widths[node] > widest:
            here += 1
        layer[node] = here
        taken[here] = taken.get(here, 0.0) + widths[node] + _BETWEEN
    return layer


def _turned(edges: Sequence[tuple[int, int]], rank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the edges between two nodes, each from the one that was found first."""
    for a, b in edges:
        if rank[a] != rank[b]:
            yield (a, b) if rank[a] < rank[b] else (b, a)
