"""Systems that do what tools should not: each ends with a line that names the call, or is seen through."""

from __future__ import annotations

import time
from dataclasses import replace
from io import StringIO

import pytest
import sqlalchemy as sa

import stead_sym as st
from postgresql import server
from stead_sym.conformance import calling
from stead_sym.conformance.binding import Binding, sql_tools
from stead_sym.conformance.conform import conform
from stead_sym.conformance.drafting.drafted import draft_tools
from stead_sym.conformance.drafting.text import text_with
from stead_sym.conformance.printed import print_conformance
from stead_sym.conformance.system import System
from stead_sym.errors import InputError
from stead_sym.report.streams import console_on

FILE = """deployment items
sort item
sort status = { open, closed } rigid
relation Item(id: item key, status: status)
initially any Item
bound item 2
tool close(item: item)
  guard Item(item, open)
  effect
    set Item(item).status = closed
terminal
"""
SCHEMA = "CREATE TABLE item (id INTEGER PRIMARY KEY, status TEXT NOT NULL)"


def items(close, **binding):
    given = {"database": "sqlite://", "scratch": True, "schema": SCHEMA, **binding}
    return st.parse_deployment(FILE), Binding(tools={"close": close}, **given)


def closing(connection, item):
    done = sa.text("UPDATE item SET status = 'closed' WHERE id = :item AND status = 'open'")
    if connection.execute(done, {"item": item}).rowcount == 0:
        raise ValueError("not open")


def printed(deployment, found):
    out = StringIO()
    print_conformance(deployment, found, console_on(out))
    return out.getvalue()


class Odd(BaseException):
    """No `Exception`."""


class Mute(Exception):
    """An exception whose text cannot be had."""

    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("raised", "said"),
    [(Odd("odd"), "odd"), (Mute(), "Mute"), (SystemExit(3), "3"), (ValueError("a\x1b[31m"), "a\\x1b[31m")],
)
def test_whatever_a_tool_raises_refuses_the_call(raised, said):
    def close(item):
        raise raised

    [difference] = conform(*items(close)).differences
    assert (difference.kind, difference.said) == ("refused", said)


def test_a_call_that_is_done_and_raises_an_error_is_told():
    """The agent is told that it was refused, which the state does not show."""

    def close(connection, item):
        closing(connection, item)
        connection.commit()
        raise TimeoutError("no answer")

    deployment, binding = items(close)
    found = conform(deployment, binding)
    assert found.agrees
    assert found.tools["close"].raised == found.tools["close"].offered == 4
    said = "close: 4 calls raised an error, and did what the file says all the same"
    assert said in printed(deployment, found)
    assert conform(*items(closing)).tools["close"].raised == 0


def after_each(statement, **binding):
    """The tool, with one more statement after it, if it changed something."""

    def close(connection, item):
        closing(connection, item)
        connection.exec_driver_sql(statement)
        connection.commit()

    return items(close, **binding)


@pytest.mark.parametrize(
    "statement",
    ["DROP TABLE item", "ALTER TABLE item RENAME COLUMN status TO state", "PRAGMA query_only = ON"],
)
def test_a_tool_after_which_the_tables_are_not_as_before_is_named(statement):
    with pytest.raises(InputError, match="the tables cannot be emptied or read") as error:
        conform(*after_each(statement))
    assert str(error.value).startswith("after close(item1) ")
    assert "\n" not in str(error.value)


def test_a_table_that_a_tool_makes_does_no_harm():
    assert conform(*after_each("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)")).agrees


def test_a_tool_that_changes_what_is_loaded_later_is_named():
    def close(connection, item):
        closing(connection, item)
        connection.exec_driver_sql(
            "CREATE TRIGGER IF NOT EXISTS t AFTER INSERT ON item BEGIN UPDATE item SET status = 'closed'; END"
        )

    with pytest.raises(InputError, match=r"what is read back is not .* what close\(item1\) has left there"):
        conform(*items(close))


def test_a_tool_that_changes_in_the_last_call_of_all_what_is_loaded_later_is_named():
    made = []

    def counted(connection, item):
        made.append(item)
        closing(connection, item)

    assert conform(*items(counted)).agrees
    calls = 2 * len(made)

    def close(connection, item):
        if len(made) == calls - 1:
            connection.exec_driver_sql("INSERT INTO item VALUES (99, 'open')")
            connection.exec_driver_sql(
                "CREATE TRIGGER t AFTER INSERT ON item BEGIN UPDATE item SET status = 'closed'; END"
            )
        else:
            counted(connection, item)

    with pytest.raises(InputError, match=r"what is read back is not .* what close\(item_unknown\) has left"):
        conform(*items(close))


def test_a_state_is_loaded_once_for_all_calls_that_change_nothing(monkeypatch):
    loads, load = [], System.load

    def noted(system, state):
        loads.append(state)
        load(system, state)

    monkeypatch.setattr(System, "load", noted)
    found = conform(*items(closing))
    assert found.agrees
    done = found.tools["close"].offered
    assert done > 1
    assert found.states <= len(loads) <= found.states + done


def test_a_connection_in_memory_that_a_tool_ends_is_named_with_a_remedy():
    def close(connection, item):
        closing(connection, item)
        connection.commit()
        connection.invalidate()

    with pytest.raises(InputError, match=r"after close\(item1\) .*bind a file"):
        conform(*items(close))


@pytest.mark.parametrize("waits", [lambda: time.sleep(60), lambda: all(iter(int, 1))])
def test_a_call_that_does_not_end_is_an_error(monkeypatch, waits):
    monkeypatch.setattr(calling, "CALL_SECONDS", 0.05)

    def close(item):
        while True:
            try:
                waits()
            except Exception:  # noqa: BLE001 (as tools do that try again)
                continue

    with pytest.raises(InputError, match=r"close\(item\w+\) has not ended after 0.05 s; see to what"):
        conform(*items(close))


def test_a_statement_that_does_not_end_is_an_error(monkeypatch):
    monkeypatch.setattr(calling, "CALL_SECONDS", 0.05)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    with pytest.raises(InputError, match=r"has not ended after 0\.05 s"):
        conform(
            *items(f"{endless} UPDATE item SET status = 'open' WHERE id = :item + (SELECT max(i) FROM n)")
        )


def test_the_limit_of_a_call_is_gone_after_it(monkeypatch):
    monkeypatch.setattr(calling, "CALL_SECONDS", 0.3)
    assert conform(*items(closing)).agrees
    time.sleep(0.4)


# what is left in columns that no relation has


def test_each_call_begins_with_what_was_loaded_also_in_columns_that_no_relation_has():
    marking = "tool mark(item: item)\n  guard Item(item, _)\n  effect\nterminal"
    deployment = st.parse_deployment(FILE.replace("terminal", marking))
    unmarked = "UPDATE item SET status = 'closed' WHERE id = :item AND status = 'open' AND marked = 0"
    binding = Binding(
        "sqlite://",
        {"mark": "UPDATE item SET marked = 1 WHERE id = :item", "close": unmarked},
        scratch=True,
        schema=SCHEMA.replace(")", ", marked INTEGER NOT NULL DEFAULT 0)"),
    )
    assert conform(deployment, binding).agrees
    [difference] = conform(deployment, binding, walks=30).differences
    assert [call.tool for call in difference.walk.calls] == ["mark", "close"]


def test_what_a_tool_changes_beyond_the_relations_is_told():
    """The agreement says nothing of it, nor of what reads it."""

    def close(connection, item):
        closing(connection, item)
        connection.exec_driver_sql("INSERT INTO log VALUES ('closed')")

    deployment, binding = items(close, schema=f"{SCHEMA};\nCREATE TABLE log (what TEXT);\n")
    found = conform(deployment, binding)
    assert found.agrees
    assert found.tools["close"].beyond == ("log",)
    assert "close: it also changes log, which no relation has" in printed(deployment, found)
    assert not conform(*items(closing)).tools["close"].beyond


def test_a_tool_that_fills_a_table_is_shown_in_few_lines():
    def close(connection, item):
        filled = "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)"
        connection.exec_driver_sql(f"{filled} INSERT INTO item SELECT i, 'open' FROM n")

    deployment, binding = items(close)
    text = printed(deployment, conform(deployment, binding))
    assert "… 1,970 more" in text
    assert len(text.splitlines()) < 100
    drafted = draft_tools(deployment, binding, named=["close"], max_runs=8)
    text = text_with(deployment, drafted)
    assert "inserts 2000 rows" in text
    assert "1,970 more" in " ".join(text.replace("#", " ").split())
    assert len(text.splitlines()) < 60


# rows that refer to each other in a circle

CIRCLES = """deployment circles
sort a, b
relation A(id: a key)
relation ABoss(id: a key references A, boss: a references A)
relation AB(id: a key references A, b: b references B)
relation B(id: b key, a: a references A)
initially any A, ABoss, AB, B
bound a 3
bound b 1
tool free(x: a)
  guard ABoss(x, _)
  effect
    delete ABoss(x, _)
terminal
"""
CIRCULAR = """PRAGMA foreign_keys = ON;
CREATE TABLE a (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES a, b INTEGER REFERENCES b);
CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a);
"""
FREE = {"free": "UPDATE a SET boss = NULL WHERE id = :x"}


def test_rows_that_refer_to_each_other_can_be_loaded(recwarn):
    binding = Binding("sqlite://", FREE, scratch=True, schema=CIRCULAR)
    found = conform(st.parse_deployment(CIRCLES), binding)
    assert found.agrees
    assert found.tools["free"].offered > 50
    assert not recwarn.list


@pytest.fixture(scope="module")
def database():
    with server() as new:
        yield new


@pytest.mark.gate
@pytest.mark.parametrize("key", ["GENERATED ALWAYS AS IDENTITY", ""])
def test_rows_that_refer_to_each_other_can_be_loaded_on_postgresql_too(key, database):
    schema = f"""CREATE TABLE a (id INTEGER {key} PRIMARY KEY, boss INTEGER REFERENCES a, b INTEGER);
CREATE TABLE b (id INTEGER {key} PRIMARY KEY, a INTEGER NOT NULL REFERENCES a);
ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b;
"""
    deployment = st.parse_deployment(CIRCLES.replace("bound a 3", "bound a 2"))
    found = conform(deployment, Binding(database(), FREE, scratch=True, schema=schema))
    assert found.agrees
    assert found.tools["free"].offered > 10


@pytest.mark.gate
def test_a_call_that_does_not_end_is_an_error_on_postgresql_too(monkeypatch, database):
    monkeypatch.setattr(calling, "CALL_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"close\(item_unknown\) has not ended after 0.2 s"):
        conform(*items("SELECT pg_sleep(60)", database=database()))
    with pytest.raises(InputError, match=r"after close\(item1\) the tables cannot be emptied or read"):
        conform(*after_each("DROP TABLE item", database=database()))


def test_rows_of_a_table_come_after_those_that_they_must_refer_to():
    text = CIRCLES.replace("relation ABoss(id: a key references A, boss: a references A)\n", "")
    text = text.replace("A(id: a key)", "A(id: a key, boss: a references A)").replace(", ABoss", "")
    text = text.replace("guard ABoss(x, _)", "guard A(x, _)").replace("delete ABoss(x, _)", "delete AB(x, _)")
    binding = Binding(
        "sqlite://",
        {"free": "UPDATE a SET b = NULL WHERE id = :x"},
        scratch=True,
        schema=CIRCULAR.replace("boss INTEGER", "boss INTEGER NOT NULL"),
    )
    found = conform(st.parse_deployment(text), binding)
    # two that must refer to each other cannot come one after the other; any other rows can
    assert found.unloaded
    assert all(_is_circle(state) for state in found.unloaded.values())
    assert found.tools["free"].offered > 10


def _is_circle(state):
    boss = dict(state.tuples("A"))
    return any(boss[boss[one]] == one and boss[one] != one for one in boss)


# tools that are SQL


def test_comments_before_a_select_do_not_hide_that_it_has_to_return_a_row():
    commented = "-- a guard\n/* of\ntwo lines */ SELECT 1 FROM item WHERE id = :item AND status = 'open';\n"
    commented += "-- the effect\nUPDATE item SET status = 'closed' WHERE id = :item"
    assert conform(*items(commented)).agrees


@pytest.mark.parametrize("spelled", [":item", "@item", "%(item)s", "sqlc.arg(item)", "$1", "$item"])
def test_parameters_are_spelled_as_import_reads_them(spelled, tmp_path):
    pytest.importorskip("sqlglot")
    text = f"-- name: close\nSELECT 1 FROM item WHERE id = {spelled} AND status = 'open'"
    text += " AND ':item' <> '@item';\n"
    text += f"UPDATE item SET status = 'closed' WHERE id = {spelled};\n"
    (tmp_path / "tools.sql").write_text(text)
    deployment, binding = items(closing)
    assert conform(deployment, replace(binding, tools=sql_tools(tmp_path / "tools.sql"))).agrees


def test_parameters_without_names_stand_for_the_places(tmp_path):
    pytest.importorskip("sqlglot")
    done = "UPDATE item SET status = 'closed' WHERE id = ? AND status = 'open' AND '?' <> ''"
    (tmp_path / "one.sql").write_text(f"-- name: close\n{done};\n")
    deployment, binding = items(closing)
    assert conform(deployment, replace(binding, tools=sql_tools(tmp_path / "one.sql"))).agrees
    (tmp_path / "two.sql").write_text(f"-- name: close\n{done} AND id <> ?;\n")
    text = FILE.replace("(item: item)\n  guard", "(item: item, other: item)\n  guard item != other &")
    found = conform(
        st.parse_deployment(text.replace("guard item", "guard Item(other, _) & item")),
        replace(binding, tools=sql_tools(tmp_path / "two.sql")),
    )
    assert {one.call.args[1] for one in found.differences} == {"item_unknown"}


def test_a_parameter_may_be_a_word_of_the_language():
    deployment, binding = items("UPDATE item SET status = 'closed' WHERE id = :by AND status = 'open'")
    text = FILE.replace("item: item)\n  guard", "by_: item)\n  guard").replace("Item(item", "Item(by_")
    assert conform(st.parse_deployment(text), binding).agrees
    assert deployment


def test_a_new_identifier_of_the_file_is_a_parameter_of_its_sql():
    more = "tool add()\n  guard ~Item(_, _)\n  effect\n    fresh i: item\n    insert Item(i, open)\nterminal"
    _, binding = items(closing)
    add = "INSERT INTO item SELECT :i, 'open' WHERE NOT EXISTS (SELECT 1 FROM item)"
    text = FILE.replace("terminal", more)
    found = conform(st.parse_deployment(text), replace(binding, tools={**binding.tools, "add": add}))
    assert found.agrees
    assert found.tools["add"].offered == 1


def test_exported_tools_are_bound_as_they_are_also_for_walks(tmp_path):
    """Each call of a walk gets a new identifier of its own."""
    pytest.importorskip("sqlglot")
    more = "tool add()\n  effect\n    fresh i: item\n    insert Item(i, open)\nterminal"
    text = FILE.replace("terminal", more).replace("initially any Item\n", "")
    text = text.replace("  effect\n    fresh", "  guard atmost 1 j: item. Item(id = j)\n  effect\n    fresh")
    deployment = st.parse_deployment(text)
    sql = st.to_sql(deployment, "sqlite")
    sql.write(tmp_path)
    binding = Binding("sqlite://", sql_tools(tmp_path / "tools.sql"), scratch=True, schema=sql.tables)
    found = conform(deployment, binding, walks=20)
    assert found.agrees
    assert found.walked > 60


def test_a_scratch_database_that_a_tool_removes_is_named(tmp_path):
    path = tmp_path / "scratch.db"

    def close(connection, item):
        closing(connection, item)
        connection.commit()
        path.unlink(missing_ok=True)

    with pytest.raises(InputError, match=r"after close\(item1\)"):
        conform(*items(close, database=f"sqlite:///{path}"))
    assert not path.exists() or not sa.inspect(sa.create_engine(f"sqlite:///{path}")).get_table_names()
