"""The table of a sweep: on a terminal, as JSON, as CSV."""

from __future__ import annotations

import csv
import io

from rich.console import Console

from stead_sym.analyses.sweeps.sweep import ABOUT, COUNTS, Row, Sweep
from stead_sym.evidence.document import Json
from stead_sym.support.wrapping import Table
from stead_sym.verification.verdict import verdict_line

_FIRST = ("fails", "unknown")
"""The verdicts that are listed first, in this order."""


def print_sweep(found: Sweep, console: Console) -> None:
    """Print the table, narrow enough for a terminal, then errors of runs and sentences on scope."""
    names = [name for name in found.columns if name in (*ABOUT, "states", "queries", "seconds")]
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in (*names[:-3], "verdicts", *names[-3:]):
        right = name in ("states", "queries", "seconds", "size")
        shown.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in found.rows:
        of = dict(zip(found.columns, found.cells(row), strict=True))
        shown.add_row(*(of[name] for name in names[:-3]), _verdicts(row), *(of[name] for name in names[-3:]))
    console.print(shown)
    console.print()
    console.print(str(found))
    for row in found.rows:
        if row.result.error:
            console.print(f"  {label(row)}: {row.result.error}", soft_wrap=True)
        for spec, sentences in row.result.scope.items():
            line = verdict_line(spec, row.result.specs[spec], sentences)
            console.print(f"  {label(row)}: {line}", soft_wrap=True)


def _verdicts(row: Row) -> str:
    """Return the outcome of a run without a result, and otherwise a line per verdict.

    Each line has the specifications with this verdict, such as "fails: auth, prog".
    """
    said = {spec: row.result.said(spec) for spec in row.result.specs}
    words = sorted(
        {*said.values()}, key=lambda word: (*(not word.startswith(first) for first in _FIRST), word)
    )
    lines = [f"{word}: {', '.join(spec for spec in said if said[spec] == word)}" for word in words]
    return "\n".join([row.result.outcome] * (row.result.outcome != "done") + lines)


def label(row: Row) -> str:
    """Return a short description of the run."""
    about = row.run.about
    more = [f"{name} {about[name]}" for name in ABOUT if name != "deployment" and about[name] is not None]
    return ", ".join([f"{about['deployment']}", *more])


def sweep_data(found: Sweep) -> dict[str, Json]:
    """Return the table as JSON data."""
    rows: list[Json] = []
    for row in found.rows:
        result = row.result
        rows.append(
            {
                **{name: _json(value) for name, value in row.run.about.items()},
                "key": row.run.key,
                "outcome": result.outcome,
                "specs": dict(result.specs),
                "scope": {spec: [*sentences] for spec, sentences in result.scope.items()},
                **{name: result.counts.get(name) for name in COUNTS},
                "seconds": result.seconds,
                "error": result.error,
                "where": result.where,
                "fresh": row.fresh,
            }
        )
    return {"specs": list(found.specs), "runs": rows}


def sweep_csv(found: Sweep) -> str:
    """Return the table as CSV, with its headings in the first line and errors in the last column."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*found.columns, "error"])
    writer.writerows([*found.cells(row), row.result.error] for row in found.rows)
    return text.getvalue()


def _json(value: object) -> Json:
    return value if isinstance(value, str | int | float) or value is None else str(value)
