"""The memory of other processes: how much of it is resident, for whoever keeps a run within a limit, and in
pages of what size a new one has it.

One decision: what a limit is about is resident memory, as the system counts it, in bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_TUNABLES = "GLIBC_TUNABLES"
_HUGE_PAGES = "glibc.malloc.hugetlb"


def resident(pid: int) -> int:
    """The resident memory of a process in bytes; 0 where it has ended. For POSIX systems."""
    if sys.platform == "linux":
        try:
            pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        except (FileNotFoundError, ProcessLookupError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    listed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return int(listed.stdout or 0) * 1024


def with_huge_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a new process asks the kernel for pages of 2 MiB.

    Operations on diagrams look up nodes all over memory, and where these lie in millions of small pages, a
    good part of the time goes into finding the pages. Linux gives large ones to who asks, at its usual
    setting `madvise`, and GNU's C library (2.35 and later) asks where this variable says so; other systems do
    not look at it. What the user has set about it stays.
    """
    own = environment.get(_TUNABLES, "")
    if _HUGE_PAGES in own:
        return dict(environment)
    return {**environment, _TUNABLES: ":".join(filter(None, (own, f"{_HUGE_PAGES}=1")))}
