"""The files that a system reads while it is compared, such as the SQL of its tools.

One decision: the interpreter reports each file that is opened (`sys.addaudithook`), since a binding reads
them in ways of its own. Such a hook cannot be removed; it does nothing unless files are to be noted. What C
code opens, such as the file of an SQLite database, is not reported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_noted: list[tuple[dict[str, None], dict[str, None]]] = []
"""For each user that notes files, innermost last, those that were opened to read and to write."""


@contextmanager
def files_read() -> Iterator[Collection[Path]]:
    """Yield a collection of the files that are read meanwhile and not written; it is complete at the end."""
    _hook()
    read, written = dict[str, None](), dict[str, None]()
    found: set[Path] = set()
    _noted.append((read, written))
    try:
        yield found
    finally:
        _noted.remove((read, written))
        found |= {Path(name).resolve() for name in read if name not in written and os.path.isfile(name)}


@cache
def _hook() -> None:
    """Have opened files noted, in this process once."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _noted:
        return
    name, mode, flags = arguments
    if not isinstance(name, str | bytes):
        return
    if isinstance(mode, str):
        writes = any(letter in mode for letter in "wax+")
    else:
        writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    path = os.path.abspath(os.fsdecode(name))
    for read, written in _noted:
        (written if writes else read)[path] = None
