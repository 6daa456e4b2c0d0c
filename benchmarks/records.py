"""Databases as they are: what runs over many records cost, and with what exponent of their number.

    python benchmarks/records.py                    every row that is not there yet, smallest first
    python benchmarks/records.py --up-to 1000       no larger ones
    python benchmarks/records.py --table            no runs: the table and the exponents from the rows

Each run is a process of its own with a limit; its row is kept as soon as it is there, so that the script
can be ended and started again at any time. `--again` makes the rows anew. One decision: an exponent is the
slope of log figure over log records by least squares, of counts of steps as well as of times: the steps are
the same on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import linear_regression

from runs import Limits, Row, Run, supervised

ROWS = Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "records.jsonl"


def _series(family: str, policy: str, sizes: Iterable[int]) -> list[Run]:
    return [Run(family, size, policy, "normal") for size in sizes]


RUNS = [
    *_series("returns_desk", "careful", (100, 200, 400, 1000, 2000, 4000, 10_000)),
    *_series("returns_desk", "hasty", (100, 1000)),
    *_series("service_desk", "careful", (200, 400, 1000, 4000, 10_000)),
    *_series("desks", "baseline", (128, 1000)),
    *_series("desks", "approving", (128,)),
]
GOALS: Mapping[tuple[str, int, str], tuple[float, float]] = {
    ("returns_desk", 1000, "careful"): (10, 1),
    ("returns_desk", 1000, "hasty"): (10, 1),
    ("returns_desk", 10_000, "careful"): (600, 8),
    ("service_desk", 1000, "careful"): (15, 1),
    ("service_desk", 10_000, "careful"): (300, 8),
    ("desks", 128, "baseline"): (10, 4),
    ("desks", 128, "approving"): (10, 4),
    ("desks", 1000, "baseline"): (600, 12),
}
"""The seconds and GiB that a run should take at most; two policies share what they should take together."""


def exponent(sizes: Sequence[float], figures: Sequence[float]) -> float:
    """The slope of log figure over log size."""
    return linear_regression(list(map(math.log, sizes)), list(map(math.log, figures))).slope


def table(rows: Iterable[Row]) -> str:
    """The rows as a table, and the exponents of each family below it."""
    lines = [
        "| case | seconds | GiB | goal | contexts | places | steps of planning | all steps | sweeps |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    finished: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["case"], row["policy"], row["size"])):
        name = f"{row['case']}({row['size']:,}), {row['policy']}"
        seconds, gib = GOALS.get((row["case"], row["size"], row["policy"]), (math.nan, math.nan))
        goal = "" if math.isnan(seconds) else f"{seconds:g} s, {gib:g} GiB"
        if row["outcome"] != "finished":
            lines.append(f"| {name} | {row['outcome']}: {row.get('reached', '')} | | {goal} | | | | | |")
            continue
        finished.setdefault((row["case"], row["policy"]), []).append(row)
        counts = (row[key] for key in ("contexts", "places", "planned_steps", "steps", "sweeps"))
        figures = [
            f"{row['seconds']:.1f}",
            f"{row['mib'] / 1024:.2f}",
            goal,
            *("–" if n is None else f"{n:,}" for n in counts),
        ]
        lines.append(f"| {' | '.join([name, *figures])} |")
    for (family, policy), own in finished.items():
        if len(own) > 2:
            sizes = [row["size"] for row in own]
            of = {
                key: exponent(sizes, [row[key] for row in own])
                for key in ("planned_steps", "steps", "seconds")
            }
            said = ", ".join(f"{key.replace('_', ' ')} {slope:.2f}" for key, slope in of.items())
            lines.append(f"\nExponents, {family}, {policy}, {min(sizes):,} to {max(sizes):,}: {said}.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="store_true", help="no runs")
    parser.add_argument("--again", action="store_true", help="make rows anew that are there")
    parser.add_argument("--only", metavar="FAMILY", choices=sorted({run.family for run in RUNS}))
    parser.add_argument("--up-to", type=int, metavar="SIZE", default=10_000)
    parser.add_argument("--limit", type=float, default=3600, help="seconds for one run (3600)")
    parser.add_argument("--memory", type=int, default=12_288, help="MiB for one run (12288)")
    parser.add_argument("--rows", type=Path, default=ROWS, help="the file of rows")
    options = parser.parse_args()

    texts = options.rows.read_text(encoding="utf-8").splitlines() if options.rows.exists() else []
    rows = {(row["case"], row["size"], row["policy"]): row for row in map(json.loads, texts)}
    wanted = [] if options.table else sorted(RUNS, key=lambda run: run.size)
    for run in wanted:
        key = (run.family, run.size, run.policy)
        if run.size > options.up_to or (options.only or run.family) != run.family:
            continue
        if options.again or rows.get(key, {"outcome": ""})["outcome"] != "finished":
            print(f"{run} …", file=sys.stderr, flush=True)
            rows[key] = supervised(run, Limits(options.limit, options.memory))
            options.rows.parent.mkdir(parents=True, exist_ok=True)
            options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows.values()), "utf-8")
    print(table(rows.values()))


if __name__ == "__main__":
    main()
