"""Batches of questions in one loop, one after the other."""

from __future__ import annotations

import queue
import time

from stead_sym.agents.in_flight import InFlight


class Lingering(queue.SimpleQueue):
    """After the end of a batch its thread takes a moment to end."""

    def put(self, item):
        super().put(item)
        if item is None:
            time.sleep(0.05)


def test_the_end_of_a_batch_does_not_cancel_the_next_one(monkeypatch):
    """Its loop is kept: what was still sent to it would come to whatever runs there next."""
    monkeypatch.setattr("stead_sym.agents.in_flight.queue.SimpleQueue", Lingering)

    async def answer():
        return "answer"

    async def rest():
        pass

    flight = InFlight(2, rest)
    for _ in range(3):
        assert list(flight.run([answer], lambda: None)) == [(0, "answer")]
