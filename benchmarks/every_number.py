"""Count what is shown of some deployments for every number of records.

    python benchmarks/every_number.py [--limit N]
    python benchmarks/every_number.py --data 10000 100000 1000000

Takes the bounds off packaged examples and off `families.service_desk_any`, and prints a row for each
specification that says what is never to happen: under which agent, the verdict, k and the number of views, or
the bound at which it fails; and the seconds of one deployment and agent, of the processor.

With ``--data`` the deployments are those of `shop_data.py` with so many facts in CSV files. Each is verified
in a process of its own, and has a row with its facts, how many specifications hold, the number of views, and
what it takes from the files to the verdicts: seconds of the processor, and the most memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import families
from shop_data import SHOPS

import stead_sym as st
from stead_sym.analyses.deepening.result import Found

EXAMPLES = (
    "refund",
    "bank",
    "ward",
    "ward_repaired",
    "returns_desk",
    "access_requests",
    "pull_requests",
    "mortgage",
    "partial_refunds",
    "transfers",
    "flights",
    "deployer",
    "airline",
)
LIMIT = 2
"""Bounds are raised so far, to find what fails."""


def deployments() -> Iterator[st.Deployment]:
    """The examples, without bounds."""
    for given in (*map(st.load, EXAMPLES), families.service_desk_any(1)):
        yield replace(given, unbounded=frozenset(given.bounds), text=None)


def decided_by(one: Found) -> str:
    """By which views a specification is shown, or within which bounds it fails; nothing for others."""
    if one.every_number is not None:
        return f"{one.every_number.k}-views: {one.every_number.views}"
    if one.verdict.holds is False and one.within is not None:
        return "within " + ", ".join(f"{sort} {bound}" for sort, bound in one.within.items())
    return ""


def rows(deployment: st.Deployment, agent: str, limit: int) -> Iterator[tuple[str, ...]]:
    """The table of one deployment under one agent."""
    started = time.process_time()
    found = st.deepen(deployment, agent, limit=limit).found
    seconds = f"{time.process_time() - started:.1f}"
    for name, one in found.items():
        said = decided_by(one) or one.verdict.reason.rpartition("for every number: ")[2].rpartition("; ")[2]
        yield f"`{deployment.name}`", f"`{agent}`", f"`{name}`", one.verdict.word, said, seconds


def of_data(file: Path) -> dict[str, float]:
    """The figures of one deployment with its data, in this process."""
    found = st.deepen(st.load(file)).found.values()
    return {
        "holding": sum(one.verdict.holds is True for one in found),
        "asked": len(found),
        "views": max(one.every_number.views for one in found if one.every_number is not None),
        "seconds": time.process_time(),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def data_rows(facts: int) -> Iterator[tuple[str, ...]]:
    """The rows of all shops with so many facts."""
    for shop, write in SHOPS.items():
        with tempfile.TemporaryDirectory() as folder:
            file = write(Path(folder), facts)
            command = [sys.executable, __file__, "--one", str(file)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        held = f"{row['holding']} of {row['asked']} hold"
        yield f"`{shop}`", f"{facts:,}", held, str(row["views"]), f"{row['seconds']:.1f}", f"{row['mib']:,}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What is shown for every number of records?")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"raise bounds so far (default: {LIMIT})")
    parser.add_argument("--data", type=int, nargs="+", metavar="FACTS", help="verify shops of so many facts")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(of_data(options.one)))
        return
    if options.data:
        print("| data | facts | verdicts | views | seconds | MiB |")
        print("| --- | ---: | --- | ---: | ---: | ---: |")
        for facts in options.data:
            for row in data_rows(facts):
                print(f"| {' | '.join(row)} |", flush=True)
        return
    print("| deployment | agent | specification | verdict | by | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for deployment in deployments():
        policies = {policy.name for role in deployment.agents for policy in role.policies}
        for agent in ("any", *sorted(policies)):
            for row in rows(deployment, agent, options.limit):
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
