"""Which layer each node of a small directed graph stands in: edges point down where they can, in the order in
which a search finds the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BETWEEN = 26.0  # boxes of one layer


WIDEST = 1200.0  # a layer takes no further node past this, or past a square of the size of the drawing


def discovery(nodes: int, edges: Sequence[tuple[int, int]], roots: Sequence[int]) -> list[int]:
    """The place of each node in the order in which a search in breadth meets it, from the roots, and then
    from those that none leads to."""
    after: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in edges:
        after[a].append(b)
    rank: dict[int, int] = {}

    def search(start: Sequence[int]) -> None:
        queue = [node for node in start if node not in rank]
        for node in queue:
            rank[node] = len(rank)
        for node in queue:  # grows on the way
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
    """The layer of each node: below all before it, every edge turned towards the later discovery, and the
    first of these with room. In a square of n nodes an edge passes √n layers and not n, each with a joint."""
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
    """The edges between two nodes, each from the one that was found first."""
    for a, b in edges:
        if rank[a] != rank[b]:
            yield (a, b) if rank[a] < rank[b] else (b, a)
