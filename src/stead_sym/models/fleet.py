"""Requests to one or several servers of the same model: load balancing, congestion control, retries.

The decision: the number of requests at a server adapts to its answers. Every answer increases the limit
slightly (by one per round), a rejection halves it and pauses the server: additive increase, multiplicative
decrease. A server that fails several times in a row is given up; its requests go to the others, and it is
retried periodically. The deadline of a request covers all its retries.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, Self, TypeVar

from stead_sym.errors import ModelError
from stead_sym.models.connection import Address, Patience, Talk, Temporary

Tag = TypeVar("Tag")

_TICK_SECONDS = 0.05  # the interval between checks of deadlines, in seconds
_RETRY_SECONDS = 15.0  # the time after which a server that was given up is retried
_FIRST_BACKOFF_SECONDS = 0.5  # the pause of a server after its first failure


@dataclass(eq=False)
class _Server:
    """A server, with its limit and its current number of requests."""

    address: Address
    most: int
    limit: float
    flying: int = 0
    failures: int = 0
    failed_at: float = -1.0
    rests_until: float = 0.0

    def room(self, size: int, now: float) -> bool:
        return now >= self.rests_until and (not self.flying or self.flying + size <= self.limit)

    def answered(self, size: int) -> None:
        self.failures = 0
        self.limit = min(self.limit + size / self.limit, self.most)

    def failed(self, sent: float, patience: Patience, after: float | None, *, busy: bool) -> None:
        """Slow down, once for all requests that were sent before."""
        if sent < self.failed_at:
            return
        now = time.monotonic()
        self.failed_at = now
        self.failures += 1
        if busy:
            self.limit = max(self.limit / 2, 1.0)
        own = _FIRST_BACKOFF_SECONDS * 2 ** (self.failures - 1)
        self.rests_until = now + min(own if after is None else after, patience.pause)


@dataclass(eq=False)
class _Job(Generic[Tag]):
    """A message of ``size`` requests; ``said`` is as in `Talk.ask`."""

    tag: Tag
    path: str
    body: bytes
    size: int
    said: int | None
    until: float | None = None
    broken: int = 0
    why: ModelError | None = None


@dataclass
class Count:
    """The numbers of messages that were sent, that were sent again, and that are unanswered."""

    sent: int = 0
    again: int = 0
    open: int = 0


class Fleet(Generic[Tag]):
    """Messages to servers, as a context manager: at its end none is pending."""

    def __init__(
        self,
        name: str,
        addresses: Sequence[Address],
        patience: Patience,
        in_flight: int,
        read: Callable[[bytearray], Any],
    ) -> None:
        """Create the pool.

        At most ``in_flight`` requests are at one server at a time; ``read`` converts an answer, outside of
        the loop.
        """
        self._read = read
        self._talk = Talk(name, patience.connect)
        self._patience = patience
        self._servers = [_Server(address, in_flight, float(in_flight)) for address in addresses]
        self._jobs: deque[_Job[Tag]] = deque()
        self._flying: set[asyncio.Task[None]] = set()
        self._answers: SimpleQueue[tuple[Tag, dict[str, Any]] | BaseException] = SimpleQueue()
        self._failure: ModelError | None = None
        self._ends = None if patience.whole is None else time.monotonic() + patience.whole
        self.count = Count()

    def __enter__(self) -> Self:
        """Start the thread of the session."""
        self._talk.__enter__()
        try:
            self._talk.start(self._tick())
        except BaseException:  # Ctrl-C may come at any time
            self._talk.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Cancel pending requests."""
        self._talk.__exit__(*error)

    @property
    def limit(self) -> int:
        """The recommended number of requests in one message: a fraction of a server's limit."""
        return max(1, int(max(server.limit for server in self._servers)) // 8)

    def submit(self, tag: Tag, path: str, body: bytes, size: int, said: int | None = None) -> None:
        """Enqueue a message of ``size`` requests; ``said`` is as in `Talk.ask`."""
        self.count.open += 1
        self._talk.loop.call_soon_threadsafe(self._add, _Job(tag, path, body, size, said))

    def answers(self, waiting: Callable[[], object]) -> list[tuple[Tag, dict[str, Any]]]:
        """Return received answers, at least one; call ``waiting`` regularly until there is one.

        Raise `ModelError` if a message cannot be answered. Then nothing new is sent, and pending answers are
        awaited and returned first.
        """
        found: list[tuple[Tag, dict[str, Any]]] = []
        while True:
            try:
                item = self._answers.get(timeout=0.0 if found else 0.2)
            except Empty:
                if found:
                    return found
                waiting()
                continue
            if isinstance(item, BaseException):
                if not found:
                    raise item
                self._answers.put(item)
                return found
            self.count.open -= 1
            found.append(item)

    def _add(self, job: _Job[Tag]) -> None:
        if self._failure is None:
            self._jobs.append(job)
            self._dispatch()

    def _dispatch(self) -> None:
        """Send the messages for which servers have room, each to the least loaded server."""
        now = time.monotonic()
        while self._jobs:
            free = [server for server in self._servers if server.room(self._jobs[0].size, now)]
            if not free:
                return
            server = min(free, key=lambda one: one.flying / one.limit)
            job = self._jobs.popleft()
            if job.until is None:
                job.until = now + self._patience.request
            server.flying += job.size
            task = asyncio.get_running_loop().create_task(self._send(job, server, job.until))
            self._flying.add(task)
            task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._flying.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            self._answers.put(bug)

    async def _send(self, job: _Job[Tag], server: _Server, until: float) -> None:
        sent = time.monotonic()
        left = until - sent if self._ends is None else min(until, self._ends) - sent
        alone = len(self._servers) == 1
        self.count.sent += 1
        self.count.again += job.why is not None
        try:
            # With several servers, a silent one leaves time for another.
            said = await self._talk.ask(
                server.address,
                job.path,
                job.body,
                seconds=left if alone else left / 2,
                said=job.said,
                read=self._read,
            )
        except Temporary as none:
            if self._overdue():
                self._fail(self._whole_over())
            elif none.late and alone:
                self._fail(none.error)
            else:
                server.failed(sent, self._patience, none.after, busy=none.busy)
                job.broken += not none.busy  # a busy server is no evidence against the request
                self._again(job, server, none.error)
        except ModelError as error:
            self._fail(error)
        else:
            server.answered(job.size)
            self._answers.put((job.tag, said))
        finally:
            server.flying -= job.size
        self._dispatch()

    def _again(self, job: _Job[Tag], server: _Server, error: ModelError) -> None:
        """Retry the message, unless it or all servers have failed too often."""
        tries = self._patience.tries
        job.why = error
        if server.failures >= tries:
            server.rests_until = time.monotonic() + _RETRY_SECONDS
        if job.broken >= tries * len(self._servers) or all(one.failures >= tries for one in self._servers):
            self._fail(error)
        elif self._failure is None:
            self._jobs.appendleft(job)

    def _fail(self, error: ModelError) -> None:
        self._failure = self._failure or error
        self._jobs.clear()

    async def _tick(self) -> None:
        """Check paused servers, deadlines and the end after a failure, periodically."""
        while self._failure is None or self._flying:
            now = time.monotonic()
            late = [job for job in self._jobs if job.until is not None and job.until <= now]
            if late and late[0].why is not None:
                tried = f"{late[0].why.message} (tried for {self._patience.request:.3g} s)"
                self._fail(ModelError(tried))
            if self._overdue() and self._failure is None and self.count.open:
                self._fail(self._whole_over())
            self._dispatch()
            await asyncio.sleep(_TICK_SECONDS)
        if self._failure is not None:
            self._answers.put(self._failure)

    def _overdue(self) -> bool:
        return self._ends is not None and time.monotonic() >= self._ends

    def _whole_over(self) -> ModelError:
        return ModelError(
            f"{self._servers[0].address.url}: {self.count.open} messages without an answer after "
            f"{self._patience.whole:.3g} s; see the server's log, or wait longer"
        )
