"""Transactions in SQL, and what they are translated to: the same on every small database."""

from __future__ import annotations

import re

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sqlalchemy import event as listening
from sqlalchemy.engine import Engine

from engine_pairs import examples
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import conform
from stead_sym.deployment.language import parse_deployment
from stead_sym.imports.ddl import read_ddl
from stead_sym.imports.draft import draft
from stead_sym.imports.transactions import read_transactions


@pytest.fixture(autouse=True, scope="module")
def _with_references():
    """Have SQLite keep to references, in this module only."""

    def keep(connection, _):
        if type(connection).__module__.startswith("sqlite3"):
            connection.execute("PRAGMA foreign_keys = ON")

    listening.listen(Engine, "connect", keep)
    yield
    listening.remove(Engine, "connect", keep)


SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner INTEGER NOT NULL REFERENCES people {0},
  state TEXT NOT NULL CHECK (state IN ('a', 'b')),
  by INTEGER REFERENCES people {1},
  n INTEGER NOT NULL CHECK (n BETWEEN 0 AND 1){2}
);
CREATE TABLE tags (
  item INTEGER REFERENCES items {3}, tag TEXT CHECK (tag IN ('x', 'y')), PRIMARY KEY (item, tag){4}
);
"""
COLUMNS = {
    "people": {"id": "person"},
    "items": {"id": "item", "owner": "person", "state": "state", "by": "person", "n": "n"},
    "tags": {"item": "item", "tag": "tag"},
}
LITERALS = {"state": ["'a'", "'b'"], "tag": ["'x'", "'y'"], "n": ["0", "1"]}
PARAMETERS = {"person": [":p", ":q"], "item": [":i"], "state": [":s"], "tag": [":t"], "n": [":m"]}


def columns_of(sort, scope):
    """The columns of a sort, of the rows in scope."""
    return [
        f"{alias}.{name}" for alias, table in scope for name, one in COLUMNS[table].items() if one == sort
    ]


@st.composite
def terms(draw, sort, scope):
    """A column in scope, a literal or a parameter of a sort."""
    columns = columns_of(sort, scope)
    return draw(st.sampled_from([*columns, *columns, *LITERALS.get(sort, []), *PARAMETERS[sort]]))


@st.composite
def conditions(draw, scope, depth=2):
    """A condition over the rows in scope."""
    kinds = ["compare", "compare", "null", "list"]
    if depth:
        kinds += ["not", "and", "or", "exists", "in", "count"]
    kind = draw(st.sampled_from(kinds))
    inner = f"t{len(scope)}"
    match kind:
        case "compare":
            sort = draw(st.sampled_from([one for one in sorted(PARAMETERS) if columns_of(one, scope)]))
            operator = draw(st.sampled_from(["=", "<>"] if sort != "n" else ["=", "<>", "<", ">="]))
            column = draw(st.sampled_from(columns_of(sort, scope)))
            return f"{column} {operator} {draw(terms(sort, scope))}"
        case "null":
            columns = [f"{alias}.by" for alias, table in scope if table == "items"]
            return f"{draw(st.sampled_from([*columns, ':p']))} IS{draw(st.sampled_from(['', ' NOT']))} NULL"
        case "list":
            sort = draw(st.sampled_from([one for one in sorted(PARAMETERS) if columns_of(one, scope)]))
            word = draw(st.sampled_from(["IN", "NOT IN"]))
            some = ", ".join(draw(st.lists(terms(sort, scope), min_size=1, max_size=2)))
            return f"{draw(st.sampled_from(columns_of(sort, scope)))} {word} ({some})"
        case "not":
            return f"NOT ({draw(conditions(scope, depth - 1))})"
        case "and" | "or":
            both = draw(conditions(scope, depth - 1)), draw(conditions(scope, depth - 1))
            return f"({both[0]}) {kind.upper()} ({both[1]})"
    table = draw(st.sampled_from(sorted(COLUMNS)))
    where = draw(conditions([*scope, (inner, table)], depth - 1))
    query = f"FROM {table} {inner} WHERE {where}"
    match kind:
        case "exists":
            return f"EXISTS (SELECT 1 {query})"
        case "in":
            column, sort = draw(st.sampled_from(sorted(COLUMNS[table].items())))
            word = draw(st.sampled_from(["IN", "NOT IN"]))
            return f"{draw(terms(sort, scope))} {word} (SELECT {inner}.{column} {query})"
        case _:
            counted = draw(st.sampled_from(["*", f"{inner}.{draw(st.sampled_from(sorted(COLUMNS[table])))}"]))
            operator, number = draw(st.sampled_from(["<", "=", ">="])), draw(st.integers(0, 2))
            return f"(SELECT COUNT({counted}) {query}) {operator} {number}"


@st.composite
def statements(draw):
    """A statement."""
    table = draw(st.sampled_from(["items", "items", "tags", "people"]))
    scope = [(table, table)]
    ignored = draw(st.sampled_from(["", "", " ON CONFLICT DO NOTHING"]))
    match draw(st.sampled_from(["select", "update", "delete", "insert", "from"])):
        case "select":
            return f"SELECT 1 FROM {table} WHERE {draw(conditions(scope))}"
        case "delete":
            return f"DELETE FROM {table} WHERE {draw(conditions(scope))}"
        case "update":
            scope = [("items", "items")]
            columns = draw(st.lists(st.sampled_from(["owner", "state", "by", "n"]), min_size=1, unique=True))
            changes = []
            for column in columns:
                value = draw(terms(COLUMNS["items"][column], scope))
                if column == "by":
                    value = draw(st.sampled_from([value, "NULL"]))
                if column == "n":
                    value = draw(st.sampled_from([value, "items.n + 1", ":m - 1"]))
                changes.append(f"{column} = {value}")
            return f"UPDATE items SET {', '.join(changes)} WHERE {draw(conditions(scope))}"
        case "insert":
            if table == "people":
                return "INSERT INTO people DEFAULT VALUES" if draw(st.booleans()) else "SELECT 1 FROM people"
            if table == "tags":
                cells = draw(terms("item", [])), draw(terms("tag", []))
                if draw(st.booleans()):
                    where = f"EXISTS (SELECT 1 FROM items t WHERE {draw(conditions([('t', 'items')]))})"
                    return f"INSERT INTO tags (item, tag) SELECT {', '.join(cells)} WHERE {where}{ignored}"
                return f"INSERT INTO tags (item, tag) VALUES ({', '.join(cells)}){ignored}"
            by = draw(st.sampled_from([":p", "NULL"]))
            return f"INSERT INTO items (owner, state, by, n) VALUES (:q, {draw(terms('state', []))}, {by}, 0)"
        case _:
            scope = [("items", "items")]
            where = draw(conditions(scope))
            if draw(st.booleans()):
                tag = draw(terms("tag", []))
                query = f"SELECT items.id, {tag} FROM items WHERE {where}"
                return f"INSERT INTO tags (item, tag) {query}{ignored}"
            return (
                "INSERT INTO items (owner, state, by, n)"
                " SELECT items.owner, 'b', items.by, items.n FROM items"
                f" WHERE items.id = :i AND ({where})"
            )


@st.composite
def schemas(draw):
    """A schema, with what happens to what refers to something that is deleted."""
    actions = st.sampled_from(["", "ON DELETE CASCADE"])
    nulls = st.sampled_from(["", "ON DELETE CASCADE", "ON DELETE SET NULL"])
    unique = draw(st.sampled_from(["", "", ", UNIQUE (owner)", ", UNIQUE (by, state)"]))
    tag = draw(st.sampled_from(["", "", ", UNIQUE (item)"]))
    return SCHEMA.format(draw(actions), draw(nulls), unique, draw(actions), tag)


def compared(schema, body):
    """The deployment of one transaction compared with it; None if it is outside of the subset."""
    text = "-- name: tool\n" + ";\n".join(body)
    [transaction] = read_transactions(text, "sqlite")
    tables = read_ddl(schema, "sqlite")
    made = draft("d", tables, [], keep=["people", "items", "tags"], transactions=[transaction])
    if "# not translated" in made.text:
        event("outside: " + made.text.partition("# not translated: ")[2].partition("\n")[0].partition(" ")[2])
        return None, made.text
    # what the file says of itself, not of SQL
    limits = re.findall(r"no more than 1 (\w+) before", made.text)
    known = re.findall(r"# (\w) is known here", made.text)
    described = made.text if limits else made.text.replace("bound people 1", "bound people 2")
    deployment = parse_deployment(described)
    tables = {"people": "people", "item": "items"}
    limited = [f"SELECT 1 WHERE (SELECT COUNT(*) FROM {tables[sort]}) <= 1" for sort in limits]
    limited += [f"SELECT 1 FROM {'items' if name == 'i' else 'people'} WHERE id = :{name}" for name in known]
    run = [*limited, *(one.text for one in transaction.statements)]
    return conform(
        deployment, Binding("sqlite://", {"tool": run}, scratch=True, schema=schema), max_states=150
    ), described


@settings(max_examples=examples(20, 100, quick=3), deadline=None)
@given(schemas(), st.lists(statements(), min_size=1, max_size=3))
def test_a_transaction_and_its_translation_agree(schema, body):
    if all(one.startswith("SELECT") for one in body):
        body = [*body, "DELETE FROM tags"]
    found, text = compared(schema, body)
    if found is not None:
        assert found.agrees, f"{text}\n{body}\n{found.differences[0]}"
