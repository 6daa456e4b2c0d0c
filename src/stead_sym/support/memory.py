"""Measure the memory of processes, request huge pages for them, and collect garbage less often.

One decision: limits are about resident memory, as the system counts it, in bytes.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_TUNABLES = "GLIBC_TUNABLES"
_HUGE_PAGES = "glibc.malloc.hugetlb"
_SELDOM = (100_000, 20, 100)


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 if the process has ended (POSIX only)."""
    if sys.platform == "linux":
        try:
            pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        except (FileNotFoundError, ProcessLookupError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    listed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return int(listed.stdout or 0) * 1024


def with_huge_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of an environment in which a new process requests pages of 2 MiB from the kernel.

    Operations on decision diagrams access nodes all over memory. With millions of small pages, much of the
    time goes into address translation. Linux grants huge pages on request, at its usual setting `madvise`,
    and GNU's C library (2.35 and later) requests them if this variable is set so. Other systems ignore the
    variable. A setting of the user's is kept.
    """
    own = environment.get(_TUNABLES, "")
    if _HUGE_PAGES in own:
        return dict(environment)
    return {**environment, _TUNABLES: ":".join(filter(None, (own, f"{_HUGE_PAGES}=1")))}


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Raise the thresholds of Python's cyclic collector in the block; also a decorator of functions.

    By default Python starts a collection after every 700 new objects, and a full collection whenever the
    number of objects has grown by a quarter. A verification allocates millions of objects that are in no
    cycle. Over 1,000 records the collector took a seventh of the time of a verification, more of reading a
    table, and freed nothing.
    """
    before = gc.get_threshold()
    if 0 < before[0] < _SELDOM[0]:  # 0: the collector is disabled
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
