"""Any database of up to n orders: the verdicts for n = 1, 2, …, and from which n on nothing changed.

    python benchmarks/databases.py [--up-to 12] [--policy careful] [--limit SECONDS]

Prints one line of a table for each n. The last line says from which n on the verdicts, and the contexts
that the agent was asked with its answers, were the same as at the largest n that finished: an observation
about these sizes, which proves nothing about larger ones.

One decision: the sizes are run one after the other in processes of their own (`runs.py`), and the first that
does not finish within the limit ends the run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from runs import Limits, Row, Run, supervised
from tables import duration, number

FAMILY = "service_desk_any"
COLUMNS: dict[str, Callable[[Row], Any]] = {
    "n": lambda row: row["size"],
    "initial": lambda row: number(row["initial"]),
    "states": lambda row: number(row["states"]),
    "transitions": lambda row: number(row["transitions"]),
    "time": lambda row: duration(row["seconds"] + row["agent_seconds"]),
    "memory": lambda row: f"{row['mib']:,} MiB",
    "contexts": lambda row: "–" if row["contexts"] is None else row["contexts"],
    "queries": lambda row: "–" if row["queries"] is None else row["queries"],
    "fails": lambda row: ", ".join(f"`{s}`" for s, word in row["verdicts"].items() if word != "holds") or "–",
}


def same_since(rows: Sequence[Row], what: str) -> int:
    """The least size from which on all rows have the same ``what`` as the last one."""
    since: int = rows[-1]["size"]
    for row in reversed(rows):
        if row[what] != rows[-1][what]:
            break
        since = row["size"]
    return since


def rows(sizes: Sequence[int], policy: str, limits: Limits) -> Iterator[Row]:
    """The rows of the sizes, up to the first that does not finish, which is the last."""
    for size in sizes:
        row = supervised(Run(FAMILY, size, policy, "normal"), limits)
        yield row
        if row["outcome"] != "finished":
            return


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--up-to", type=int, default=12, metavar="N", help="the largest size (default: 12)")
    parser.add_argument("--policy", default="careful", help="a policy of the family, or any")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one size (default: 600)")
    parser.add_argument("--memory", type=int, default=8192, help="MiB for one size (default: 8192)")
    options = parser.parse_args(arguments)

    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    finished: list[Row] = []
    for row in rows(range(1, options.up_to + 1), options.policy, Limits(options.limit, options.memory)):
        if row["outcome"] != "finished":
            print(f"\nn = {row['size']} did not finish ({row['outcome']}): {row['reached']}", flush=True)
            break
        finished.append(row)
        print(f"| {' | '.join(str(cell(row)) for cell in COLUMNS.values())} |", flush=True)
    if not finished:
        return 1
    print(
        f"\nup to n = {finished[-1]['size']}:"
        f" the same verdicts from n = {same_since(finished, 'verdicts')} on,"
        f" the same contexts and answers from n = {same_since(finished, 'asked')} on"
    )
    return 0 if len(finished) == options.up_to else 1


if __name__ == "__main__":
    sys.exit(main())
