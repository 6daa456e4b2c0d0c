"""Does the cost of a family jump between one size and the next? Nodes of the diagrams, counted size by size.

    python benchmarks/cliffs.py [FAMILY …] [--limit SECONDS]

Prints for each family the nodes that the engine holds at the end of a run, at each size, and how many
times as many they are as at the neighbouring size. A jump by more than three is where something is built
that grows with the number of *sets* of records, or where a plan that fits one size does not fit the next.

One decision: nodes and not seconds, so that the answer is the same on any machine. Where explicit search is
given too, its seconds and the engine's stand beside the nodes; these are CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import families

import stead_sym as st

MOST = 3.0
"""The largest jump between neighbouring sizes that is no cliff."""


@dataclass(frozen=True, slots=True)
class Case:
    """A family at some sizes: ``make`` gives the deployment, ``arguments`` those of `verify`."""

    make: Callable[[int], st.Deployment]
    sizes: Iterable[int]
    arguments: Callable[[int], Mapping[str, Any]] = lambda _: {}
    policy: str | None = None
    explicit: bool = False


def refunds_over(bound: int, sizes: Iterable[int], specs: tuple[str, ...] | None = None) -> Case:
    """`refunds` on the literal domain, over n values of case and of task."""
    return Case(
        lambda _: families.refunds(bound),
        sizes,
        lambda n: {"domain": {"case": n, "task": n}, "specs": specs},
        explicit=specs is None,
    )


CASES: Mapping[str, Case] = {
    "transfers": Case(families.transfers, range(1, 25), policy="fast"),
    "transfers, any agent": Case(families.transfers, range(1, 25)),
    "chain": Case(families.chain, (11, 15, 21, 30, 45, 65, 100)),
    "desks": Case(families.desks, (2, 3, 4, 6, 8, 12, 16), policy="approving"),
    "payments": Case(families.payments, (10, 14, 20, 24, 28, 40, 56, 80, 100)),
    "refunds": Case(families.refunds, range(1, 17)),
    "refunds of one case over n values": refunds_over(1, (*range(3, 11), 14, 20, 30)),
    "refunds of two cases over n values": refunds_over(2, range(5, 13)),
    "refunds of three cases over n values": refunds_over(3, range(7, 15)),
    "refunds of four cases over n values, reach only": refunds_over(4, range(9, 17), specs=()),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One run. ``nodes`` and ``seconds`` are None where it did not end within the limit."""

    size: int
    nodes: int | None
    seconds: float | None
    explicit: float | None = None


def counted(name: str, size: int, limit: float) -> Row:
    """The engine's run at a size and, where the case asks for it, that of explicit search."""
    found = _limited(name, size, "symbolic", limit)
    searched = _limited(name, size, "explicit", limit) if CASES[name].explicit else None
    nodes, seconds = found if found is not None else (None, None)
    return Row(size, nodes, seconds, None if searched is None else searched[1])


def _limited(name: str, size: int, engine: str, limit: float) -> tuple[int, float] | None:
    """Nodes and CPU seconds of a run in a process of its own; None where it does not end in time."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(name, size, engine, sender), daemon=True)
    process.start()
    sender.close()
    try:
        found: tuple[int, float] | None = receiver.recv() if receiver.poll(limit) else None
        return found
    finally:
        process.kill()
        process.join()


def _measure(name: str, size: int, engine: str, sender: Connection) -> None:
    case = CASES[name]
    desk = case.make(size)
    agent: st.deployment.Policy | str = "any" if case.policy is None else desk.policy(case.policy)
    started = time.process_time()
    result = st.verify(desk, agent, engine=engine, findings=False, **case.arguments(size))
    sender.send((result.engine.statistics.get("nodes", 0), time.process_time() - started))


def jumps(rows: Iterable[Row]) -> Iterator[tuple[int, float]]:
    """Per size but the first, its nodes over those of the size before it."""
    for before, after in pairwise(row for row in rows if row.nodes is not None):
        assert before.nodes is not None
        assert after.nodes is not None
        yield after.size, max(after.nodes / before.nodes, before.nodes / after.nodes)


def _lines(rows: list[Row]) -> Iterator[str]:
    times = dict(jumps(rows))
    for row in rows:
        nodes = "over the limit" if row.nodes is None else f"{row.nodes:>12,} nodes"
        jump = f"  × {times[row.size]:4.1f}" if row.size in times else " " * 8
        spent = "" if row.seconds is None else f"  {row.seconds:8.2f} s"
        searched = "" if row.explicit is None else f"  explicit {row.explicit:8.2f} s"
        yield f"  {row.size:>4}  {nodes}{jump}{spent}{searched}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(CASES)}")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one run (default: 60)")
    options = parser.parse_args()
    if unknown := set(options.families) - CASES.keys():
        parser.error(f"unknown family {min(unknown)}; there are {', '.join(CASES)}")
    steep = []
    for name in options.families or CASES:
        print(name, flush=True)
        rows = []
        for size in CASES[name].sizes:
            rows.append(counted(name, size, options.limit))
            print(list(_lines(rows))[-1], flush=True)
        steep += [f"{name} at {size}: × {times:.1f}" for size, times in jumps(rows) if times > MOST]
    print("no jump by more than three" if not steep else "jumps: " + "; ".join(steep))
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
