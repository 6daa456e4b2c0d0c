"""The layer of each node of a small directed graph.

Edges point down if possible, in the order in which a search finds the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BETWEEN = 26.0  # the distance of two boxes of one layer


WIDEST = 1200.0  # the maximum width of a layer, unless the side of a square drawing is larger


def discovery(nodes: int, edges: Sequence[tuple[int, int]], roots: Sequence[int]) -> list[int]:
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


def layer_of(
    widths: Sequence[float], edges: Sequence[tuple[int, int]], rank: Sequence[int], widest: float
) -> list[int]:
    """Return the layer of each node: below all its predecessors, and the first of these with room.

    Every edge is turned towards the later discovery. In a square of n nodes an edge crosses √n layers and not
    n, each with a joint.
    """
    before: list[list[int]] = [[] for _ in widths]
    for a, b in turned(edges, rank):
        before[b].append(a)
    layer = [0] * len(widths)
    taken: dict[int, float] = {}
    for node in sorted(range(len(widths)), key=rank.__getitem__):
        here = max((layer[other] + 1 for other in before[node]), default=0)
        while taken.get(here, 0.0) and taken[here] + widths[node] > widest:
            here += 1
        layer[node] = here
        taken[here] = taken.get(here, 0.0) + widths[node] + BETWEEN
    return layer


def turned(edges: Sequence[tuple[int, int]], rank: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the edges between two nodes, each from the one that was found first."""
    for a, b in edges:
        if rank[a] != rank[b]:
            yield (a, b) if rank[a] < rank[b] else (b, a)
