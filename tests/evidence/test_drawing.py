"""Drawings of evidence: all of the tree is in them, nothing overlaps, and text is only ever text."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import families
import pytest
from evidence_cases import changes, nested, steps, told, verifications, with_evidence
from hypothesis import event, given, settings
from rich.cells import cell_len

import stead_sym as st
from engine_pairs import examples
from stead_sym.errors import InputError
from stead_sym.evidence.data import evidence_data
from stead_sym.evidence.outline import outline
from stead_sym.evidence.reading import read_evidence
from stead_sym.evidence.tree import runs
from stead_sym.report.drawing import draw, evidence_drawing
from stead_sym.report.evidence import Subject
from stead_sym.report.layout import CHAR, LINE, picture
from stead_sym.support.printable import printable

SVG = "{http://www.w3.org/2000/svg}"


def parsed(result, name):
    return ElementTree.fromstring(draw(result, name).svg)


def classes(element):
    return (element.get("class") or "").split()


def of_class(root, name):
    return [element for element in root.iter() if name in classes(element)]


def text_of(element):
    """The text that is drawn, lines joined without spaces, and its tooltips too where they say more."""
    return squeezed("".join("".join(text.itertext()) for text in element.iter(f"{SVG}text")))


def squeezed(text):
    return re.sub(r"\s", "", text)


def assert_all_is_drawn(result, name):
    evidence = result[name].evidence
    root = parsed(result, name)
    drawn = [step for step in of_class(root, "step") if step.tag == f"{SVG}g"]
    wanted = steps(evidence)
    assert len(drawn) == len(wanted)
    calls = Counter(text_of(step) for step in drawn)
    for _, step in wanted:
        assert any(squeezed(str(step.call)) in text for text in calls)
    boxes = [text_of(box) for box in of_class(root, "state")]
    text = text_of(root)
    for state, step in wanted:
        added, removed = changes(state, step)
        rows = squeezed("".join(f"+ {fact}" for fact in sorted(added)))
        rows += squeezed("".join(f"− {fact}" for fact in sorted(removed)))
        assert any((rows or "nochange") in box for box in boxes)
    for claim in told(evidence):
        assert squeezed(claim) in text or squeezed(claim) in squeezed("".join(root.itertext()))
    marks = Counter(kind for mark in of_class(root, "mark") for kind in classes(mark))
    moves = [result.moves(state, step) for state, step in wanted]
    for kind, number in (
        ("agent", sum(move.offered > 1 for move in moves)),
        ("environment", sum(move.outcomes > 1 for move in moves)),
    ):
        assert marks[kind] == number + bool(number), kind  # one more in the legend
    loops = [line for line in of_class(root, "loop") if line.tag == f"{SVG}polyline"]
    assert len(loops) == sum(run.loop is not None for _, run in runs(evidence))


def assert_nothing_overlaps(result, name):
    root = parsed(result, name)
    width, height = float(root.get("width")), float(root.get("height"))
    number = ("x", "y", "width", "height")
    rects = [[float(rect.get(k)) for k in number] for rect in of_class(root, "box")]
    boxes = [(x, y, x + w, y + h) for x, y, w, h in rects]
    for left, top, right, bottom in boxes:
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    assert_text_keeps_its_place(
        picture(outline(result[name].evidence), ("title",), result.moves, result.deployment.fair)
    )


def assert_text_keeps_its_place(drawn):
    for box in drawn.boxes:
        for line in box.lines:
            assert box.x <= line.x
            assert line.x + CHAR * cell_len(line.text) <= box.right
            assert box.y <= line.y - LINE / 2 < line.y <= box.bottom
    for arrow in drawn.arrows:
        for line in arrow.lines:
            extent = line.x, line.y - LINE, line.x + CHAR * cell_len(line.text), line.y
            assert all(not crosses(extent, box) for box in drawn.boxes)
        for mark in arrow.marks:
            assert arrow.top < mark.y < arrow.bottom
    for path in drawn.paths:
        for (a, b), (c, d) in zip(path.points, path.points[1:], strict=False):
            assert all(not crosses((min(a, c), min(b, d), max(a, c), max(b, d)), box) for box in drawn.boxes)


def crosses(extent, box):
    left, top, right, bottom = extent
    return left < box.right and right > box.x and top < box.bottom and bottom > box.y


@settings(max_examples=examples(40))
@given(verifications())
def test_all_of_the_tree_is_drawn_and_nothing_overlaps(result):
    for name in with_evidence(result):
        event(f"runs: {len(outline(result[name].evidence).runs)}")
        assert_all_is_drawn(result, name)
        assert_nothing_overlaps(result, name)


@pytest.mark.parametrize("agent", ["any", "slow"])
def test_so_it_is_for_nested_operators_under_fairness(agent):
    result = nested(agent)
    for name in with_evidence(result):
        assert_all_is_drawn(result, name)
        assert_nothing_overlaps(result, name)
    assert max(len(outline(result[name].evidence).runs) for name in with_evidence(result)) >= 3


@pytest.mark.parametrize("agent", ["baseline", "approving", "any"])
def test_so_it_is_for_the_desks(agent):
    result = st.verify(families.desks(3), agent, findings=False)
    assert len(with_evidence(result)) == 6
    for name in with_evidence(result):
        assert_all_is_drawn(result, name)
        assert_nothing_overlaps(result, name)


def test_a_run_that_begins_in_another_is_joined_to_the_state_it_begins_in():
    result = nested()
    shown = outline(result["two"].evidence)
    drawn = picture(shown, ("title",), result.moves, ())
    at = {box.place: box for box in drawn.boxes}
    joined = {path.start: path for path in drawn.paths if not path.is_loop}
    starts = [run for run in shown.runs if run.begins is not None]
    assert len(starts) == len([path for path in drawn.paths if not path.is_loop]) >= 2
    for run in starts:
        box = at[run.begins]
        path = joined[run.begins]
        assert path.points[0][0] == box.right
        assert box.y < path.points[0][1] < box.bottom
    ends = {path.points[-1] for path in drawn.paths if not path.is_loop}
    for run in starts:
        first = at[type(run.begins)(run.number, 0)]
        assert any(x == first.x and first.y < y < first.bottom for x, y in ends)
        assert first.x > at[run.begins].right
        assert first.y >= at[run.begins].y


def test_a_loop_leads_back_to_the_state_that_it_ends_in():
    result = st.verify(st.load("refund"), "any", ["prog"], findings=False)
    drawn = picture(outline(result["prog"].evidence), ("title",), result.moves, ())
    [loop] = [path for path in drawn.paths if path.is_loop]
    trace = result["prog"].trace
    target = next(box for box in drawn.boxes if box.place.steps == trace.loop)
    x, y = loop.points[-1]
    assert x == target.x
    assert target.y < y < target.bottom
    assert trace.states[trace.loop] == trace.last


def test_long_runs_are_drawn():
    chain = families.chain(151)
    result = st.verify(chain, "any", ["EF G(x150)"], findings=False)
    [name] = with_evidence(result)
    assert len(of_class(parsed(result, name), "state")) == 151
    root = parsed(result, name)
    start = of_class(root, "state")[0]
    assert "and138more" in text_of(start)
    tooltip = start.find(f"{SVG}title").text
    assert all(str(fact) in tooltip for fact in chain.init)
    assert len(draw(result, name).svg) < 600_000


def test_the_same_evidence_gives_the_same_drawing():
    first, second = (st.verify(st.load("ward"), "any", findings=False) for _ in range(2))
    for name in with_evidence(first):
        assert draw(first, name).svg == draw(second, name).svg


NASTY = (
    "</text><script>alert(1)</script>",
    "a\"b'c&amp;<!-- -->]]>",
    "line\nbreak\tand\rmore",
    "esc\x1b[31m\x00\x7f",
    "\u202eright to left\u2066",
    "lone \ud800 surrogate \ufffe",
    "w" * 300,
    "漢字かな交じり文" * 12,
    "",
)


@pytest.mark.parametrize("nasty", NASTY)
def test_any_text_can_be_a_value(nasty):
    """In evidence from a file: deployments have names only."""
    deployment = st.load("refund")
    result = st.verify(deployment, "any", ["auth"], findings=False)
    data = evidence_data("auth", str(result["auth"].formula), result["auth"].evidence, result.moves)
    text = json.dumps(data).replace('"task1"', json.dumps(nasty)).replace('"task2"', json.dumps(nasty))
    written = read_evidence(deployment, json.loads(text), "the evidence")
    subject = Subject(nasty, nasty, nasty, nasty, "fails", written.evidence)
    root = ElementTree.fromstring(evidence_drawing(subject, lambda state, step: None).svg.encode("utf-8"))
    tags = "svg title desc style rect g text path circle polyline"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= set(tags.split())
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in attributes)
    assert squeezed(printable(f"+ RefundIssued({nasty})")) in text_of(root)
    assert all(character.isprintable() or character == "\n" for character in "".join(root.itertext()))
    assert_text_keeps_its_place(picture(outline(written.evidence), (nasty,), lambda state, step: None, ()))


def test_what_cannot_be_drawn_is_said():
    result = st.verify(st.load("refund"), "baseline", findings=False)
    with pytest.raises(InputError, match="did you mean auth"):
        draw(result, "aut")
