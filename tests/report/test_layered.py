"""The layout of graphs: nothing overlaps, edges begin and end at their nodes, and places are the best there
are for the order."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.report.layered import inversions, placed, spread


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 12))
    sizes = draw(st.lists(st.tuples(*[st.integers(10, 200)] * 2), min_size=nodes, max_size=nodes))
    ends = st.tuples(*[st.integers(0, nodes - 1)] * 2)
    edges = draw(st.lists(ends, max_size=20, unique=True))
    return sizes, edges, draw(st.lists(st.integers(0, nodes - 1), max_size=2, unique=True))


@settings(max_examples=examples(150), deadline=None)
@given(graphs())
def test_boxes_are_apart_and_edges_meet_their_nodes(graph):
    sizes, edges, roots = graph
    beside = {a: 30.0 for a, b in edges if a == b}
    layout = placed(sizes, edges, roots, beside)
    boxes = [
        (x - w / 2, y - h / 2, x + w / 2 + beside.get(k, 0.0), y + h / 2)
        for k, ((x, y), (w, h)) in enumerate(zip(layout.centres, sizes, strict=True))
    ]
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for left, top, right, bottom in boxes:
        assert min(left, top) >= -1e-6
        assert right <= layout.width + 1e-6
        assert bottom <= layout.height + 1e-6
    for (a, b), route in zip(edges, layout.routes, strict=True):
        assert bool(route) == (a != b)
        for node, (x, y) in ((a, route[0]), (b, route[-1])) if route else ():
            left, top, right, bottom = boxes[node]
            assert left <= x <= right
            assert min(abs(y - top), abs(y - bottom)) < 1e-6
    assert placed(sizes, edges, roots, beside) == layout


@settings(max_examples=examples(100), deadline=None)
@given(graphs())
def test_lines_between_layers_are_upright_past_boxes(graph):
    """Where a line passes a layer, it is in no box of it."""
    sizes, edges, roots = graph
    layout = placed(sizes, edges, roots, {})
    for route in layout.routes:
        for (x, y), (u, v) in pairwise(route[1:-1]):
            if x == u:
                for (cx, cy), (w, h) in zip(layout.centres, sizes, strict=True):
                    inside = abs(x - cx) < w / 2 - 1e-6
                    assert not (inside and min(y, v) < cy + h / 2 - 1e-6 and max(y, v) > cy - h / 2 + 1e-6)


def test_a_chain_goes_down_and_the_way_back_up():
    layout = placed([(50, 20)] * 3, [(0, 1), (1, 2), (2, 0)], [0], {})
    heights = [y for _, y in layout.centres]
    assert heights == sorted(heights)
    assert layout.routes[0][0][1] < layout.routes[0][-1][1]
    assert layout.routes[2][0][1] > layout.routes[2][-1][1]


def test_no_line_crosses_where_none_has_to():
    """Two chains whose nodes are met in crossed order."""
    layout = placed([(30, 20)] * 5, [(0, 1), (0, 2), (1, 4), (2, 3)], [0], {})
    x = [x for x, _ in layout.centres]
    assert (x[1] - x[2]) * (x[4] - x[3]) > 0


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5)), min_size=1, max_size=6),
    st.lists(st.integers(0, 30), min_size=5, max_size=5),
    st.lists(st.integers(-10, 10), min_size=6, max_size=6),
)
def test_places_are_the_best_for_the_order(wishes, gaps, other):
    """Nothing near that keeps the distances is cheaper; the cost is convex, so that this is the least."""
    wished, weights = zip(*wishes, strict=True)
    apart = gaps[: len(wished) - 1]
    found = spread(wished, weights, apart)

    def cost(places):
        return sum(w * (x - d) ** 2 for w, x, d in zip(weights, places, wished, strict=True))

    def keeps(places):
        return all(b - a >= gap - 1e-9 for (a, b), gap in zip(pairwise(places), apart, strict=True))

    assert keeps(found)
    moved = [x + 0.05 * d for x, d in zip(found, other, strict=False)]
    if keeps(moved):
        assert cost(found) <= cost(moved) + 1e-9


def test_only_a_wide_layer_is_broken():
    def star(many):
        return placed([(100, 20)] * (many + 1), [(0, k) for k in range(1, many + 1)], [0], {})

    assert len({y for _, y in star(8).centres}) == 2
    assert len({y for _, y in star(40).centres}) > 2
    assert star(40).width < 0.7 * 40 * 126


def _points(many):
    """Return how many points the lines of a graph of so many nodes pass, short and long edges mixed; the
    work of a sweep is proportional to it."""
    random = Random(1)
    edges = {(k // 3, k) for k in range(1, many)}
    edges |= {(random.randrange(many), random.randrange(many)) for _ in range(many // 3)}
    return sum(map(len, placed([(80, 40)] * many, sorted(edges), [0], {}).routes))


def test_a_graph_four_times_as_large_has_not_sixteen_times_the_joints():
    """An edge passes as many layers as a square of the nodes has: 4·√4 times the joints."""
    assert _points(1200) < 11 * _points(300)


@given(st.lists(st.integers(0, 9), max_size=30))
def test_crossings_are_counted_as_they_are_defined(numbers):
    assert inversions(numbers, 10) == sum(a > b for a, b in combinations(numbers, 2))
