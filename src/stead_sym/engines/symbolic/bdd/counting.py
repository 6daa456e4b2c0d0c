"""Count the models of a diagram exactly; `dd`'s own count is a C double, inexact past 2^53.

One decision: nodes are counted level by level, from the lowest one up. The count of a node has as many bits
as there are variables below it. It is deleted when the last node that needs it has been counted, so that few
counts are in memory at a time. Edges are plain integers here; the function keeps its nodes alive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, Self


class Node(Protocol):
    """A node, as `manager.Bdd`, with what is needed to count its models."""

    def __int__(self) -> int:
        """Return the number of the edge to the node."""
        ...

    @property
    def level(self) -> int:
        """The level of the topmost variable."""
        ...

    @property
    def low(self) -> Self:
        """The branch of the regular node where its variable is 0."""
        ...

    @property
    def high(self) -> Self:
        """The branch of the regular node where its variable is 1."""
        ...


def models(function: Node, true: Node, ranks: Mapping[int, int], node: Callable[[int], int]) -> int:
    """Return the number of assignments to some variables that satisfy the function.

    The variables are a superset of the support. ``ranks`` maps the level of each of them to the number of
    them above it; ``node`` is `Manager.node`.
    """
    total, leaf = len(ranks), node(int(true))
    asked = {leaf: 0}  # the number of uncounted edges to a node
    layers: list[list[tuple[int, int, int]]] = [[] for _ in ranks]  # the nodes of each rank, with their edges
    todo = [function]
    while todo:
        part = todo.pop()
        number = node(int(part))
        if number in asked:
            asked[number] += 1
            continue
        asked[number] = 1
        low, high = part.low, part.high
        layers[ranks[part.level]].append((number, int(low), int(high)))
        todo += (low, high)
    asked[leaf] = 0  # the count goes below 0, so the leaf is never deleted
    known = {leaf: (total, 1)}  # the rank of a node, and its models over the variables from there on

    def below(edge: int, rank: int) -> int:
        """Return the number of models of an edge over the variables from a rank on."""
        number = node(edge)
        own, found = known[number]
        asked[number] -= 1
        if not asked[number]:
            del known[number]
        if edge != number:
            found = (1 << total - own) - found
        return found << own - rank if own != rank else found

    for rank in range(total - 1, -1, -1):
        for number, lower, upper in layers[rank]:
            known[number] = rank, below(lower, rank + 1) + below(upper, rank + 1)
    return below(int(function), 0)
