"""The user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """Return `stead-sym/KIND` in the user's cache folder (XDG_CACHE_HOME, else `~/.cache`)."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home, "stead-sym", kind).absolute()
