"""Where everything of a drawing of evidence stands: plain geometry, in pixels, y growing downwards.

Time runs down. One decision: a run is a column of boxes, and a run that begins in one of its states stands in
the next column to the right, not above that state. So no line ever has to cross a box, however many there
are: lines between runs are routed between the columns, each on a track of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rich.cells import cell_len, chop_cells

from stead_sym.agents.records.weight import is_weighed, weight_words
from stead_sym.deployment.trace import as_changes
from stead_sym.evidence.moves import Move
from stead_sym.evidence.outline import Numbered, Outline, Place
from stead_sym.relational.instance import Instance
from stead_sym.report.evidence import Fairness, constraints_met
from stead_sym.report.steps import MovesOf, actor_word
from stead_sym.support.printable import printable

CHAR, LINE = 7.3, 17.0
"""The width of a character and the height of a line, of text that is 12 pixels high."""

MARGIN = 24.0
_PAD = 10.0
_LEAST, _MOST = 34, 60  # characters in a line of a box
_STEM = 34.0  # from the left side of a box to the arrow that leaves it
_HEAD = 12.0  # between an arrow's head or tail and its label
_GAP = 34.0  # between runs in a column
_LOOP = 26.0  # room for a loop at the left of its boxes
_START_FACTS, _CLAIM_LINES, _TITLE_FACTS = 14, 5, 40

Kind: TypeAlias = Literal["head", "fact", "added", "removed", "quiet", "claim", "call", "who", "title"]
_KIND: Mapping[str, Kind] = {"+": "added", "-": "removed", "": "fact"}
"""Of a change, by its sign."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text; (x, y) is where its base line begins. ``full`` is the whole text where this is less
    than all of it."""

    x: float
    y: float
    text: str
    kind: Kind
    full: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A state: the number of its run, and of the steps before it. ``again``: it is drawn elsewhere too.
    ``rule`` is the height of the line above the claims, None where there are none."""

    place: Place
    x: float
    y: float
    width: float
    height: float
    label: str
    title: str
    lines: tuple[Line, ...]
    rule: float | None = None
    again: bool = False

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def right(self) -> float:
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class Mark:
    """Someone could have done otherwise here; ``others``: in so many ways, at most three are drawn."""

    x: float
    y: float
    who: Literal["agent", "environment"]
    others: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """A step from one box to the one below it."""

    x: float
    top: float
    bottom: float
    label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    event: bool
    fairly: bool


@dataclass(frozen=True, slots=True)
class Path:
    """A line with an arrow head at its last point: back to where a loop begins, or from the
    state at ``start`` to a run that begins there."""

    points: tuple[tuple[float, float], ...]
    label: str
    start: Place | None = None

    @property
    def is_loop(self) -> bool:
        return self.start is None


@dataclass(frozen=True, slots=True)
class Picture:
    """All of a drawing; ``lines`` are those that belong to no box or arrow."""

    width: float
    height: float
    lines: tuple[Line, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    paths: tuple[Path, ...]


def picture(shown: Outline, heading: Sequence[str], moves: MovesOf, fair: Sequence[Fairness]) -> Picture:
    """The layout of numbered runs under a heading, whose first line is the title."""
    depths = _depths(shown)
    columns = [
        [run for run, depth in zip(shown.runs, depths, strict=True) if depth == column]
        for column in range(max(depths) + 1)
    ]
    layout = _Layout(shown, moves, fair)
    texts = [[layout.texts(run) for run in runs] for runs in columns]
    widths = [_box_width(column) for column in texts]
    tracks = [0.0, *(_tracks(len(runs)) for runs in columns[1:])]
    across = 2 * MARGIN + sum(widths) + sum(tracks) + _LOOP * len(columns)
    width = max(across, 2 * MARGIN + 80 * CHAR)
    lines, y = _heading(heading, width)
    x = MARGIN
    for runs, column, box_width, room in zip(columns, texts, widths, tracks, strict=True):
        left = x + room + _LOOP
        below = y
        for number, (run, text) in enumerate(zip(runs, column, strict=True)):
            below = layout.place(run, text, left, below, box_width, x + room - _spacing(len(runs)) * number)
        x = left + box_width
    height = max(box.bottom for box in layout.boxes) + MARGIN
    return Picture(
        width, height, (*lines, *layout.lines), tuple(layout.boxes), tuple(layout.arrows), tuple(layout.paths)
    )


@dataclass(frozen=True, slots=True)
class _Text:
    """Text in a box or at an arrow before it is wrapped."""

    text: str
    kind: Kind
    indent: int = 0


@dataclass(frozen=True, slots=True)
class _State:
    """What stands in the box of a state, and at the arrow that leads there."""

    label: str
    title: str
    facts: tuple[_Text, ...]
    claims: tuple[_Text, ...]
    again: bool
    by: str = ""
    arrow: tuple[_Text, ...] = ()
    move: Move | None = None


@dataclass
class _Layout:
    """What is placed so far."""

    shown: Outline
    moves: MovesOf
    fair: Sequence[Fairness]
    lines: list[Line] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

    # what to write

    def texts(self, run: Numbered) -> list[_State]:
        """What is written at each state of a run."""
        met = list(constraints_met(run, self.fair))
        states: list[_State] = []
        for steps, state in enumerate(run.states):
            claims = [_Text(printable(r.text), "claim", 2 * r.depth) for r in run.remarks[steps]]
            claims += [_Text(printable(f"meets fair {f}"), "quiet") for f, after in met if after == steps]
            words = self.shown.words(Place(run.number, steps))
            again = steps == 0 and run.begins is not None
            if steps == 0:
                facts = () if again else _start_facts(state)
                first = "the start, one of several" if self.shown.evidence.of_many else "the start"
                label = f"the state {words}" if again else first
                states.append(_State(label, _title(state, None), facts, tuple(claims), again))
                continue
            label = f"after step {steps}"
            if run.loop is not None and steps == len(run.legs):
                again = True
                label += f" = {f'after step {run.loop}' if run.loop else states[0].label}"
            facts = tuple(
                _Text(printable(str(change).replace("-", "−", int(change.sign == "-"))), _KIND[change.sign])
                for change in as_changes(state.schema, *run.changes(steps - 1))
            )
            leg = run.legs[steps - 1]
            move = self.moves(run.states[steps - 1], leg.step)
            arrow = [_Text(printable(leg.step.call), "call")]
            arrow += [_Text(words, "who") for words in _branching(move)]
            if leg.fairly and not run.is_only_fair:
                arrow.append(_Text("only to go on fairly", "quiet"))
            states.append(
                _State(
                    label,
                    _title(state, _TITLE_FACTS),
                    facts or (_Text("no change", "quiet"),),
                    tuple(claims),
                    again,
                    f"{steps}. {printable(actor_word(leg.step))} ",
                    tuple(arrow),
                    move,
                )
            )
        return states

    # where to put it

    def place(
        self, run: Numbered, texts: Sequence[_State], x: float, y: float, width: float, track: float
    ) -> float:
        """Place a run in its column, below ``y`` and not above the state in which it begins. ``track`` is
        where the line to it runs down. Returns where the next run may begin."""
        begins = next((box for box in self.boxes if box.place == run.begins), None)
        y = max(y, begins.y) if begins else y
        if len(self.shown.runs) > 1:
            self.lines.append(
                Line(x, y + 12, f"run {run.number}{', only to go on fairly' * run.is_only_fair}", "title")
            )
            y += LINE + 6
        own: list[Box] = []
        for steps, text in enumerate(texts):
            if steps:
                y = self._arrow(run, steps, text, x, y, width)
            box = _box(Place(run.number, steps), text, x, y, width)
            own.append(box)
            y = box.bottom
        self.boxes += own
        if begins is not None:
            already = sum(path.start == run.begins for path in self.paths)
            out = min(begins.y + _PAD + 7.0 * already, begins.bottom - 4)
            into = own[0].y + _PAD
            points = ((begins.right, out), (track, out), (track, into), (x, into))
            self.paths.append(Path(points, f"run {run.number} begins here", run.begins))
        if run.loop is not None:
            last, target, left = own[-1], own[run.loop], x - _LOOP / 2
            back = target.bottom - _PAD
            points = ((x, last.y + _PAD), (left, last.y + _PAD), (left, back), (x, back))
            self.paths.append(Path(points, run.repeats))
        return y + _GAP

    def _arrow(self, run: Numbered, steps: int, text: _State, x: float, y: float, width: float) -> float:
        """The arrow of a step, from a box that ends at ``y``; returns where the next box begins."""
        leg = run.legs[steps - 1]
        stem = x + _STEM
        lines: list[Line] = []
        marks: list[Mark] = []
        at = y + _HEAD
        indent = cell_len(text.by) * CHAR
        lines.append(Line(stem + 16, at + 12, text.by.rstrip(), "quiet"))
        for part in text.arrow:
            left = stem + 16 + (indent if part.kind == "call" else 0.0)
            if part.kind == "who":
                agent = part.text.startswith("agent")
                who: Literal["agent", "environment"] = "agent" if agent else "environment"
                marks.append(Mark(stem, at + 8, who, _others(text.move, agent)))
            for piece in _wrapped(part.text, int((x + width - left) / CHAR)):
                lines.append(Line(left, at + 12, piece, part.kind))
                at += LINE
        bottom = at + _HEAD
        label = f"step {steps}: {leg.step.label}"
        event = leg.step.actor is None
        self.arrows.append(
            Arrow(stem, y, bottom, printable(label), tuple(lines), tuple(marks), event, leg.fairly)
        )
        return bottom


def _depths(shown: Outline) -> list[int]:
    """How many runs lead to each run."""
    depths: list[int] = []
    for run in shown.runs:
        depths.append(0 if run.begins is None else depths[run.begins.run - 1] + 1)
    return depths


def _spacing(tracks: int) -> float:
    """Between tracks; they move together where there are many."""
    return max(2.0, min(9.0, 240.0 / tracks))


def _tracks(number: int) -> float:
    """The room for the tracks of so many lines."""
    return 18.0 + _spacing(number) * (number - 1)


def _box_width(runs: Sequence[Sequence[_State]]) -> float:
    """The width of the boxes of a column: what its longest text takes, within limits."""
    texts = [
        part.indent + cell_len(part.text)
        for states in runs
        for state in states
        for part in (_Text(state.label, "head"), *state.facts, *state.claims)
    ]
    calls = [
        6 + cell_len(state.by) + cell_len(part.text)
        for states in runs
        for state in states
        for part in state.arrow
    ]
    return 2 * _PAD + CHAR * min(max([_LEAST, *texts, *calls]), _MOST)


def _heading(heading: Sequence[str], width: float) -> tuple[list[Line], float]:
    lines: list[Line] = []
    y = MARGIN
    for number, text in enumerate(heading):
        for piece in _wrapped(printable(text), int((width - 2 * MARGIN) / (CHAR * (1 if number else 1.2)))):
            lines.append(Line(MARGIN, y + 12, piece, "quiet" if number else "title"))
            y += LINE
    return lines, y + LINE


def _box(place: Place, text: _State, x: float, y: float, width: float) -> Box:
    lines: list[Line] = []
    at = y + _PAD / 2
    room = int((width - 2 * _PAD) / CHAR)

    def write(part: _Text, most: int | None = None) -> None:
        nonlocal at
        pieces = list(_wrapped(part.text, room - part.indent))
        full = part.text if most is not None and len(pieces) > most else ""
        if full:
            pieces = [*pieces[: (most or 0) - 1], f"{pieces[(most or 0) - 1][: room - part.indent - 2]} …"]
        for piece in pieces:
            lines.append(Line(x + _PAD + part.indent * CHAR, at + 13, piece, part.kind, full))
            at += LINE

    write(_Text(text.label, "head"))
    for part in text.facts:
        write(part)
    rule = at + 4 if text.claims else None
    at += 8 if text.claims else 0
    for part in text.claims:
        write(part, _CLAIM_LINES)
    height = at + _PAD / 2 - y
    return Box(place, x, y, width, height, text.label, text.title, tuple(lines), rule, text.again)


def _wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of so many cells at most, broken at spaces where that is possible."""
    width = max(width, 8)
    line = ""
    for word in text.split(" "):
        if line and cell_len(line) + 1 + cell_len(word) > width:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
        if cell_len(line) > width:
            *full, line = chop_cells(line, width)
            yield from full
    yield line


def _start_facts(state: Instance) -> tuple[_Text, ...]:
    facts = [_Text(printable(fact), "fact") for fact in sorted(state.facts)]
    if len(facts) <= _START_FACTS:
        return tuple(facts) or (_Text("no facts", "quiet"),)
    left = len(facts) - _START_FACTS + 1
    return (*facts[: _START_FACTS - 1], _Text(f"… and {left:,} more", "quiet"))


def _title(state: Instance, most: int | None) -> str:
    """All facts of a state, or the first so many, one per line."""
    facts = sorted(state.facts)
    listed = [printable(fact) for fact in facts[:most]]
    if most is not None and len(facts) > most:
        listed.append(f"and {len(facts) - most:,} more")
    return "\n".join(listed) or "no facts"


def _branching(move: Move | None) -> list[str]:
    """Who branched, each with the margin of the decision where it is a model's."""
    if move is None or not move.branching:
        return []
    words = move.branching.split(", ")
    if move.answer is not None and is_weighed(move.answer) and words[0].startswith("agent"):
        words[0] += f", {weight_words(move.answer)}"
    return words


def _others(move: Move | None, agent: bool) -> int:
    if move is None:
        return 0
    return (move.offered if agent else move.outcomes) - 1
