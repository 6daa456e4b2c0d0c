"""The work on a run: its process, and the result from its report.

One decision: the verification is a separate process on every machine, by the same command as anywhere. A
crash in a compiled library, a limit, or a kill ends this process only, and the worker continues.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stead_sym.analyses.sweeps.run import Job
from stead_sym.errors import SIGNALLED
from stead_sym.evidence.document import Json
from stead_sym.verification.isolated import command_apart
from stead_sym.verification.verdict import OF_NOTHING, not_as_expected

Outcome: TypeAlias = Literal["done", "stopped", "error", "lost"]
"""The outcome of a run.

``done``: there is a verdict for each specification. ``stopped``: at a limit, or undecided for another reason.
``error``: the input is wrong, or a bug. ``lost``: the process or its worker was killed.
"""

_COUNTS = ("states", "transitions", "contexts", "queries")
_LOST = "the process of the run was killed, or has ended without a report"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run.

    ``specs`` are the verdicts by specification, as words (`Verdict.said`). ``scope`` has the sentences that
    qualify a verdict that is not about every agent. ``expected`` are the words that the file expects, for the
    specifications that have one. ``counts`` are states, transitions, contexts and queries, as far as they are
    known; ``seconds`` is the duration of the whole run.
    """

    outcome: Outcome
    specs: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0
    where: str = ""
    scope: dict[str, list[str]] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def unexpected(self) -> bool:
        """True if a specification fails, or holds, unexpectedly."""
        return any(
            not_as_expected(word.partition(",")[0], self.expected.get(spec))
            for spec, word in self.specs.items()
        )

    def said(self, spec: str) -> str:
        """Return the word of a verdict, with its expectation if the file has one, or else its scope."""
        word = self.specs[spec]
        if (expected := self.expected.get(spec)) is not None and word != "unknown":
            return f"{word}, {'as' if word.startswith(expected) else 'not as'} expected"
        return f"{word}, within its scope" if word == "holds" and spec in self.scope else word


def carry_out(job: Job) -> Result:
    """Carry out the job in a process on this machine and return its result."""
    started = time.monotonic()
    folder = job.folder if os.path.isdir(job.folder) else None
    ended = command_apart(
        job.words, job.text, folder=folder, environment=job.environment, timeout=job.timeout
    )
    seconds, where = round(time.monotonic() - started, 3), socket.gethostname()
    report = ended.report
    if report is None:
        lines = ended.err.strip().splitlines()
        return Result("lost", error=lines[-1] if lines else _LOST, seconds=seconds, where=where)
    said = report.get("specs")
    verdicts = (
        {name: one for name, one in said.items() if isinstance(one, dict)} if isinstance(said, dict) else {}
    )
    specs, scope = {name: _word(one) for name, one in verdicts.items()}, _scopes(verdicts)
    counts = {name: count for name in _COUNTS if isinstance(count := report.get(name), int)}
    error = str(report.get("error") or "")
    outcome: Outcome = "done"
    if error:
        outcome = "lost" if SIGNALLED in error else "stopped" if ended.status in (1, 3) else "error"
    elif report.get("digest") != job.digest:
        error = "the worker has read another deployment; see that it finds the same data at the same path"
        outcome, specs, scope = "error", {}, {}
    expected = {name: str(one["expected"]) for name, one in verdicts.items() if "expected" in one}
    return Result(outcome, specs, counts, error, seconds, where, scope, expected)


def _word(verdict: Mapping[str, Json]) -> str:
    """Return the word of a verdict of a report."""
    return OF_NOTHING if verdict.get("empty") else str(verdict.get("verdict", "unknown"))


def _scopes(verdicts: Mapping[str, Mapping[str, Json]]) -> dict[str, list[str]]:
    """Return the scope of each verdict of a report that has one."""
    return {
        name: [str(sentence) for sentence in sentences]
        for name, verdict in verdicts.items()
        if isinstance(sentences := verdict.get("scope"), list) and sentences
    }
