"""Many questions in flight at a time.

The decision: the answers come to the thread that asks, which alone writes to a store and reports progress. An
event loop runs in a thread of its own, only while questions are out: whatever ends the asking, an error or
Ctrl-C, cancels what is in flight and waits until that thread has ended. The loop itself is kept: a client
that a function holds from one batch to the next belongs to the loop that it was first used in.
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
"""Asks one question."""

_TICK_SECONDS = 0.25
"""Seconds between two looks at the clock while nothing comes in."""
_CANCEL_ALL_SECONDS = 5.0
"""Seconds that what is cancelled gets to end."""
_CANCEL_ONE_SECONDS = 0.5
"""Seconds that a question gets to end which is cancelled while others go on."""


class Driver(Protocol):
    """What runs jobs. `run` yields the number of each with its result, as they come in, and calls ``pulse``
    now and then while it waits. Once one has failed none is begun; what is in flight counts, and then the
    failure is raised."""

    def run(
        self, jobs: Sequence[Job[T]], pulse: Callable[[], None]
    ) -> Generator[tuple[int, T], None, None]: ...

    async def pause(self, seconds: float) -> None:
        """Let so much time pass in a job."""
        ...


class InTurn:
    """One job after another, in the thread that asks, without an event loop: for jobs that wait for
    nothing."""

    def run(self, jobs: Sequence[Job[T]], pulse: Callable[[], None]) -> Generator[tuple[int, T], None, None]:
        """See `Driver`."""
        for number, job in enumerate(jobs):
            pulse()
            yield number, _at_once(job())

    async def pause(self, seconds: float) -> None:
        """See `Driver`."""
        time.sleep(seconds)


class InFlight:
    """Up to ``most`` jobs at a time. ``rest`` is awaited after each batch, to close what it has opened."""

    def __init__(self, most: int, rest: Job[None]) -> None:
        self._most = most
        self._rest = rest
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, jobs: Sequence[Job[T]], pulse: Callable[[], None]) -> Generator[tuple[int, T], None, None]:
        """See `Driver`."""
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
                self._loop = None  # something blocks it; the next batch gets another one
        if batch.failure is not None:
            raise batch.failure

    async def pause(self, seconds: float) -> None:
        """See `Driver`."""
        await asyncio.sleep(seconds)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, _close, self._loop)
        return self._loop


class _Batch(Generic[T]):
    """Jobs that are under way. ``results`` ends with None."""

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
        """Start the thread. `end` has to be called in any case: after an interrupt the thread may
        run or not."""
        self._running = threading.Event()
        self._thread.start()

    def end(self) -> bool:
        """Cancel the jobs that are left, and wait for them for a short time. Returns whether all
        have ended."""
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
        except BaseException as error:  # noqa: BLE001 (raised in the thread that asks)
            self.failure = self.failure or error
        finally:
            self._over = True
            self.results.put(None)

    async def _all(self) -> None:
        await asyncio.gather(*(self._work() for _ in range(self._most)), return_exceptions=True)

    async def _work(self) -> None:
        """Take one job after another until there is none, or one has failed."""
        for number, job in self._jobs:
            try:
                self.results.put((number, await job()))
            except asyncio.CancelledError:
                if not self._stopping:
                    self.failure = self.failure or AgentError("a question was cancelled by whoever was asked")
                raise
            except BaseException as error:  # noqa: BLE001 (raised in the thread that asks: SystemExit too)
                self.failure = self.failure or error
                self._stopping = True
            if self._stopping:
                return

    def _cancel(self) -> None:
        if not self._over:  # else the thread ends just now, and this comes to the loop's next batch
            for task in asyncio.all_tasks(self._loop):
                task.cancel()

    def _halt(self) -> None:
        if not self._over:
            self._loop.stop()

    async def _cancelled(self) -> None:
        """End what the jobs have left running, and close what they have left open."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_CANCEL_ALL_SECONDS / 2)
        self._ended = all(task.done() for task in left)
        if not self._ended:  # they are dropped with the loop, which says nothing of it
            self._loop.set_exception_handler(lambda loop, said: None)
        await asyncio.wait_for(self._rest(), _CANCEL_ALL_SECONDS)


async def in_time(work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` returns. If the caller is cancelled, as at a deadline, ``work`` is cancelled too and gets
    a moment to end; after that it is not waited for."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_ONE_SECONDS)
        raise


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """What a plain function returns that is called in a thread of its own. If the caller is cancelled the
    function runs on, because Python cannot stop it; but the process does not wait for it when it ends."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Callable[[], T]] = loop.create_future()
    context = contextvars.copy_context()

    def call() -> None:
        try:
            result = context.run(function, *arguments)
        except BaseException as error:  # noqa: BLE001 (raised where it is awaited)
            failure = error

            def outcome() -> T:
                raise failure
        else:

            def outcome() -> T:
                return result

        def tell() -> None:
            if not ended.done():
                ended.set_result(outcome)

        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(tell)

    threading.Thread(target=call, name="stead-sym question", daemon=True).start()
    return (await ended)()


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing."""
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
