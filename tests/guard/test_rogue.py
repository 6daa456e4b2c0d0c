"""A rogue agent, a good one and kills: tools that check nothing, behind proxies that do.

STEAD_ROGUE_ATTEMPTS and STEAD_ROGUE_CONNECTIONS say how many forbidden payments are tried, and from how many
connections at once; STEAD_KILLS how often a proxy is killed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import anyio
import careless_desk
import pytest
import rogue
import sqlalchemy as sa

import stead_sym as st
from postgresql import server
from refund_app.binding import binding
from stead_sym.guard.log import AuditLog

pytestmark = pytest.mark.gate

ATTEMPTS = int(os.environ.get("STEAD_ROGUE_ATTEMPTS", "64"))
CONNECTIONS = int(os.environ.get("STEAD_ROGUE_CONNECTIONS", "20"))
KILLS = int(os.environ.get("STEAD_KILLS", "4"))


@pytest.fixture
def desk(tmp_path):
    made = rogue.Desk(f"sqlite:///{tmp_path / 'live.sqlite'}", tmp_path / "log")
    made.fill()
    return made


@pytest.mark.parametrize(("connections", "http"), [(CONNECTIONS, True), (2, False)])
def test_no_forbidden_payment_gets_through(desk, connections, http):
    assert list(rogue.shortcomings(desk, connections, ATTEMPTS, http=http)) == []


def test_no_forbidden_payment_gets_through_on_postgresql(tmp_path):
    with server() as database:
        desk = rogue.Desk(database(), tmp_path / "log")
        desk.fill()
        assert list(rogue.shortcomings(desk, 2, ATTEMPTS, http=False)) == []


def test_a_payment_past_the_guard_is_noticed(desk):
    """What the tests above look at shows a payment that no proxy has seen."""
    with sa.create_engine(desk.url).begin() as connection:
        connection.execute(sa.text("INSERT INTO payments VALUES (1000)"))
    (found,) = rogue.shortcomings(desk, 1, 4, http=True)
    assert found.startswith("the payments are [1000, 3000")


# kill -9


def events(log):
    """The lines of a log but for one that was not written to its end."""
    return [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]] if log.exists() else []


async def pay_until_killed(proxy, url, desk, refunds, dice):
    """Pay from several connections; kill the proxy once it has allowed some of the calls."""
    begun = len(events(desk.log))

    async def agent(own):
        try:
            async with desk.client(url) as client:
                for number in own:
                    await client.call_tool("pay_refund", {"refund_id": number})
        except Exception:
            if proxy.poll() is None:
                raise

    async with anyio.create_task_group() as together:
        for place in range(4):
            together.start_soon(agent, refunds[place::4])
        enough = dice.randrange(1, 12)
        while len(events(desk.log)) - begun < enough:
            await anyio.sleep(0.001)
        await anyio.sleep(dice.uniform(0, careless_desk.WAIT * 3))
        proxy.kill()
        proxy.wait()
        together.cancel_scope.cancel()  # no answer comes any more


def test_a_proxy_that_is_killed_amid_calls_leaves_none_half_done(tmp_path):
    """Each payment is made once or not at all, and the log has it before it is made."""
    desk = rogue.Desk(f"sqlite:///{tmp_path / 'live.sqlite'}", tmp_path / "log")
    size, dice = 40, random.Random(1)
    engine = careless_desk.new_desk(desk.url, dict.fromkeys(range(size * KILLS), "approved"))
    for kill in range(KILLS):
        proxy, url = desk.start()
        refunds = range(size * kill, size * (kill + 1))
        anyio.run(pay_until_killed, proxy, url, desk, refunds, dice)
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN")  # so that both read one snapshot
            paid = careless_desk.payments(connection)
            marked = connection.scalars(sa.text("SELECT id FROM refunds WHERE status = 'paid' ORDER BY id"))
            assert paid == list(marked)
        assert len(paid) == len(set(paid))
        allowed = {e["n"]: e["arguments"]["refund_id"] for e in events(desk.log) if e["event"] == "allowed"}
        assert set(paid) <= set(allowed.values())
        done = {allowed[e["of"]] for e in events(desk.log) if e["event"] == "done"}
        assert done <= set(paid)
    engine.dispose()
    with st.Guard(
        st.load(rogue.FILE), replace(binding, database=desk.url), bounds=False, log=desk.log
    ) as guard:
        for refund in paid[:1]:  # which one is paid before a kill is chance
            assert guard.check("pay_refund", {"refund_id": refund}).reason == "not offered"
    replayed = st.replay_audit_log(desk.log, st.load(rogue.FILE))
    assert replayed.confirmed
    assert replayed.allowed >= KILLS


WRITER = """
import sys
from stead_sym.guard.log import AuditLog
log = AuditLog(sys.argv[1])
for number in range(10**6):
    line = {"of": sys.argv[2], "number": number, "text": "x" * (number % 9000)}
    print(log.append("denied", line), flush=True)
"""


def test_of_writers_that_are_killed_no_line_is_lost(tmp_path):
    """Three processes append to one log, and each is killed; what `append` returned is there."""
    log, script = tmp_path / "log", tmp_path / "writer.py"
    script.write_text(WRITER)
    environment = {**os.environ, "PYTHONPATH": str(Path(st.__file__).parents[1])}
    writers, returned = [], []
    for name in "abc":
        output = tmp_path / name
        words = [sys.executable, str(script), str(log), name]
        with open(output, "wb") as file:
            writers.append((subprocess.Popen(words, stdout=file, env=environment), output, name))
    for writer, output, name in writers:
        while output.read_bytes().count(b"\n") < 20:
            assert writer.poll() is None
            time.sleep(0.001)
        writer.kill()
        writer.wait()
        numbers = output.read_bytes().split(b"\n")[:-1]
        returned += [(int(n), name, place) for place, n in enumerate(numbers)]
    AuditLog(log).append("denied", {"of": "d", "number": 0})
    st.check_audit_log(log)
    written = {(e["n"], e["of"], e["number"]) for e in events(log) if e["event"] == "denied"}
    assert set(returned) <= written
    assert len(returned) >= 60
