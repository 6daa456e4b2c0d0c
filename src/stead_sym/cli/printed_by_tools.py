"""Send what the code of a user prints to stderr, so that stdout has the report alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

_STDOUT, _STDERR = 1, 2


@contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Send stdout to stderr meanwhile, also that of subprocesses and of libraries in C."""
    try:
        is_own = sys.stdout.fileno() == _STDOUT
    except (OSError, AttributeError):  # another stream stands for it
        is_own = False
    if not is_own:
        with redirect_stdout(sys.stderr):
            yield
        return
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)
