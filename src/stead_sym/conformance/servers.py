"""Call the tools of MCP servers; a server is started once and asked many times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

from stead_sym.conformance.binding import McpTool
from stead_sym.errors import InputError
from stead_sym.imports.server import TIMEOUT, list_tools, make_client, unanswered_error


class RefusedByServer(Exception):
    """An error that a server answers a call with; its text is the answer."""


class Servers:
    """Sessions with the servers of a binding."""

    def __init__(self, clients: Mapping[str, Any], portal: Any) -> None:
        """Take the clients by what their tools name as the server, and the thread that they run in."""
        self._clients = clients
        self._portal = portal

    def call(self, tool: McpTool, name: str, arguments: Mapping[str, object]) -> None:
        """Call a tool; raise `RefusedByServer` if the answer is an error, `InputError` if there is none."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        given = {key: str(one) if isinstance(one, UUID) else one for key, one in arguments.items()}
        try:
            answer = self._portal.call(self._clients[tool.server].call_tool, tool.name or name, given)
        except MCPError as error:
            if error.code not in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
                raise
            why = "it ended" if error.code == CONNECTION_CLOSED else f"none in {TIMEOUT:g} s"
            raise InputError(
                f"the server {tool.server!r} gives no answer to {tool.name or name} ({why}); see to the tool"
            ) from None
        if answer.is_error:
            texts = [str(part.text) for part in answer.content if hasattr(part, "text")]
            raise RefusedByServer(" ".join(texts) or "an error without a text")


@contextmanager
def serving(tools: Mapping[str, object], database: str) -> Iterator[Servers | None]:
    """Yield sessions with the servers of tools, None if no tool is one of a server.

    `{database}` in a command stands for the URL of the scratch database. Raise `InputError` if the library
    is not installed, if a server does not answer, or if it does not have a tool.
    """
    served = {name: tool for name, tool in tools.items() if isinstance(tool, McpTool)}
    if not served:
        yield None
        return
    clients = {tool.server: make_client(tool.server, database) for tool in served.values()}
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal, ExitStack() as stack:
        for where, client in clients.items():
            session = portal.wrap_async_context_manager(client)
            try:
                session.__enter__()
                # no exception is handed to it: the tasks of the session would wrap it in a group
                stack.callback(session.__exit__, None, None, None)
                known = [tool.name for tool in portal.call(list_tools, client)]
            except Exception as error:  # noqa: BLE001 (whatever library, transport or server raise)
                raise unanswered_error(where, error) from None
            for name, tool in served.items():
                if tool.server == where and (tool.name or name) not in known:
                    raise InputError(
                        f"the server {where!r} has no tool {tool.name or name}; it has {', '.join(known)}"
                    )
        yield Servers(clients, portal)
