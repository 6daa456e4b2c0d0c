"""The package's installed version, the commands that install its extras, and imports without a library.

One decision: a command names the libraries that the package's metadata lists, not the extra, so that it works
whether the package came from a registry, a wheel or a folder. `importlib.metadata` is imported where it is
used, since it takes longer to import than most deployments to read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OF_EXTRA = re.compile(r"""(?P<library>[^;]+?)\s*;\s*extra\s*==\s*["'](?P<extra>[^"']+)["']""")


def own_version() -> str:
    """Return the version of this package, or "unknown" if it runs from its folder without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("stead-sym")
    except PackageNotFoundError:
        return "unknown"


def install(extra: str) -> str:
    """Return the command that installs an extra's libraries: "pip install 'textual>=1.0'"."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        listed = requires("stead-sym") or ()
    except PackageNotFoundError:  # the package runs from its folder and is not installed
        listed = ()
    of_extras = filter(None, map(_OF_EXTRA.fullmatch, listed))
    found = [match["library"] for match in of_extras if match["extra"] == extra]
    return f"pip install {' '.join(map(repr, found))}" if found else f"install its extra `{extra}`"


@contextmanager
def without(name: str) -> Iterator[None]:
    """Let the import of a module fail in the block, unless it was imported before."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # so `import` raises `ModuleNotFoundError`
    try:
        yield
    finally:
        del sys.modules[name]
