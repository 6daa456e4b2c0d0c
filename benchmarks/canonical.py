"""The cost of canonical forms: contexts that are graphs, and live views of thousands of facts.

    python benchmarks/canonical.py graphs [FAMILY …] [--limit SECONDS] [--up-to N] [--plain]
    python benchmarks/canonical.py brute
    python benchmarks/canonical.py facts [--facts N]

`graphs` has a row for each graph: vertices, facts, processor seconds of the canonical form, of which how much
nauty took in processes of its own, and how many vertices went to nauty at the most. A family ends at the
first size past the limit. `--plain` leaves everything to nauty at once. `brute` compares with the paper's
minimal labelling, by trying all, and `facts` is a wholly new context, nothing kept.

The decision: one row of JSON per graph, made in a process of its own, since nauty cannot be interrupted and
what is remembered of one graph is not to help with the next. nauty does not say through pynauty how large its
search tree was; the vertices that it was given are counted instead.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import graphs
import production

import stead_sym as st
from stead_sym.relational import graph, large, shapes

NONE = frozenset[str]()
SIZES: Mapping[str, Iterable[int]] = {
    "random": (50, 100, 200, 500, 1_000, 2_000, 5_000),
    "binary tree": (63, 127, 255, 1_023, 4_095),
    "random tree": (50, 100, 200, 300, 500, 1_000, 2_000, 5_000),
    "grid": (5, 10, 15, 20, 30, 40, 60),
    "latin square": (4, 5, 7, 9, 12, 15, 18, 21),
    "rook": (4, 5, 7, 9, 12, 15, 18, 21),
    "paley": (13, 29, 61, 101, 197, 293),
    "cfi": (4, 6, 8, 10, 14, 20, 28, 40, 60, 80, 100, 120, 160, 200),
    "miyazaki": (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96),
    "copies of a tree": (10, 100, 1_000),
    "copies of shrikhande": (2, 10, 50),
}


def one(family: str, size: int, *, plain: bool) -> dict[str, Any]:
    """The row of a graph, whose vertices are shuffled."""
    made = graphs.FAMILIES[family](size).shuffled(seed=1)
    instance = graphs.context(made)
    given: list[int] = []

    def noting(search: Any) -> Any:
        def noted(vertices: int, *others: Any) -> Any:
            given.append(vertices)
            return search(vertices, *others)

        return noted

    with (
        patch.object(shapes, "LARGE", sys.maxsize if plain else shapes.LARGE),
        patch.object(graph, "search", noting(graph.search)),
        patch.object(large, "search", noting(large.search)),
        patch.object(large, "search_apart", noting(large.search_apart)),
    ):
        started, apart = time.process_time(), _children()
        form = st.canonical_form(instance, NONE, canonical_timeout=3600)
        own, apart = time.process_time() - started, _children() - apart
    return {
        "family": family,
        "size": size,
        "vertices": made.size,
        "facts": len(instance),
        "seconds": round(own + apart, 4),
        "of which apart": round(apart, 4),
        "most vertices for nauty": max(given, default=0),
        "generators": len(form.generators),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def families(
    names: Iterable[str], limit: float, most: int | None, *, plain: bool
) -> Iterator[dict[str, Any]]:
    """The rows of families, each up to the first size past the limit."""
    for name in names:
        for size in SIZES[name]:
            if most is not None and size > most:
                break
            words = [sys.executable, __file__, "one", name, "--up-to", str(size), *["--plain"] * plain]
            try:
                ended = subprocess.run(
                    words, capture_output=True, encoding="utf-8", check=True, timeout=limit
                )
            except subprocess.TimeoutExpired:
                yield {"family": name, "size": size, "past": limit}
                break
            yield json.loads(ended.stdout)


def brute() -> Iterator[dict[str, Any]]:
    """Processor seconds of the canonical form and of the paper's minimal labelling, on random graphs of so
    many values; no times where the two put graphs into different classes."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    from brute_force import least_labelling

    for values in range(2, 8):
        dice = random.Random(values)
        contexts = []
        for _ in range(6):
            pairs = [(u, v) for u in range(values) for v in range(u) if dice.random() < 0.5]
            contexts += [
                graphs.context(graphs.Graph(values, tuple(pairs)).shuffled(seed)) for seed in range(2)
            ]
        started = time.process_time()
        forms = [st.canonical_form(context, NONE).instance for context in contexts]
        between = time.process_time()
        least = [least_labelling(context, NONE) for context in contexts]
        ended = time.process_time()
        alike = [[one == other for other in forms] for one in forms]
        if alike != [[one == other for other in least] for one in least]:
            yield {"values": values, "fault": "other classes"}
        else:
            number = len(contexts)
            yield {
                "values": values,
                "graphs": number,
                "ms": round(1000 * (between - started) / number, 3),
                "ms by trying all": round(1000 * (ended - between) / number, 3),
            }


def facts(number: int, times: int = 9) -> Iterator[dict[str, Any]]:
    """Milliseconds of processor time of the canonical form of a wholly new context, least and median."""
    desk = st.load("refund")
    for kind in ("parts", "hubs", "one by one"):
        found = []
        for seed in range(times):
            view = production.live(desk, number, kind, random.Random(seed)).view
            started = time.process_time()
            st.canonical_form(view, desk.schema.rigid)
            found.append(1000 * (time.process_time() - started))
        yield {
            "case": kind,
            "facts": len(view),
            "least ms": round(min(found), 1),
            "median ms": round(statistics.median(found), 1),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["graphs", "brute", "facts", "one"])
    parser.add_argument("family", nargs="*", choices=[[], *SIZES], metavar="FAMILY")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one graph")
    parser.add_argument("--up-to", type=int, help="the largest size")
    parser.add_argument("--plain", action="store_true", help="nauty on the whole graph, whatever its size")
    parser.add_argument("--facts", type=int, default=10_000)
    options = parser.parse_args()
    rows: Iterable[dict[str, Any]]
    match options.what:
        case "graphs":
            rows = families(options.family or SIZES, options.limit, options.up_to, plain=options.plain)
        case "brute":
            rows = brute()
        case "facts":
            rows = facts(options.facts)
        case _:
            rows = [one(options.family[0], options.up_to, plain=options.plain)]
    faults = 0
    for row in rows:
        print(json.dumps(row), flush=True)
        faults += "fault" in row
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
