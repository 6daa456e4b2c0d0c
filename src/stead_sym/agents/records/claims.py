"""Claims on queries, so that several workers on one store do not send the same one.

The decision: a worker has one row with a lease, which a thread extends while the worker lives; its claims are
valid as long as the lease is. The claims of a killed worker are released when its lease expires, after at
most `LEASE` seconds. A claim only avoids duplicate work: answers are safe without it.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable
from types import TracebackType
from typing import Self

import sqlalchemy as sa

from stead_sym.agents.records.database import CLAIM, WORKER, Database, parts
from stead_sym.errors import StoreError

LEASE = 15.0
"""The time in seconds after which the claims of an unresponsive worker are released."""


class Claims:
    """The claims of one worker, as a context manager: at its end all of them are released.

    A key is claimed by one worker at a time; several threads with their own claims are several workers.
    ``lease`` is in seconds, by default `LEASE`.
    """

    def __init__(self, database: Database, lease: float | None = None) -> None:
        self._database = database
        self._lease = LEASE if lease is None else lease
        self._worker = uuid.uuid4().hex
        self._finished: set[str] = set()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release all claims."""
        if self._thread is None:
            return
        self._ending.set()
        if self._thread.is_alive():  # unless Ctrl-C came before it had started
            self._thread.join()
        try:
            with self._database.writing() as connection:
                connection.execute(sa.delete(CLAIM).where(CLAIM.c.worker == self._worker))
                connection.execute(sa.delete(WORKER).where(WORKER.c.id == self._worker))
        except StoreError:
            if error is None:  # otherwise it would hide the first error; the lease expires
                raise

    def take(self, keys: Iterable[str]) -> set[str]:
        """Claim the free keys, and return those that this worker then has."""
        wanted = list(keys)
        if not wanted:
            return set()
        self._start()
        taken: set[str] = set()
        with self._database.writing() as connection:
            self._drop_finished(connection)
            for part in parts(wanted):
                connection.execute(self._claiming(), [{"key": key, "worker": self._worker} for key in part])
                mine = CLAIM.c.key.in_(part) & (CLAIM.c.worker == self._worker)
                taken.update(connection.execute(sa.select(CLAIM.c.key).where(mine)).scalars())
        return taken

    def finish(self, keys: Iterable[str]) -> None:
        """Release claims whose answers are stored: with the next `take`, or at the end."""
        self._finished.update(keys)

    def _drop_finished(self, connection: sa.Connection) -> None:
        for part in parts(self._finished):
            mine = CLAIM.c.key.in_(part) & (CLAIM.c.worker == self._worker)
            connection.execute(sa.delete(CLAIM).where(mine))
        self._finished.clear()

    def _claiming(self) -> sa.Insert:
        """Return a statement that inserts a claim, or takes it over from a worker whose lease has expired."""
        alive = sa.select(WORKER.c.id).where(WORKER.c.until > self._database.now)
        adding = self._database.adding(CLAIM)
        return adding.on_conflict_do_update(
            index_elements=[CLAIM.c.key],
            set_={"worker": adding.excluded.worker},
            where=CLAIM.c.worker.not_in(alive),
        )

    def _start(self) -> None:
        if self._thread is not None:
            return
        self._database.complete()
        with self._database.writing() as connection:
            dead = sa.select(WORKER.c.id).where(WORKER.c.until <= self._database.now)
            connection.execute(sa.delete(CLAIM).where(CLAIM.c.worker.in_(dead)))
            connection.execute(sa.delete(WORKER).where(WORKER.c.until <= self._database.now))
            self._live(connection)
        self._thread = threading.Thread(target=self._beat, name="claims of stead-sym", daemon=True)
        self._thread.start()

    def _live(self, connection: sa.Connection) -> None:
        """Extend the lease."""
        adding = self._database.adding(WORKER).values(id=self._worker, until=self._database.now + self._lease)
        until = {"until": adding.excluded.until}
        connection.execute(adding.on_conflict_do_update(index_elements=[WORKER.c.id], set_=until))

    def _beat(self) -> None:
        while not self._ending.wait(self._lease / 3):
            try:
                with self._database.writing() as connection:
                    self._live(connection)
            except StoreError:
                continue  # the worker will get the same error where it can be reported
