"""Cache folders of files that are created once: fetched models, and their conversions.

The decision: a folder is created atomically. It is filled under a temporary name and then renamed. So several
processes that create the same one each get a complete one, and none waits for another. It has the digests of
its files, which are checked at every use.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from stead_sym.agents.records.digest import digest_file
from stead_sym.errors import ModelError
from stead_sym.support.caches import cache_folder

_DIGESTS = "SHA256SUMS"


def models_folder() -> Path:
    """Return the folder for models."""
    return cache_folder("models")


def made_once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Return ``folder``, filled by ``fill`` if it does not exist yet.

    Raise `ModelError` if a file in it has changed, or if it cannot be created, and any error of ``fill``;
    then nothing is left behind.
    """
    if folder.is_dir():
        _check(folder)
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as place:
            making = Path(place, "made")
            making.mkdir()
            fill(making)
            lines = [f"{digest_file(path)}  {path.name}\n" for path in sorted(making.iterdir())]
            (making / _DIGESTS).write_text("".join(lines), encoding="utf-8")
            if not folder.is_dir():
                _rename(making, folder)
    except OSError as error:
        raise ModelError(
            f"{folder}: cannot be made ({error.strerror or error}); make room there, or set XDG_CACHE_HOME"
        ) from None
    return folder


def _rename(making: Path, folder: Path) -> None:
    try:
        making.rename(folder)
    except OSError:
        if not folder.is_dir():  # otherwise another process has created the same folder
            raise


def _check(folder: Path) -> None:
    try:
        for line in (folder / _DIGESTS).read_text(encoding="utf-8").splitlines():
            digest, _, name = line.partition("  ")
            if digest_file(folder / name) != digest:
                raise ModelError(f"{folder / name}: changed since it was written; remove {folder}")
    except (OSError, UnicodeDecodeError):
        raise ModelError(f"{folder}: not whole; remove it, and it is made again") from None
