"""Calls that are made elsewhere: each is checked and made before the next one is checked.

One decision: what holds other guards off is a lock of the database, so it holds in all processes. Threads and
tasks of one guard wait for their turn before it, and so take one connection at a time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from stead_sym.conformance.bound_tables import reason_of
from stead_sym.guard.decision import Allowed, Decision, Denied, Outcome, Proposal
from stead_sym.guard.transactions import alone

_TURN = 0.002  # seconds between two looks whether a call may be forwarded


@dataclass(frozen=True)
class Forwarding:
    """The calls of a guard that are made elsewhere, one after the other.

    ``check`` returns the decision about a call, ``refuse`` a denial with a reason, and ``record`` appends to
    the log what became of a call.
    """

    engine: sa.Engine
    check: Callable[[Proposal], Decision]
    refuse: Callable[[Proposal, str], Denied]
    record: Callable[[Allowed, Outcome], None]
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def one_by_one(self, proposal: Proposal) -> Iterator[Decision]:
        """Check a call; until the block ends, no other guard of the database that asks so decides."""
        with self._turn, self._alone(proposal) as decision:
            yield decision

    def forward(
        self, proposal: Proposal, make: Callable[[], object], is_error: Callable[[Any], bool]
    ) -> Decision:
        """Check a call, and make it if it is allowed."""
        with self.one_by_one(proposal) as decision:
            if isinstance(decision, Denied):
                return decision
            with self._recorded(decision) as became:
                answer = make()
                became.append("failed" if is_error(answer) else "done")
            return replace(decision, result=answer)

    async def aforward(
        self, proposal: Proposal, make: Callable[[], Awaitable[object]], is_error: Callable[[Any], bool]
    ) -> Decision:
        """Check a call, and make it if it is allowed; no loop waits meanwhile."""
        async with self._next_turn(proposal) as decision:
            if isinstance(decision, Denied):
                return decision
            with self._recorded(decision) as became:
                answer = await make()
                became.append("failed" if is_error(answer) else "done")
            return replace(decision, result=answer)

    @contextmanager
    def _alone(self, proposal: Proposal) -> Iterator[Decision]:
        with ExitStack() as stack:
            try:
                stack.enter_context(alone(self.engine))
            except (SQLAlchemyError, OSError) as error:
                yield self.refuse(
                    proposal, f"other guards of the database cannot be held off ({reason_of(error)})"
                )
                return
            decision = self.check(proposal)
            if isinstance(decision, Denied):
                stack.close()  # nothing follows that others would have to wait for
            yield decision

    @asynccontextmanager
    async def _next_turn(self, proposal: Proposal) -> AsyncIterator[Decision]:
        """Return the decision of `one_by_one`; no loop waits in it, nor for the turn."""
        while not self._turn.acquire(blocking=False):
            await asyncio.sleep(_TURN)
        entry = _Entry(self._alone(proposal), self._turn)
        try:
            entered = asyncio.get_running_loop().run_in_executor(None, entry.enter)
            yield await asyncio.shield(entered)  # a thread that is to enter does so, also if nobody waits
        finally:
            entry.leave()

    @contextmanager
    def _recorded(self, decision: Allowed) -> Iterator[list[Outcome]]:
        """Record what becomes of a call that is made in the block: what the block says, or that it failed."""
        became: list[Outcome] = []
        try:
            yield became
        except Exception:
            became.append("failed")
            raise
        finally:
            self.record(decision, became[0] if became else "unknown")  # it was interrupted


class _Entry:
    """A block that a thread enters and another one leaves, with the turn that is given back then.

    Waiting for the thread may be cancelled, which does not stop it. So the block is left by whoever is last.
    """

    def __init__(self, block: AbstractContextManager[Decision], turn: threading.Lock) -> None:
        self._stack = ExitStack()
        self._stack.callback(turn.release)
        self._block = block
        self._mutex = threading.Lock()
        self._waits = (
            2  # what has to happen before it is left: the thread ends, and nobody needs the decision
        )

    def enter(self) -> Decision:
        """Enter the block."""
        try:
            return self._stack.enter_context(self._block)
        finally:
            self.leave()

    def leave(self) -> None:
        """Leave the block if the thread has ended, else let it do that."""
        with self._mutex:
            self._waits -= 1
            is_last = not self._waits
        if is_last:
            self._stack.close()
