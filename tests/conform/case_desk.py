"""A small refund desk that runs: a schema, four tools in SQL and Python, and what may go wrong in them."""

from __future__ import annotations

import stead_sym as st
from stead_sym.conformance.binding import Binding

SCHEMA = """
CREATE TABLE staff (id INTEGER PRIMARY KEY, manages INTEGER NOT NULL DEFAULT 0);
CREATE TABLE refunds (
  id INTEGER PRIMARY KEY,
  opened_by INTEGER NOT NULL REFERENCES staff,
  state TEXT NOT NULL CHECK (state IN ('requested', 'in review', 'paid')),
  approved_by INTEGER REFERENCES staff
);
CREATE TABLE notes (refund_id INTEGER NOT NULL REFERENCES refunds, staff_id INTEGER NOT NULL REFERENCES staff,
  PRIMARY KEY (refund_id, staff_id));
"""

FILE = """
deployment desk

sort staff, refund
sort state = { requested, state_in_20_review, paid } rigid

relation Staff(id: staff key)
relation Refunds(id: refund key, opened_by: staff references Staff, state: state)
relation RefundsApprovedBy(id: refund key references Refunds, approved_by: staff references Staff)
relation Notes(refund_id: refund references Refunds, staff_id: staff references Staff)

initially any Staff
bound staff 2
bound refund 1

tool open(s: staff)
  guard ~Refunds(_, _, _)
  effect
    fresh r: refund
    insert Refunds(r, s, requested)

tool review(r: refund, s: staff)
  guard Refunds(r, _, requested)
  effect
    set Refunds(r).state = state_in_20_review
    insert Notes(r, s)

tool approve(r: refund, s: staff)
  guard Refunds(r, _, state_in_20_review) & ~Refunds(r, s, _)
  effect
    set RefundsApprovedBy(r, s)

tool pay(r: refund)
  guard Refunds(r, _, state_in_20_review) & RefundsApprovedBy(r, _)
  effect
    set Refunds(r).state = paid

tool close(r: refund)
  guard Refunds(r, _, paid)
  effect
    delete Refunds(r, _, _)
    delete RefundsApprovedBy(r, _)
    delete Notes(r, _)

terminal
"""

OPEN = """
INSERT INTO refunds (id, opened_by, state) SELECT 7, id, 'requested' FROM staff
  WHERE id = :s AND NOT EXISTS (SELECT 1 FROM refunds)
"""
REVIEW = """
INSERT INTO notes SELECT id, :s FROM refunds WHERE id = :r AND state = 'requested' AND EXISTS
  (SELECT 1 FROM staff WHERE id = :s);
UPDATE refunds SET state = 'in review' WHERE id = :r AND state = 'requested' AND EXISTS
  (SELECT 1 FROM staff WHERE id = :s)
"""
CLOSE = """
DELETE FROM notes WHERE refund_id IN (SELECT id FROM refunds WHERE id = :r AND state = 'paid');
DELETE FROM refunds WHERE id = :r AND state = 'paid'
"""
PAY = "UPDATE refunds SET state = 'paid' WHERE id = :r AND state = 'in review' AND approved_by IS NOT NULL"


def approve(connection, r, s):
    """Approve a refund in Python, as an application would."""
    row = connection.exec_driver_sql("SELECT opened_by, state FROM refunds WHERE id = ?", (r,)).first()
    if row is None or row.state != "in review":
        raise ValueError("there is nothing to approve")
    if (
        row.opened_by == s
        or connection.exec_driver_sql("SELECT 1 FROM staff WHERE id = ?", (s,)).first() is None
    ):
        raise PermissionError("somebody else has to approve it")
    connection.exec_driver_sql("UPDATE refunds SET approved_by = ? WHERE id = ?", (s, r))


def approve_one_own(connection, r, s):
    """Forget that nobody approves a refund of their own."""
    connection.exec_driver_sql(
        "UPDATE refunds SET approved_by = ? WHERE id = ? AND state = 'in review' AND EXISTS"
        " (SELECT 1 FROM staff WHERE id = ?)",
        (s, r, s),
    )


def approve_then_check(connection, r, s):
    """Write, and look only after that whether it may be: nothing is rolled back."""
    connection.exec_driver_sql(
        "UPDATE refunds SET approved_by = ? WHERE id = ? AND EXISTS (SELECT 1 FROM staff WHERE id = ?)",
        (s, r, s),
    )
    connection.commit()
    approve(connection, r, s)


TOOLS = {"open": OPEN, "review": REVIEW, "approve": approve, "pay": PAY, "close": CLOSE}

FAULTS = {
    "a forgotten WHERE": (
        "pay",
        PAY.replace("id = :r AND ", "").replace("WHERE state", "WHERE id <> -1 OR state"),
    ),
    "a wrong status": ("review", REVIEW.replace("'in review'", "'paid'")),
    "a guard that is too weak": ("approve", approve_one_own),
    "a guard that is too strong": ("pay", f"{PAY} AND (SELECT COUNT(*) FROM staff) > 2"),
    "a forgotten cascade": ("close", CLOSE.split(";\n")[1]),
    "a write before a failed check": ("approve", approve_then_check),
    "a wrong row by a join": (
        "review",
        REVIEW.replace(
            "SELECT id, :s FROM refunds WHERE id = :r", "SELECT id, opened_by FROM refunds WHERE id = :r"
        ),
    ),
    "a value that the file does not list": ("review", REVIEW.replace("'in review' WHERE", "'lost' WHERE")),
}


def deployment():
    """The deployment that the tools are meant to be."""
    return st.parse_deployment(FILE)


def binding(**changed):
    """The desk on an empty database in memory, with other tools than its own."""
    return Binding("sqlite://", {**TOOLS, **changed}, scratch=True, schema=SCHEMA)
