"""Figures from the rows of `runs.py`: exponents, ratios, and the table of the documentation.

One decision: everything is computed from the rows in the file, so that a table or a figure can be made
again without a run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from runs import SETTINGS, Row

RANGES: Mapping[str, tuple[int, int]] = {"desks": (8, 64), "refunds": (8, 32), "service_desk": (100, 1000)}
"""The sizes over which the growth of time is fitted. Below them the time to start hides it."""
_LEAST = 0.001
"""Seconds: the times are rounded to this."""


class Line(NamedTuple):
    """The settings that the rows of one line in a diagram share."""

    case: str
    policy: str
    setting: str
    specs: tuple[str, ...]


class Growth(NamedTuple):
    """Time grows as size^exponent, by least squares on the logarithms, over these sizes."""

    exponent: float
    smallest: int
    largest: int


def lines(rows: Iterable[Row]) -> Mapping[Line, Sequence[Row]]:
    """The rows by line, in the order of their sizes."""
    found: dict[Line, list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["size"])):
        line = Line(row["case"], row["policy"], row["setting"], tuple(row["specs"]))
        found.setdefault(line, []).append(row)
    order = list(SETTINGS)
    return dict(
        sorted(found.items(), key=lambda item: (*item[0][:2], order.index(item[0].setting), item[0].specs))
    )


def finished(rows: Iterable[Row]) -> list[Row]:
    """The rows that have times."""
    return [row for row in rows if row["outcome"] == "finished" and row["seconds"] is not None]


def growth(case: str, rows: Iterable[Row]) -> Growth | None:
    """The growth of time along a line; None with fewer than three sizes in the family's range."""
    low, high = RANGES[case]
    taken = {
        int(row["size"]): max(float(row["seconds"]), _LEAST)
        for row in finished(rows)
        if low <= row["size"] <= high
    }
    return Growth(slope(taken.items()), min(taken), max(taken)) if len(taken) >= 3 else None


def slope(points: Iterable[tuple[float, float]]) -> float:
    """The exponent a of the y = c·x^a that fits best: least squares on log x and log y."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def ratio(rows: Sequence[Row], explicit: Sequence[Row]) -> tuple[int, float] | None:
    """The largest size that explicit search finished as well, and how many times as long it took."""
    times = {int(row["size"]): float(row["seconds"]) for row in finished(explicit)}
    own = {int(row["size"]): float(row["seconds"]) for row in finished(rows)}
    both = times.keys() & own.keys()
    return (max(both), times[max(both)] / max(own[max(both)], _LEAST)) if both else None


def table(rows: Iterable[Row]) -> str:
    """The table in Markdown: one line for each symbolic line of the diagrams, at its largest size."""
    by_line = lines(rows)
    head = ("family", "agent", "domain", "size", "states", "time", "memory", "queries", "time grows as")
    body = [
        "| " + " | ".join((*head, "explicit search")) + " |",
        "| --- | --- | --- " + "| ---: " * (len(head) - 3) + "| --- |",
    ]
    body += [
        "| " + " | ".join(cells) + " |" for line, of in by_line.items() for cells in _cells(line, of, by_line)
    ]
    return "\n".join(body)


def _cells(
    line: Line, rows: Sequence[Row], by_line: Mapping[Line, Sequence[Row]]
) -> Iterator[tuple[str, ...]]:
    done = finished(rows)
    if line.setting == "explicit" or not done:
        return
    last = done[-1]
    grown = growth(line.case, rows)
    compared = ratio(rows, by_line.get(line._replace(setting="explicit"), ()))
    yield (
        f"`{line.case}`",
        line.policy,
        line.setting + f", only {' and '.join(f'`{spec}`' for spec in line.specs)}" * bool(line.specs),
        f"{last['size']}",
        number(last["states"]),
        f"{duration(last['seconds'])}",
        f"{last['mib']:,} MiB",
        "–" if last["queries"] is None else str(last["queries"]),
        "–" if grown is None else f"n^{grown.exponent:.1f} ({grown.smallest} … {grown.largest})",
        "–" if compared is None else f"{_times(compared[1])} at {compared[0]}",
    )


def _times(ratio: float) -> str:
    return f"{ratio:,.0f} times as long" if ratio >= 10 else f"{ratio:.1f} times as long"


def duration(seconds: float) -> str:
    """Two or three digits of a time."""
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"


def number(count: int) -> str:
    """A count: all digits up to a million, then as m·10ⁿ."""
    if count < 1_000_000:
        return f"{count:,}"
    exponent = len(str(count)) - 1
    mantissa = round(count / 10**exponent if exponent < 300 else count // 10 ** (exponent - 3) / 1000, 1)
    if mantissa >= 10:
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa}·10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
