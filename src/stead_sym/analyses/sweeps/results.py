"""The file of results, with which an interrupted sweep continues.

One decision: each result is appended as one line of JSON, and is on the disk before the next one is awaited.
If a run has several lines, the last one counts, and a last line that is incomplete does not.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from msgspec import ValidationError, convert

from stead_sym.analyses.sweeps.run import Run
from stead_sym.analyses.sweeps.work import Result
from stead_sym.errors import InputError

FORMAT = "stead-sym sweep 2"
LASTING = frozenset({"done", "stopped"})
"""The outcomes that the same run would have again."""


class Results:
    """The known results by the keys of their runs; with a file, new results are written to it too."""

    def __init__(self, file: IO[str] | None = None, known: Mapping[str, Result] | None = None) -> None:
        self._file = file
        self.known = dict(known or {})

    def lasting(self, run: Run) -> Result | None:
        """Return the result of a run that need not be repeated, or None."""
        result = self.known.get(run.key)
        return result if result is not None and result.outcome in LASTING else None

    def add(self, run: Run, result: Result) -> None:
        """Add a result."""
        self.known[run.key] = result
        if self._file is not None:
            line = {"format": FORMAT, "key": run.key, "run": run.about, "result": asdict(result)}
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())


@contextmanager
def results_in(path: Path | None) -> Iterator[Results]:
    """Open the results in a file, which is created if there is none; without a path they are kept in memory.

    Raises `InputError` for a file that is none of results, that cannot be written, and while another sweep
    writes it.
    """
    if path is None:
        yield Results()
        return
    try:
        # closed below, since errors of opening are handled separately
        file = open(path, "a+", encoding="utf-8", errors="replace")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another file") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{path}: another sweep writes its results there; name another file") from None
        file.seek(0)
        text = file.read()
        earlier = dict(_lines(text, path))
        if text and not text.endswith("\n"):
            file.write("\n")
        yield Results(file, earlier)


def _lines(text: str, path: Path) -> Iterator[tuple[str, Result]]:
    for number, line in enumerate(
        text.replace("\0", "").split("\n"), 1
    ):  # a crash may leave a block of zeros
        if not line:
            continue
        try:
            record = json.loads(line)
            if record["format"] != FORMAT:
                raise ValueError(record["format"])
            yield record["key"], convert(record["result"], Result)
        except (ValueError, KeyError, TypeError, ValidationError, RecursionError):
            # A line that was cut off by a crash is incomplete; a later line may have the result of its run.
            if line.startswith('{"format": "stead-sym sweep') or '{"format": "stead-sym sweep'.startswith(
                line
            ):
                continue
            raise InputError(
                f"{path}:{number}: no result of a sweep; name another file with --results"
            ) from None
