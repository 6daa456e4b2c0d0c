"""Tools that are SQL: what they are translated to, and what is said of those that are not."""

from __future__ import annotations

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import InputError
from stead_sym.imports.ddl import read_ddl
from stead_sym.imports.draft import draft
from stead_sym.imports.transactions import read_transactions

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers,
  status TEXT NOT NULL CHECK (status IN ('open', 'on hold', 'shipped')),
  approved_by INTEGER REFERENCES customers ON DELETE SET NULL,
  tries INTEGER NOT NULL CHECK (tries BETWEEN 0 AND 2),
  paid BOOLEAN NOT NULL,
  total NUMERIC
);
CREATE TABLE lines (order_id INTEGER REFERENCES orders ON DELETE CASCADE, n INTEGER CHECK (n BETWEEN 1 AND 3),
  PRIMARY KEY (order_id, n));
CREATE TABLE log (said TEXT, order_id INTEGER REFERENCES orders);
"""


def drafted(sql, schema=SCHEMA):
    """The draft of a schema with the tools of a text."""
    return draft("d", read_ddl(schema, "postgres"), [], transactions=read_transactions(sql, "postgres"))


def body(statements):
    """The guard and the effect of one transaction, without indentation."""
    text = drafted(f"-- name: act\n{statements}").text
    parse_deployment(text)
    lines = text[text.index("tool act(") :].partition("\n\n")[0].splitlines()
    return [line.strip() for line in lines[1:] if not line.strip().startswith("#")]


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        (
            "SELECT * FROM orders o WHERE o.id = :o AND o.status = 'on hold';"
            "DELETE FROM lines WHERE order_id = :o",
            [
                "guard Orders(id = o, status = status_on_20_hold)",
                "effect",
                "delete Lines(order_id = o, n = n) for n: n where Lines(order_id = o, n = n)",
            ],
        ),
        (
            "UPDATE orders SET status = 'shipped', total = total * 2 WHERE id = :o",
            ["effect", "set Orders(o).status = shipped"],
        ),
        (
            "UPDATE orders SET status = 'shipped' WHERE id = :o AND NOT (approved_by = customer_id)",
            [
                "effect",
                "set Orders(o).status = shipped where exists customer_id: customer."
                " Orders(id = o, customer_id = customer_id) & exists approved_by: customer."
                " OrdersApprovedBy(id = o, approved_by = approved_by) & approved_by != customer_id",
            ],
        ),
        (
            "UPDATE orders SET approved_by = NULL WHERE paid",
            [
                "effect",
                "delete OrdersApprovedBy(id = id) for id: order where Orders(id = id, paid = flag_true)",
            ],
        ),
        (
            "UPDATE orders SET tries = tries + 1 WHERE id = :o",
            [
                "guard ~exists tries: tries."
                " (Orders(id = o, tries = tries) & ~(0 <= tries + 1 & tries + 1 <= 2))",
                "effect",
                "set Orders(o).tries = tries + 1 for tries: tries where Orders(id = o, tries = tries)",
            ],
        ),
        (
            "SELECT 1 WHERE (SELECT COUNT(*) FROM orders WHERE customer_id = :c) < 2;"
            "INSERT INTO orders (customer_id, status, tries, paid) VALUES (:c, 'open', 0, FALSE)",
            [
                "guard (count id: order. Orders(id = id, customer_id = c)) < 2 & Customers(id = c)"
                " & atmost 1 one: order. true",
                "effect",
                "fresh order: order",
                "insert Orders(order, c, open, 0, flag_false)",
            ],
        ),
        (
            "INSERT INTO lines (order_id, n) VALUES (:o, 1)",
            [
                "guard ~Lines(order_id = o, n = 1) & Orders(id = o)",
                "effect",
                "insert Lines(o, 1)",
            ],
        ),
    ],
)
def test_what_a_transaction_is_translated_to(sql, lines):
    assert body(sql) == lines


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("DELETE FROM orders WHERE total > 3", "orders.total is not kept, and is read"),
        ("UPDATE orders SET status = 'lost'", "`'lost'` is no value of status"),
        ("UPDATE orders SET customer_id = 7", "`7` is one identifier; make it a parameter"),
        ("SELECT COUNT(*) FROM orders; DELETE FROM lines", "an aggregate returns a row in any case"),
        ("SELECT 1; DELETE FROM lines", "always returns a row"),
        ("SELECT 1 FROM orders LEFT JOIN lines ON n = 1; DELETE FROM lines", "LEFT JOIN is not translated"),
        ("DELETE FROM orders WHERE status LIKE 'o%'", "`status LIKE 'o%'` is not translated"),
        ("UPDATE orders SET paid = TRUE; SELECT 1 FROM orders", "orders is changed before"),
        ("INSERT INTO lines VALUES (:o, 1) ON CONFLICT DO UPDATE SET n = 1", "what happens on a conflict"),
        ("UPDATE orders SET id = :o", "orders.id identifies a row, and is changed"),
        ("INSERT INTO lines (order_id, n) SELECT :o, 1 FROM customers", "under one key"),
        (
            "DELETE FROM orders WHERE id = customer_id",
            "`customer_id` is of the sort customer, and is taken for order",
        ),
        ("DELETE FROM log", "log has no primary key that is kept"),
        ("DELETE FROM nothing", "there is no table nothing"),
        ("WITH a AS (SELECT 1) DELETE FROM lines", "WITH is not translated"),
    ],
)
def test_what_is_not_translated_is_said_with_its_line(sql, why):
    made = drafted(f"-- name: act\n\n{sql}")
    assert "# guard …" in made.text
    parse_deployment(made.text)
    [line] = [one for one in made.left_out if one.startswith("act, line 3: ")]
    assert why in line


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("DELETE FROM orders", "no tool is named"),
        ("-- name: a\nDELETE FROM orders;\n-- name: a\nDELETE FROM lines", "two tools are called a"),
        ("-- name: a\n\nDROP TABLE orders", "line 3: DROP is no SELECT, INSERT, UPDATE or DELETE"),
        ("-- name: a\nDELETE FROM WHERE", "line 2: cannot be read"),
    ],
)
def test_text_that_cannot_be_read_is_one_error(sql, why):
    with pytest.raises(InputError, match=why):
        read_transactions(sql)


def test_a_column_of_any_texts_takes_those_of_the_tools():
    schema = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT NOT NULL, note TEXT)"
    made = drafted(
        "-- name: start\nUPDATE jobs SET state = 'runs', note = :note WHERE id = :job AND state = 'new';",
        schema,
    )
    assert "sort state = { new, runs } rigid" in made.text
    assert "jobs.state: texts other than new, runs" in made.left_out
    assert "tool start(job: job)" in made.text
    assert "note" in " ".join(made.left_out)
    parse_deployment(made.text)


def test_new_identifiers_are_chosen_and_the_key_of_one_insert_is_that_of_the_next():
    made = drafted(
        "-- name: place\n"
        "INSERT INTO orders (id, customer_id, status, tries, paid) VALUES (:o, :c, 'open', 0, FALSE);\n"
        "INSERT INTO lines (order_id, n) VALUES (:o, 1);"
    )
    assert "tool place(c: customer)" in made.text
    assert "  guard Customers(id = c) & atmost 1 one: order. true" in made.text
    assert "    insert Lines(order, 1)" in made.text
    assert "bound order 2" in made.text
    parse_deployment(made.text)


def test_defaults_names_by_place_and_what_other_libraries_write():
    schema = """
    CREATE TABLE job (id SERIAL PRIMARY KEY, state TEXT NOT NULL DEFAULT 'new',
      hot BOOLEAN NOT NULL DEFAULT false,
      kind TEXT CHECK (kind IN ('a', 'b')) DEFAULT 'b', made TIMESTAMP DEFAULT now(), old TEXT);
    ALTER TABLE job RENAME TO jobs;
    ALTER TABLE jobs DROP COLUMN old;
    """
    made = drafted(
        "/* name: Add :one */\nINSERT INTO jobs (made) VALUES ($1);\n\n"
        "-- name: Close :exec\nUPDATE jobs SET state = 'done' WHERE id = $1 AND kind = sqlc.arg(kind);\n\n"
        "-- name: drop!\nDELETE FROM jobs WHERE id = ? AND kind = ?",
        schema,
    )
    parse_deployment(made.text)
    assert "    insert Jobs(job, new, flag_false)\n    insert JobsKind(job, b)\n" in made.text
    assert "tool Close(id: job, kind: kind)" in made.text
    assert "tool drop(id: job, kind: kind)" in made.text
