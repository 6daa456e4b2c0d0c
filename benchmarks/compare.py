"""Engines on the same input in the same session, for sizes of your choice: one JSON row per run.

    python benchmarks/compare.py desks 1 2 4 8 --policy approving
    python benchmarks/compare.py refunds 1 2 3 --limit 60

`scaling.py` makes the rows of the figure. No time is printed for a size at which the engines that
finished disagree.
"""

from __future__ import annotations

import argparse
import json
import sys

from runs import FAMILIES, SETTINGS, Disagreement, Limits, Run, sweep


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--policy", default="any", help="a policy of the family, or any (default)")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run (default: 600)")
    parser.add_argument("--memory", type=int, default=8192, help="MiB for one run (default: 8192)")
    options = parser.parse_args()

    runs = (
        [Run(options.family, size, options.policy, setting) for setting in options.settings]
        for size in sorted(options.sizes)
    )
    try:
        for rows in sweep(runs, Limits(options.limit, options.memory)):
            for row in rows:
                print(json.dumps(row), flush=True)
            times = {row["setting"]: row["seconds"] for row in rows if row["outcome"] == "finished"}
            if "explicit" in times:
                ratios = {
                    setting: round(times["explicit"] / max(seconds, 0.001), 1)
                    for setting, seconds in times.items()
                    if setting != "explicit"
                }
                print(
                    f"# {options.family} {rows[0]['size']}: explicit takes {ratios} times as long",
                    file=sys.stderr,
                )
    except Disagreement as found:
        for row in found.rows:
            print(json.dumps(row), flush=True)
        sys.exit(str(found))


if __name__ == "__main__":
    main()
