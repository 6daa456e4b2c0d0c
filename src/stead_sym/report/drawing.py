"""Drawings of graphs of states and of decisions in SVG, laid out here.

One decision: the layout is our own (`layered`). Labels of edges are nodes of
it, so that they never cover a node or one another. The graphs that a reader can take in are small, and their
nodes hold text and so differ in size. The libraries that lay out such graphs in layers require a program of
the system or come as compiled wheels for few platforms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from stead_sym.report.diagram import Arc, Diagram, Vertex, Words
from stead_sym.report.layered import Placed, Point, placed
from stead_sym.support.html import Html, joined, tag
from stead_sym.support.printable import printable

MARKER = '<svg xmlns="http://www.w3.org/2000/svg" class="stead-graph"'
"""The beginning of a drawing."""


_CHAR, _LINE = 7.3, 17.0
"""The width of a character and the height of a line, for text that is 12 pixels high."""

_PAD = 9.0
_LOOP = 26.0  # the width of a self-loop
_MAX_CHARACTERS = 46  # characters of a line; the rest is in the tooltip
_MARGIN = 24.0

_FONT = "12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
_LIGHT_COLOURS = {
    "ink": "#1f2328",
    "quiet": "#59636e",
    "page": "#ffffff",
    "box": "#f6f8fa",
    "edge": "#818b98",
    "agent": "#5b3fc4",
    "event": "#b04a00",
}
_DARK = {
    "ink": "#e6edf3",
    "quiet": "#9da7b3",
    "page": "#0d1117",
    "box": "#161b22",
    "edge": "#6e7681",
    "agent": "#b9a2ff",
    "event": "#ffab6b",
}


@dataclass(frozen=True, slots=True)
class _Arranged:
    """A diagram with its layout, and the sizes of its vertices.

    ``pieces`` has the edges of the layout that an arc consists of, by the number of the arc, and ``labels``
    the node of the layout that is its label.
    """

    layout: Placed
    sizes: Sequence[tuple[float, float]]
    pieces: Mapping[int, Sequence[int]]
    labels: Mapping[int, int]


def _arranged(diagram: Diagram) -> _Arranged:
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
    all_sizes = [*sizes, *(_label_size(diagram.arcs[k].label) for k in labels)]
    return _Arranged(placed(all_sizes, list(edges), roots, _beside(diagram.arcs)), sizes, pieces, labels)


def _shown(text: str) -> str:
    """Return a line of text, cut if it is too long."""
    seen = printable(text)
    return seen if cell_len(seen) <= _MAX_CHARACTERS else f"{seen[: _MAX_CHARACTERS - 2]} …"


def _size(lines: Sequence[Words]) -> tuple[float, float]:
    width = max((cell_len(_shown(line.text)) for line in lines), default=0)
    return 2 * _PAD + _CHAR * width, 2 * _PAD + _LINE * len(lines) - 3


def _label_size(lines: Sequence[str]) -> tuple[float, float]:
    """Return the width and the height of a label."""
    return _CHAR * max(cell_len(_shown(line)) for line in lines) + 6, _LINE * len(lines) + 2


def _beside(arcs: Sequence[Arc]) -> dict[int, float]:
    """Return the width required to the right of the nodes that have self-loops."""
    room: dict[int, float] = {}
    for arc in arcs:
        if arc.source == arc.target:
            text = max((_CHAR * cell_len(_shown(line)) for line in arc.label), default=0.0)
            room[arc.source] = max(room.get(arc.source, 0.0), _LOOP + text)
    return room


def _labelled(arcs: Sequence[Arc]) -> Iterator[int]:
    """Return the arcs whose labels are nodes of the layout."""
    return (k for k, arc in enumerate(arcs) if arc.label and arc.source != arc.target)


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """An SVG document; a notebook displays it, and `str` is its text."""

    svg: str

    def __repr__(self) -> str:
        """Return the size of the drawing as text."""
        return f"<drawing of {len(self.svg):,} characters>"

    def __str__(self) -> str:
        """Return the text of the document."""
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg


def _colours(colours: Mapping[str, str]) -> str:
    variables = ";".join(f"--{name}:{colour}" for name, colour in colours.items())
    return f".stead-graph{{{variables}}}"


STYLE = f"""
{_colours(_LIGHT_COLOURS)}
.stead-graph text{{font:{_FONT};white-space:pre;fill:var(--ink)}}
.stead-graph text.head,.stead-graph text.selected{{font-weight:600}}
.stead-graph text.selected,.stead-graph text.by-agent{{fill:var(--agent)}}
.stead-graph text.offered,.stead-graph text.quiet,.stead-graph text.by-other{{fill:var(--quiet)}}
.stead-graph text.by-event{{fill:var(--event)}}
.stead-graph .page{{fill:var(--page)}}
.stead-graph .box{{fill:var(--box);stroke:var(--edge)}}
.stead-graph .initial .box{{stroke:var(--ink);stroke-width:2}}
.stead-graph .line{{fill:none;stroke:var(--quiet);stroke-width:1.3}}
.stead-graph .tip{{fill:var(--quiet)}}
.stead-graph .by-agent .line{{stroke:var(--agent)}}
.stead-graph .by-agent .tip{{fill:var(--agent)}}
.stead-graph .by-event .line{{stroke:var(--event);stroke-dasharray:6 4}}
.stead-graph .by-event .tip{{fill:var(--event)}}
.stead-graph .by-other .line{{stroke-dasharray:2 3}}
.stead-graph a:hover .box,.stead-graph a:focus .box{{stroke:var(--agent);stroke-width:2.5}}
@media screen and (prefers-color-scheme:dark){{{_colours(_DARK)}}}
""".strip()
"""The style of a drawing. A page that holds drawings has it once."""


def diagram_svg(diagram: Diagram, *, inline: bool = False) -> Drawing:
    """Return the drawing; ``inline``: for a page that has the `STYLE` and shows the title itself."""
    drawn = _arranged(diagram)
    layout, sizes, ways = drawn.layout, drawn.sizes, _ways(diagram.arcs)
    heading = () if inline else (diagram.title, *diagram.notes)
    top = _LINE * len(heading) + (_MARGIN / 2 if heading else 0.0)
    width = max(layout.width, *(_CHAR * cell_len(printable(line)) for line in heading), 1.0) + 2 * _MARGIN
    height = layout.height + 2 * _MARGIN + top
    shift = _Shift((width - layout.width) / 2, _MARGIN + top)
    svg = tag(
        "svg",
        tag("title", diagram.title),
        None if inline else tag("style", Html(STYLE)),
        tag("rect", class_="page", width="100%", height="100%"),
        (
            tag("text", line, class_="quiet" if k else "head", x=_MARGIN, y=_MARGIN + _LINE * k + 4)
            for k, line in enumerate(heading)
        ),
        (
            _loop(arc, ways[k], layout.centres[arc.source], sizes[arc.source], shift)
            if arc.source == arc.target
            else _arc(arc, [layout.routes[p] for p in drawn.pieces[k]], drawn.labels.get(k), layout, shift)
            for k, arc in enumerate(diagram.arcs)
        ),
        (_vertex(vertex, layout.centres[k], sizes[k], shift) for k, vertex in enumerate(diagram.vertices)),
        xmlns="http://www.w3.org/2000/svg",
        class_="stead-graph",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="group",
        aria_label=diagram.title,
    )
    return Drawing(f"{svg}\n")


@dataclass(frozen=True, slots=True)
class _Shift:
    """A translation from the coordinates of the layout to those of the drawing."""

    x: float
    y: float

    def __call__(self, point: Point) -> Point:
        return point[0] + self.x, point[1] + self.y


def _vertex(vertex: Vertex, centre: Point, size: tuple[float, float], shift: _Shift) -> Html:
    x, y = shift(centre)
    width, height = size
    left, top = x - width / 2, y - height / 2
    head = vertex.lines[0].text if vertex.lines else ""
    body = joined(
        tag("title", vertex.full) if vertex.full else None,
        tag("rect", class_="box", x=_px(left), y=_px(top), width=_px(width), height=_px(height), rx=6),
        (
            tag(
                "text",
                _shown(line.text),
                class_=line.kind,
                x=_px(left + _PAD),
                y=_px(top + _PAD + 10 + _LINE * k),
            )
            for k, line in enumerate(vertex.lines)
        ),
    )
    kind = "vertex initial" if vertex.initial else "vertex"
    if vertex.link:
        return tag("a", body, class_=kind, href=vertex.link, aria_label=head)
    return tag("g", body, class_=kind)


def _ways(arcs: Sequence[Arc]) -> dict[int, tuple[int, int]]:
    """Return, for each self-loop, the number of lines of text above its own, and the total number."""
    loops: dict[int, list[int]] = {}
    for k, arc in enumerate(arcs):
        if arc.source == arc.target:
            loops.setdefault(arc.source, []).append(k)
    ways: dict[int, tuple[int, int]] = {}
    for together in loops.values():
        lines = [max(len(arcs[k].label), 1) for k in together]
        for number, k in enumerate(together):
            ways[k] = sum(lines[:number]), sum(lines)
    return ways


def _loop(arc: Arc, way: tuple[int, int], centre: Point, size: tuple[float, float], shift: _Shift) -> Html:
    """Return a self-loop at the right side of its node, with its label beside it."""
    (x, middle), (width, _) = shift(centre), size
    above, lines = way
    y = middle + _LINE * (above - (lines - 1) / 2)
    x += width / 2
    return tag(
        "g",
        tag("path", class_="line", d=f"M{_px(x)} {_px(y - 5)}c22 -8 22 18 7 10"),
        tag("path", class_="tip", d=f"M{_px(x)} {_px(y + 5)}l8 -4.5v9Z"),
        (
            tag("text", _shown(line), class_=f"by-{arc.by}", x=_px(x + _LOOP - 4), y=_px(y + 4 + _LINE * k))
            for k, line in enumerate(arc.label)
        ),
        class_=f"arc by-{arc.by}",
    )


def _arc(
    arc: Arc,
    routes: Sequence[tuple[Point, ...]],
    label: int | None,
    layout: Placed,
    shift: _Shift,
) -> Html:
    shapes: list[Html] = []
    for number, route in enumerate(routes):
        points = [shift(point) for point in route]
        last = number == len(routes) - 1
        shapes.append(tag("path", class_="line", d=_curve(points, shorten=7.0 if last else 0.0)))
        if last:
            (x, y), down = points[-1], points[-1][1] > points[-2][1]
            shapes.append(tag("path", class_="tip", d=f"M{_px(x)} {_px(y)}l-4.5 {-8 if down else 8}h9Z"))
    if label is not None:
        x, y = shift(layout.centres[label])
        _, height = _label_size(arc.label)
        for k, line in enumerate(arc.label):
            base = y - height / 2 + 13 + _LINE * k
            shapes.append(
                tag("text", _shown(line), class_=f"by-{arc.by}", x=_px(x), y=_px(base), text_anchor="middle")
            )
    return tag("g", shapes, class_=f"arc by-{arc.by}")


def _curve(points: Sequence[Point], shorten: float) -> str:
    """Return a smooth line through the points that is vertical at each of them."""
    *before, (x, y) = points
    end = y - shorten if y > points[-2][1] else y + shorten
    path = [f"M{_px(points[0][0])} {_px(points[0][1])}"]
    at = points[0]
    for a, b in (*before[1:], (x, end)):
        middle = (at[1] + b) / 2
        path.append(f"C{_px(at[0])} {_px(middle)} {_px(a)} {_px(middle)} {_px(a)} {_px(b)}")
        at = a, b
    return "".join(path)


def _px(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
