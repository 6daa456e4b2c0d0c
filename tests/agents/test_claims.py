"""Claims: two workers do not ask the same question, and none waits long for one that was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest
from store_places import execute

from stead_sym.agents.records.claims import Claims
from stead_sym.agents.records.store import Store
from stead_sym.errors import StoreError

pytestmark = pytest.mark.gate

KEYS = [f"key{i}" for i in range(1200)]
"""More than go into one statement."""


def claimed(place):
    return {row[0] for row in execute(place, "SELECT key FROM claim")}


def test_a_key_is_claimed_by_one_worker_at_a_time(place):
    with Store(place) as one, Store(place) as two, one.claims() as first, two.claims() as second:
        assert first.take(KEYS[:700]) == set(KEYS[:700])
        assert second.take(KEYS[600:]) == set(KEYS[700:])
        assert first.take(KEYS[600:800]) == set(KEYS[600:700])
        first.finish(KEYS[:650])
        assert second.take(KEYS[:100]) == set()
        assert first.take(["one more"]) == {"one more"}
        assert second.take(KEYS[600:700]) == set(KEYS[600:650])
        assert claimed(place) == {*KEYS[600:], "one more"}


def test_at_the_end_claims_are_free_and_no_thread_is_left(place):
    before = set(threading.enumerate())
    with Store(place) as store:

        def interrupted():
            with store.claims() as claims:
                claims.take(KEYS)
                assert set(threading.enumerate()) - before
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert set(threading.enumerate()) == before
        assert claimed(place) == set()
        assert execute(place, "SELECT id FROM worker") == []
        with store.claims() as claims:
            assert claims.take(KEYS) == set(KEYS)


def test_threads_that_claim_at_once_share_the_keys(place):
    taken = []
    with Store(place) as store:
        go = threading.Barrier(8)

        def work():
            with store.claims() as claims:
                go.wait()
                mine = claims.take(KEYS)
                taken.append(mine)
                go.wait()  # nobody gives up claims while another still takes

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(key for mine in taken for key in mine) == sorted(KEYS)


KILLED = """
import sys, time
from stead_sym.agents.records.claims import Claims
from stead_sym.agents.records.store import Store

with Claims(Store(sys.argv[1]).database, float(sys.argv[2])) as claims:
    claims.take(["a", "b"])
    print("claimed", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_worker_had_claimed_is_soon_free_and_what_a_living_one_has_is_not(place):
    lease = 1.5
    with Store(place) as store:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, place, str(lease)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout.readline() == "claimed\n"
            with Claims(store.database, lease) as claims:
                assert claims.take(["a", "b", "c"]) == {"c"}
                time.sleep(2 * lease)  # longer than the lease, which is extended
                assert claims.take(["a", "b"]) == set()
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed = time.monotonic()
                while claims.take(["a", "b"]) != {"a", "b"}:
                    assert time.monotonic() < killed + 20 * lease
                    time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def test_a_worker_that_was_taken_for_dead_takes_nothing_back(place):
    """Its row may be gone when it goes on; then its claims are those of nobody, and it gets a new row."""
    with Store(place) as store, store.claims() as one, store.claims() as two:
        one.take(["a", "b"])
        execute(place, "UPDATE worker SET until = 0")
        assert two.take(["a"]) == {"a"}
        assert one.take(["a"]) == set()


def test_an_error_is_not_hidden_by_the_end_of_claims(place):

    def failing(error):
        with Store(place) as store, store.claims() as claims:
            claims.take(["a"])
            store.close()
            if error is not None:
                raise error

    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError())
    with pytest.raises(StoreError, match="the store is closed"):
        failing(None)
