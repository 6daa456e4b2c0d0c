"""A deployment against the desk that runs: they agree, and each fault planted in the desk is found."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import case_desk as desk
import pytest
import sqlalchemy as sa

import stead_sym as st
from stead_sym.conformance.binding import Binding, Rows
from stead_sym.conformance.conform import conform
from stead_sym.errors import InputError, Undecided


def test_the_desk_is_what_its_file_says():
    found = conform(desk.deployment(), desk.binding())
    assert not found.differences
    assert not found.unloaded
    assert found.agrees
    assert found.complete
    assert not found.unbound
    assert all(one.offered and one.not_offered and not one.untaken for one in found.tools.values())


@pytest.mark.parametrize("fault", desk.FAULTS)
def test_a_planted_fault_is_found(fault):
    tool, broken = desk.FAULTS[fault]
    found = conform(desk.deployment(), desk.binding(**{tool: broken}))
    assert found.differences or found.unloaded, fault
    assert {difference.call.tool for difference in found.differences} == {tool}
    smallest = min(len(difference.before) for difference in found.differences)
    assert smallest <= 6


def small(tool="", **binding):
    """A deployment of one relation with an anonymous column, and a database with columns beside it."""
    file = "deployment d\nsort a\nsort kind = { x, y } rigid\n"
    file += "relation P(id: a key, kind: kind)\nrelation Open(a)\n"
    file += "init\n  P(one, x)\n  Open(one)\ntool flip(i: a)\n  guard P(i, x)\n  effect\n    set P(i, y)\n"
    schema = "CREATE TABLE p (id TEXT PRIMARY KEY, kind TEXT NOT NULL, open INTEGER NOT NULL,"
    schema += " total NUMERIC NOT NULL)"
    given = {
        "tools": {"flip": "UPDATE p SET kind = 'y' WHERE id = :i"},
        "scratch": True,
        "schema": schema,
        "relations": {"Open": Rows("p", ("id",), {"open": 1})},
        "defaults": {"p": {"open": 0, "total": 3}},
    }
    return st.parse_deployment(f"{file}{tool}\nterminal"), Binding("sqlite://", **{**given, **binding})


def test_relations_share_the_rows_of_a_table_and_the_rest_has_defaults():
    found = conform(*small())
    assert found.agrees
    assert found.tools["flip"].offered == 1


def test_a_state_that_the_database_refuses_is_named_with_its_reason():
    deployment, binding = small(
        "event drop(i: a)\n  guard P(i, y)\n  effect\n    delete Open(i)\n    delete P(i, _)\n"
    )
    checked = binding.schema.replace("total NUMERIC", "total NUMERIC CHECK (kind = 'z')")
    found = conform(deployment, replace(binding, schema=checked))
    assert not found.agrees
    assert found.unbound == ("drop",)
    [(reason, state)] = found.unloaded.items()
    assert "CHECK" in reason
    assert len(state) == 2


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"scratch": False}, "not marked as a scratch database"),
        ({"schema": ""}, "no table stands for P"),
        ({"relations": {}}, "no table stands for Open"),
        ({"relations": {"Open": Rows("q", ("id",))}}, "table q, which is not there"),
        ({"relations": {"Open": Rows("p", ("id", "kind"))}}, "has 1 columns and is bound to 2"),
        ({"relations": {"Open": Rows("p", ("no",))}}, "p.no, which is not there"),
        ({"tools": {"flop": "SELECT 1"}}, "flop, which is no tool"),
        ({"tools": {"flip": lambda j: None}}, "the function of flip cannot be called with i"),
        ({"schema": "CREATE TABL p (id TEXT)"}, "cannot be used"),
        ({"defaults": {"p": {"open": 0}}}, r"no relation has total; .* defaults={'p': {'total': …}}"),
        ({"tools": {"flip": "UPDATE p SET kind = 'y' WHERE id = :j"}}, "the SQL of flip has :j, .*name one"),
        ({"tools": {"flip": dict}}, "the function of flip does not tell its parameters"),
        ({"relations": {"Open": Rows("p", ("id",), {"kind": "x"})}}, "read back"),
    ],
)
def test_a_binding_that_does_not_fit_is_an_error_in_one_line(changed, says):
    with pytest.raises(InputError, match=says) as error:
        conform(*small(**changed))
    assert "\n" not in str(error.value)


def test_a_file_that_reads_the_past_cannot_be_compared():
    deployment, binding = small("tool again(i: a)\n  guard once P(i, y)\n  effect\n    set P(i, x)\n")
    with pytest.raises(InputError, match="reads the past"):
        conform(deployment, binding)


def test_a_file_that_breaks_its_bound_cannot_be_compared():
    deployment, binding = small("tool more()\n  effect\n    fresh i: a\n    insert P(i, x)\nbound a 1\n")
    with pytest.raises(Undecided, match="breaks it: bound a 1; `stead-sym verify` shows which and a remedy"):
        conform(deployment, binding)


def test_a_limit_is_not_taken_for_agreement():
    found = conform(desk.deployment(), desk.binding(), max_states=3)
    assert (found.states, found.complete, found.agrees) == (3, False, True)


def test_identifiers_are_spelled_as_the_binding_says():
    seen = []

    def flip(connection, i):
        seen.append(i)
        connection.exec_driver_sql("UPDATE p SET kind = 'y' WHERE id = ?", (i,))

    deployment, binding = small(tools={"flip": flip})
    assert conform(deployment, replace(binding, identifiers={"a": lambda n: f"T-{n:03}"})).agrees
    assert "T-001" in seen


# careless and hostile systems


def test_a_database_with_rows_is_refused_and_left_as_it_is(tmp_path):
    deployment, binding = small()
    url = f"sqlite:///{tmp_path}/production.db"
    with sa.create_engine(url).begin() as connection:
        connection.exec_driver_sql(binding.schema)
        connection.exec_driver_sql("INSERT INTO p VALUES ('mine', 'x', 1, 1)")
    with pytest.raises(InputError, match=r"the table p of .* has rows, which would be lost"):
        conform(deployment, replace(binding, database=url))
    with sa.create_engine(url).connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM p").scalar() == 1


def test_tables_that_no_relation_is_bound_to_keep_their_rows(tmp_path):
    deployment, binding = small()
    url = f"sqlite:///{tmp_path}/shared.db"
    with sa.create_engine(url).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE kinds (kind TEXT PRIMARY KEY)")
        connection.exec_driver_sql("INSERT INTO kinds VALUES ('x'), ('y')")
        connection.exec_driver_sql(binding.schema)
    flip = "UPDATE p SET kind = 'y' WHERE id = :i AND EXISTS (SELECT 1 FROM kinds WHERE kind = 'y')"
    for _ in range(2):  # the first time leaves nothing
        assert conform(deployment, replace(binding, database=url, tools={"flip": flip})).agrees
    with sa.create_engine(url).connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM kinds").scalar() == 2
        assert connection.exec_driver_sql("SELECT count(*) FROM p").scalar() == 0


def test_no_message_shows_a_password():
    deployment, binding = small(scratch=False)
    binding = replace(
        binding, database="postgresql+psycopg://me:hunter2@nowhere.invalid/x?sslpassword=hunter2"
    )
    for changed in (binding, replace(binding, scratch=True)):
        with pytest.raises(InputError) as error:
            conform(deployment, changed)
        assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError, GeneratorExit, RecursionError])
def test_whatever_a_tool_raises_is_a_refusal(error):
    def flip(i):
        raise error

    deployment, binding = small(tools={"flip": flip})
    [difference] = conform(deployment, binding).differences
    assert (difference.kind, difference.said) == ("refused", error.__name__)


def test_ctrl_c_amid_a_tool_ends_the_comparison():
    def flip(i):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conform(*small(tools={"flip": flip}))


def _update(connection, i):
    connection.exec_driver_sql("UPDATE p SET kind = 'y' WHERE id = ?", (i,))


def committing(connection, i):
    """Commit and close the connection."""
    _update(connection, i)
    connection.commit()
    connection.close()


def nesting(connection, i):
    """Roll back to a savepoint, and write again."""
    with connection.begin():
        savepoint = connection.begin_nested()
        _update(connection, i)
        savepoint.rollback()
        _update(connection, i)


async def waiting(connection, i):
    """Be a coroutine."""
    await asyncio.sleep(0)
    _update(connection, i)


def threaded(connection, i):
    """Work in another thread."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_update, connection, i).result()


@pytest.mark.parametrize("flip", [committing, nesting, waiting, threaded])
def test_tools_use_their_connection_as_they_like(flip):
    assert conform(*small(tools={"flip": flip})).agrees


def test_a_lock_that_a_tool_keeps_is_an_error_that_names_the_call(tmp_path):
    url = f"sqlite:///{tmp_path}/scratch.db"
    kept = []

    def flip(i):
        kept.append(sa.create_engine(url, connect_args={"timeout": 0.5}).connect())
        _update(kept[-1], i)

    deployment, binding = small(tools={"flip": flip})
    with pytest.raises(
        InputError, match=r"after flip\(a_unknown\) the tables cannot be emptied .*let the tool close"
    ):
        conform(deployment, replace(binding, database=url))
    for connection in kept:
        connection.close()


def test_a_column_may_hold_what_is_no_value():
    schema = "CREATE TABLE p (id TEXT PRIMARY KEY, kind JSON, open INTEGER, total INTEGER)"
    flip = """UPDATE p SET kind = '["y"]' WHERE id = :i"""
    [difference] = conform(*small(schema=schema, tools={"flip": flip})).differences
    assert difference.kind == "value not listed"
    assert "a list" in difference.said


def test_names_may_be_keywords_and_identifiers_numbers():
    file = "deployment d\nsort item\nsort kind = { x, y } rigid\nrelation Group(id: item key, kind: kind)\n"
    file += "init\n  Group(one, x)\ntool flip(i: item)\n  guard Group(i, x)\n  effect\n    set Group(i, y)\n"
    file += "terminal"
    schema = 'CREATE TABLE "group" ("order" INTEGER PRIMARY KEY, "a kind" TEXT NOT NULL)'
    binding = Binding(
        "sqlite://",
        {"flip": """UPDATE "group" SET "a kind" = 'y' WHERE "order" = :i"""},
        scratch=True,
        schema=schema,
        relations={"Group": Rows("group", ("order", "a kind"))},
    )
    assert conform(st.parse_deployment(file), binding).agrees


def test_null_is_no_fact_and_a_tool_that_writes_it_is_found():
    schema = "CREATE TABLE p (id TEXT PRIMARY KEY, kind TEXT, open INTEGER, total INTEGER)"
    [difference] = conform(
        *small(schema=schema, tools={"flip": "UPDATE p SET kind = NULL WHERE id = :i AND kind = 'x'"})
    ).differences
    assert difference.kind == "other result"
    assert not difference.found.tuples("P")


def test_literals_of_guards_that_were_not_seen_both_ways_are_named():
    deployment, binding = small(
        "tool stop(i: a)\n  guard P(i, x) & (Open(i) | i = one | exists j: a. P(j, y))\n"
    )
    found = conform(deployment, replace(binding, tools={**binding.tools, "stop": "SELECT 1"}))
    assert found.agrees
    assert (found.tools["flip"].literals, found.tools["flip"].never) == (1, ())
    assert found.tools["stop"].literals == 4
    assert found.tools["stop"].never == ()
    deployment, binding = small("tool stop(i: a)\n  guard P(i, x) & ~(exists j: a. P(j, x) & P(j, y))\n")
    found = conform(deployment, replace(binding, tools={**binding.tools, "stop": "SELECT 1"}))
    [(literal, truth)] = found.tools["stop"].never
    assert (literal.startswith("exists j"), truth) == (True, True)
