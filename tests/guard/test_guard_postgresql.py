"""The guard on PostgreSQL: types that are strict there, an ENUM and a UUID, and races."""

from __future__ import annotations

import threading
from contextlib import suppress
from uuid import UUID

import pytest
import sqlalchemy as sa
from test_queries import DENSE, FORMS, Asked, agree

import stead_sym as st
from postgresql import server
from stead_sym.conformance.binding import Binding, Rows
from stead_sym.guard.decision import ToolCall
from stead_sym.relational.instance import Fact, Instance

DESK = """
deployment desk

sort clerk, refund
sort state = { asked, approved, paid } rigid
sort amount = 1..3
sort level = { low < high }

relation Clerk(id: clerk key, level: level)
relation Refund(id: refund key, asker: clerk references Clerk, state: state, amount: amount)

initially any Clerk
bound clerk any
bound refund 3

define little_paid = (sum n for q: refund, n: amount. Refund(id = q, amount = n, state = paid)) < 3

tool ask(c: clerk, n: amount)
  guard Clerk(id = c)
  effect
    fresh r: refund
    insert Refund(r, c, asked, n)

tool approve(r: refund, c: clerk)
  guard Refund(id = r, state = asked) & Clerk(id = c) & ~Refund(id = r, asker = c)
  effect
    set Refund(r).state = approved

tool pay(r: refund)
  guard Refund(id = r, state = approved) & little_paid
  effect
    set Refund(r).state = paid

terminal

gate rules
  permit ask(c, n) when exists v. (Clerk(c, v) & v >= high) | n + 1 <= 2
  permit approve(_, _)
  permit pay(_)
"""
TABLES = """
CREATE TYPE state AS ENUM ('asked', 'approved', 'paid');
CREATE TABLE clerk (id UUID PRIMARY KEY, level VARCHAR(9) NOT NULL);
CREATE TABLE refund (id INTEGER PRIMARY KEY, asker UUID NOT NULL REFERENCES clerk, state state NOT NULL,
  amount SMALLINT NOT NULL);
"""
ANN, BOB = str(UUID(int=1)), str(UUID(int=2))


@pytest.fixture(scope="module")
def databases():
    with server() as database:
        yield database


@pytest.fixture
def url(databases):
    """A database with two clerks, of whom the first has a high level."""
    made = databases()
    engine = sa.create_engine(made)
    with engine.begin() as connection:
        connection.exec_driver_sql(TABLES)
        rows = [{"id": ANN, "level": "high"}, {"id": BOB, "level": "low"}]
        connection.execute(sa.text("INSERT INTO clerk VALUES (:id, :level)"), rows)
    engine.dispose()
    return made


def add(url, *rows):
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for number, asker, state, amount in rows:
            row = {"id": number, "asker": asker, "state": state, "amount": amount}
            statement = "INSERT INTO refund VALUES (:id, :asker, CAST(:state AS state), :amount)"
            connection.execute(sa.text(statement), row)
    engine.dispose()


def guarded(url, **options):
    return st.Guard(st.parse_deployment(DESK), Binding(url, {}), gates="rules", **options)


def test_every_kind_of_answer(url):
    add(url, (1, ANN, "asked", 1), (2, ANN, "approved", 1), (3, BOB, "paid", 2))
    with guarded(url) as guard:
        assert guard.check("approve", {"r": 1, "c": BOB}).allowed
        assert guard.check("approve", {"r": 1, "c": ANN}).reason == "not offered"
        assert guard.check("pay", {"r": 2}).allowed
        assert guard.check("pay", {"r": "2"}).reason == "bad arguments"
        assert guard.check("approve", {"r": 1, "c": "bob"}).why == "the argument c has to be a UUID"
        assert guard.check("ask", {"c": ANN, "n": 3}).allowed
        assert guard.check("ask", {"c": BOB, "n": 1}).allowed
        denied = guard.check("ask", {"c": BOB, "n": 2})
        assert denied.reason == "not allowed"
        assert guard.check(denied.instead[0].tool, denied.instead[0].arguments).allowed
        calls = guard.calls()
        assert len([call for call in calls if call.tool == "ask"]) == 4
        assert all(guard.check(call.tool, call.arguments).allowed for call in calls)


def test_integers_that_no_sort_has_and_texts_that_none_lists(url):
    add(url, (2, ANN, "approved", 1), (3, BOB, "paid", 7))
    with guarded(url) as guard:
        assert guard.check("pay", {"r": 2}).reason == "undecided"


def test_more_than_the_bound(url):
    add(url, *[(number, ANN, "approved", 1) for number in range(4)])
    with guarded(url) as guard:
        assert guard.check("pay", {"r": 1}).reason == "past a bound"


def test_of_several_that_race_what_is_written_counts(url, tmp_path):
    """Each payment is of a record of its own; only together do they pass the sum that the guard reads."""
    add(url, *[(number, ANN, "approved", 2) for number in range(3)])
    ready, decisions = threading.Barrier(3), []

    def pay(connection, r):
        connection.execute(sa.text("UPDATE refund SET state = 'paid' WHERE id = :r"), {"r": r})

    def agent(number):
        ready.wait()
        decisions.append(guard.call("pay", {"r": number}, pay))

    with guarded(url, log=tmp_path / "log") as guard:
        threads = [threading.Thread(target=agent, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(d.allowed for d in decisions) == [False, True, True]
        assert len([call for call in guard.calls() if call.tool == "pay"]) == 0
    assert st.check_audit_log(tmp_path / "log").lines > 4


def test_a_collation_that_takes_different_texts_for_equal_is_refused(databases):
    made = databases()
    engine = sa.create_engine(made)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        connection.exec_driver_sql(TABLES.replace("UUID", "TEXT COLLATE loose"))
    engine.dispose()
    with pytest.raises(st.InputError, match="takes different texts for equal"):
        guarded(made)


@pytest.mark.parametrize("text", FORMS)
def test_each_form_is_read_alike(dense, text):
    facts = [Fact("P", ("k",)), Fact("P", ("a0",)), Fact("T", ("a0", "low")), Fact("Q", ("a1", "b0"))]
    dense.fill(facts)
    agree(dense, DENSE.formula(text), {}, Instance(DENSE.schema, frozenset(facts)))


@pytest.fixture(scope="module")
def dense(databases):
    asked = Asked(DENSE, url=databases())
    yield asked
    asked.connection.close()
    asked.connection.engine.dispose()


def test_an_agent_is_held_to_what_was_verified(url):
    """Identifiers that are UUIDs, numbers and an ENUM are read as the values that the agent was shown."""
    few = DESK.replace("bound clerk any", "bound clerk 2").replace("bound refund 3", "bound refund 1")
    few = few.replace("guard Clerk(id = c)\n", "guard Clerk(id = c) & ~exists q. Refund(id = q)\n")
    rules = ["ask(c, 1) when Clerk(c, high)", "ask(c, 1)", "approve(r, c)", "pay(r)"]
    policy = "policy steady" + "".join(f"\n  call {rule}" for rule in rules)
    desk = st.parse_deployment(f"{few}\n{policy}\nspec s AG forall r. (Refund(id = r, state = paid) -> true)")
    with st.Guard(desk, Binding(url, {}), verified=st.verify(desk, "steady")) as guard:
        assert guard.check("ask", {"c": ANN, "n": 1}).allowed
        assert guard.calls() == [ToolCall("ask", {"c": ANN, "n": 1})]
        assert guard.check("ask", {"c": ANN, "n": 2}).reason == "not verified"
        assert guard.check("ask", {"c": BOB, "n": 1}).reason == "not verified"
        add(url, (7, ANN, "asked", 1))
        assert guard.calls_of(st.VerifiedAgent(desk, st.verify(desk, "steady"))) == [
            ToolCall("approve", {"r": 7, "c": BOB})
        ]
        assert guard.check("approve", {"r": 7, "c": BOB}).allowed
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql("UPDATE refund SET amount = 2")
        engine.dispose()
        assert guard.check("approve", {"r": 7, "c": BOB}).why == "not verified: no context like it was met"


def test_a_check_is_about_one_snapshot(url):
    """What others write while the state is read is not seen in half."""
    few = DESK.replace("bound clerk any", "bound clerk 2").replace("bound refund 3", "bound refund 1")
    few = few.replace("guard Clerk(id = c)\n", "guard Clerk(id = c) & ~exists q. Refund(id = q)\n")
    policy = "policy steady\n  call approve(r, c)\n  call pay(r)\n  call ask(c, 1)\nspec s AG true"
    desk = st.parse_deployment(f"{few}\n{policy}")
    add(url, (7, ANN, "asked", 1))
    written = []

    def write(_, __, statement, *rest):
        if "FROM clerk" in statement and "DISTINCT" in statement and not written:
            written.append(statement)
            engine = sa.create_engine(url)
            with engine.begin() as other:
                other.exec_driver_sql("UPDATE refund SET state = 'approved'")
            engine.dispose()

    with st.Guard(desk, Binding(url, {}), verified=st.verify(desk, "steady")) as guard:
        sa.event.listen(sa.Engine, "after_cursor_execute", write)
        try:
            assert guard.check("approve", {"r": 7, "c": BOB}).allowed  # as it was when it began
        finally:
            sa.event.remove(sa.Engine, "after_cursor_execute", write)
        assert written
        assert guard.check("approve", {"r": 7, "c": BOB}).reason == "not offered"
        assert guard.check("pay", {"r": 7}).allowed


def test_a_statement_that_failed_in_a_function_is_not_taken_for_done(url, tmp_path):
    """PostgreSQL undoes the transaction then, also if the function goes on."""
    add(url, (1, ANN, "approved", 1))

    def pay(connection, r):
        connection.execute(sa.text("UPDATE refund SET state = 'paid' WHERE id = :r"), {"r": r})
        with suppress(sa.exc.SQLAlchemyError):
            connection.exec_driver_sql("SELECT nothing FROM nowhere")

    with guarded(url, log=tmp_path / "log") as guard:
        with pytest.raises(st.InputError, match="has failed, and nothing is changed"):
            guard.call("pay", {"r": 1}, pay)
        assert guard.check("pay", {"r": 1}).allowed
    assert st.replay_audit_log(tmp_path / "log", st.parse_deployment(DESK)).outcomes == {"failed": 1}


def commits(connection):
    connection.commit()


def commits_by_hand(connection):
    connection.exec_driver_sql("COMMIT")


@pytest.mark.parametrize("end", [commits, commits_by_hand])
def test_a_function_that_ends_its_transaction_is_not_logged_as_done(url, tmp_path, end):
    add(url, (1, ANN, "approved", 1))
    with guarded(url, log=tmp_path / "log") as guard, pytest.raises(st.InputError, match="has ended its"):
        guard.call("pay", {"r": 1}, lambda connection, r: end(connection))
    assert st.replay_audit_log(tmp_path / "log", st.parse_deployment(DESK)).outcomes == {"unknown": 1}


def test_more_threads_than_connections_take_their_turns(url):
    """Each that holds others off takes a second connection to check."""
    add(url, (1, ANN, "approved", 1))
    decisions = []

    def look():
        with guard.one_by_one("pay", {"r": 1}) as decision:
            decisions.append(decision.allowed)

    with guarded(url) as guard:
        threads = [threading.Thread(target=look) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert decisions == [True] * 20


@pytest.mark.parametrize("content", ["NaN", "Infinity"])
def test_a_number_that_is_none_stands_for_no_call(databases, content):
    made = databases()
    engine = sa.create_engine(made)
    with engine.begin() as connection:
        connection.exec_driver_sql(TABLES.replace("id INTEGER", "id NUMERIC"))
        connection.execute(sa.text("INSERT INTO clerk VALUES (:id, 'high')"), {"id": ANN})
        for number in (content, "1"):
            row = {"id": number, "asker": ANN}
            connection.execute(sa.text("INSERT INTO refund VALUES (:id, :asker, 'approved', 1)"), row)
    engine.dispose()
    with guarded(made) as guard:
        assert [call for call in guard.calls() if call.tool == "pay"] == [ToolCall("pay", {"r": 1})]
        assert guard.check("pay", {"r": 1}).allowed


def test_names_and_texts_that_sql_could_take_for_its_own(databases):
    """They are neither statements nor places for parameters."""
    made = databases()
    odd = st.parse_deployment("deployment odd sort item relation X(id: item) tool drop(x: item) guard X(x)")
    table, column = 'we"ird; %s DROP TABLE x --', "co l%(x)s:y'?"
    texts = ["'; DROP TABLE x; --", '"', "%s", "%(arg_x)s", ":arg_x", "?", "é", "e\u0301", "\\", " ", "NULL"]
    items = sa.Table(table, sa.MetaData(), sa.Column(column, sa.String))
    engine = sa.create_engine(made)
    items.metadata.create_all(engine)
    with engine.begin() as connection:
        for text in texts[::2]:
            connection.execute(items.insert().values({column: text}))
    bound = Binding(made, {}, relations={"X": Rows(table, (column,))})
    with st.Guard(odd, bound, bounds=False) as guard:
        assert [guard.check("drop", {"x": text}).allowed for text in texts] == [
            number % 2 == 0 for number in range(len(texts))
        ]
        assert {call.arguments["x"] for call in guard.calls()} == set(texts[::2])
        [index] = guard.indices
    with engine.begin() as connection:
        connection.connection.cursor().execute(index)
    engine.dispose()
    with st.Guard(odd, bound, bounds=False) as guard:
        assert guard.indices == []
