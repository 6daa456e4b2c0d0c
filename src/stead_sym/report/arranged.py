"""Layout of the nodes, edges and labels of a diagram, by the sizes of their text.

One decision: labels of edges are nodes of the layout, so that they never cover a node or one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from stead_sym.report.diagram import Arc, Diagram, Words
from stead_sym.report.layered import Placed, placed
from stead_sym.support.printable import printable

CHAR, LINE = 7.3, 17.0
"""The width of a character and the height of a line, for text that is 12 pixels high."""

PAD = 9.0
LOOP = 26.0  # the width of a self-loop
_MAX_CHARACTERS = 46  # characters of a line; the rest is in the tooltip


@dataclass(frozen=True, slots=True)
class Arranged:
    """A diagram with its layout, and the sizes of its vertices.

    ``pieces`` has the edges of the layout that an arc consists of, by the number of the arc, and ``labels``
    the node of the layout that is its label.
    """

    layout: Placed
    sizes: Sequence[tuple[float, float]]
    pieces: Mapping[int, Sequence[int]]
    labels: Mapping[int, int]


def arranged(diagram: Diagram) -> Arranged:
    """Return the layout of a diagram, in which each label is a node between the ends of its edge."""
    sizes = [_size(vertex.lines) for vertex in diagram.vertices]
    labels = {k: len(sizes) + n for n, k in enumerate(_labelled(diagram.arcs))}
    edges: dict[tuple[int, int], int] = {}
    pieces: dict[int, list[int]] = {}
    for k, arc in enumerate(diagram.arcs):
        by_way = [labels[k]] if k in labels else []
        ends = pairwise([arc.source, *by_way, arc.target])
        pieces[k] = [edges.setdefault(end, len(edges)) for end in ends]
    roots = [k for k, vertex in enumerate(diagram.vertices) if vertex.initial]
    all_sizes = [*sizes, *(label_size(diagram.arcs[k].label) for k in labels)]
    return Arranged(placed(all_sizes, list(edges), roots, _beside(diagram.arcs)), sizes, pieces, labels)


def shown(text: str) -> str:
    """Return a line of text, cut if it is too long."""
    seen = printable(text)
    return seen if cell_len(seen) <= _MAX_CHARACTERS else f"{seen[: _MAX_CHARACTERS - 2]} …"


def _size(lines: Sequence[Words]) -> tuple[float, float]:
    width = max((cell_len(shown(line.text)) for line in lines), default=0)
    return 2 * PAD + CHAR * width, 2 * PAD + LINE * len(lines) - 3


def label_size(lines: Sequence[str]) -> tuple[float, float]:
    """Return the width and the height of a label."""
    return CHAR * max(cell_len(shown(line)) for line in lines) + 6, LINE * len(lines) + 2


def _beside(arcs: Sequence[Arc]) -> dict[int, float]:
    """Return the width required to the right of the nodes that have self-loops."""
    room: dict[int, float] = {}
    for arc in arcs:
        if arc.source == arc.target:
            text = max((CHAR * cell_len(shown(line)) for line in arc.label), default=0.0)
            room[arc.source] = max(room.get(arc.source, 0.0), LOOP + text)
    return room


def _labelled(arcs: Sequence[Arc]) -> Iterator[int]:
    """Return the arcs whose labels are nodes of the layout."""
    return (k for k, arc in enumerate(arcs) if arc.label and arc.source != arc.target)
