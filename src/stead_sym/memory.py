"""The resident memory of another process, for whoever keeps a run within a limit of it.

One decision: what a limit is about is resident memory, as the system counts it, in bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


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
