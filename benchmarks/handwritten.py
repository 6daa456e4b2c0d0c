"""The general engine against plain code that was written by hand for one family, `service_desk.py`.

    python benchmarks/handwritten.py                25, 50, 100, 200 and 400 orders
    python benchmarks/handwritten.py 1000           other sizes

Each of the two runs in a process of its own, and CPU seconds count: from the deployment, or for the plain
code from nothing, to the number of states, the number of transitions and all verdicts. One decision: where
the two disagree on any of these, no time is printed and the script ends with an error.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from runs import Limits, Row, Run, supervised
from tables import number

BY_HAND = Path(__file__).with_name("service_desk.py")
SIZES = (25, 50, 100, 200, 400)
_HEAD = (
    "| orders | states | by hand | stead-sym | ratio | by hand | stead-sym | by hand | stead-sym |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def by_hand(size: int) -> Row:
    """The row that the plain code prints of itself."""
    command = [sys.executable, str(BY_HAND), str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row: Row = json.loads(done.stdout)
    return {**row, "verdicts": {name: "holds" if told else "fails" for name, told in row["verdicts"].items()}}


def differences(plain: Row, general: Row) -> Iterator[str]:
    """Return what the two say differently; ``general`` is finished."""
    for figure in ("verdicts", "states", "transitions"):
        if plain[figure] != general[figure]:
            yield f"{figure}: {plain[figure]} by hand, {general[figure]} by stead-sym"


def line(plain: Row, general: Row) -> str:
    """One row of the table: seconds, MiB and nodes of the reachable states."""
    seconds = plain["seconds"], general["seconds"]
    cells = [
        f"{plain['size']:,}",
        number(plain["states"]),
        *(f"{one:.2f} s" for one in seconds),
        f"{seconds[1] / max(seconds[0], 0.001):.0f}",
        *(f"{row['mib']:,} MiB" for row in (plain, general)),
        f"{plain['nodes']:,}",
        f"{general['reached_nodes']:,}",
    ]
    return f"| {' | '.join(cells)} |"


def compared(sizes: Iterable[int], limits: Limits) -> Iterator[str]:
    """The lines of the table. Ends with an error where the two disagree or a run does not finish."""
    for size in sizes:
        plain = by_hand(size)
        general = supervised(Run("service_desk", size, "careful", "normal"), limits)
        if general["outcome"] != "finished":
            sys.exit(f"{size} orders: no figures, {general['outcome']} at {general['reached']}")
        if found := list(differences(plain, general)):
            sys.exit(f"{size} orders: {'; '.join(found)}")
        yield line(plain, general)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--limit", type=float, default=1200, help="seconds for one run (1200)")
    parser.add_argument("--memory", type=int, default=4096, help="MiB for one run (4096)")
    options = parser.parse_args()
    sys.set_int_max_str_digits(0)  # numbers of states
    print(_HEAD, flush=True)
    for text in compared(options.sizes, Limits(options.limit, options.memory)):
        print(text, flush=True)


if __name__ == "__main__":
    main()
