"""Three deployments written by somebody who did not know the engine: what they cost as their tables grow.

    python benchmarks/held_out.py                    every row that is not there yet, smallest first
    python benchmarks/held_out.py --up-to 100        no larger ones
    python benchmarks/held_out.py --table            no runs: the table from the rows
    python benchmarks/held_out.py --local --up-to 20 each specification on few facts (`verify --method local`)

A booking desk, a warehouse and a ticket system, each under `any`, under its rules, and under `any` where the
guards of its tools refuse what a gate would refuse. Each run is a process of its own with limits; its row is
kept as soon as it is there. One decision: what does not finish is not tried with more records, so that the
script ends. `--again` makes the rows anew.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from runs import FAMILIES, WRITTEN, Limits, Row, Run, supervised
from tables import duration, number

from stead_sym.analyses.local.verify import localise

ROWS = Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "held_out.jsonl"
SIZES = (5, 20, 100, 300, 1000)
AGENTS = {"any": ("", "any"), "rules": ("", "rules"), "gate": ("_gated", "any")}
"""The requests: the ending of the family's name, and the policy."""
RUNS = [
    Run(family + ending, size, policy, "normal")
    for size in SIZES
    for family in WRITTEN
    for ending, policy in AGENTS.values()
]


def table(rows: Iterable[Row]) -> str:
    """The rows as a table; of a run without an answer, why and where it was."""
    lines = [
        "| case | agent | records | seconds | MiB | states | contexts | fails | no answer |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for row in sorted(rows, key=lambda row: (row["case"], row["policy"], row["size"])):
        cells = [f"`{row['case']}`", row["policy"], f"{row['size']:,}"]
        if row["outcome"] == "finished":
            spent = duration(row["seconds"] + row["agent_seconds"])
            contexts = "–" if row["contexts"] is None else f"{row['contexts']:,}"
            others = (
                f"`{name}`" + f" {word}" * (word != "fails")
                for name, word in row["verdicts"].items()
                if word != "holds"
            )
            cells += [spent, f"{row['mib']:,}", number(row["states"]), contexts, ", ".join(others) or "–", ""]
        else:
            cells += [""] * 5 + [f"{row['outcome']}: {row['reached']}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def local_rows(runs: Iterable[Run]) -> Iterator[str]:
    """Yield the lines of a table with each specification on few facts, by itself, in CPU seconds."""
    yield "| case | agent | records | specification | verdict | facts | seconds | reason |"
    yield "| --- | --- | ---: | --- | --- | ---: | ---: | --- |"
    for run in runs:
        desk = FAMILIES[run.family](run.size)
        for spec in desk.specs:
            started = time.process_time()
            found = localise(desk, {role.name: run.policy for role in desk.agents}, [spec.name])
            verdict, shown = found.verdicts[spec.name], found.shown.get(spec.name)
            cells = [f"`{run.family}`", run.policy, f"{run.size:,}", f"`{spec.name}`", verdict.word]
            cells += ["–" if shown is None else str(shown.facts), duration(time.process_time() - started)]
            yield f"| {' | '.join([*cells, verdict.reason if verdict.holds is None else ''])} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="store_true", help="no runs")
    parser.add_argument("--local", action="store_true", help="each specification on few facts")
    parser.add_argument("--again", action="store_true", help="make rows anew that are there")
    parser.add_argument("--only", metavar="FAMILY", choices=WRITTEN, help=f"of {', '.join(WRITTEN)}")
    parser.add_argument("--up-to", type=int, metavar="N", default=max(SIZES), help="the most records (1000)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one run (120)")
    parser.add_argument("--memory", type=int, default=4096, help="MiB for one run (4096)")
    parser.add_argument("--rows", type=Path, default=ROWS, help="the file of rows")
    options = parser.parse_args()

    if options.local:
        wanted = (r for r in RUNS if r.size <= options.up_to and r.family.startswith(options.only or ""))
        for line in local_rows(wanted):
            print(line, flush=True)
        return
    texts = options.rows.read_text(encoding="utf-8").splitlines() if options.rows.exists() else []
    rows = {(row["case"], row["size"], row["policy"]): row for row in map(json.loads, texts)}
    given_up: set[tuple[str, str]] = set()
    for run in [] if options.table else RUNS:
        key, kind = (run.family, run.size, run.policy), (run.family, run.policy)
        if run.size > options.up_to or kind in given_up or not run.family.startswith(options.only or ""):
            continue
        if options.again or key not in rows:
            print(f"{run} …", file=sys.stderr, flush=True)
            rows[key] = supervised(run, Limits(options.limit, options.memory))
            options.rows.parent.mkdir(parents=True, exist_ok=True)
            options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows.values()), "utf-8")
        if rows[key]["outcome"] != "finished":
            given_up.add(kind)
    print(table(rows.values()))


if __name__ == "__main__":
    main()
