"""The scaling figure from rows: time, nodes and queries against size, a column of diagrams for each family.

One decision: colours tell settings apart (they differ for colour-blind readers too, and each has its own
mark), broken lines tell policies apart, so that the same key serves all diagrams.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator
from runs import Row
from tables import Line, finished, lines, number

_GREY = "#4D4D4D"
_COLOURS = {"normal": "#0072B2", "theorem": "#D55E00", "explicit": _GREY}
_MARKS = {"normal": "o", "theorem": "s", "explicit": "^"}
_NAMES = {
    "normal": "representatives (normal)",
    "theorem": "literal domain (theorem)",
    "explicit": "explicit search, literal domain",
}
_SIZES = {
    "desks": "desks: handlers with a case each",
    "refunds": "refunds: cases in flight at once",
    "service_desk": "service_desk: orders in the database",
}
_FIGURES = ("CPU seconds", "nodes of the diagrams", "queries to the agent")
_BROKEN = ("baseline",)
"""The policies with a broken line: one of the two of `desks`."""
_STYLE: Mapping[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "svg.hashsalt": "scaling",
}


def draw(rows: Sequence[Row], sessions: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the figure in the format that the suffix of ``path`` says. The same rows give the same file."""
    families = [family for family in _SIZES if any(row["case"] == family for row in rows)]
    by_line = lines(rows)
    with matplotlib.rc_context(dict(_STYLE)):
        figure = Figure((4.2 * len(families), 9.2))
        axes = figure.subplots(3, len(families), squeeze=False)
        below = 0.065 + 0.013 * len(sessions)  # a line for each session
        figure.subplots_adjust(0.19 / len(families), below, 0.985, 0.865, wspace=0.16, hspace=0.16)
        for column, family in enumerate(families):
            own = {line: of for line, of in by_line.items() if line.case == family}
            time, nodes, queries = axes[:, column]
            _panel(time, own, "seconds")
            _panel(nodes, own, "nodes")
            _queries(queries, own)
            _sizes(list(axes[:, column]), own)
            _states(time, own)
            _crosses(time, own)
            time.set_title(_SIZES[family], loc="left", pad=10, fontsize=10)
            queries.set_xlabel("size")
        for axis, label in zip(axes[:, 0], _FIGURES, strict=True):
            axis.set_ylabel(label)
        left: dict[str, Any] = {"x": 0.012, "ha": "left"}
        figure.suptitle("Time follows the size of the description, not the number of states", y=0.985,
                        fontsize=13, **left)  # fmt: skip
        figure.legend(
            handles=_key(by_line, sessions),
            loc="upper left",
            bbox_to_anchor=(0.006, 0.965),
            ncols=3,
            frameon=False,
        )
        origin = "\n".join(map(_origin, sessions))
        figure.text(y=0.012, s=origin, va="bottom", fontsize=7, color=_GREY, **left)
        plain = {".svg": {"Date": None}, ".png": {"Software": None}}
        figure.savefig(path, metadata=plain.get(path.suffix, {}), dpi=110, facecolor="white")


def _look(line: Line) -> dict[str, Any]:
    broken = line.policy in _BROKEN
    return {
        "color": _COLOURS[line.setting],
        "marker": _MARKS[line.setting],
        "markersize": 4.5,
        "markerfacecolor": "white" if broken or line.specs else _COLOURS[line.setting],
        "linestyle": ":" if line.specs else "--" if broken else "-",
        "linewidth": {"normal": 1.6, "theorem": 2.2, "explicit": 1.6}[line.setting],
        "zorder": {"normal": 3.2, "theorem": 3.1, "explicit": 3.0}[line.setting],
    }


def _panel(axis: Axes, own: Mapping[Line, Sequence[Row]], figure: str) -> None:
    """A line for each line of rows that has the figure, on logarithmic axes over whole decades."""
    drawn: list[float] = []
    for line, rows in own.items():
        points = [(row["size"], row[figure]) for row in finished(rows) if row[figure]]
        if points:
            axis.plot(*zip(*points, strict=True), **_look(line))
            drawn += [y for _, y in points]
    axis.set_yscale("log")
    if drawn:
        axis.set_ylim(10 ** math.floor(math.log10(min(drawn))), 10 ** math.ceil(math.log10(3 * max(drawn))))
    axis.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: f"{y:g}" if y < 1e4 else f"$10^{{{math.log10(y):.0f}}}$")
    )


def _crosses(axis: Axes, own: Mapping[Line, Sequence[Row]]) -> None:
    """A cross at the top at the size at which a limit ended a line."""
    for line, rows in own.items():
        for row in rows:
            if row["outcome"] in ("time", "memory"):
                height = {"explicit": 1.0, "theorem": 0.965, "normal": 0.93}[line.setting]
                look: dict[str, Any] = {"color": _COLOURS[line.setting], "clip_on": False, "zorder": 4}
                axis.plot(row["size"], height, "x", transform=axis.get_xaxis_transform(), **look)


def _states(axis: Axes, own: Mapping[Line, Sequence[Row]]) -> None:
    """The number of states at the last point of explicit search, and of the lines with representatives."""
    places: dict[str, dict[str, Any]] = {
        "normal": {"xytext": (6, 0), "ha": "left", "va": "center"},
        "explicit": {"xytext": (-3, 4), "ha": "right", "va": "bottom"},
    }
    for line, rows in own.items():
        done = finished(rows)
        if done and line.setting in places and line.policy not in _BROKEN:
            axis.annotate(
                f"{_short(done[-1]['states'])} states",
                (done[-1]["size"], done[-1]["seconds"]),
                textcoords="offset points",
                fontsize=8,
                color=_COLOURS[line.setting],
                **places[line.setting],
            )


def _short(states: int) -> str:
    return number(states) if states < 10**6 else f"$10^{{{math.floor(math.log10(states))}}}$"


def _queries(axis: Axes, own: Mapping[Line, Sequence[Row]]) -> None:
    asked = {line: rows for line, rows in own.items() if any(r["queries"] for r in finished(rows))}
    if not asked:
        axis.text(0.5, 0.5, "no agent is asked: everything\noffered may happen", transform=axis.transAxes,
                  ha="center", va="center", color=_GREY)  # fmt: skip
        axis.set_yticks([])
        return
    _panel(axis, asked, "queries")
    top = max(row["queries"] for rows in asked.values() for row in finished(rows))
    axis.set_yscale("linear")
    axis.set_ylim(0, 1.25 * top)
    for line, rows in asked.items():
        if line.setting == "normal":
            last = finished(rows)[-1]
            axis.annotate(
                f"{last['queries']} ({line.policy})",
                (last["size"], last["queries"]),
                xytext=(0, 5),
                textcoords="offset points",
                ha="right",
                fontsize=8,
                color=_COLOURS["normal"],
            )


def _sizes(axes: Sequence[Axes], own: Mapping[Line, Sequence[Row]]) -> None:
    """Logarithmic axes whose labels are sizes that were run, with room for words on both sides."""
    run = sorted({int(row["size"]) for rows in own.values() for row in rows})
    span = run[-1] / run[0] if len(run) > 1 else 2.0
    shown: list[int] = []
    for size in reversed(run):
        if not shown or shown[-1] >= size * span**0.12:
            shown.append(size)
    for axis in axes:
        axis.set_xscale("log")
        axis.set_xlim(run[0] / span**0.22, run[-1] * span**0.26)
        axis.set_xticks(shown)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:g}"))
        axis.xaxis.set_minor_locator(NullLocator())


def _key(by_line: Mapping[Line, Sequence[Row]], sessions: Sequence[Mapping[str, Any]]) -> list[Line2D]:
    limits = sorted({session["limits"]["seconds"] for session in sessions})
    settings = [setting for setting in _NAMES if any(line.setting == setting for line in by_line)]
    entries = [
        Line2D([], [], **_look(Line("", "", setting, ())), label=_NAMES[setting]) for setting in settings
    ]
    entries.append(
        Line2D(
            [],
            [],
            linestyle="",
            marker="x",
            color=_GREY,
            label=f"stopped at the limit of {' or '.join(f'{limit:g}' for limit in limits)} s",
        )
    )
    if any(line.policy in _BROKEN for line in by_line):
        look = _look(Line("", _BROKEN[0], "normal", ()))
        entries.append(
            Line2D([], [], **{**look, "color": _GREY}, label=f"policy {_BROKEN[0]} (else approving)")
        )
    for specs in sorted({line.specs for line in by_line if line.specs}):
        look = _look(Line("", "", "theorem", specs))
        entries.append(Line2D([], [], **look, label=f"literal domain, only {' and '.join(specs)}"))
    return entries


def _origin(session: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in session["versions"].items())
    return f"{session['session'][:10]}: {session['command']}; {session['machine']}; {versions}"
