"""The work on a run: its executor, its process, and the result from its report.

One decision: the verification is a separate process on every machine, by the same command as anywhere. A
crash in a compiled library, a limit, or a kill ends this process only, and the worker continues. An executor
is any object with the method `submit` of `concurrent.futures`. A worker only waits for the process of its
run, so that threads are enough on this machine.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from stead_sym.analyses.sweeps.run import Job
from stead_sym.errors import SIGNALLED, InputError
from stead_sym.evidence.document import Json
from stead_sym.support.extras import install
from stead_sym.verification.isolated import command_apart
from stead_sym.verification.verdict import OF_NOTHING, not_as_expected

_T = TypeVar("_T")
_CLUSTER_SECONDS = 20.0
"""The timeout of a connection to a cluster, in seconds."""

Outcome: TypeAlias = Literal["done", "stopped", "error", "lost"]
"""The outcome of a run.

``done``: there is a verdict for each specification. ``stopped``: at a limit, or undecided for another reason.
``error``: the input is wrong, or a bug. ``lost``: the process or its worker was killed.
"""

_COUNTS = ("states", "transitions", "contexts", "queries")
_LOST = "the process of the run was killed, or has ended without a report"


def local(workers: int | None = None) -> Executor:
    """Return an executor of local processes, ``workers`` at a time; by default one per processor."""
    return ThreadPoolExecutor(workers or os.cpu_count() or 1, thread_name_prefix="stead-sym sweep")


class RayExecutor(Executor):
    """The workers of a Ray cluster, one run per processor at a time.

    ``address`` is that of a cluster; ``"local"`` starts one with ``workers`` processors on this machine,
    which ends with the executor. Ray itself retries nothing: the death of a worker is reported as an
    exception of its future. Raises `InputError` if Ray is not installed or no cluster is found.
    """

    def __init__(self, address: str = "local", workers: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise InputError(
                f"running on a cluster needs the library ray, which is not installed; {install('ray')}"
            ) from None
        if refused := _refused(address):  # Ray would retry for many minutes
            raise InputError(f"{address}: no Ray cluster ({refused}); start one, or write `local`")
        self._ray = ray
        self._own = not ray.is_initialized()
        if self._own:
            settings: dict[str, Any] = {"num_cpus": workers} if address == "local" else {}
            try:
                ray.init(address=address, log_to_driver=False, include_dashboard=None, **settings)
            except (ConnectionError, ValueError, RuntimeError) as error:
                why = str(error).strip().splitlines()[0]
                raise InputError(f"{address}: no Ray cluster ({why}); start one, or write `local`") from None
        self._remote = ray.remote(num_cpus=1, max_retries=0)(_call)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Submit a call to the cluster and return its future."""
        future: Future[_T] = self._remote.remote(fn, args, kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, and end it if it was started here."""
        if self._own:
            self._ray.shutdown()


def _refused(address: str) -> str | None:
    """Return why no connection to HOST:PORT can be made.

    The result is None if it can, or if the address has another form.
    """
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not host or not port.isdecimal():
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CLUSTER_SECONDS).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None


def _call(fn: Callable[..., _T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _T:
    return fn(*args, **kwargs)


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
