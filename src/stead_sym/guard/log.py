"""An append-only log of decisions: lines of JSON, each with the hash of the one before.

One decision: the hash of a line covers all that stands in it, the hash of its predecessor included. So no
line can be changed, removed or inserted later unless all lines after it are; lines missing at the end show
only in comparison with a head that was kept elsewhere.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest

_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """What a log that is intact holds: the number of its lines, and the hash of the last one."""

    lines: int
    head: str


def check_audit_log(path: str | Path, deployment: Deployment | None = None) -> CheckedLog:
    """Check the chain of a log, and that it was written for ``deployment``; raise `InputError` otherwise.

    Compare the head with one that was kept elsewhere, to see that no lines are missing at the end.
    """
    head, number = "", 0
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                head = _checked(line, number, head, f"{path}:{number}", deployment)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name the log of a guard") from None
    return CheckedLog(number, head)


def _checked(line: bytes, number: int, head: str, place: str, deployment: Deployment | None) -> str:
    try:
        entry = json.loads(line)
        if not line.endswith(b"\n"):
            raise ValueError
        written = entry.pop("hash")
        if entry["n"] != number or entry["previous"] != head or _hash(entry) != written:
            raise InputError(f"{place}: the chain of hashes is broken; a line was changed, added or removed")
        if deployment is not None and entry.get("digest", here := text_digest(deployment)) != here:
            raise InputError(f"{place}: not of this version of {deployment.name}; give the one of the log")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{place}: no line of a log; the file was damaged, or is another one") from None
    assert isinstance(written, str), "equal to a hash"
    return written


def _hash(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


class AuditLog:
    """A log that threads and processes append to; each line is on the disk when `append` returns."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()

    def append(self, event: str, entry: Mapping[str, object]) -> int:
        """Add a line and return its number; raise `OSError` if it cannot be written, or does not fit."""
        with self._lock, open(self._path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed
            number, head = _last(file)
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            line = {"n": number + 1, "time": time, "event": event, **entry, "previous": head}
            line = json.loads(json.dumps(line, default=str))
            text = json.dumps({**line, "hash": _hash(line)}, sort_keys=True)
            file.write(text.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            return number + 1


def _last(file: Any) -> tuple[int, str]:
    """Return the number and the hash of the last line."""
    last = _last_line(file)
    if last is None:
        return 0, ""
    try:
        entry = json.loads(last)
        return int(entry["n"]), str(entry["hash"])
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{file.name} does not end with a line of a log") from None


def _last_line(file: Any) -> bytes | None:
    """Return the last line, which is read from the end of the file; None if the file is empty."""
    end = file.seek(0, os.SEEK_END)
    text = b""
    while end and text.count(b"\n") < 2:
        start = max(0, end - _BLOCK)
        file.seek(start)
        text, end = file.read(end - start) + text, start
    if not text:
        return None
    return bytes(text.splitlines()[-1]) if text.endswith(b"\n") else b"incomplete"
