"""What a worker does with a run.

One decision: the verification is a process of its own wherever it runs, the same command as anywhere. So a
crash in a compiled library, a limit, and whatever kills it, cost this run and leave the worker as it was.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stead_sym.analyses.sweeps.run import Job
from stead_sym.errors import SIGNALLED
from stead_sym.evidence.data import Json
from stead_sym.verification.isolated import command_apart

Outcome: TypeAlias = Literal["done", "stopped", "error", "lost"]
"""``done``: there is a verdict for each specification. ``stopped``: at a limit, or undecided for another
reason. ``error``: the input is wrong, or a bug. ``lost``: the process or its worker was killed."""

_COUNTS = ("states", "transitions", "contexts", "queries")
_LOST = "the process of the run was killed, or has ended without a report"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a run. ``specs`` are the verdicts by specification, as words; ``counts`` are states,
    transitions, contexts and queries where they are known; ``seconds`` is how long the run took in all."""

    outcome: Outcome
    specs: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0
    where: str = ""


def carry_out(job: Job) -> Result:
    """Run the job here, and wait for it."""
    started = time.monotonic()
    folder = job.folder if os.path.isdir(job.folder) else None
    ended = command_apart(
        job.words, job.text, folder=folder, environment=job.environment, timeout=job.timeout
    )
    seconds, where = round(time.monotonic() - started, 3), socket.gethostname()
    report = ended.report
    if report is None:
        said = ended.err.strip().splitlines()
        return Result("lost", error=said[-1] if said else _LOST, seconds=seconds, where=where)
    specs = _verdicts(report.get("specs"))
    counts = {name: count for name in _COUNTS if isinstance(count := report.get(name), int)}
    error = str(report.get("error") or "")
    outcome: Outcome = "done"
    if error:
        outcome = "lost" if SIGNALLED in error else "stopped" if ended.status in (1, 3) else "error"
    elif report.get("digest") != job.digest:
        error = "the worker has read another deployment; see that it finds the same data at the same path"
        outcome, specs = "error", {}
    return Result(outcome, specs, counts, error, seconds, where)


def _verdicts(specs: Json) -> dict[str, str]:
    """The word of each verdict of a report."""
    if not isinstance(specs, dict):
        return {}
    return {
        name: str(verdict.get("verdict", "unknown")) if isinstance(verdict, dict) else "unknown"
        for name, verdict in specs.items()
    }
