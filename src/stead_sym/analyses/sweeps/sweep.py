"""Execution of a sweep: all runs on an executor, except those whose results are known.

One decision: a run that was lost, because its process or its worker was killed, is retried. A run that has an
answer, or has reached its limit, is not. An error in one run is a result of that run; it does not end the
sweep.

With a file of results an interrupted sweep continues. Each result is appended to it as one line of JSON, and
is on the disk before the next one is awaited. If a run has several lines, the last one counts, and a last
line that is incomplete does not.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TypeAlias

from msgspec import ValidationError, convert

from stead_sym.analyses.sweeps.run import Run
from stead_sym.analyses.sweeps.work import Result, carry_out, local
from stead_sym.errors import InputError, Undecided, at_least_one
from stead_sym.support.html import paragraph, table

ABOUT = ("deployment", "size", "bounds", "agent", "gates", "prompts", "engine", "domain")
"""The description of a run: the parts of `Run.about`."""
COUNTS = ("states", "transitions", "contexts", "queries")
TRIES = 2
"""The number of times that a run is started if it is lost."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run with its result; ``fresh`` is False if the result was known before."""

    run: Run
    result: Result
    fresh: bool = True


Told: TypeAlias = Callable[[Row, int, int], None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The runs with their results, in the order in which they were given."""

    rows: tuple[Row, ...]

    @property
    def specs(self) -> tuple[str, ...]:
        """The specifications of all runs, in the order in which they first occur."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.result.specs))

    @property
    def columns(self) -> tuple[str, ...]:
        """The headings of the table: the differences between runs, specifications, counts, seconds."""
        differing = tuple(name for name in ABOUT if any(row.run.about[name] is not None for row in self.rows))
        return (*differing, "outcome", *self.specs, *COUNTS, "seconds")

    def cells(self, row: Row) -> tuple[str, ...]:
        """Return the cells of a row below these headings; a cell without a value is empty."""
        result = row.result
        whole: dict[str, object] = {
            **{name: value for name, value in row.run.about.items() if value is not None},
            "outcome": result.outcome,
            **result.counts,
            "seconds": f"{result.seconds:.1f}",
        }
        said = {name: result.said(name) if name in result.specs else "" for name in self.specs}
        return tuple(said[name] if name in said else str(whole.get(name, "")) for name in self.columns)

    @property
    def exit_status(self) -> int:
        """The exit status of the sweep.

        It is 1 if some specification fails, or has another answer than it expects, else 3 if some run lacks a
        verdict, else 0.
        """
        words = [word for row in self.rows for word in row.result.specs.values()]
        if any(row.result.unexpected for row in self.rows):
            return 1
        whole = all(row.result.outcome == "done" for row in self.rows) and "unknown" not in words
        return 0 if whole else Undecided.exit_status

    def __str__(self) -> str:
        """Return the numbers of runs by outcome."""
        counts = {
            outcome: sum(row.result.outcome == outcome for row in self.rows)
            for outcome in ("done", "stopped", "error", "lost")
        }
        return f"{len(self.rows)} runs: " + ", ".join(f"{n} {word}" for word, n in counts.items() if n)

    def _repr_html_(self) -> str:
        return paragraph(str(self)) + table("", self.columns, [self.cells(row) for row in self.rows])


def sweep(
    runs: Iterable[Run | Mapping[str, object]],
    *,
    store: str | None = None,
    results: str | Path | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    workers: int | None = None,
    tries: int = TRIES,
    again: bool = False,
    told: Told | None = None,
) -> Sweep:
    """Carry out the runs, `Run`s or mappings with the same names, and return all results.

    ``store`` has all agents' decisions: a file, or `env NAME` for a URL in that variable; None is the user's
    own. ``results`` is a file that keeps results: runs with a result in it are not repeated, unless
    ``again``. ``executor`` is any that has `submit`, or a function that creates one, and a new one if the
    first is broken. By default it is ``workers`` processes here. A run that is lost is started ``tries``
    times. ``told`` is called with each row when it is complete, the number of rows by then, and the total.

    Raises `InputError` for runs that cannot be started: an unknown name, a deployment that cannot be read, a
    file of results that is none. Errors during a run are in its row.
    """
    listed = [one if isinstance(one, Run) else _run(one) for one in runs]
    if not listed:
        raise InputError("there are no runs; give one at least")
    at_least_one("tries", tries)
    by_key = {run.key: run for run in listed}
    with results_in(None if results is None else Path(results)) as kept:
        done: dict[str, Row] = {}
        for key, run in by_key.items():
            if not again and (known := kept.lasting(run)) is not None:
                done[key] = Row(run, known, fresh=False)
                _tell(told, done[key], len(done), len(by_key))
        waiting = [run for key, run in by_key.items() if key not in done]
        if waiting:
            with _workers(executor, workers) as pool:
                for row in _carried_out(waiting, pool, store, tries):
                    done[row.run.key] = row
                    kept.add(row.run, row.result)
                    _tell(told, row, len(done), len(by_key))
    return Sweep(tuple(done[key] for key in dict.fromkeys(run.key for run in listed)))


def _run(given: Mapping[str, object]) -> Run:
    try:
        return Run(**given)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"{dict(given)!r} is no run ({error})") from None


def _tell(told: Told | None, row: Row, number: int, of: int) -> None:
    if told is not None:
        told(row, number, of)


@dataclass
class _Workers:
    """An executor, and the function that creates a new one if it breaks; None if the executor was given."""

    executor: Executor
    make: Callable[[], Executor] | None

    def renew(self) -> bool:
        """Replace a broken executor; return False if there is no function that creates one."""
        if self.make is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = self.make()
        return self.make is not None


@contextmanager
def _workers(executor: Executor | Callable[[], Executor] | None, workers: int | None) -> Iterator[_Workers]:
    """Yield the executor that is given, or create one; one that was created here is shut down at the end."""
    if executor is not None and not callable(executor):  # any object with `submit`
        yield _Workers(executor, None)
        return
    make = executor or (lambda: local(workers))
    pool = _Workers(make(), make)
    try:
        yield pool
    finally:
        pool.executor.shutdown(wait=True, cancel_futures=True)


def _carried_out(runs: list[Run], pool: _Workers, store: str | None, tries: int) -> Iterator[Row]:
    """Yield the rows as they are completed."""
    tries_left = dict.fromkeys((run.key for run in runs), tries)
    waiting = list(runs)
    going: dict[Future[Result], Run] = {}
    while waiting or going:
        try:
            while waiting:
                future = pool.executor.submit(carry_out, waiting[0].job(store))
                going[future] = waiting.pop(0)
        except BrokenExecutor as error:
            if not going and not pool.renew():
                yield from (Row(run, Result("lost", error=_said(error))) for run in waiting)
                return
        ended, _ = wait(going, return_when=FIRST_COMPLETED)
        broken = False
        for future in ended:
            run = going.pop(future)
            result, breaks = _result(future)
            broken = broken or breaks
            tries_left[run.key] -= 1
            if result.outcome == "lost" and tries_left[run.key]:
                waiting.append(run)
            else:
                yield Row(run, result)
        if broken and waiting and not going:
            pool.renew()


def _result(future: Future[Result]) -> tuple[Result, bool]:
    """Return the result of a run whose worker has ended or died, and True if its executor is broken."""
    error = future.exception()
    if error is None:
        return future.result(), False
    if not isinstance(error, Exception):
        raise error
    return Result("lost", error=_said(error)), isinstance(error, BrokenExecutor)


def _said(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"the worker of the run was lost ({type(error).__name__}{': ' * bool(lines)}{''.join(lines[:1])})"


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
