"""Compute canonical orders and automorphisms of coloured graphs with nauty; only this file imports pynauty.

The decision: nauty cannot be interrupted from Python, and on some graphs it does not terminate. So a large
graph is passed to a separate process with a time limit; past the limit `CanonicalLimit` is raised. The
process computes the same as `search`, so the choice affects no result. It takes some 60 ms to start, which
the small graphs of nearly all contexts avoid.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pynauty

from stead_sym.errors import CanonicalLimit

NAUTY_VERSION: str = pynauty.__version__
"""The version of pynauty; its first numbers are the version of nauty."""

CANONICAL_SECONDS = 10.0
"""The default time limit for nauty on one connected component of the facts."""

Adjacency: TypeAlias = Mapping[int, list[int]]
Found: TypeAlias = tuple[list[int], list[list[int]]]

_CHILD = """
import json, sys
arguments = json.loads(sys.stdin.readline())
sys.path[:] = arguments["path"]
import pynauty
try:  # past the limit the system ends this process, also where nobody is left to do so
    import signal
    signal.setitimer(signal.ITIMER_REAL, arguments["seconds"])
except (ImportError, AttributeError):
    pass
adjacency = {int(vertex): near for vertex, near in arguments["adjacency"].items()}
classes = [set(members) for members in arguments["classes"]]
graph = pynauty.Graph(arguments["size"], adjacency_dict=adjacency, vertex_coloring=classes)
json.dump([pynauty.canon_label(graph), pynauty.autgrp(graph)[0]], sys.stdout)
"""


def search(size: int, adjacency: Adjacency, classes: Sequence[set[int]]) -> Found:
    """Return the vertices in canonical order, and generators of the automorphism group.

    The vertices are 0 to ``size`` - 1; a generator is the list of all vertices' images. ``classes`` are the
    colour classes, a partition of the vertices: they get the positions in their order. Each edge is listed at
    one of its ends.
    """
    graph = pynauty.Graph(size, adjacency_dict=adjacency, vertex_coloring=classes)
    return pynauty.canon_label(graph), pynauty.autgrp(graph)[0]


def search_apart(size: int, adjacency: Adjacency, classes: Sequence[set[int]], seconds: float) -> Found:
    """Return the same as `search`, computed in a separate process.

    Raise `CanonicalLimit` if there is no result after ``seconds``, or if the process is killed before.
    """
    arguments = {
        "path": sys.path,
        "seconds": seconds,
        "size": size,
        "adjacency": adjacency,
        "classes": [sorted(members) for members in classes],
    }
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-c", _CHILD],
            input=json.dumps(arguments),
            capture_output=True,
            encoding="utf-8",
            timeout=seconds + 1,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _limit(size, classes, f"within {seconds:g} s") from None
    if ended.returncode < 0:  # killed by the timer, or by the system for lack of memory
        raise _limit(size, classes, f"within {seconds:g} s, or within the memory there is")
    if ended.returncode:
        raise RuntimeError(f"the process for nauty has ended with {ended.returncode}: {ended.stderr.strip()}")
    order, generators = json.loads(ended.stdout)
    return order, generators


def _limit(size: int, classes: Sequence[set[int]], within: str) -> CanonicalLimit:
    largest = max(map(len, classes))
    return CanonicalLimit(
        f"no canonical form {within}: facts connect so many values that a graph of {size:,} vertices is left,"
        f" up to {largest:,} of which nothing near them tells apart; raise --canonical-timeout, or show a"
        " relation that tells them apart"
    )
