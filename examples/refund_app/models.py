"""The tables of the desk; python -m refund_app.models DATABASE makes them."""

from __future__ import annotations

import sys
from decimal import Decimal

from sqlalchemy import Enum, ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

STATUS = Enum(
    "requested", "approved", "paid", name="refund_status", native_enum=False, create_constraint=True
)


class Base(DeclarativeBase):
    """The tables together: `Base.metadata.create_all` makes them."""


class Staff(Base):
    """Somebody who works at the desk."""

    __tablename__ = "staff"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Order(Base):
    """An order of a customer, and who sold it."""

    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    sold_by: Mapped[int] = mapped_column(ForeignKey("staff.id"))
    total: Mapped[Decimal]


class Refund(Base):
    """The refund of an order; an order has one at most."""

    __tablename__ = "refunds"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"), unique=True)
    status: Mapped[str] = mapped_column(STATUS)
    approved_by: Mapped[int | None] = mapped_column(ForeignKey("staff.id"))


if __name__ == "__main__":
    Base.metadata.create_all(create_engine(sys.argv[1]))
