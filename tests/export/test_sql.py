"""Deployments as SQL: what is written for each construct, and one clear line for what is not."""

from __future__ import annotations

import re

import pytest

import stead_sym as st
from stead_sym.errors import InputError

DESK = """deployment desk
sort order, user
sort status = { new, paid, sent }
sort level = { low < middle < high }
sort n = 0..3
relation Order(id: order key, by: user, status: status, left: n)
relation Note(order: order key references Order, level)
relation Seen(user, order)
relation Closed()
init
  Seen(ann, o1)
"""
SEEN = 'SELECT 1 FROM seen WHERE "user" = :u AND "order" = :o'


def exported(body):
    """The SQL of the desk with one tool, which has these lines."""
    return st.to_sql(st.parse_deployment(f"{DESK}tool t(o: order, u: user)\n{body}\n"), "sqlite")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "  guard Order(id = o, by = u, status = new)\n  effect set Order(o).status = paid",
            [
                'SELECT 1 FROM "order" WHERE "order".id = :o AND "order"."by" = :u'
                " AND \"order\".status = 'new'",
                'UPDATE "order" SET status = \'paid\' WHERE "order".id = :o',
            ],
        ),
        (
            "  guard Seen(u, o) & ~Closed()\n  effect\n    delete Seen(u, o)\n    insert Closed()",
            [
                SEEN,
                "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM closed)",
                'DELETE FROM seen WHERE seen."user" = :u AND seen."order" = :o',
                "INSERT INTO closed (there) VALUES ('yes') ON CONFLICT DO NOTHING",
            ],
        ),
        (
            "  guard Seen(u, o)\n  effect set Order(o).left = k - 1 for k where Order(id = o, left = k)",
            [SEEN, 'UPDATE "order" SET "left" = "order"."left" - 1 WHERE "order".id = :o'],
        ),
        (  # others refer to orders, so that none is deleted
            "  guard Seen(u, o)\n  effect set Order(o, u, new, 3)",
            [
                SEEN,
                'UPDATE "order" SET "by" = :u, status = \'new\', "left" = 3 WHERE "order".id = :o',
                'INSERT INTO "order" (id, "by", status, "left") VALUES (:o, :u, \'new\', 3)'
                " ON CONFLICT DO NOTHING",
            ],
        ),
        (  # an order of texts, by their values
            "  guard Seen(u, o) & exists l. (Note(o, l) & l < high)\n  effect set Note(o, high)",
            [
                SEEN,
                'SELECT 1 FROM note WHERE note."order" = :o'
                " AND (note.level = 'low' OR note.level = 'middle')",
                'DELETE FROM note WHERE note."order" = :o',
                "INSERT INTO note (\"order\", level) VALUES (:o, 'high') ON CONFLICT DO NOTHING",
            ],
        ),
        (
            "  guard Seen(u, o) & atmost 2 x: order. Order(id = x, by = u)\n  effect clear Seen",
            [
                SEEN,
                'SELECT 1 WHERE (SELECT COUNT(*) FROM "order" WHERE "order"."by" = :u) <= 2',
                "DELETE FROM seen",
            ],
        ),
        (  # a parameter that the guard leaves free is active somewhere; new identifiers are nowhere
            "  guard Order(id = o, by = _)\n  effect\n    fresh p: order\n    insert Seen(u, p)",
            [
                'SELECT 1 FROM "order" WHERE "order".id = :o',
                'SELECT 1 WHERE EXISTS (SELECT 1 FROM "order" WHERE "order"."by" = :u)'
                ' OR EXISTS (SELECT 1 FROM seen WHERE seen."user" = :u)',
                'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM "order" WHERE "order".id = :p)'
                ' AND NOT EXISTS (SELECT 1 FROM note WHERE note."order" = :p)'
                " AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.\"order\" = :p) AND :p <> 'o1'",
                'INSERT INTO seen ("user", "order") VALUES (:u, :p)',
            ],
        ),
        (  # a negation is put inside, and a parameter that it makes active needs no query of its own
            "  guard ~(Seen(u, o) -> exists x: user. ~(Seen(x, o) & ~Closed()))\n  effect clear Seen",
            [
                'SELECT 1 WHERE NOT (NOT EXISTS (SELECT 1 FROM seen WHERE seen."user" = :u'
                ' AND seen."order" = :o) OR EXISTS (SELECT 1 FROM "order" WHERE NOT EXISTS'
                ' (SELECT 1 FROM seen AS seen_2 WHERE seen_2."user" = "order"."by" AND seen_2."order" = :o)'
                " OR EXISTS (SELECT 1 FROM closed))"
                " OR EXISTS (SELECT 1 FROM seen AS seen_3 WHERE NOT EXISTS (SELECT 1 FROM seen AS seen_4"
                ' WHERE seen_4."user" = seen_3."user" AND seen_4."order" = :o)'
                " OR EXISTS (SELECT 1 FROM closed AS closed_2)))",
                "DELETE FROM seen",
            ],
        ),
        (  # what reads orders comes before what deletes them, whatever is written first
            "  guard Seen(u, o)\n  effect\n    delete Order(id = o)\n"
            "    delete Seen(x, o) for x: user where Order(id = o, by = x)",
            [
                SEEN,
                'DELETE FROM seen WHERE seen."order" = :o AND EXISTS'
                ' (SELECT 1 FROM "order" WHERE "order".id = :o AND "order"."by" = seen."user")',
                'DELETE FROM "order" WHERE "order".id = :o',
            ],
        ),
    ],
)
def test_a_tool_is_one_transaction(body, expected):
    sql = exported(body)
    assert sql.left_out == ()
    assert sql.tools.splitlines() == ["-- name: t", *(f"{one};" for one in expected)]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("  guard Seen(u, o) & once did t(o, u)", "line 13: `once did t(o, u)` is about the past"),
        (
            "  guard Seen(u, o)\n  effect\n    choose x: user",
            "line 15: `choose x: user` is decided by nobody",
        ),
        ("  guard Seen(u, o)\n  effect ensure same(Seen)", "line 14: `ensure` relates two states"),
        ("  guard Seen(u, o)\n  effect\n  effect delete Seen(u, o)", "line 15: it has 2 alternatives"),
        (
            "  guard Seen(u, o)\n  effect\n    set Order(o).left = 1\n    delete Order(id = o)",
            "line 15: rows of Order are changed by two statements",
        ),
        (
            "  guard Seen(u, o)\n  effect set Order(o).left = k for k, x where Order(id = x, left = k)",
            "line 14: k is looked up in another table",
        ),
        (
            "  guard Seen(u, o)\n  effect\n"
            "    delete Seen(x, o) for x: user where exists y. Order(id = y, by = x)\n"
            "    delete Order(id = x) for x: order where exists y. Seen(y, x)",
            "line 15: what is done to Seen depends on what another statement changes, and the other",
        ),
        (
            "  guard Seen(u, o) & (sum k for x: order, k: n. Order(id = x, left = k)) < 3",
            "line 13: `(sum k for x: order, k: n. Order(x, _, _, k))` is a sum",
        ),
        (
            "  guard Seen(u, o) & atleast 5 x: user. (exists y. Seen(x, y))",
            "line 13: `atleast 5 x: user. exists y: order. Seen(x, y)` counts values that are no rows",
        ),
    ],
)
def test_what_is_not_said_in_sql_is_one_line(body, why):
    sql = exported(body)
    [line] = sql.left_out
    assert line.startswith(f"t, {why}")
    assert "\n" not in line
    assert "-- name:" not in sql.tools
    assert sql.tools == f"-- left out: {line}\n"


def test_two_changes_of_rows_that_the_guard_keeps_apart():
    text = """deployment bank
    sort account
    sort amount = 0..9
    relation Account(id: account key, has: amount)
    tool pay(a: account, b: account)
      guard Account(id = a) & Account(id = b) {}
      effect
        set Account(a).has = x - 1 for x where Account(id = a, has = x)
        set Account(b).has = y + 1 for y where Account(id = b, has = y)
    """
    apart = st.to_sql(st.parse_deployment(text.format("& a != b")))
    assert apart.left_out == ()
    assert apart.tools.count("UPDATE account_ SET has = account_.has") == 2
    assert (
        "let the guard say that their keys differ"
        in st.to_sql(st.parse_deployment(text.format(""))).left_out[0]
    )


def test_a_parameter_that_is_a_word_of_sql():
    deployment = st.parse_deployment(
        "deployment d\nsort a\nrelation P(a)\ntool t(from: a)\n  guard P(from)\ntool u()\n  effect\n"
        "    fresh from: a\n    insert P(from)\n"
    )
    sql = st.to_sql(deployment)
    assert sql.left_out == ("t, line 4: the parameter from is a word of SQL; rename it",)
    assert "INSERT INTO p (a) VALUES (:from_id);" in sql.tools


def test_tables_of_both_dialects():
    deployment = st.parse_deployment(DESK + "tool t()\n")
    postgres, sqlite = st.to_sql(deployment), st.to_sql(deployment, "sqlite")
    assert "CREATE DOMAIN level AS TEXT CHECK (VALUE IN ('low', 'middle', 'high'));" in postgres.tables
    assert "CREATE DOMAIN n AS INTEGER CHECK (VALUE BETWEEN 0 AND 3);" in postgres.tables
    assert (
        'CREATE TABLE order_ (\n  id "order" NOT NULL,' in postgres.tables
    )  # no table is called like a type
    assert "DOMAIN" not in sqlite.tables
    assert '"left" INTEGER NOT NULL CHECK ("left" BETWEEN 0 AND 3)' in sqlite.tables
    reference = 'FOREIGN KEY ("order") REFERENCES "order" (id) DEFERRABLE INITIALLY DEFERRED'
    assert reference in sqlite.tables
    assert sqlite.rows == "INSERT INTO seen (\"user\", \"order\") VALUES\n  ('ann', 'o1');\n"


def test_a_claim_that_no_constraint_says():
    text = "deployment d\nsort a\nrelation P(a key)\nrelation Q(a key, a) total P\n"
    assert st.to_sql(st.parse_deployment(text)).left_out == ("Q total P: no constraint of SQL says it",)


def test_tables_that_refer_to_each_other():
    text = "deployment d\nsort a\nrelation P(x: a key references Q)\nrelation Q(y: a key references P)\n"
    sql = st.to_sql(st.parse_deployment(text))
    assert re.search(r"^ALTER TABLE \w+ ADD FOREIGN KEY", sql.tables, re.MULTILINE)
    assert sql.tables.count("FOREIGN KEY") == 2


def test_names_that_are_words_of_sql_are_read_back():
    from stead_sym.imports.ddl import read_ddl

    names = ["session", "order", "type", "index", "number", "date", "row", "value", "time", "text", "set"]
    text = "deployment d\n" + "".join(f"sort {name}\nrelation R{name}({name}: {name})\n" for name in names)
    deployment = st.parse_deployment(text)
    for dialect in ("postgres", "sqlite"):
        read = read_ddl(st.to_sql(deployment, dialect).tables, dialect)
        assert read.unread == ()
        assert [table.columns[0].name for table in read.tables] == names
        types = [table.columns[0].type for table in read.tables]
        kept = [name if name not in {"number", "date", "time", "text"} else f"{name}_" for name in names]
        assert types == (kept if dialect == "postgres" else [None] * len(names))


def test_what_cannot_be_exported():
    with pytest.raises(InputError, match="no relations to export"):
        st.to_sql(st.parse_deployment("deployment d\ntool t()\n"))
    with pytest.raises(InputError, match="'mysql' is no dialect to export; take postgres or sqlite"):
        st.to_sql(st.load("refund"), "mysql")  # type: ignore[arg-type]


def test_messages_and_agents_that_are_many():
    text = """deployment d
    sort worker, job
    relation Has(worker, job)
    tool drop(self: worker, j: job)
      guard Has(self, j)
      effect delete Has(self, j)
    agent worker{}
      calls {}
      tools drop
    """
    expected = "SELECT 1 FROM has WHERE worker = :self AND job = :j;"
    for each, calls in (("", "batch 2"), (" for each w: worker", "")):
        written = text.format(each, calls).replace("calls \n", "\n")
        sql = st.to_sql(st.parse_deployment(written), "sqlite")
        assert "@" not in sql.tables
        assert expected in sql.tools


def test_gates_are_in_the_guards():
    deployment = st.parse_deployment(
        "deployment d\nsort a\nrelation P(a)\nrelation Q(a)\ntool t(x: a)\n  guard P(x)\n"
        "gate g\n  forbid t(x) when Q(x)\n"
    )
    from stead_sym.deployment.gates import under_gates

    assert "NOT EXISTS (SELECT 1 FROM q WHERE" in st.to_sql(under_gates(deployment, "g")).tools
