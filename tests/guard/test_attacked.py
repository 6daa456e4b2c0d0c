"""Attacks on a guard: odd arguments and contents, functions that end their transaction, cancelled calls."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading

import pytest
import sqlalchemy as sa
from small_desk import FUNCTIONS, TEXT, database, done, pay

import stead_sym as st
from stead_sym.conformance.binding import Binding
from stead_sym.guard.decision import ToolCall

NESTED: list[object] = []
for _ in range(5000):
    NESTED = [NESTED]
ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)
NO_JSON = {
    "too many digits": 10**5000,
    "nested too deep": NESTED,
    "itself within": ENDLESS,
    "keys that are no texts": {(1, 2): 3},
}


@pytest.fixture
def desk():
    return st.parse_deployment(TEXT)


@pytest.mark.parametrize("given", NO_JSON.values(), ids=NO_JSON)
@pytest.mark.parametrize(
    ("tool", "name"), [("pay", "r"), ("approve", "c"), ("answer", "config"), ("no", "x")]
)
def test_an_argument_that_json_cannot_have_is_denied_and_logged(desk, tmp_path, tool, name, given):
    others = {"approve": {"r": 1}}.get(tool, {})
    log = tmp_path / "log"
    with st.Guard(desk, database(tmp_path), gates="rules", log=log) as guard:
        denied = guard.check(tool, {**others, name: given})
        assert denied.reason == ("unknown tool" if tool == "no" else "bad arguments")
        assert len(denied.words) < 1000
    assert json.loads(log.read_text().splitlines()[-1])["arguments"][name].endswith("that is no JSON>")
    assert st.replay_audit_log(log, desk).confirmed


def test_a_long_call_is_cut_in_words_and_whole_in_the_log(desk, tmp_path):
    log, long = tmp_path / "log", "a" * 100_000
    with st.Guard(desk, database(tmp_path), log=log) as guard:
        for tool, arguments in (("pay", {"r": long}), (long, {}), ("pay", {long: 1})):
            assert len(guard.check(tool, arguments).words) < 2000
    logged = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    assert logged[0]["arguments"] == {"r": long}
    assert logged[1]["tool"] == long
    assert st.replay_audit_log(log, desk).confirmed


@pytest.mark.parametrize("tool", [None, 1, ["pay"], {}])
def test_a_tool_without_a_name_is_a_line(desk, tmp_path, tool):
    with st.Guard(desk, database(tmp_path)) as guard, pytest.raises(TypeError, match="is no name of a tool"):
        guard.check(tool, {"r": 1})


@pytest.mark.parametrize("approved", [False, True, "", "  ", 0, ["ann"]])
def test_an_approval_has_a_name(desk, tmp_path, approved):
    """Whoever hands on the answer of a person must not approve with `False`."""
    with st.Guard(desk, database(tmp_path)) as guard:
        for decide in (
            lambda: guard.check("pay", {"r": 2}, approved=approved),
            lambda: guard.call("pay", {"r": 2}, pay, approved=approved),
            lambda: guard.forward("pay", {"r": 2}, lambda: None, approved=approved),
            lambda: asyncio.run(guard.acheck("pay", {"r": 2}, approved=approved)),
        ):
            with pytest.raises(st.InputError, match="approved must be the name of who has approved"):
                decide()


# contents


def loose(folder, *rows, clerk="TEXT", refund="INTEGER"):
    """A database without constraints, where SQLite keeps whatever is written, with a refund that waits."""
    path = folder / "loose.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            f"CREATE TABLE clerk (id {clerk});"
            f"CREATE TABLE refund (id {refund}, asker {clerk}, state TEXT);"
            "INSERT INTO clerk VALUES ('ann'), ('bob'); INSERT INTO refund VALUES (1, 'ann', 'asked')"
        )
        for table, row in rows:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    connection.close()
    return Binding(f"sqlite:///{path}", {})


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        (("refund", (float("inf"), "bob", "asked")), {}),
        (("refund", ("x", "bob", "asked")), {}),
        (("refund", ("x", "bob", "asked")), {"refund": "NUMERIC"}),
        (("refund", (b"\xff", "bob", "asked")), {}),
    ],
)
def test_what_no_column_of_numbers_should_hold_stands_for_no_call(desk, tmp_path, row, columns):
    with st.Guard(desk, loose(tmp_path, row, **columns)) as guard:
        assert guard.check("pay", {"r": 1}).allowed
        denied = guard.check("pay", {"r": 7})
        for call in (*denied.instead, *guard.calls()):
            assert guard.check(call.tool, call.arguments).allowed, call
        assert ToolCall("pay", {"r": 1}) in guard.calls()
        assert guard.allowed_tools() == {"pay", "approve"}


def test_texts_in_a_column_of_numbers_are_no_numbers(desk, tmp_path):
    """`STRING` is a column of numbers in SQLite."""
    with st.Guard(desk, loose(tmp_path, clerk="STRING")) as guard:
        assert guard.calls() == [ToolCall("pay", {"r": 1})]
        assert guard.check("approve", {"r": 1, "c": "bob"}).reason == "bad arguments"


@pytest.mark.parametrize("clerk", [b"b'cy'", b"\xff", "a\0b", "c" * 201])
def test_calls_that_cannot_be_proposed_are_not_listed(desk, tmp_path, clerk):
    desk = st.parse_deployment(TEXT.replace("bound clerk 2", "bound clerk any"))
    with st.Guard(desk, loose(tmp_path, ("clerk", (clerk,)))) as guard:
        assert guard.calls() == [ToolCall("approve", {"r": 1, "c": "bob"}), ToolCall("pay", {"r": 1})]


# functions


def commits(connection, r):
    pay(connection, r)
    connection.commit()


def commits_and_fails(connection, r):
    commits(connection, r)
    raise ZeroDivisionError


def commits_by_hand(connection, r):
    pay(connection, r)
    connection.exec_driver_sql("COMMIT")


def commits_by_hand_and_fails(connection, r):
    commits_by_hand(connection, r)
    raise ZeroDivisionError


def rolls_back(connection, r):
    pay(connection, r)
    connection.rollback()


def closes(connection, r):
    pay(connection, r)
    connection.close()


@pytest.mark.parametrize(
    ("function", "changed"),
    [
        (commits, ["pay 2"]),
        (commits_and_fails, ["pay 2"]),
        (commits_by_hand, ["pay 2"]),
        (commits_by_hand_and_fails, ["pay 2"]),
        (rolls_back, []),
        (closes, []),
    ],
)
def test_a_function_that_ends_its_transaction_is_not_logged_as_done_or_failed(
    desk, tmp_path, function, changed
):
    bound, log = database(tmp_path), tmp_path / "log"
    with st.Guard(desk, bound, gates="rules", log=log) as guard:
        with pytest.raises(st.InputError, match="has ended its transaction"):
            guard.call("pay", {"r": 2}, function)
        assert done(bound) == changed
        assert guard.call("approve", {"r": 1, "c": "bob"}, FUNCTIONS["approve"]).allowed
    assert st.replay_audit_log(log, desk).outcomes == {"unknown": 1, "done": 1}


def test_a_function_may_have_savepoints(desk, tmp_path):
    bound = database(tmp_path)

    def paid(connection, r):
        with connection.begin_nested() as savepoint:
            pay(connection, r)
            savepoint.rollback()
        with connection.begin_nested():
            return pay(connection, r)

    with st.Guard(desk, bound, gates="rules") as guard:
        assert guard.call("pay", {"r": 2}, paid).result == "refund 2 is paid"
    assert done(bound) == ["pay 2"]


def test_a_function_that_would_have_to_be_awaited_is_refused(desk, tmp_path):
    bound, log = database(tmp_path), tmp_path / "log"

    async def later(connection, r):
        pay(connection, r)

    with (
        st.Guard(desk, bound, gates="rules", log=log) as guard,
        pytest.raises(TypeError, match="is asynchronous; give a plain one"),
    ):
        guard.call("pay", {"r": 2}, later)
    assert done(bound) == []
    assert st.replay_audit_log(log, desk).outcomes == {"failed": 1}


# calls that are made elsewhere


def test_a_call_that_is_cancelled_while_it_waits_gives_the_turn_back(desk, tmp_path):
    """At every moment: before its thread starts, while that waits for another guard, and after it."""
    bound = database(tmp_path)

    async def run(one, other):
        held, release = asyncio.Event(), asyncio.Event()

        async def slowly():
            held.set()
            await release.wait()

        async def quickly():
            return "made"

        first = asyncio.create_task(one.aforward("pay", {"r": 2}, slowly))
        await held.wait()
        waiting = [asyncio.create_task(other.aforward("pay", {"r": 2}, quickly)) for _ in range(3)]
        await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        assert all(
            isinstance(one, BaseException) for one in await asyncio.gather(*waiting, return_exceptions=True)
        )
        release.set()
        assert (await first).allowed
        for turns in range(20):
            task = asyncio.create_task(other.aforward("pay", {"r": 2}, quickly))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return [(await guard.aforward("pay", {"r": 2}, quickly)).result for guard in (one, other)]

    with st.Guard(desk, bound, gates="rules") as one, st.Guard(desk, bound, gates="rules") as other:
        made = asyncio.run(asyncio.wait_for(run(one, other), 60))
    assert made == ["made", "made"]


def test_threads_that_hold_each_other_off_take_their_turns(desk, tmp_path):
    bound = database(tmp_path)
    made = []

    def pay_once(guard):
        with guard.one_by_one("pay", {"r": 2}) as decision:
            if decision.allowed:
                engine = sa.create_engine(bound.database)
                with engine.begin() as connection:
                    made.append(pay(connection, 2))
                engine.dispose()

    with st.Guard(desk, bound, gates="rules") as guard:
        threads = [threading.Thread(target=pay_once, args=(guard,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert made == ["refund 2 is paid"]
