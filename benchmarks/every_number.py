"""What of some deployments is shown for every number of records?

    python benchmarks/every_number.py [--limit N]

Takes the bounds off packaged examples and off `families.service_desk_any`, and prints a row for each
specification that says what is never to happen: under which agent, the verdict, k and the number of views, or
the bound at which it fails; and the seconds of one deployment and agent.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

import families

import stead_sym as st

EXAMPLES = ("refund", "bank", "ward", "returns_desk")
LIMIT = 2
"""Bounds are raised so far, to find what fails."""


def deployments() -> Iterator[st.Deployment]:
    """The examples, without bounds."""
    for given in (*map(st.load, EXAMPLES), families.service_desk_any(1)):
        yield replace(given, unbounded=frozenset(given.bounds), text=None)


def rows(deployment: st.Deployment, agent: str, limit: int) -> Iterator[tuple[str, ...]]:
    """The table of one deployment under one agent."""
    started = time.perf_counter()
    found = st.deepen(deployment, agent, limit=limit).found
    seconds = f"{time.perf_counter() - started:.1f}"
    for name, one in found.items():
        if one.every_number is not None:
            said = f"{one.every_number.k}-views: {one.every_number.views}"
        elif one.verdict.holds is False and one.within is not None:
            said = "within " + ", ".join(f"{sort} {bound}" for sort, bound in one.within.items())
        else:
            said = one.verdict.reason.rpartition("for every number: ")[2].rpartition("; ")[2]
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
