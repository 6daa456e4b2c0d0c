"""Engines on the same input in the same run: one JSON row per run, a table of ratios at the end.

    python benchmarks/compare.py desks 1 2 4 8 --policy approving
    python benchmarks/compare.py refunds 1 2 3 --limit 60

Each run is a process of its own, so that its memory is its own and a limit can end it. No time is
printed for a size at which the engines that finished disagree.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterable, Mapping
from queue import Empty
from typing import Any

import families

import stead_sym as st

FAMILIES = {
    "desks": families.desks,
    "refunds": families.refunds,
    "service_desk": families.service_desk,
}
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "normal": {"engine": "symbolic", "domain": "normal"},
    "theorem": {"engine": "symbolic", "domain": "theorem"},
    "explicit": {"engine": "explicit", "domain": "theorem"},
}
Row = dict[str, Any]


def measure(family: str, size: int, policy: str, setting: str, answers: multiprocessing.Queue[Row]) -> None:
    """One run; puts its row into ``answers``."""
    desk = FAMILIES[family](size)
    agent = "any" if policy == "any" else desk.policy(policy)
    started = time.process_time()
    result = st.verify(desk, agent, **SETTINGS[setting])
    answers.put(
        {
            "case": family,
            "size": size,
            "policy": policy,
            "setting": setting,
            "verdicts": {name: verdict.word for name, verdict in result.verdicts.items()},
            "seconds": round(time.process_time() - started, 3),
            "states": result.states,
            "transitions": result.transitions,
            "contexts": result.contexts,
            "queries": result.queries,
            "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "statistics": dict(result.engine.statistics),
        }
    )


def limited(family: str, size: int, policy: str, setting: str, limit: float) -> Row | None:
    """The row of a run, or None where it takes longer than ``limit`` seconds or dies."""
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[Row] = context.Queue()
    process = context.Process(target=measure, args=(family, size, policy, setting, answers))
    process.start()
    ends = time.monotonic() + limit
    row = None
    while row is None and process.is_alive() and time.monotonic() < ends:
        try:
            row = answers.get(timeout=0.2)
        except Empty:
            continue
    process.kill()
    process.join()
    return row


def agreed(rows: Iterable[Row]) -> bool:
    """Whether the verdicts of all rows are the same."""
    return len({json.dumps(row["verdicts"], sort_keys=True) for row in rows}) <= 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--policy", default="any", help="a policy of the family, or any (default)")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run (default: 600)")
    options = parser.parse_args()

    given_up: set[str] = set()
    for size in options.sizes:
        rows: dict[str, Row] = {}
        for setting in options.settings:
            if setting not in given_up:
                row = limited(options.family, size, options.policy, setting, options.limit)
                if row is None:
                    given_up.add(setting)  # larger sizes would take longer
                else:
                    rows[setting] = row
        same = agreed(rows.values())
        for row in rows.values():
            print(json.dumps(row if same else {**row, "seconds": None}), flush=True)
        if not same:
            sys.exit(f"{options.family} {size}: the verdicts differ")
        if "explicit" in rows:
            ratios = {
                setting: round(rows["explicit"]["seconds"] / max(row["seconds"], 0.001), 1)
                for setting, row in rows.items()
                if setting != "explicit"
            }
            print(f"# {options.family} {size}: explicit takes {ratios} times as long", file=sys.stderr)


if __name__ == "__main__":
    main()
