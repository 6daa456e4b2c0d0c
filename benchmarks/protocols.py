"""Published protocols, as in peers' benchmarks, for every number of processes.

Mutual exclusion, caches, locks, elections, stores and agreement.

    python benchmarks/protocols.py [--limit N] [NAME …]

Prints a row for each specification of the files in `protocols/`, and of a faulty variant of each: the
verdict, by which parts of how many values it holds, or the number of processes of a run that breaks it, and
seconds of computing. Where `cubicle` is on the path, the seconds that it takes for the same protocol, written
in its language beside the file, are the last column.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from every_number import decided_by

import stead_sym as st

FILES = Path(__file__).parent / "protocols"
LIMIT = 3
"""Bounds are raised so far, to find what fails."""

FAULTS: dict[str, tuple[str, str, str] | None] = {
    "bakery": (
        "does not wait for who chooses",
        "(At(q, out) | (At(q, waiting) & Before(p, q)))",
        "(At(q, out) | At(q, choosing) | (At(q, waiting) & Before(p, q)))",
    ),
    "burns": ("does not wait for flags above", "Before(p, q) & ~up(q)", "Before(p, q)"),
    "client_database": None,
    "decentralized_lock": ("keeps the lock that it hands on", "    delete Holds(n)\n", ""),
    "dijkstra": (
        "overlooks who is trying",
        "p != q & ~At(q, trying) & ~At(q, inside)",
        "p != q & ~At(q, inside)",
    ),
    "german": (
        "grants a copy beside an exclusive one",
        "~Told(c, _) & ~Exclusive()\n",
        "~Told(c, _)\n",
    ),
    "german_data": None,
    "hotel_keys": ("opens with any key", "Has(g, k) & Current(r, k)\n", "Has(g, k) & Current(r, _)\n"),
    "illinois": (
        "reads from memory beside an exclusive copy",
        " & ~Line(_, dirty) & ~Line(_, exclusive)",
        " & ~Line(_, dirty)",
    ),
    "leader_between": None,
    "leader_ring": ("passes smaller numbers on", "Pending(i, n) & Below(n, i)", "Pending(i, n) & i != n"),
    "lock_service": ("keeps the lock that it grants", "    delete Free(l)\n", ""),
    "moesi": (
        "reads beside an exclusive copy",
        "    set Line(d, shared) for d: cache where Line(d, exclusive)\n",
        "",
    ),
    "readers_writers": ("writes beside readers", " & ~At(_, reading)", ""),
    "ricart_agrawala": (
        "replies to later requests",
        "(At(q, waiting) & Before(p, q))",
        "At(q, waiting)",
    ),
    "sharded_store": None,
    "szymanski": (
        "enters before those below",
        " & forall q: process. (Before(q, p) -> At(q, out) | At(q, asking))",
        "",
    ),
    "szymanski_one_by_one": ("reads flags in any order", " & next(p, q)", ""),
    "token_ring": ("makes a second token", "~Made() & ", ""),
    "two_phase_commit": ("commits without all votes", " & forall n: node. (Node(n) -> Yes(n))", ""),
}
"""The fault of a protocol's faulty variant, a text of its file, and the text that replaces it; None
where there is none: `german_data` is `german` with data, `leader_between` is `leader_ring` in another form, a
run of a faulty `client_database` has records of four sorts, and one of a faulty `sharded_store` breaks a
declared key, which is a verdict on that key."""


def variants(name: str) -> Iterator[tuple[str, st.Deployment]]:
    """A protocol as it was published, and its faulty variant, if it has one."""
    text = (FILES / f"{name}.stead").read_text()
    yield "as published", st.parse_deployment(text)
    if (fault := FAULTS[name]) is not None:
        wrong, old, new = fault
        assert old in text, f"{name} has no {old}"
        yield wrong, st.parse_deployment(text.replace(old, new))


def rows(variant: str, deployment: st.Deployment, limit: int = LIMIT) -> Iterator[tuple[str, ...]]:
    """Return what is found of a variant of a protocol, a row for each specification."""
    started = time.process_time()
    found = st.deepen(deployment, limit=limit).found
    seconds = f"{time.process_time() - started:.1f}"
    for spec, one in found.items():
        said = decided_by(one) or one.verdict.reason.rpartition("for every number: ")[2]
        yield f"`{deployment.name}`", variant, f"`{spec}`", one.verdict.word, said, seconds


def cubicle(name: str) -> str:
    """The seconds that Cubicle takes to show the same; nothing where there is none."""
    program, file = shutil.which("cubicle"), FILES / f"{name}.cub"
    if program is None or not file.exists():
        return ""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = subprocess.run([program, "-quiet", str(file)], capture_output=True, check=False)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return f"{seconds:.2f}" if ended.returncode == 0 else "not shown"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="What of published protocols is shown for every number of processes?"
    )
    parser.add_argument("names", nargs="*", default=sorted(FAULTS), help="only these protocols")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"raise bounds so far (default: {LIMIT})")
    options = parser.parse_args()
    print("| protocol | variant | specification | verdict | by | seconds | Cubicle |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in options.names:
        peer = cubicle(name)
        for variant, deployment in variants(name):
            for row in rows(variant, deployment, options.limit):
                print(f"| {' | '.join((*row, peer))} |", flush=True)
            peer = ""


if __name__ == "__main__":
    main()
