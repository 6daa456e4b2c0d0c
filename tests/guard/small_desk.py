"""A desk for refunds whose tools check nothing themselves: its deployment, its database, its functions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import sqlalchemy as sa

from stead_sym.conformance.binding import Binding

TEXT = """
deployment desk

sort clerk, refund
sort state = { asked, approved, paid } rigid
sort word = { yes, no } rigid

relation Clerk(id: clerk key)
relation Refund(id: refund key, asker: clerk references Clerk, state: state)

initially any Clerk, Refund
bound clerk 2
bound refund 3

tool approve(r: refund, c: clerk) "Approve a refund."
  guard Refund(id = r, state = asked) & Clerk(c) & ~Refund(id = r, asker = c)
  effect
    set Refund(r).state = approved

tool pay(r: refund) "Pay a refund."
  guard Refund(id = r, state = asked) | Refund(id = r, state = approved)
  effect
    set Refund(r).state = paid

tool answer(config: word)
  guard exists r. Refund(id = r, state = paid)
  effect

terminal

gate rules
  permit approve(_, _)
  permit answer(_)
  permit pay(r) when Refund(id = r, state = approved)
"""
TABLES = """
CREATE TABLE clerk (id TEXT PRIMARY KEY);
CREATE TABLE refund (id INTEGER PRIMARY KEY, asker TEXT NOT NULL REFERENCES clerk,
  state TEXT NOT NULL CHECK (state IN ('asked', 'approved', 'paid')));
CREATE TABLE done (call TEXT NOT NULL);
INSERT INTO clerk VALUES ('ann'), ('bob');
INSERT INTO refund VALUES (1, 'ann', 'asked'), (2, 'ann', 'approved');
"""


def database(folder: Path) -> Binding:
    """A new database with a refund that waits and one that is approved."""
    path = folder / "desk.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(TABLES)
    connection.close()
    return Binding(f"sqlite:///{path}", {})


def done(binding: Binding) -> list[str]:
    """Return what the functions have done."""
    engine = sa.create_engine(binding.database)
    with engine.connect() as connection:
        calls = list(connection.scalars(sa.text("SELECT call FROM done ORDER BY call")))
    engine.dispose()
    return calls


def approve(connection, r, c):
    connection.exec_driver_sql("UPDATE refund SET state = 'approved' WHERE id = ?", (r,))
    connection.exec_driver_sql("INSERT INTO done VALUES (?)", (f"approve {r} {c}",))
    return f"refund {r} is approved"


def pay(connection, r):
    connection.exec_driver_sql("UPDATE refund SET state = 'paid' WHERE id = ?", (r,))
    connection.exec_driver_sql("INSERT INTO done VALUES (?)", (f"pay {r}",))
    return f"refund {r} is paid"


def answer(connection, config):
    return f"answered {config}"


FUNCTIONS = {"approve": approve, "pay": pay, "answer": answer}
