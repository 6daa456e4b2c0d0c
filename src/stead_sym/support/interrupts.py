"""Delay Ctrl-C until a block has ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay the effect of Ctrl-C until the end of the block, so that the block can close what it opened.

    Python raises `KeyboardInterrupt` between any two steps of the main thread, even before the first step of
    an `__exit__`. The block's resources would then stay open as long as the exception is referenced. Signals
    do not interrupt other threads, nor a process without a handler in Python; there the block runs unchanged.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    caught: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(signal.SIGINT, caught[0])
