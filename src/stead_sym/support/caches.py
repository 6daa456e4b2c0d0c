"""The user's cache folder, and the last results of reading a text."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import TypeVar

Read = TypeVar("Read")

_LONGEST = 50_000  # characters; the trees of longer texts are not worth their memory


def cache_folder(kind: str) -> Path:
    """Return `stead-sym/KIND` in the user's cache folder (XDG_CACHE_HOME, else `~/.cache`)."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home, "stead-sym", kind).absolute()


def keep_last(number: int) -> Callable[[Callable[[str, str], Read]], Callable[[str, str], Read]]:
    """Keep the last ``number`` results of a function of a text and the name of its source.

    The same texts are read again and again: the claims of an evidence as formulas, and the file at each
    request of an editor and in each test of a suite. What is read must be immutable.
    """

    def kept(read: Callable[[str, str], Read]) -> Callable[[str, str], Read]:
        last = lru_cache(number)(read)

        @wraps(read)
        def reading(text: str, source: str) -> Read:
            return (
                last(text, source) if isinstance(text, str) and len(text) <= _LONGEST else read(text, source)
            )

        return reading

    return kept
