"""Reports of a long computation: how often they are passed on, on a clock that the test turns."""

from __future__ import annotations

from itertools import pairwise

import pytest

import stead_sym as st
from stead_sym.support import progress
from stead_sym.support.progress import Pulse


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is turned."""

    class Clock:
        now = 1000.0

        def turn(self, seconds):
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    return clock


def told(clock, seconds, measure):
    """The reports of a computation that has something to say every hundredth of a second."""
    heard = []

    def listener(phase, /, **counts):
        heard.append((clock.now, phase, counts))

    pulse, end = Pulse(listener, {"nodes": measure}), clock.now + seconds
    while clock.now < end:
        clock.turn(0.01)
        pulse("reach", sweeps=3)
    return heard


@pytest.mark.parametrize("takes", [0, 0.001, 0.02, 0.1, 1.0])
def test_what_is_measured_takes_a_small_part_of_the_time_and_reports_go_on(clock, takes):
    spent = []

    def measure():
        spent.append(takes)
        clock.turn(takes)
        return len(spent)

    heard = told(clock, 200, measure)
    assert len(spent) > 2
    assert sum(spent) <= 200 / 50 + takes
    times = [at for at, _, _ in heard]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert min(pauses) >= 0.25
    assert max(pauses) <= 0.3 + takes
    assert [counts["nodes"] for _, _, counts in heard] == sorted(counts["nodes"] for _, _, counts in heard)
    assert {counts["nodes"] for _, _, counts in heard} == set(range(1, len(spent) + 1))
    assert {(phase, counts["sweeps"]) for _, phase, counts in heard} == {("reach", 3)}


def test_nobody_listens_and_nothing_is_measured(clock):
    def measure():
        raise AssertionError("nobody asked")

    pulse = Pulse(None, {"nodes": measure})
    clock.turn(60)
    pulse("reach")


def test_the_verdicts_are_counted_before_findings_are_looked_for():
    """A long search for findings leaves nobody waiting for whether the specifications hold."""
    told = []
    deployment = st.parse_deployment(
        "deployment d\nrelation P()\ntool a()\n  effect insert P()\ntool b()\n"
        "spec s AG ~P()\nspec t AG EF P()\n"
    )
    st.verify(deployment, progress=lambda phase, /, **counts: told.append((phase, counts)))
    assert ("findings", {"hold": 1, "fail": 1}) in told
