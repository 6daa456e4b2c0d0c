"""Run many queries concurrently.

The decision: the results are delivered to the caller's thread, which alone writes to a store and reports
progress. An event loop runs in a separate thread, only while queries are pending. Whatever ends the batch,
such as an error or Ctrl-C, cancels the pending queries and waits until that thread has ended. The loop itself
is kept: a client that a function keeps between batches is bound to the loop in which it was first used.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from stead_sym.errors import AgentError

T = TypeVar("T")

Job: TypeAlias = Callable[[], Coroutine[Any, Any, T]]
"""A function that returns the coroutine of one query."""

_TICK_SECONDS = 0.25
"""The interval between two calls of ``pulse`` while no result arrives, in seconds."""
_CANCEL_ALL_SECONDS = 5.0
"""The time for cancelled queries to end, in seconds."""
_CANCEL_ONE_SECONDS = 0.5
"""The time for a single cancelled query to end while others continue, in seconds."""


class Driver(Protocol):
    """A scheduler of jobs.

    `run` yields the number of each with its result, in the order of completion, and calls ``pulse`` regularly
    while it waits. Once a job has failed no further one is started; the results of pending ones are still
    yielded, and then the failure is raised.
    """

    def run(self, jobs: Sequence[Job[T]], pulse: Callable[[], None]) -> Generator[tuple[int, T], None, None]:
        """Yield the number of each job with its result, in the order of completion."""
        ...

    async def pause(self, seconds: float) -> None:
        """Sleep for this time in a job."""
        ...


class InTurn:
    """A sequential scheduler in the caller's thread, without an event loop, for jobs that never wait."""

    def run(self, jobs: Sequence[Job[T]], pulse: Callable[[], None]) -> Generator[tuple[int, T], None, None]:
        """Yield the results of the jobs; see `Driver`."""
        for number, job in enumerate(jobs):
            pulse()
            yield number, _at_once(job())

    async def pause(self, seconds: float) -> None:
        """Sleep for this time; see `Driver`."""
        time.sleep(seconds)


class InFlight:
    """A concurrent scheduler of up to ``most`` jobs.

    ``rest`` is awaited after each batch, to close what it has opened.
    """

    def __init__(self, most: int, rest: Job[None]) -> None:
        self._most = most
        self._rest = rest
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, jobs: Sequence[Job[T]], pulse: Callable[[], None]) -> Generator[tuple[int, T], None, None]:
        """Yield the results of the jobs; see `Driver`."""
        batch = _Batch(self._own_loop(), jobs, self._most, self._rest)
        try:
            batch.start()
            while True:
                try:
                    item = batch.results.get(timeout=_TICK_SECONDS)
                except queue.Empty:
                    pulse()
                    continue
                if item is None:
                    break
                yield item
        finally:
            if not batch.end():
                self._loop = None  # the loop is blocked; the next batch gets another one
        if batch.failure is not None:
            raise batch.failure

    async def pause(self, seconds: float) -> None:
        """Sleep for this time; see `Driver`."""
        await asyncio.sleep(seconds)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, _close, self._loop)
        return self._loop


class _Batch(Generic[T]):
    """A batch of running jobs; ``results`` ends with None."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, jobs: Sequence[Job[T]], most: int, rest: Job[None]
    ) -> None:
        self.results: queue.SimpleQueue[tuple[int, T] | None] = queue.SimpleQueue()
        self.failure: BaseException | None = None
        self._loop = loop
        self._jobs = enumerate(jobs)
        self._most = min(most, len(jobs))
        self._rest = rest
        self._stopping = False
        self._ended = False
        self._over = False
        self._running: threading.Event | None = None
        self._thread = threading.Thread(target=self._serve, name="stead-sym questions", daemon=True)

    def start(self) -> None:
        """Start the thread.

        `end` must be called in any case: after an interrupt the thread may run or not.
        """
        self._running = threading.Event()
        self._thread.start()

    def end(self) -> bool:
        """Cancel the remaining jobs, and wait for them for a short time; return True if all have ended."""
        self._stopping = True
        if self._running is None or not self._running.wait(_CANCEL_ONE_SECONDS):
            return False
        for stop in (self._cancel, self._halt):
            if self._thread.is_alive():
                self._loop.call_soon_threadsafe(stop)
            self._thread.join(_CANCEL_ALL_SECONDS)
        return self._ended and not self._thread.is_alive()

    def _serve(self) -> None:
        assert self._running is not None
        self._running.set()
        try:
            try:
                self._loop.run_until_complete(self._all())
            finally:
                self._loop.run_until_complete(self._cancelled())
        except BaseException as error:  # noqa: BLE001 (raised in the caller's thread)
            self.failure = self.failure or error
        finally:
            self._over = True
            self.results.put(None)

    async def _all(self) -> None:
        await asyncio.gather(*(self._work() for _ in range(self._most)), return_exceptions=True)

    async def _work(self) -> None:
        """Run one job after another until there is none, or one has failed."""
        for number, job in self._jobs:
            try:
                self.results.put((number, await job()))
            except asyncio.CancelledError:
                if not self._stopping:
                    self.failure = self.failure or AgentError("a question was cancelled by whoever was asked")
                raise
            except BaseException as error:  # noqa: BLE001 (raised in the caller's thread: SystemExit too)
                self.failure = self.failure or error
                self._stopping = True
            if self._stopping:
                return

    def _cancel(self) -> None:
        if not self._over:  # otherwise the thread is ending, and this would affect the loop's next batch
            for task in asyncio.all_tasks(self._loop):
                task.cancel()

    def _halt(self) -> None:
        if not self._over:
            self._loop.stop()

    async def _cancelled(self) -> None:
        """Cancel the tasks that the jobs have left, and close what they have left open."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_CANCEL_ALL_SECONDS / 2)
        self._ended = all(task.done() for task in left)
        if not self._ended:  # they are dropped with the loop, without a message
            self._loop.set_exception_handler(lambda loop, said: None)
        await asyncio.wait_for(self._rest(), _CANCEL_ALL_SECONDS)


async def in_time(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of ``work``.

    If the caller is cancelled, as at a deadline, ``work`` is cancelled too and gets a short time to end;
    after that it is abandoned.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_ONE_SECONDS)
        raise


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Return the result of a plain function that is called in a new thread.

    If the caller is cancelled the function continues, because Python cannot stop it; but the process does not
    wait for it at exit.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Callable[[], T]] = loop.create_future()
    context = contextvars.copy_context()

    def call() -> None:
        try:
            result = context.run(function, *arguments)
        except BaseException as error:  # noqa: BLE001 (raised at the await)
            failure = error

            def outcome() -> T:
                raise failure
        else:

            def outcome() -> T:
                return result

        def tell() -> None:
            if not ended.done():
                ended.set_result(outcome)

        with suppress(RuntimeError):  # the loop is closed, so the result is not awaited
            loop.call_soon_threadsafe(tell)

    threading.Thread(target=call, name="stead-sym question", daemon=True).start()
    return (await ended)()


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise RuntimeError("a job waits for an event loop, and there is none")


def _close(loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_running():
        loop.close()
