"""What is installed of this package: its version, and how what an extra needs is added.

One decision: the libraries themselves are named, as the package's metadata lists them, so that the command
works wherever the package came from: a registry, a wheel, a folder.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

_OF_EXTRA = re.compile(r"""(?P<library>[^;]+?)\s*;\s*extra\s*==\s*["'](?P<extra>[^"']+)["']""")


def own_version() -> str:
    """The version of this package, "unknown" where it runs from its folder and is not installed."""
    try:
        return version("stead-sym")
    except PackageNotFoundError:
        return "unknown"


def install(extra: str) -> str:
    """The command that installs what an extra needs: "pip install 'textual>=1.0'"."""
    try:
        listed = requires("stead-sym") or ()
    except PackageNotFoundError:  # its folder is on the path, and nothing is installed
        listed = ()
    of_extras = filter(None, map(_OF_EXTRA.fullmatch, listed))
    found = [match["library"] for match in of_extras if match["extra"] == extra]
    return f"pip install {' '.join(map(repr, found))}" if found else f"install its extra `{extra}`"
