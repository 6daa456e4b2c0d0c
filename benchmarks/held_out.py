"""Three deployments written by somebody who did not know the engine: what they cost as their tables grow.

    python benchmarks/held_out.py                    every row that is not there yet, smallest first
    python benchmarks/held_out.py --up-to 100        no larger ones
    python benchmarks/held_out.py --table            no runs: the table from the rows
    python benchmarks/held_out.py --local            each specification on few facts (`verify --method local`)

A booking desk, a warehouse and a ticket system, each under `any`, under its rules, and under `any` where the
guards of its tools refuse what a gate would refuse. Each run is a process of its own with limits; its row is
kept as soon as it is there. One decision: what does not finish is not tried with more records, so that the
script ends. `--again` makes the rows anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from runs import FAMILIES, WRITTEN, Limits, Row, Run, row_of, supervised
from tables import duration, number

ROWS = Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "held_out.jsonl"
LOCAL_ROWS = ROWS.with_name("held_out_local.jsonl")
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


def local_runs() -> Iterator[Run]:
    """Yield a run on few facts for each specification of the same deployments."""
    for run in RUNS:
        for spec in FAMILIES[run.family](min(SIZES)).specs:
            yield run._replace(setting="local", specs=(spec.name,))


def local_table(rows: Iterable[Row]) -> str:
    """The runs on few facts: a line for each specification with its verdicts, facts and CPU seconds by size.

    The last line of a deployment under an agent has the sums of its finished runs, and how many are decided.
    """
    by_kind: dict[tuple[str, str], dict[str, dict[int, Row]]] = {}
    for row in rows:
        specs = by_kind.setdefault((row["case"], row["policy"]), {})
        specs.setdefault(row["specs"][0], {})[row["size"]] = row
    sizes = sorted({size for specs in by_kind.values() for found in specs.values() for size in found})
    lines = [
        f"| case | agent | specification |{''.join(f' {size:,} |' for size in sizes)}",
        f"| --- | --- | --- |{' --- |' * len(sizes)}",
    ]
    for (case, policy), specs in sorted(by_kind.items()):
        for name, found in specs.items():
            cells = [_cell(found[size], name) if size in found else "" for size in sizes]
            lines.append(f"| {' | '.join([f'`{case}`', policy, f'`{name}`', *cells])} |")
        sums = []
        for size in sizes:
            here = [found[size] for found in specs.values() if size in found]
            done = [row for row in here if row["outcome"] == "finished"]
            decided = sum("unknown" not in row["verdicts"].values() for row in done)
            sums.append(f"{decided} of {len(specs)}, {duration(sum(row['seconds'] for row in done))}")
        lines.append(f"| {' | '.join([f'`{case}`', policy, 'decided', *sums])} |")
    return "\n".join(lines)


def _cell(row: Row, spec: str) -> str:
    """The verdict, the number of facts where it was shown on few, and the seconds; or the limit reached."""
    if row["outcome"] != "finished":
        return f"no answer ({row['outcome']})"
    facts = row["facts"].get(spec)
    on = "" if facts is None else f" on {facts}"
    return f"{row['verdicts'][spec]}{on}, {duration(row['seconds'])}"


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
    parser.add_argument("--agent", choices=AGENTS, help="one agent only")
    parser.add_argument("--rows", type=Path, help="the file of rows")
    options = parser.parse_args()

    path = options.rows or (LOCAL_ROWS if options.local else ROWS)
    texts = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = {_key(row): row for row in map(json.loads, texts)}
    given_up: set[tuple[str, str, tuple[str, ...]]] = set()
    for run in [] if options.table else [*local_runs()] if options.local else RUNS:
        key, kind = _key(row_of(run, "")), (run.family, run.policy, run.specs)
        if run.size > options.up_to or kind in given_up or not run.family.startswith(options.only or ""):
            continue
        if options.agent and (run.family.endswith("_gated"), run.policy) != _agent(options.agent):
            continue
        if options.again or key not in rows:
            print(f"{run} …", file=sys.stderr, flush=True)
            rows[key] = supervised(run, Limits(options.limit, options.memory))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows.values()), "utf-8")
        if rows[key]["outcome"] != "finished":
            given_up.add(kind)
    print(local_table(rows.values()) if options.local else table(rows.values()))


def _agent(name: str) -> tuple[bool, str]:
    ending, policy = AGENTS[name]
    return bool(ending), policy


def _key(row: Row) -> tuple[str, int, str, tuple[str, ...]]:
    return row["case"], row["size"], row["policy"], tuple(row["specs"])


if __name__ == "__main__":
    main()
