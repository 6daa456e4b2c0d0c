"""An append-only log of decisions: lines of JSON, each with the hash of the one before.

One decision: the hash of a line covers all that stands in it, the hash of its predecessor included. So no
line can be changed, removed or inserted later unless all lines after it are; lines missing at the end show
only in comparison with a head that was kept elsewhere.

`DecisionLog` writes the lines of a guard: how it was opened, its decisions, and what became of calls.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Gate
from stead_sym.deployment.printer import print_gate
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest
from stead_sym.guard.decision import Allowed, Decision, NeverMet, Outcome, Proposal, json_text

_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """The number of lines of an intact log, and the hash of the last one."""

    lines: int
    head: str


def check_audit_log(path: str | Path, deployment: Deployment | None = None) -> CheckedLog:
    """Check the chain of a log, and that it was written for ``deployment``; raise `InputError` otherwise.

    Compare the head with one that was kept elsewhere, to see that no lines are missing at the end.
    """
    number, head = 0, ""
    for _, entry in read_log(path, deployment):
        number, head = entry["n"], entry["hash"]
    return CheckedLog(number, head)


def read_log(path: str | Path, deployment: Deployment | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the content of each line of a log.

    Raise `InputError` if its chain is broken, and if it was written for another deployment.
    """
    own = None if deployment is None else text_digest(deployment)
    head = ""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                place = f"{path}:{number}"
                if not line.endswith(b"\n") and head:
                    raise InputError(
                        f"{place}: this last line was not written to its end, and the lines before it are"
                        " intact; the next guard that appends to the log goes on after them"
                    )
                entry = _entry(line, place)
                chained = entry["n"] == number and entry["previous"] == head
                if not chained or _hash(entry) != entry["hash"] or _written(entry) != line:
                    raise InputError(
                        f"{place}: the chain of hashes is broken; a line was changed, added or removed"
                    )
                if deployment is not None and entry.get("digest", own) != own:
                    raise InputError(
                        f"{place}: not of this version of {deployment.name}; give the one of the log"
                    )
                head = entry["hash"]
                yield place, entry
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name the log of a guard") from None


def is_log(path: str | Path) -> bool:
    """Return True if a file begins with a line of a log."""
    try:
        with open(path, "rb") as file:
            _entry(file.readline(), str(path))
    except (OSError, InputError):
        return False
    return True


def _entry(line: bytes, place: str) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
        if line.endswith(b"\n") and {"n", "event", "previous", "hash"} <= set(entry):
            return dict(entry)
    except (ValueError, TypeError, RecursionError):  # nested too deep
        pass
    raise InputError(f"{place}: no line of a log; the file was damaged, or is another one")


def _hash(entry: Mapping[str, Any]) -> str:
    """Return the hash of all that a line has but the hash itself."""
    own = {name: content for name, content in entry.items() if name != "hash"}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def _written(entry: Mapping[str, Any]) -> bytes:
    """Return the line of an entry, as it is written."""
    return json.dumps(entry, sort_keys=True).encode() + b"\n"


class AuditLog:
    """A log that threads and processes append to; each line is on the disk when `append` returns.

    A last line that was not written to its end, since its writer was stopped, goes into a line of its own,
    with the event `torn`: nobody acted on it, since `append` did not return.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()

    def append(self, event: str, entry: Mapping[str, object]) -> int:
        """Add a line and return its number; raise `OSError` if it cannot be written, or does not fit."""
        with self._lock, open(self._path, "a+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed
            last, torn = _end(file)
            if torn:
                file.truncate(file.seek(0, os.SEEK_END) - len(torn))
                last = _add(file, last, "torn", {"text": torn.decode(errors="replace")})
            return int(_add(file, last, event, entry)["n"])


def _add(file: FileIO, last: Mapping[str, Any], event: str, entry: Mapping[str, object]) -> Mapping[str, Any]:
    """Add a line after the last one, and return it once it is on the disk."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    chained = {"n": last["n"] + 1, "time": time, "event": event, **entry, "previous": last["hash"]}
    line = json.loads(json.dumps(chained, default=str))
    line["hash"] = _hash(line)
    text = _written(line)
    if file.write(text) != len(text):
        raise OSError(f"{file.name} has no room for a line")
    os.fsync(file.fileno())
    return dict(line)


def _end(file: FileIO) -> tuple[Mapping[str, Any], bytes]:
    """Return the last line that is whole, and what follows it; raise `OSError` if that is no line of a log.

    The file is read from its end.
    """
    end = file.seek(0, os.SEEK_END)
    text = b""
    while end and text.count(b"\n") < 2:
        start = max(0, end - _BLOCK)
        file.seek(start)
        text, end = file.read(end - start) + text, start
    if not text:
        return {"n": 0, "hash": ""}, b""
    whole, _, torn = text.rpartition(b"\n")
    try:
        entry = _entry(whole.rpartition(b"\n")[2] + b"\n", str(file.name))
        if _hash(entry) == entry["hash"]:
            return entry, torn
    except InputError:
        pass
    raise OSError(f"{file.name} does not end with a line of a log")


class DecisionLog:
    """The log of one guard, which other guards may append to as well; nothing is kept without a path."""

    def __init__(self, path: str | Path | None) -> None:
        self._log = None if path is None else AuditLog(path)
        self._opened = 0  # the number of the line that the guard begins with

    def open(
        self,
        deployment: Deployment,
        role: AgentRole,
        gates: Sequence[Gate],
        bounds: bool,
        never_met: NeverMet | None,
    ) -> None:
        """Append what the guard enforces; raise `OSError`."""
        if self._log is not None:
            entry: dict[str, object] = {
                "deployment": deployment.name,
                "digest": text_digest(deployment),
                "agent": role.name,
                "gates": ["\n".join(print_gate(gate)) for gate in gates],
                "bounds": bounds,
            }
            self._opened = self._log.append(
                "opened", entry if never_met is None else {**entry, "never_met": never_met}
            )

    def decision(self, decision: Decision, proposed: Proposal) -> Decision:
        """Return the decision once it is in the log; raise `OSError`."""
        if self._log is None:
            return decision
        arguments = {name: json.loads(json_text(one)) for name, one in decision.call.arguments.items()}
        called = {"tool": decision.call.tool, "arguments": arguments}
        entry: dict[str, object] = {"opened": self._opened, **called}
        if proposed.approved is not None:
            entry["approved"] = proposed.approved
        if decision.read is not None:
            entry["read"] = asdict(decision.read)
        if isinstance(decision, Allowed):
            return replace(decision, entry=self._log.append("allowed", {**entry, "by": list(decision.by)}))
        self._log.append("denied", {**entry, "reason": decision.reason, "why": decision.why})
        return decision

    def outcome(self, allowed: Allowed, event: Outcome) -> None:
        """Append what became of a call, if it can be written."""
        if self._log is not None and allowed.entry is not None:
            with suppress(OSError):  # the call is made; its own line is in the log
                self._log.append(event, {"of": allowed.entry})
