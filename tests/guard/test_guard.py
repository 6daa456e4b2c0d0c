"""The guard: calls that are allowed and denied in a live database, races, and what is refused."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from dataclasses import replace

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as some
from live import binding, fill, schema_of

import stead_sym as st
from generated.strategies import instances
from stead_sym.conformance.binding import Binding, Rows
from stead_sym.deployment.gates import under_gates

DESK = """
deployment desk

sort clerk, refund
sort state = { asked, approved, paid } rigid
sort amount = 1..3

relation Clerk(id: clerk key)
relation Refund(id: refund key, asker: clerk references Clerk, state: state, amount: amount)

initially any Clerk
bound clerk 2
bound refund 3

tool ask(c: clerk, n: amount) "Ask for a refund."
  guard Clerk(c)
  effect
    fresh r: refund
    insert Refund(r, c, asked, n)

tool approve(r: refund, c: clerk) "Approve a refund."
  guard Refund(id = r, state = asked) & Clerk(c) & ~Refund(id = r, asker = c)
  effect
    set Refund(r).state = approved

tool pay(r: refund) "Pay a refund."
  guard Refund(id = r, state = asked) | Refund(id = r, state = approved)
  effect
    set Refund(r).state = paid

terminal

gate rules
  permit ask(_, n) when n <= 2
  permit approve(_, _)
  permit pay(r) when Refund(id = r, state = approved)
  permit pay(r) when Refund(id = r, amount = 1)
  forbid pay(r) when exists c. (Refund(id = r, asker = c) & Refund(asker = c, state = paid))

spec approved_first AG forall r. (Refund(id = r, state = paid) -> Refund(id = r))
"""
TABLES = """
CREATE TABLE clerk (id TEXT PRIMARY KEY);
CREATE TABLE refund (id INTEGER PRIMARY KEY, asker TEXT NOT NULL REFERENCES clerk,
  state TEXT NOT NULL CHECK (state IN ('asked', 'approved', 'paid')), amount INTEGER NOT NULL);
"""


def database(folder, *rows, tables=TABLES):
    path = folder / "live.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(tables)
        connection.executemany("INSERT INTO clerk VALUES (?)", [("ann",), ("bob",)])
        connection.executemany("INSERT INTO refund VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return Binding(f"sqlite:///{path}", {})


@pytest.fixture
def desk():
    return st.parse_deployment(DESK)


def guarded(desk, bound, **options):
    return st.Guard(desk, bound, **{"gates": "rules", **options})


def test_an_allowed_call_names_what_lets_it_through(desk, tmp_path):
    with guarded(desk, database(tmp_path, (7, "ann", "approved", 1))) as guard:
        decision = guard.check("pay", {"r": 7})
    assert decision.allowed
    assert decision.by == (
        "guard Refund(r, _, asked, _) | Refund(r, _, approved, _)",
        "gate rules: permit pay(r) when Refund(r, _, approved, _)",
        "gate rules: permit pay(r) when Refund(r, _, _, 1)",
    )


ROWS = [(1, "ann", "asked", 3), (2, "ann", "approved", 3), (3, "bob", "paid", 3)]


@pytest.mark.parametrize(
    ("tool", "arguments", "reason", "why"),
    [
        ("aprove", {"r": 1}, "unknown tool", "there is no tool aprove; did you mean approve?"),
        ("pay", {}, "bad arguments", "the argument r is missing"),
        ("pay", {"r": 1, "s": 2}, "bad arguments", "there is no argument s; there are r"),
        ("pay", {"r": "1"}, "bad arguments", "the argument r has to be a whole number"),
        ("pay", {"r": True}, "bad arguments", "the argument r has to be a whole number"),
        ("pay", {"r": 2**63}, "bad arguments", "the argument r has to be a whole number"),
        ("pay", {"r": None}, "bad arguments", "the argument r has to be a whole number"),
        ("ask", {"c": ["ann"], "n": 1}, "bad arguments", "the argument c has to be a text"),
        ("ask", {"c": "a\0", "n": 1}, "bad arguments", "the argument c has to be a text"),
        ("ask", {"c": "\ud800", "n": 1}, "bad arguments", "the argument c has to be a text"),
        ("ask", {"c": "ann", "n": 4}, "bad arguments", "the argument n has to be one of 1..3"),
        ("pay", {"r": 3}, "not offered", "its guard is not true: Refund("),
        ("pay", {"r": 9}, "not offered", "its guard is not true: Refund("),
        ("pay", {"r": 1}, "not allowed", "no line of gate rules permits it"),
        ("ask", {"c": "ann", "n": 3}, "not allowed", "no line of gate rules permits it"),
    ],
)
def test_a_denial_has_a_reason(desk, tmp_path, tool, arguments, reason, why):
    with guarded(desk, database(tmp_path, *ROWS)) as guard:
        decision = guard.check(tool, arguments)
    assert not decision.allowed
    assert decision.reason == reason
    assert decision.why.startswith(why)
    assert decision.gate == ("rules" if reason == "not allowed" else None)


def test_a_line_that_forbids_is_named(desk, tmp_path):
    rows = [(1, "ann", "approved", 3), (2, "ann", "paid", 3)]
    with guarded(desk, database(tmp_path, *rows)) as guard:
        decision = guard.check("pay", {"r": 1})
    assert decision.why.startswith("gate rules does not let it through: forbid pay(r) when exists c")


def test_a_denial_lists_other_calls_about_the_same_records_first(desk, tmp_path):
    rows = [(1, "ann", "asked", 3), (2, "bob", "asked", 3)]
    with guarded(desk, database(tmp_path, *rows), instead=2) as guard:
        decision = guard.check("pay", {"r": 2})
        assert decision.words == (
            "pay(r=2) was not carried out: no line of gate rules permits it."
            ' Allowed now: approve(r=2, c="ann"); ask(c="ann", n=1).'
        )
        assert all(guard.check(call.tool, call.arguments).allowed for call in decision.instead)


def test_calls_of_a_message_are_checked_one_by_one(tmp_path):
    batched = st.parse_deployment(DESK + "\ncalls batch 2\n")
    with guarded(batched, database(tmp_path, (1, "ann", "asked", 3), (2, "ann", "approved", 3))) as guard:
        assert guard.check("pay", {"r": 2}).allowed
        assert guard.check("pay", {"r": 1}).reason == "not allowed"
        assert guard.check("pay", {"r": 3}).reason == "not offered"


def test_calls_of_many_agents_are_checked_with_who_calls(tmp_path):
    text = DESK.replace("r: refund, c: clerk", "r: refund, self: clerk")
    text = text.replace(
        "Clerk(c) & ~Refund(id = r, asker = c)", "Clerk(self) & ~Refund(id = r, asker = self)"
    )
    text += "agent clerk for each w: clerk\n  tools approve\nagent till\n  tools ask, pay\n"
    with guarded(
        st.parse_deployment(text), database(tmp_path, (1, "ann", "asked", 3)), agent="clerk"
    ) as guard:
        assert guard.check("approve", {"r": 1, "self": "bob"}).allowed
        assert guard.check("approve", {"r": 1, "self": "ann"}).reason == "not offered"


def test_none_are_listed_if_none_are_wanted(desk, tmp_path):
    with guarded(desk, database(tmp_path, *ROWS), instead=0) as guard:
        decision = guard.check("pay", {"r": 1})
    assert decision.instead == ()
    assert decision.words.endswith("No call is known to be allowed now.")


def test_more_values_than_the_bound_are_denied_unless_it_is_lifted(desk, tmp_path):
    bound = database(tmp_path, *[(n, "ann", "approved", 1) for n in range(4)])
    with guarded(desk, bound) as guard:
        decision = guard.check("pay", {"r": 1})
        assert decision.reason == "past a bound"
        assert decision.why.startswith("more than 3 values of sort refund are in use")
        assert guard.check("nothing", {}).instead == guard.calls() == ()
    with guarded(desk, bound, bounds=False) as guard:
        assert guard.check("pay", {"r": 1}).allowed


def test_without_gates_only_the_guards_count(desk, tmp_path):
    with guarded(desk, database(tmp_path, *ROWS), gates=()) as guard:
        assert guard.check("pay", {"r": 1}).allowed


def test_an_unlisted_content_is_no_licence(desk, tmp_path):
    """A refund with an amount that no sort lists may be one of 1, but is not surely."""
    with guarded(desk, database(tmp_path, (1, "ann", "asked", 9))) as guard:
        decision = guard.check("pay", {"r": 1})
        assert decision.reason == "undecided"
        assert decision.why.endswith("a content which no value of its finite sort stands for")
        assert guard.check("pay", {"r": 2}).reason == "not offered"
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed


@given(data=some.data())
def test_it_allows_what_is_offered_behind_the_gates(tmp_path_factory, data):
    desk = st.parse_deployment(DESK)
    url = f"sqlite:///{tmp_path_factory.mktemp('law') / 'live.sqlite'}"
    instance = data.draw(instances(desk.schema))
    with sa.create_engine(url).begin() as connection:
        for statement in schema_of(desk.schema):
            connection.exec_driver_sql(statement)
        fill(connection, desk.schema, instance.facts)
    with guarded(desk, binding(desk.schema, url), bounds=False) as guard:
        listed = guard.calls(99)
        assert all(guard.check(call.tool, call.arguments).allowed for call in listed)
    calls = {st.Call(call.tool, tuple(map(str, call.arguments.values()))) for call in listed}
    assert calls == st.offer(under_gates(desk, "rules"), instance)


@pytest.mark.parametrize(
    ("name", "gate"),
    [("flights", "tariff"), ("partial_refunds", "what_is_left"), ("repository", "for_the_owner")],
)
@given(data=some.data())
def test_it_allows_what_the_examples_offer_behind_their_gates(tmp_path_factory, name, gate, data):
    deployment = st.load(name)
    url = f"sqlite:///{tmp_path_factory.mktemp('law') / 'live.sqlite'}"
    instance = data.draw(instances(deployment.schema, size=2))
    with sa.create_engine(url).begin() as connection:
        for statement in schema_of(deployment.schema):
            connection.exec_driver_sql(statement)
        fill(connection, deployment.schema, instance.facts)
    with st.Guard(deployment, binding(deployment.schema, url), gates=gate, bounds=False) as guard:
        calls = {st.Call(call.tool, tuple(map(str, call.arguments.values()))) for call in guard.calls(999)}
    assert calls == st.offer(under_gates(deployment, gate), instance)


# transactions


def approve_once(connection, r, c):
    connection.exec_driver_sql("UPDATE refund SET state = 'approved' WHERE id = ?", (r,))
    return c


def events(path):
    return [json.loads(line)["event"] for line in path.read_text().splitlines()]


def test_a_call_is_carried_out_in_the_transaction_that_allows_it(desk, tmp_path):
    with guarded(desk, database(tmp_path, *ROWS)) as guard:
        decision = guard.call("approve", {"r": 1, "c": "bob"}, approve_once)
        assert decision.allowed
        assert decision.result == "bob"
        assert guard.call("approve", {"r": 1, "c": "bob"}, approve_once).reason == "not offered"


def test_what_fails_leaves_nothing_behind(desk, tmp_path):
    def fail(connection, r, c):
        approve_once(connection, r, c)
        raise ValueError("no")

    with guarded(desk, database(tmp_path, *ROWS), log=tmp_path / "log") as guard:
        with pytest.raises(ValueError, match="no"):
            guard.call("approve", {"r": 1, "c": "bob"}, fail)
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed
    assert events(tmp_path / "log") == ["opened", "allowed", "failed", "allowed"]


def test_of_several_that_race_for_one_refund_one_gets_through(desk, tmp_path):
    paid, decisions = [], []
    ready = threading.Barrier(8)

    def pay(connection, r):
        connection.exec_driver_sql("UPDATE refund SET state = 'paid' WHERE id = ?", (r,))
        paid.append(r)

    def agent():
        ready.wait()
        decisions.append(guard.call("pay", {"r": 1}, pay))

    bound = database(tmp_path, (1, "ann", "approved", 1))
    with guarded(desk, bound, log=tmp_path / "log") as guard:
        threads = [threading.Thread(target=agent) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert paid == [1]
    assert [decision.allowed for decision in decisions].count(True) == 1
    assert {d.reason for d in decisions if not d.allowed} == {"not offered"}
    assert st.check_audit_log(tmp_path / "log", desk).lines == 1 + 8 + 1


def locked():
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return sa.exc.OperationalError("UPDATE", {}, error)


def test_a_conflict_is_tried_again(desk, tmp_path):
    tries = []

    def locked_at_first(connection, r, c):
        tries.append(r)
        if len(tries) < 3:
            raise locked()
        return approve_once(connection, r, c)

    with guarded(desk, database(tmp_path, *ROWS), log=tmp_path / "log") as guard:
        assert guard.call("approve", {"r": 1, "c": "bob"}, locked_at_first).allowed
    assert tries == [1, 1, 1]
    assert events(tmp_path / "log") == ["opened", *["allowed", "conflict"] * 2, "allowed", "done"]


def test_a_conflict_that_stays_is_a_denial(desk, tmp_path, monkeypatch):
    monkeypatch.setattr("stead_sym.guard.guard._TRIES", 2)

    def always(connection, r, c):
        raise locked()

    with guarded(desk, database(tmp_path, *ROWS)) as guard:
        decision = guard.call("approve", {"r": 1, "c": "bob"}, always)
    assert decision.reason == "undecided"
    assert "conflicts" in decision.why


def test_check_without_blocking_the_loop(desk, tmp_path):
    async def both():
        calls = [guard.acheck("approve", {"r": 1, "c": clerk}) for clerk in ("bob", "ann")]
        return await asyncio.gather(*calls)

    with guarded(desk, database(tmp_path, *ROWS)) as guard:
        assert [decision.allowed for decision in asyncio.run(both())] == [True, False]


# closed rather than open


def unreachable(*_, **__):
    raise AssertionError("nothing may be carried out")


def test_a_database_that_is_lost_denies(desk, tmp_path):
    with guarded(desk, database(tmp_path, *ROWS)) as guard:
        with sqlite3.connect(tmp_path / "live.sqlite") as connection:
            connection.execute("DROP TABLE refund")
        connection.close()
        decision = guard.check("pay", {"r": 2})
        assert decision.reason == "undecided"
        assert "no such table" in decision.why
        assert guard.call("pay", {"r": 2}, unreachable).reason == "undecided"
        with pytest.raises(st.InputError, match="no such table"):
            guard.calls()


def test_calls_that_are_made_elsewhere_are_checked_one_after_the_other(desk, tmp_path):
    """Each guard has the lock for itself, as those of several processes have."""
    bound = database(tmp_path, *ROWS)
    path, paid, decisions, ready = bound.database.removeprefix("sqlite:///"), [], [], threading.Barrier(6)

    def agent():
        with guarded(desk, bound) as guard:
            ready.wait()
            with guard.one_by_one("pay", {"r": 2}) as decision:
                decisions.append(decision)
                if decision.allowed:
                    paid.append(2)
                    time.sleep(0.05)  # what the others would decide in, were they not held off
                    with sqlite3.connect(path) as connection:
                        connection.execute("UPDATE refund SET state = 'paid' WHERE id = 2")
                    connection.close()

    threads = [threading.Thread(target=agent) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paid == [2]
    assert sorted(decision.allowed for decision in decisions) == [False] * 5 + [True]


def test_guards_that_cannot_be_held_off_deny(desk, tmp_path):
    bound = database(tmp_path, *ROWS)
    (tmp_path / "live.sqlite-guard").mkdir()
    with guarded(desk, bound, log=tmp_path / "log") as guard, guard.one_by_one("pay", {"r": 2}) as decision:
        assert decision.reason == "undecided"
        assert "other guards of the database cannot be held off" in decision.why
    assert events(tmp_path / "log") == ["opened", "denied"]


def test_a_log_that_cannot_be_written_denies(desk, tmp_path):
    with guarded(desk, database(tmp_path, *ROWS), log=tmp_path / "log") as guard:
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed
        (tmp_path / "log").write_text("no log")
        assert guard.check("approve", {"r": 1, "c": "bob"}).reason == "undecided"
        assert guard.call("approve", {"r": 1, "c": "bob"}, unreachable).reason == "undecided"


def live_refunds(folder):
    refund = st.load("refund")
    url = f"sqlite:///{folder / 'live.sqlite'}"
    facts = [("Approver", ("s1", "a1")), ("Handler", ("C-17", "s1")), ("PartOf", ("T-9", "C-17"))]
    facts += [("CaseStatus", ("C-17", "open"))]
    with sa.create_engine(url).begin() as connection:
        for statement in schema_of(refund.schema):
            connection.exec_driver_sql(statement)
        fill(connection, refund.schema, st.Instance.of(refund.schema, facts).facts)
    return refund, binding(refund.schema, url)


def test_a_shield_is_in_force_beside_the_gates(tmp_path):
    refund, bound = live_refunds(tmp_path)
    with st.Guard(refund, bound, shield=st.shield(refund)) as guard:
        denied = guard.check("issue_refund", {"task_id": "T-9"})
        assert (denied.reason, denied.gate) == ("not allowed", "shield")
        assert str(denied.instead[0]) == 'obtain_approval(task_id="T-9", approver_id="a1")'
        with sqlite3.connect(tmp_path / "live.sqlite") as connection:
            connection.execute("INSERT INTO approved VALUES ('T-9', 'a1')")
        connection.close()
        assert guard.check("issue_refund", {"task_id": "T-9"}).allowed


def test_a_shield_that_guards_nothing_here_is_refused(tmp_path):
    refund, bound = live_refunds(tmp_path)
    shield = st.shield(refund)
    ward = st.load("ward_repaired")
    with pytest.raises(st.InputError, match="the shield is of another deployment than ward"):
        st.Guard(ward, bound, shield=shield)
    with pytest.raises(st.InputError, match="no restriction of agents prevents"):
        st.Guard(refund, bound, shield=replace(shield, gate=None, lost=object()))
    with pytest.raises(st.InputError, match="the shield has no gate"):
        st.Guard(refund, bound, shield=replace(shield, gate=None))


def test_a_guard_that_is_about_steps_is_refused(tmp_path):
    deployer = st.load("deployer")
    url = f"sqlite:///{tmp_path / 'live.sqlite'}"
    with sa.create_engine(url).begin() as connection:
        for statement in schema_of(deployer.schema):
            connection.exec_driver_sql(statement)
    with pytest.raises(st.InputError, match="depends on steps, which live data do not tell"):
        st.Guard(deployer, binding(deployer.schema, url))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"database": "sqlite:///missing.sqlite"}, "missing.sqlite: there is no such database"),
        ({"database": "mysql://root:secret@h/d"}, r"root:\*\*\*@h/d: a guard knows SQLite and PostgreSQL"),
        ({"database": "nonsense"}, "cannot be opened"),
        ({"relations": {"Clerk": Rows("clerks", ("id",))}}, "Clerk is bound to the table clerks"),
        ({"relations": {"Clerk": Rows("refund", ("id",))}}, "sort clerk is number in refund.id and text in"),
    ],
)
def test_a_binding_that_does_not_fit_is_refused_in_a_line(desk, tmp_path, changed, why):
    bound = database(tmp_path, *ROWS)
    with pytest.raises(st.InputError, match=why) as raised:
        guarded(desk, replace(bound, **changed))
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_constant_that_no_column_can_hold_is_refused(tmp_path):
    text = DESK.replace("initially any Clerk", "init Clerk(ann)\n  Refund(first, ann, asked, 1)")
    with pytest.raises(st.InputError, match="the constant first of sort refund is no number"):
        guarded(st.parse_deployment(text), database(tmp_path))


def test_options_that_do_not_fit_are_refused(desk, tmp_path):
    bound = database(tmp_path)
    with pytest.raises(st.InputError, match="unknown gate rulse; did you mean rules"):
        guarded(desk, bound, gates="rulse")
    with pytest.raises(st.InputError, match="instead must be at least 0, got -1"):
        guarded(desk, bound, instead=-1)
    with pytest.raises(TypeError, match="no binding"):
        st.Guard(desk, "sqlite://")
    with guarded(desk, bound) as guard, pytest.raises(TypeError, match="give them by name"):
        guard.check("pay", [1])


def test_indices_that_are_missing_are_proposed(desk, tmp_path):
    bound = database(tmp_path, *ROWS)
    with guarded(desk, bound) as guard:
        guard.check("pay", {"r": 1})
        proposed = guard.indices
    assert "CREATE INDEX refund_asker ON refund (asker)" in proposed
    assert not any("(id)" in line for line in proposed)
    with sqlite3.connect(tmp_path / "live.sqlite") as connection:
        for line in proposed:
            connection.execute(line)
    connection.close()
    with guarded(desk, bound) as guard:
        guard.check("pay", {"r": 1})
        assert guard.indices == []


def test_the_schemas_of_tools_are_public(desk, tmp_path):
    with guarded(desk, database(tmp_path)) as guard:
        [ask, *_] = guard.tools
    assert ask == {
        "name": "ask",
        "description": "Ask for a refund.",
        "inputSchema": {
            "type": "object",
            "properties": {"c": {"type": "string"}, "n": {"type": "integer", "minimum": 1, "maximum": 3}},
            "required": ["c", "n"],
            "additionalProperties": False,
        },
    }


def test_a_text_of_the_database_that_is_no_name(tmp_path):
    """The status `in review` is a value of the file by another name."""
    text = DESK.replace("asked", "state_in_20_review")
    tables = TABLES.replace("'asked'", "'in review'")
    bound = database(tmp_path, (1, "ann", "in review", 2), tables=tables)
    with guarded(st.parse_deployment(text), bound) as guard:
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed


def test_one_of_several_agents_has_its_own_tools(tmp_path):
    text = DESK + "\nagent clerk_agent\n  tools ask\n\nagent head\n  tools approve, pay\n"
    desk, bound = st.parse_deployment(text), database(tmp_path, *ROWS)
    with pytest.raises(st.InputError, match=r"several agents \(clerk_agent, head\); name the one"):
        guarded(desk, bound)
    with guarded(desk, bound, agent="head") as guard:
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed
        assert guard.check("ask", {"c": "ann", "n": 1}).reason == "unknown tool"


def test_upper_and_lower_case_are_told_apart(desk, tmp_path):
    """Who asked for a refund does not approve it by another spelling of their name."""
    tables = TABLES.replace("id TEXT PRIMARY KEY", "id TEXT COLLATE NOCASE PRIMARY KEY")
    with guarded(desk, database(tmp_path, *ROWS, tables=tables)) as guard:
        assert guard.check("approve", {"r": 1, "c": "ANN"}).reason == "not offered"
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed


def test_a_row_with_null_is_no_fact(desk, tmp_path):
    with guarded(desk, database(tmp_path, (1, "ann", "asked", 1))) as guard:
        with sqlite3.connect(tmp_path / "live.sqlite") as connection:  # SQLite allows it in a key of texts
            connection.execute("UPDATE clerk SET id = NULL WHERE id = 'bob'")
        connection.close()
        assert {call.arguments["c"] for call in guard.calls() if "c" in call.arguments} == {"ann"}


def test_a_number_with_a_fraction_is_not_listed(desk, tmp_path):
    tables = TABLES.replace("id INTEGER PRIMARY KEY", "id NUMERIC PRIMARY KEY")
    bound = database(tmp_path, (1.5, "ann", "approved", 1), (2.0, "ann", "approved", 1), tables=tables)
    with guarded(desk, bound) as guard:
        assert [str(call) for call in guard.calls() if call.tool == "pay"] == ["pay(r=2)"]
        assert guard.check("pay", {"r": 2}).allowed


def test_constants_do_not_count_towards_a_bound(tmp_path):
    text = DESK.replace("initially any Clerk", "init Clerk(ann)\n  Clerk(bob)").replace("clerk 2", "clerk 0")
    desk, bound = st.parse_deployment(text), database(tmp_path, *ROWS)
    with guarded(desk, bound) as guard:
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed
        with sqlite3.connect(tmp_path / "live.sqlite") as connection:
            connection.execute("INSERT INTO clerk VALUES ('eve')")
        connection.close()
        assert guard.check("approve", {"r": 1, "c": "bob"}).reason == "past a bound"


def test_relations_that_share_a_table(tmp_path):
    """Of the rows of one table those with `where` are the facts of each."""
    people = "CREATE TABLE person (name TEXT PRIMARY KEY, role TEXT, boss TEXT); INSERT INTO person VALUES"
    people += " ('ann', 'clerk', 'bob'), ('bob', 'head', NULL), ('eve', 'guest', 'bob');"
    bound = database(tmp_path, *ROWS, tables=TABLES + people)
    text = DESK.replace(
        "relation Refund(",
        "relation Head(id: clerk key)\nrelation Boss(clerk key, clerk)\n\nrelation Refund(",
    )
    text = text.replace(
        "& Clerk(c) & ~Refund(id = r, asker = c)", "& Boss(c, _) & exists h. (Boss(c, h) & Head(h))"
    )
    relations = {
        "Clerk": Rows("person", ("name",), {"role": "clerk"}),
        "Head": Rows("person", ("name",), {"role": "head"}),
        "Boss": Rows("person", ("name", "boss")),
    }
    with guarded(st.parse_deployment(text), replace(bound, relations=relations), bounds=False) as guard:
        assert guard.check("ask", {"c": "ann", "n": 1}).allowed
        assert guard.check("ask", {"c": "bob", "n": 1}).reason == "not offered"
        assert guard.check("approve", {"r": 1, "c": "eve"}).allowed
        assert guard.check("approve", {"r": 1, "c": "bob"}).reason == "not offered"
