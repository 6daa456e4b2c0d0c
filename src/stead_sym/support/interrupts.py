"""Ctrl-C at a better moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C in the block has its effect after it, so that what the block has opened is closed.

    Python raises `KeyboardInterrupt` between any two steps of the main thread, even before the first one of
    an `__exit__`; the block's resources would then stay open for as long as anybody holds the exception.
    Other threads are not interrupted by signals; nor is a process that has no handler in Python.
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
