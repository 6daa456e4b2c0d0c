"""The tools of the desk. Each is one transaction, and raises `Refused` if it is not allowed."""

from __future__ import annotations

from sqlalchemy import Connection, Executable, delete, exists, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from refund_app.models import Order, Refund, Staff


class Refused(Exception):
    """The call is not allowed in this state of the desk."""


def open_refund(connection: Connection, order_id: int) -> str:
    """Request a refund for an order."""
    order = select(Order.id, literal("requested")).where(Order.id == order_id)
    requested = insert(Refund).from_select(["order_id", "status"], order)
    change(connection, requested, "no such order, or refunded")
    return "requested"


def approve_refund(connection: Connection, refund_id: int, staff_id: int) -> str:
    """Approve a refund for an order that somebody else sold."""
    sold = exists().where(Order.id == Refund.order_id, Order.sold_by == staff_id)
    waiting = update(Refund).where(Refund.id == refund_id, Refund.status == "requested")
    allowed = waiting.where(exists().where(Staff.id == staff_id), ~sold)
    change(connection, allowed.values(status="approved", approved_by=staff_id), "not to be approved")
    return "approved"


def pay_refund(connection: Connection, refund_id: int) -> str:
    """Pay a refund that was approved."""
    approved = update(Refund).where(Refund.id == refund_id, Refund.status == "approved")
    change(connection, approved.values(status="paid"), "not approved")
    return "paid"


def cancel_order(connection: Connection, order_id: int) -> str:
    """Cancel an order, with its refund, unless that was paid."""
    connection.execute(delete(Refund).where(Refund.order_id == order_id, Refund.status != "paid"))
    left = exists().where(Refund.order_id == order_id)
    change(connection, delete(Order).where(Order.id == order_id, ~left), "no such order, or paid")
    return "cancelled"


def change(connection: Connection, statement: Executable, otherwise: str) -> None:
    """Change a row; refuse the call if there is none to change, or if a constraint forbids it."""
    try:
        changed = connection.execute(statement).rowcount
    except IntegrityError:
        changed = 0
    if changed == 0:
        raise Refused(otherwise)
