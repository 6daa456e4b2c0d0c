"""Evidence as an SVG drawing: text only, without scripts, fonts or anything else from elsewhere.

One decision: no meaning rests on colour alone, and nothing in a drawing has an identifier, so that several of
them can stand in one page. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal

from stead_sym.evidence.outline import outline
from stead_sym.report.evidence import Subject, subject
from stead_sym.report.layout import LINE, MARGIN, Arrow, Box, Line, Mark, Path, Picture, picture
from stead_sym.report.palette import DARK, FONT, LIGHT
from stead_sym.report.steps import MovesOf
from stead_sym.support.printable import printable
from stead_sym.verification.verify import Verification

MARKER = '<svg xmlns="http://www.w3.org/2000/svg" class="stead-evidence"'
"""How a drawing begins."""

_LIGHT = {
    **LIGHT,
    "added": "#116329",
    "added-row": "#d2f5da",
    "removed": "#8f1220",
    "removed-row": "#ffe2df",
    "agent": "#7a3fd1",
    "environment": "#b04a00",
    "loop": "#0757b8",
}
_DARK = {
    **DARK,
    "added": "#6fdd8b",
    "added-row": "#12301c",
    "removed": "#ff9a92",
    "removed-row": "#3c1618",
    "agent": "#c29bff",
    "environment": "#ffab6b",
    "loop": "#79b8ff",
}


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """An SVG document; a notebook shows it, `str` is its text."""

    svg: str

    def __repr__(self) -> str:
        return f"<drawing of {len(self.svg):,} characters>"

    def __str__(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg


def draw(result: Verification, spec: str) -> Drawing:
    """The drawing of the evidence for one verdict. `InputError` where there is none, and for an unknown
    specification."""
    return evidence_drawing(subject(result, spec), result.moves)


def evidence_drawing(subject: Subject, moves: MovesOf) -> Drawing:
    """The drawing of all runs of the evidence, the same for the same evidence."""
    heading = (subject.title, subject.formula, *subject.scope)
    drawn = picture(outline(subject.evidence), heading, moves, subject.fair)
    legend = list(_legend(drawn))
    height = drawn.height + LINE * len(legend) + (MARGIN if legend else 0)
    size = f'width="{drawn.width:.0f}" height="{height:.0f}" viewBox="0 0 {drawn.width:.0f} {height:.0f}"'
    title = printable(subject.title)
    parts = [
        f'{MARKER} {size} role="group" aria-label="{escape(f"evidence: {title}")}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(printable(subject.formula))}</desc>",
        f"<style>{_style()}</style>",
        '<rect class="page" width="100%" height="100%"/>',
        *map(_line, drawn.lines),
        *(part for path in drawn.paths for part in _path(path)),
        *(part for arrow in drawn.arrows for part in _arrow(arrow)),
        *(part for box in drawn.boxes for part in _box(box)),
    ]
    y = drawn.height
    for sign, words in legend:
        parts += [*sign(MARGIN + 12, y), _line(Line(MARGIN + 34, y + 4, words, "quiet"))]
        y += LINE
    return Drawing("\n".join([*parts, "</svg>"]) + "\n")


def _style() -> str:
    rules = [f".stead-evidence text{{font:{FONT};white-space:pre}}", _colours(_LIGHT)]
    rules += [
        ".stead-evidence .line{fill:none;stroke-width:1.4}",
        ".stead-evidence .rule{stroke-width:.6}",
        ".stead-evidence .head,.stead-evidence .title,.stead-evidence .call{font-weight:bold}",
        ".stead-evidence text.title{font-size:14px}",
        ".stead-evidence .dashed{stroke-dasharray:6 4}",
        ".stead-evidence .dotted{stroke-dasharray:2 3}",
        "@media (prefers-color-scheme:dark){" + _colours(_DARK) + "}",
    ]
    return "\n".join(rules)


def _colours(colour: dict[str, str]) -> str:
    fills = {
        "text": "ink",
        ".page": "page",
        "text.quiet": "quiet",
        "text.added": "added",
        "text.removed": "removed",
        ".added-row": "added-row",
        ".removed-row": "removed-row",
        ".tip": "quiet",
        ".tip.loop": "loop",
        ".mark.agent": "agent",
        ".mark.environment": "page",
    }
    rules = [f".stead-evidence {name}{{fill:{colour[key]}}}" for name, key in fills.items()]
    rules.append(f".stead-evidence .box{{fill:{colour['box']};stroke:{colour['edge']}}}")
    strokes = {
        ".line": "quiet",
        ".rule": "edge",
        ".line.loop": "loop",
        ".mark.agent": "agent",
        ".mark.environment": "environment",
        ".stub.agent": "agent",
        ".stub.environment": "environment",
    }
    rules += [f".stead-evidence {name}{{stroke:{colour[key]}}}" for name, key in strokes.items()]
    return "\n".join(rules)


def _line(line: Line) -> str:
    full = f"<title>{escape(line.full)}</title>" if line.full else ""
    return f'<text class="{line.kind}" x="{line.x:.1f}" y="{line.y:.1f}">{full}{escape(line.text)}</text>'


def _box(box: Box) -> Iterator[str]:
    """A state, with all its facts as a tooltip; the changed ones stand out by sign and by row."""
    yield f'<g class="state" role="group" aria-label="{escape(box.label)}">'
    yield f"<title>{escape(box.label)}:\n{escape(box.title)}</title>"
    dashed = " dashed" if box.again else ""
    yield (
        f'<rect class="box{dashed}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}"'
        f' height="{box.height:.1f}" rx="6"/>'
    )
    for line in box.lines:
        if line.kind in ("added", "removed"):
            yield (
                f'<rect class="{line.kind}-row" x="{box.x + 4:.1f}" y="{line.y - 13:.1f}"'
                f' width="{box.width - 8:.1f}" height="{LINE:.1f}"/>'
            )
    if box.rule is not None:
        yield f'<path class="line rule" d="M{box.x:.1f} {box.rule:.1f}H{box.right:.1f}"/>'
    yield from map(_line, box.lines)
    yield "</g>"


def _arrow(arrow: Arrow) -> Iterator[str]:
    kind = " dashed" if arrow.event else " dotted" if arrow.fairly else ""
    yield f'<g class="step" role="group" aria-label="{escape(arrow.label)}">'
    yield f"<title>{escape(arrow.label)}</title>"
    yield f'<path class="line{kind}" d="M{arrow.x:.1f} {arrow.top:.1f}V{arrow.bottom - 6:.1f}"/>'
    yield _tip(arrow.x, arrow.bottom, "down")
    for mark in arrow.marks:
        yield from _mark(mark)
    yield from map(_line, arrow.lines)
    yield "</g>"


def _mark(mark: Mark) -> Iterator[str]:
    """A filled diamond where the agent chose, an open circle where the environment branched, with a stub for
    what else could have happened."""
    for number in range(min(mark.others, 3)):
        end = f"{mark.x - 20:.1f} {mark.y + 3 + 5 * number:.1f}"
        yield f'<path class="line stub {mark.who}" d="M{mark.x:.1f} {mark.y:.1f}L{end}"/>'
    if mark.who == "agent":
        d = f"M{mark.x:.1f} {mark.y - 6:.1f}l6 6l-6 6l-6 -6Z"
        yield f'<path class="mark agent" d="{d}"/>'
    else:
        yield f'<circle class="mark environment" cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="5" stroke-width="2"/>'


def _path(path: Path) -> Iterator[str]:
    kind = " loop" if path.is_loop else ""
    *before, (x, y) = path.points
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in (*before, (x - 6, y)))
    yield f'<g role="group" aria-label="{escape(path.label)}"><title>{escape(path.label)}</title>'
    yield f'<polyline class="line{kind}" points="{points}"/>'
    yield _tip(x, y, "right", kind) + "</g>"


def _tip(x: float, y: float, towards: str, kind: str = "") -> str:
    """The head of an arrow that ends at (x, y)."""
    d = "l-4.5 -8h9Z" if towards == "down" else "l-8 -4.5v9Z"
    return f'<path class="tip{kind}" d="M{x:.1f} {y:.1f}{d}"/>'


def _legend(drawn: Picture) -> Iterator[tuple[_Sign, str]]:
    """The signs that occur, with what they mean."""
    marks = {mark.who for arrow in drawn.arrows for mark in arrow.marks}
    if "agent" in marks:
        yield _mark_sign("agent"), "the agent was offered other calls too"
    if "environment" in marks:
        yield _mark_sign("environment"), "the same call, or event, could have had another outcome"
    if any(arrow.event for arrow in drawn.arrows):
        yield _stroke("dashed"), "an event, which no agent makes"
    if any(arrow.fairly for arrow in drawn.arrows):
        yield _stroke("dotted"), "only there to show that the run goes on fairly"
    if any(path.is_loop for path in drawn.paths):
        yield _stroke("loop"), "back to a state that was there before: what lies between repeats for ever"
    if any(box.again for box in drawn.boxes):
        yield _frame, "a state that is drawn elsewhere too"


_Sign = Callable[[float, float], Iterator[str]]


def _mark_sign(who: Literal["agent", "environment"]) -> _Sign:
    return lambda x, y: _mark(Mark(x, y, who, 2))


def _stroke(kind: str) -> _Sign:
    return lambda x, y: iter([f'<path class="line {kind}" d="M{x - 12:.1f} {y:.1f}H{x + 12:.1f}"/>'])


def _frame(x: float, y: float) -> Iterator[str]:
    yield f'<rect class="box dashed" x="{x - 12:.1f}" y="{y - 5:.1f}" width="24" height="10" rx="3"/>'
