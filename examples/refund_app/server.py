"""The desk as a server of the Model Context Protocol: python -m refund_app.server [DATABASE]."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from sqlalchemy import Connection, create_engine

from refund_app import tools
from refund_app.models import Base

engine = create_engine(sys.argv[1] if len(sys.argv) > 1 else "sqlite:///refunds.db")
server = MCPServer("refunds", log_level="WARNING")


@contextmanager
def transaction() -> Iterator[Connection]:
    """Yield a connection; the agent is told why a call is refused."""
    try:
        with engine.begin() as connection:
            yield connection
    except tools.Refused as error:
        raise ToolError(str(error)) from None


@server.tool()
def open_refund(order_id: int) -> str:
    """Request a refund for an order."""
    with transaction() as connection:
        return tools.open_refund(connection, order_id)


@server.tool()
def approve_refund(refund_id: int, staff_id: int) -> str:
    """Approve a refund for an order that somebody else sold."""
    with transaction() as connection:
        return tools.approve_refund(connection, refund_id, staff_id)


@server.tool()
def pay_refund(refund_id: int) -> str:
    """Pay a refund that was approved."""
    with transaction() as connection:
        return tools.pay_refund(connection, refund_id)


@server.tool()
def cancel_order(order_id: int) -> str:
    """Cancel an order, with its refund, unless that was paid."""
    with transaction() as connection:
        return tools.cancel_order(connection, order_id)


if __name__ == "__main__":
    Base.metadata.create_all(engine)
    server.run()
