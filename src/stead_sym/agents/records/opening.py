"""Open the store that a user names: a file, a URL, a variable that holds one, or the user's own."""

from __future__ import annotations

import os
from pathlib import Path

from stead_sym.agents.records.store import Store
from stead_sym.errors import StoreError


def open_store(path: str | None = None, *, create: bool = True) -> Store:
    """Return the store in a file; by default the user's own.

    It is created if it does not exist, unless ``create`` is False: then a named file must exist, and a
    missing store of the user's own is taken to be empty.

    `env NAME` is the file or the URL in that environment variable, so that no command line shows it.
    """
    word, _, variable = (path or "").partition(" ")
    if word == "env" and variable:
        path = os.environ.get(variable.strip())
        if not path:
            raise StoreError(f"the environment variable {variable} is not set; let it hold the store's URL")
    if path is not None:
        return Store(path, create=create)
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    folder = Path(home, "stead-sym")
    file = folder / "decisions.sqlite"
    if not create:
        return Store(file, create=False) if file.exists() else Store()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; name a store with --store") from None
    return Store(file)
