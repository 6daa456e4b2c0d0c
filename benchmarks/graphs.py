"""Contexts that are graphs, from easy ones to those on which programs for graph isomorphism were broken.

The decision: a graph is its number of vertices and its edges; `context` writes it down as the paper does
where it proves canonicalisation hard (Lemma "Cost boundary"): one binary relation, P(u, u) for each vertex,
P(u, v) and P(v, u) for each edge.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, product

from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema((Sort("vertex"),), (Relation("P", ("vertex", "vertex")),))


@dataclass(frozen=True, slots=True)
class Graph:
    """Vertices are 0 to ``size`` - 1; each edge is there once."""

    size: int
    edges: tuple[tuple[int, int], ...]

    def shuffled(self, seed: int) -> Graph:
        """The same graph with its vertices numbered in another order."""
        image = random.Random(seed).sample(range(self.size), self.size)
        return Graph(self.size, tuple((image[u], image[v]) for u, v in self.edges))


def context(graph: Graph) -> Instance:
    """The instance that stands for a graph."""
    loops = [Fact("P", (f"v{u}", f"v{u}")) for u in range(graph.size)]
    links = [Fact("P", (f"v{a}", f"v{b}")) for u, v in graph.edges for a, b in ((u, v), (v, u))]
    return Instance(SCHEMA, frozenset(loops + links))


def at_random(size: int) -> Graph:
    """Edges between random pairs, two for each vertex."""
    dice = random.Random(size)
    pairs = {tuple(sorted(dice.sample(range(size), 2))) for _ in range(2 * size)}
    return Graph(size, tuple((u, v) for u, v in sorted(pairs)))


def binary_tree(size: int) -> Graph:
    """Each vertex but the first hangs on one of half its number."""
    return Graph(size, tuple((i, (i - 1) // 2) for i in range(1, size)))


def tree_at_random(size: int) -> Graph:
    """Each vertex but the first hangs on an earlier one."""
    dice = random.Random(size)
    return Graph(size, tuple((i, dice.randrange(i)) for i in range(1, size)))


def grid(side: int) -> Graph:
    """A square grid."""
    across = [(i * side + j, i * side + j + 1) for i in range(side) for j in range(side - 1)]
    down = [(i * side + j, (i + 1) * side + j) for i in range(side - 1) for j in range(side)]
    return Graph(side * side, (*across, *down))


def latin_square(side: int) -> Graph:
    """Strongly regular: the cells of the addition table modulo ``side``, joined where they share their row,
    their column or their entry."""
    cells = [(i, j, (i + j) % side) for i, j in product(range(side), repeat=2)]
    return _joined(cells, lambda u, v: any(a == b for a, b in zip(u, v, strict=True)))


def rook(side: int) -> Graph:
    """Strongly regular: the squares of a board, joined where a rook goes from one to the other."""
    return _joined([*product(range(side), repeat=2)], lambda u, v: u[0] == v[0] or u[1] == v[1])


def shrikhande() -> Graph:
    """Strongly regular with the numbers of the rook's graph on four by four, and another graph."""
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    points = [*product(range(4), repeat=2)]
    return _joined(points, lambda u, v: ((u[0] - v[0]) % 4, (u[1] - v[1]) % 4) in steps)


def paley(prime: int) -> Graph:
    """Strongly regular: the numbers modulo a prime that is 1 modulo 4, joined where their difference is a
    square."""
    squares = {i * i % prime for i in range(1, prime)}
    return _joined([(i,) for i in range(prime)], lambda u, v: (u[0] - v[0]) % prime in squares)


def cubic(size: int, seed: int = 1) -> Graph:
    """A connected graph with three edges at each vertex, at random. ``size`` is even."""
    dice = random.Random(seed)
    while True:
        ends = [vertex for vertex in range(size) for _ in range(3)]
        dice.shuffle(ends)
        edges = {(min(pair), max(pair)) for pair in zip(ends[::2], ends[1::2], strict=True)}
        found = Graph(size, tuple(sorted(edges)))
        if len(edges) == 3 * size // 2 and all(u != v for u, v in edges) and _is_connected(found):
            return found


def ladder(rungs: int) -> Graph:
    """A ladder bent to a ring, with three edges at each vertex."""
    ring = [(i, (i + 1) % rungs) for i in range(rungs)]
    sides = [(2 * i + side, 2 * j + side) for i, j in ring for side in (0, 1)]
    return Graph(2 * rungs, (*((2 * i, 2 * i + 1) for i in range(rungs)), *sides))


def gadgets(base: Graph, *, twisted: bool = False) -> Graph:
    """The graph of Cai, Fürer and Immerman over a base: for each vertex a gadget that keeps the parity of its
    edges.

    The one with a twisted edge is not isomorphic to the one without. Refinement does not tell them apart,
    also where it colours tuples, as long as these are few against the base. Over `ladder` they are like
    Miyazaki's, on which earlier versions of nauty took exponentially long.
    """
    at: list[list[int]] = [[] for _ in range(base.size)]
    for number, edge in enumerate(base.edges):
        for vertex in edge:
            at[vertex].append(number)
    numbers: dict[object, int] = {}

    def vertex_of(key: object) -> int:
        return numbers.setdefault(key, len(numbers))

    edges: list[tuple[int, int]] = []
    for vertex, around in enumerate(at):
        for bits in product((0, 1), repeat=len(around)):
            if sum(bits) % 2 == 0:
                edges += [
                    (vertex_of((vertex, bits)), vertex_of((vertex, number, bit)))
                    for number, bit in zip(around, bits, strict=True)
                ]
    for number, (u, v) in enumerate(base.edges):
        for bit in (0, 1):
            other = bit ^ (twisted and number == 0)
            edges.append((vertex_of((u, number, bit)), vertex_of((v, number, other))))
    return Graph(len(numbers), tuple(edges))


def copies(graph: Graph, number: int) -> Graph:
    """So many of it, side by side."""
    size = graph.size
    edges = tuple((u + i * size, v + i * size) for i in range(number) for u, v in graph.edges)
    return Graph(number * size, edges)


FAMILIES: Mapping[str, Callable[[int], Graph]] = {
    "random": at_random,
    "binary tree": binary_tree,
    "random tree": tree_at_random,
    "grid": grid,
    "latin square": latin_square,
    "rook": rook,
    "paley": paley,
    "cfi": lambda size: gadgets(cubic(size)),
    "miyazaki": lambda rungs: gadgets(ladder(rungs)),
    "copies of a tree": lambda number: copies(tree_at_random(12), number),
    "copies of shrikhande": lambda number: copies(shrikhande(), number),
}
"""Graphs by a size of theirs."""


def _joined(
    points: list[tuple[int, ...]], joined: Callable[[tuple[int, ...], tuple[int, ...]], bool]
) -> Graph:
    pairs = combinations(range(len(points)), 2)
    return Graph(len(points), tuple((u, v) for u, v in pairs if joined(points[u], points[v])))


def _is_connected(graph: Graph) -> bool:
    near: dict[int, list[int]] = {}
    for u, v in graph.edges:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    seen: set[int] = set()
    waiting: list[int] = [0]
    while waiting:
        vertex = waiting.pop()
        if vertex not in seen:
            seen.add(vertex)
            waiting += near.get(vertex, [])
    return len(seen) == graph.size
