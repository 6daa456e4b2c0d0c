"""Count what is shown of some deployments for every number of records.

    python benchmarks/every_number.py [--limit N]

Takes the bounds off packaged examples and off `families.service_desk_any`, and prints a row for each
specification that says what is never to happen: under which agent, the verdict, k and the number of views, or
the bound at which it fails; and the seconds of one deployment and agent, of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

import families

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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What is shown for every number of records?")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"raise bounds so far (default: {LIMIT})")
    options = parser.parse_args()
    print("| deployment | agent | specification | verdict | by | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for deployment in deployments():
        policies = {policy.name for role in deployment.agents for policy in role.policies}
        for agent in ("any", *sorted(policies)):
            for row in rows(deployment, agent, options.limit):
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
