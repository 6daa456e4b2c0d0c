"""Files that are written to paths given by the user.

One decision: an existing file is inspected before the verification starts. A report or a log replaces an
earlier one only, and nothing replaces the deployment, so that a mistyped path destroys no file.
"""

from __future__ import annotations

from os.path import samefile
from pathlib import Path

from stead_sym.errors import InputError


def prepare_file(path: Path, marker: str, what: str) -> None:
    """Raise `InputError` if a file cannot be written, before there is anything to write.

    This is so if the folder does not exist, and if the path has a file that is no ``what``, which begins with
    ``marker``. A device and a pipe are not touched: they accept any content, once.
    """
    try:
        there = path.exists() or path.is_symlink()
        if path.exists() and not path.is_file() and not path.is_dir():
            return
        if there:
            with path.open("rb") as file:
                head = file.read(len(marker.encode())).decode("utf-8", "replace")
            if head and head != marker:
                raise InputError(f"{path}: is there already, and is no {what}; give another file")
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
    except OSError as error:
        raise unwritable(path, error) from None


def refuse_source(target: str, source: str) -> None:
    """Raise `InputError` if the file to write is the deployment itself."""
    try:
        same = samefile(target, source)
    except OSError:  # one of them is no file, or does not exist yet
        same = False
    if same:
        raise InputError(f"{target}: is the deployment itself; name another file")


def write_file(path: str | Path, text: str) -> None:
    """Write a file; `InputError` if that is impossible."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: str | Path, error: OSError) -> InputError:
    """Return the error for a file that cannot be written."""
    return InputError(f"{path}: cannot be written ({error.strerror or error}); name another file")
