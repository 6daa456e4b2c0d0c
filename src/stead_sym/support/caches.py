"""The user's folder of what is made once and can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """`stead-sym/KIND` in the user's folder of caches (XDG_CACHE_HOME)."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home, "stead-sym", kind).absolute()
