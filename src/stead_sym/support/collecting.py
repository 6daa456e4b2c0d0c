"""How often Python looks for cycles of objects, while millions of objects are made that are in none.

It looks after every 700 new objects, and at all objects whenever there are a quarter more: of the time of a
verification over 1,000 records that was a seventh (and of reading a table more), with nothing found.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (100_000, 20, 100)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for cycles seldom; also a decorator of functions."""
    before = gc.get_threshold()
    if 0 < before[0] < _SELDOM[0]:  # 0: somebody has switched it off
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
