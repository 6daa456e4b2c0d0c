"""Eight ways to get a tool of the desk wrong. `stead-sym conform` finds each of them."""

from __future__ import annotations

from sqlalchemy import Connection, delete, exists, select, update

from refund_app.models import Order, Refund, Staff
from refund_app.tools import Refused, change


def pay_all(connection: Connection, refund_id: int) -> str:
    """Forget the WHERE that names the refund."""
    found = connection.execute(select(Refund.status).where(Refund.id == refund_id)).first()
    if found is None or found.status != "approved":
        raise Refused("not approved")
    connection.execute(update(Refund).values(status="paid"))
    return "paid"


def approve_as_paid(connection: Connection, refund_id: int, staff_id: int) -> str:
    """Write a wrong status."""
    sold = exists().where(Order.id == Refund.order_id, Order.sold_by == staff_id)
    waiting = update(Refund).where(Refund.id == refund_id, Refund.status == "requested")
    allowed = waiting.where(exists().where(Staff.id == staff_id), ~sold)
    change(connection, allowed.values(status="paid", approved_by=staff_id), "not to be approved")
    return "approved"


def cancel_what_it_read(connection: Connection, order_id: int) -> str:
    """Check first and delete later: a payment between the two is lost."""
    if connection.execute(select(Order.id).where(Order.id == order_id)).first() is None:
        raise Refused("no such order")
    refund = connection.execute(select(Refund.status).where(Refund.order_id == order_id)).first()
    if refund is not None and refund.status == "paid":
        raise Refused("paid")
    connection.execute(delete(Refund).where(Refund.order_id == order_id))
    connection.execute(delete(Order).where(Order.id == order_id))
    return "cancelled"


def cancel_alone(connection: Connection, order_id: int) -> str:
    """Forget the refund of the order."""
    paid = exists().where(Refund.order_id == order_id, Refund.status == "paid")
    change(connection, delete(Order).where(Order.id == order_id, ~paid), "no such order, or paid")
    return "cancelled"


def approve_own(connection: Connection, refund_id: int, staff_id: int) -> str:
    """Check too little: who sold the order may approve its refund."""
    waiting = update(Refund).where(Refund.id == refund_id, Refund.status == "requested")
    allowed = waiting.where(exists().where(Staff.id == staff_id))
    change(connection, allowed.values(status="approved", approved_by=staff_id), "not to be approved")
    return "approved"


def approve_without_sales(connection: Connection, refund_id: int, staff_id: int) -> str:
    """Check too much: who sold any order may approve nothing."""
    sold = exists().where(Order.sold_by == staff_id)
    waiting = update(Refund).where(Refund.id == refund_id, Refund.status == "requested")
    allowed = waiting.where(exists().where(Staff.id == staff_id), ~sold)
    change(connection, allowed.values(status="approved", approved_by=staff_id), "not to be approved")
    return "approved"


def pay_by_seller(connection: Connection, refund_id: int) -> str:
    """Join by the wrong column: all orders of the same seller are meant."""
    seller = select(Order.sold_by).join(Refund, Refund.order_id == Order.id).where(Refund.id == refund_id)
    orders = select(Order.id).where(Order.sold_by == seller.scalar_subquery())
    found = connection.execute(select(Refund.status).where(Refund.id == refund_id)).first()
    if found is None or found.status != "approved":
        raise Refused("not approved")
    meant = update(Refund).where(Refund.order_id.in_(orders), Refund.status == "approved")
    connection.execute(meant.values(status="paid"))
    return "paid"


def pay_and_complain(connection: Connection, refund_id: int) -> str:
    """Write after a check that failed: the agent is told of it, and nothing is rolled back."""
    found = connection.execute(select(Refund.status).where(Refund.id == refund_id)).first()
    connection.execute(update(Refund).where(Refund.id == refund_id).values(status="paid"))
    return "paid" if found is not None and found.status == "approved" else "error: not approved"


FAULTS = {
    "a missing WHERE": ("pay_refund", pay_all),
    "a wrong status": ("approve_refund", approve_as_paid),
    "a lost update": ("cancel_order", cancel_what_it_read),
    "a forgotten cascade": ("cancel_order", cancel_alone),
    "a guard that is too weak": ("approve_refund", approve_own),
    "a guard that is too strong": ("approve_refund", approve_without_sales),
    "a wrong row by a join": ("pay_refund", pay_by_seller),
    "a write after a failed check": ("pay_refund", pay_and_complain),
}
