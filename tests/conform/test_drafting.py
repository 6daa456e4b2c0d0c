"""Guards and effects drafted from what tools change: what the templates explain, and what they do not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa
from random_databases import compare_calls

import stead_sym as st
import stead_sym.logic.syntax as fo
from refund_app.binding import binding as refunds
from refund_app.faults import FAULTS
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import conform, reached
from stead_sym.conformance.drafting.drafted import draft_tools, has_effect
from stead_sym.conformance.drafting.states import States
from stead_sym.conformance.drafting.text import text_with
from stead_sym.conformance.walks import small_restriction
from stead_sym.deployment.semantics import calls_of, databases
from stead_sym.deployment.tool import Effect
from stead_sym.errors import InputError
from stead_sym.relational.canonical import isomorphic

REFUNDS = Path(__file__).parents[2] / "examples" / "refund_app" / "refunds.stead"

SHOP = """\
deployment shop
sort customer, item
sort status = { open, paid, sent } rigid
sort level = 0..5
relation Customers(id: customer key, level: level)
relation Items(id: item key, owner: customer references Customers, status: status)
relation Notes(item: item key references Items, author: customer references Customers)
"""
SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, level INTEGER NOT NULL);
CREATE TABLE items (
  id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES customers,
  status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'sent')), seen INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE notes (item INTEGER PRIMARY KEY REFERENCES items, author INTEGER NOT NULL REFERENCES customers);
CREATE TABLE log (line TEXT);
"""


def shop(head, run, text=SHOP):
    """The draft of one tool of the shop."""
    name = head.partition("(")[0]
    deployment = st.parse_deployment(f"{text}tool {head}\n  effect\nterminal\n")
    binding = Binding("sqlite://", {name: run}, scratch=True, schema=SCHEMA)
    drafted = draft_tools(deployment, binding, max_runs=600)
    [made] = drafted.tools
    return made, text_with(deployment, drafted)


EXPLAINED = {
    "a constant": (
        "pay(i: item)",
        "UPDATE items SET status = 'paid' WHERE id = :i AND status = 'open'",
        ["guard Items(i, _, open)", "effect", "  set Items(i).status = paid"],
    ),
    "a parameter": (
        "give(i: item, c: customer)",
        "UPDATE items SET owner = :c WHERE id = :i AND status = 'open'"
        " AND EXISTS (SELECT 1 FROM customers WHERE id = :c)",
        None,
    ),
    "looked up by a key": (
        "note_owner(i: item)",
        "INSERT INTO notes SELECT id, owner FROM items WHERE id = :i AND status = 'sent'"
        " AND id NOT IN (SELECT item FROM notes)",
        [
            "guard Items(i, _, sent) & ~Notes(i, _)",
            "effect",
            "  insert Notes(i, c) for c: customer where Items(i, c, _)",
        ],
    ),
    "the old value and one": (
        "promote(c: customer)",
        "UPDATE customers SET level = level + 1 WHERE id = :c AND level < 5",
        None,
    ),
    "an order": (
        "raise_to(c: customer, l: level)",
        "UPDATE customers SET level = :l WHERE id = :c AND level < :l",
        None,
    ),
    "fresh": (
        "order(c: customer)",
        "INSERT INTO items (owner, status) SELECT id, 'open' FROM customers WHERE id = :c",
        ["guard Customers(c, _)", "effect", "  fresh i: item", "  insert Items(i, c, open)"],
    ),
    "rows that are deleted": (
        "forget(c: customer)",
        "DELETE FROM notes WHERE author = :c",
        ["guard Notes(_, c)", "effect", "  delete Notes(_, c)"],
    ),
    "rows of another table": (
        "forget_open(c: customer)",
        "DELETE FROM notes WHERE author = :c AND item IN (SELECT id FROM items WHERE status = 'open')",
        None,
    ),
    "two of them": (
        "merge(c: customer)",
        "UPDATE customers SET level = 0 WHERE id = :c AND level > 0"
        " AND (SELECT COUNT(*) FROM items WHERE owner = :c) >= 2",
        None,
    ),
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_templates_explain_is_drafted_and_agrees_with_the_system(name):
    head, run, body = EXPLAINED[name]
    made, text = shop(head, run)
    assert made.why is None
    assert made.is_drafted
    if body is not None:
        assert made.body == body
    binding = Binding("sqlite://", {head.partition("(")[0]: run}, scratch=True, schema=SCHEMA)
    offered, differences = on_other_states(text, binding, 97)
    assert offered > 5
    assert differences == []


def on_other_states(text, binding, seed, number=150):
    """Return how many calls a file offers on random databases, and how the system differs from it there."""
    found = [*compare_calls(st.parse_deployment(text), binding, seed=seed, number=number)]
    return sum(offered for offered, _ in found), [one for _, one in found if one is not None]


def test_a_draft_says_what_supports_it_and_that_it_may_be_wrong():
    made, text = shop(*EXPLAINED["a constant"][:2])
    assert f"Drafted from {made.runs} runs" in text
    assert f"{made.changed} changed something" in text
    assert "`stead-sym conform`" in text
    assert f"guard Items(i, _, open)  # {made.guard[0].alone} runs excluded by this alone" in text
    assert made.guard[0].alone > 0
    assert made.later > 0


# tools that no template explains


def test_a_tool_that_raises_after_a_write_is_refused_and_one_that_has_committed_is_not():
    def pay(connection, i, commit):
        connection.exec_driver_sql("UPDATE items SET status = 'paid' WHERE id = ?", (i,))
        if commit:
            connection.commit()
        raise RuntimeError("late")

    made, text = shop("pay(i: item)", lambda connection, i: pay(connection, i, False))
    assert (made.why, made.changed) == ("no run changed anything", 0)
    assert "no run changed anything" in text
    made, text = shop("pay(i: item)", lambda connection, i: pay(connection, i, True))
    assert made.raised == made.changed > 0
    assert "Refused though it had changed something" in text
    assert made.body[-1] == "  set Items(i).status = paid"


def test_a_tool_with_a_hidden_dependency_is_not_drafted_and_the_smallest_run_is_shown():
    def pay(connection, i):
        rows = connection.exec_driver_sql("SELECT count(*) FROM customers").scalar()
        levels = connection.exec_driver_sql("SELECT coalesce(sum(level), 0) FROM customers").scalar()
        status = "paid" if (rows + levels) % 2 else "sent"
        connection.exec_driver_sql("UPDATE items SET status = ? WHERE id = ?", (status, i))

    made, text = shop("pay(i: item)", pay)
    assert not made.is_drafted
    assert "Items.status" in made.why
    assert made.shown
    assert "# Not drafted: no template explains the value of Items.status" in text
    assert "call    pay(" in text
    assert not has_effect(st.parse_deployment(text).tool("pay"))


def test_a_guard_that_no_template_says_is_not_drafted():
    def pay(connection, i):
        levels = connection.exec_driver_sql("SELECT coalesce(sum(level), 0) FROM customers").scalar()
        if levels % 2 == 0:
            connection.exec_driver_sql("UPDATE items SET status = 'paid' WHERE id = ?", (i,))

    made, _ = shop("pay(i: item)", pay)
    assert not made.is_drafted
    assert made.why is not None
    [run] = made.shown
    assert len(run.before) <= 4


def test_a_tool_that_runs_differently_each_time_is_not_drafted():
    turn = itertools.count()

    def pay(connection, i):
        status = ("paid", "sent", "open")[next(turn) % 3]
        connection.exec_driver_sql("UPDATE items SET status = ? WHERE id = ?", (status, i))

    made, text = shop("pay(i: item)", pay)
    assert not made.is_drafted
    assert "end differently" in made.why
    one, other = made.shown
    assert (one.call, one.before) == (other.call, other.before)
    assert one.after != other.after
    assert "end differently" in text


def test_what_a_tool_writes_beside_the_relations_is_said():
    made, text = shop(
        "pay(i: item)",
        [
            "UPDATE items SET status = 'paid', seen = seen + 1 WHERE id = :i",
            "INSERT INTO log SELECT 'paid' FROM items WHERE id = :i",
        ],
    )
    assert set(made.beyond) == {"items.seen", "log"}
    assert made.body[-1] == "  set Items(i).status = paid"
    assert "which no relation has" in text


def test_a_value_that_no_sort_lists_is_shown():
    made, _ = shop(
        "pay(i: item)", "UPDATE customers SET level = 9 WHERE id IN (SELECT owner FROM items WHERE id = :i)"
    )
    assert not made.is_drafted
    assert "no sort lists" in made.why


def test_a_call_with_what_is_not_there_that_changes_something_is_said():
    made, text = shop("add(c: customer)", "INSERT OR IGNORE INTO customers VALUES (:c, 0)")
    assert not made.is_drafted
    assert made.why == "no run changed anything"
    assert made.outside is not None
    assert "a value is not there" in " ".join(text.replace("#", " ").split())


# what is left alone, and what is refused


def test_tools_with_an_effect_are_left_alone_unless_they_are_named():
    deployment = st.load(REFUNDS)
    assert draft_tools(deployment, refunds, max_runs=4).tools == ()
    drafted = draft_tools(deployment, refunds, named=["pay_refund"], max_runs=200)
    assert [made.tool.name for made in drafted.tools] == ["pay_refund"]
    assert set(draft_tools(deployment, replace(refunds, tools={}), max_runs=4).left) == {
        t.name for t in deployment.tools
    }
    with pytest.raises(InputError, match="there is no tool pay; there are"):
        draft_tools(deployment, refunds, named=["pay"])


def test_only_a_scratch_database_without_rows_is_used(tmp_path):
    deployment = st.load(REFUNDS)
    with pytest.raises(InputError, match="scratch"):
        draft_tools(deployment, replace(refunds, scratch=False))
    url = f"sqlite:///{tmp_path}/live.db"
    engine = sa.create_engine(url)
    refunds.schema(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO staff VALUES (1, 'ann')")
    with pytest.raises(InputError, match="has rows, which would be lost"):
        draft_tools(deployment, replace(refunds, database=url))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT name FROM staff").scalar() == "ann"


def test_the_same_seed_makes_the_same_draft():
    deployment = st.load(REFUNDS)
    first, second = (draft_tools(deployment, refunds, named=["cancel_order"], max_runs=120) for _ in range(2))
    assert text_with(deployment, first) == text_with(deployment, second)


def test_the_rest_of_the_text_stays_as_it_was():
    text = REFUNDS.read_text(encoding="utf-8").replace("tool pay_refund", "# keep this\ntool pay_refund")
    deployment = st.parse_deployment(text)
    drafted = draft_tools(deployment, refunds, named=["pay_refund"], max_runs=200)
    lines = text_with(deployment, drafted).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("tool pay_refund"))
    end = next(n for n, line in enumerate(lines) if line.startswith("tool cancel_order"))
    before = text.splitlines()
    assert lines[: start + 1] == before[: start + 1]
    assert lines[end:] == before[before.index(lines[end]) :]


# the refund desk, against what was written by hand


@pytest.fixture(scope="module")
def drafted_refunds():
    deployment = st.load(REFUNDS)
    drafted = draft_tools(deployment, refunds, named=[tool.name for tool in deployment.tools])
    return drafted, st.parse_deployment(text_with(deployment, drafted))


def test_the_tools_of_the_refund_desk_are_drafted_as_they_were_written(drafted_refunds):
    _, made = drafted_refunds
    hand = st.load(REFUNDS)
    there = reached(hand)
    compared = 0
    for state in there.states:
        fixed = frozenset().union(*state.active_domain.values(), *hand.constants.values())
        for tool in hand.tools:
            calls = calls_of(hand, tool, state)
            assert calls == calls_of(made, made.tool(tool.name), state)
            for call in calls:
                restriction = small_restriction(hand, state)
                mine, theirs = (list(databases(d, call, state, restriction)) for d in (hand, made))
                assert len(mine) == len(theirs) == 1
                assert isomorphic(mine[0], theirs[0], fixed)
                compared += 1
    assert compared > 50


def test_the_drafted_refund_desk_conforms_and_verifies(drafted_refunds):
    drafted, made = drafted_refunds
    assert all(one.is_drafted and one.later for one in drafted.tools)
    assert conform(made, refunds).agrees
    assert all(verdict.holds for verdict in st.verify(made, "any").verdicts.values())


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_faulty_tool_is_drafted_as_it_runs_or_not_at_all(fault):
    tool, function = FAULTS[fault]
    faulty = replace(refunds, tools={**refunds.tools, tool: function})
    deployment = st.load(REFUNDS)
    drafted = draft_tools(deployment, faulty, named=[tool])
    [made] = drafted.tools
    if made.is_drafted:
        alone = replace(faulty, tools={tool: function})
        assert on_other_states(text_with(deployment, drafted), alone, 98)[1] == []
    else:
        assert made.shown


def test_neighbours_differ_in_a_fact_and_keep_keys_and_references():
    deployment = st.load(REFUNDS)
    states = States(deployment, Random(3))
    seen = 0
    for _ in range(60):
        state = states.random_state()
        if state is None:
            continue
        for other in states.neighbours(state):
            assert other != state
            assert states.is_sound(other)
            seen += 1
    assert seen > 100


def test_a_tool_is_empty_only_if_nothing_is_said_of_it():
    tool = st.parse_deployment(f"{SHOP}tool pay(i: item)\n  effect\nterminal\n").tool("pay")
    assert not has_effect(tool)
    assert (tool.guard, tool.effects) == (fo.TRUE, (Effect(),))


def test_a_draft_replaces_all_lines_of_the_one_before():
    """Also the later lines of long comments, and comments on lines of their own; others are kept."""
    own = "  # by hand: a comment of the author, which is long enough that it ends near the end of a line,\n"
    own += "  # and goes on after it\n"
    file = REFUNDS.read_text().replace("  guard Orders(order_id, _) &", f"{own}  guard Orders(order_id, _) &")
    deployment = st.parse_deployment(file)
    names = [tool.name for tool in deployment.tools]
    drafted = draft_tools(deployment, refunds, named=names, max_runs=200)
    text = text_with(deployment, drafted)
    assert text.count(own) == file.count(own) == 2
    assert "excluded by this alone\n" in text
    assert text_with(st.parse_deployment(text), drafted) == text
