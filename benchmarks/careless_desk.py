"""A refund desk whose tools check nothing: python benchmarks/careless_desk.py DATABASE [PORT].

The decision: a payment reads, waits and writes, and leaves a row in `payments` for each time that it is made.
So what a guard in front of these tools lets through is there to be counted, a payment made twice among it.
"""

from __future__ import annotations

import sys
import time

from mcp.server.mcpserver import MCPServer
from sqlalchemy import Connection, Engine, create_engine, text

from refund_app.models import Base

WAIT = 0.02
"""The time that a payment takes, in seconds."""


def connected(url: str) -> Engine:
    """The engine of a desk; it waits for a lock of SQLite as long as that takes."""
    return create_engine(url, connect_args={"timeout": 600} if url.startswith("sqlite") else {})


def new_desk(url: str, refunds: dict[int, str]) -> Engine:
    """Make the tables, with a refund of an order of its own for each number, in the status given."""
    engine = connected(url)
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE payments (refund_id INTEGER NOT NULL)"))
        connection.execute(text("INSERT INTO staff VALUES (1, 'ann'), (2, 'bob')"))
        for number, status in refunds.items():
            row = {"id": number, "status": status, "by": None if status == "requested" else 2}
            connection.execute(text("INSERT INTO orders VALUES (:id, 1, 5)"), row)
            connection.execute(text("INSERT INTO refunds VALUES (:id, :id, :status, :by)"), row)
    return engine


def payments(connection: Connection) -> list[int]:
    """The refunds that were paid, each as often as it was."""
    return list(connection.scalars(text("SELECT refund_id FROM payments ORDER BY refund_id")))


def serve(url: str, port: int | None = None) -> None:
    """Serve the tools on stdin and stdout, or by HTTP at a port."""
    engine, server = connected(url), MCPServer("careless", log_level="WARNING")

    @server.tool()
    def open_refund(order_id: int) -> str:
        with engine.begin() as connection:
            given = {"o": order_id}
            connection.execute(text("INSERT INTO refunds (order_id, status) VALUES (:o, 'requested')"), given)
        return "requested"

    @server.tool()
    def approve_refund(refund_id: int, staff_id: int) -> str:
        with engine.begin() as connection:
            given = {"r": refund_id, "s": staff_id}
            approved = "UPDATE refunds SET status = 'approved', approved_by = :s WHERE id = :r"
            connection.execute(text(approved), given)
        return "approved"

    @server.tool()
    def pay_refund(refund_id: int) -> str:
        time.sleep(WAIT)
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO payments VALUES (:r)"), {"r": refund_id})
            time.sleep(WAIT)
            connection.execute(text("UPDATE refunds SET status = 'paid' WHERE id = :r"), {"r": refund_id})
        return "paid"

    @server.tool()
    def cancel_order(order_id: int) -> str:
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM refunds WHERE order_id = :o"), {"o": order_id})
            connection.execute(text("DELETE FROM orders WHERE id = :o"), {"o": order_id})
        return "cancelled"

    if port is None:
        server.run()
    else:
        server.run("streamable-http", port=port)


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
