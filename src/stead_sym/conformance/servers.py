"""Call the tools of MCP servers, with the library `mcp`; a server is started once and asked many times."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

from stead_sym.conformance.binding import McpTool
from stead_sym.errors import InputError
from stead_sym.support.extras import install

TIMEOUT = 30.0
"""So many seconds a server has for an answer."""


class RefusedByServer(Exception):
    """An error that a server answers a call with; its text is the answer."""


class Servers:
    """Sessions with the servers of a binding."""

    def __init__(self, clients: Mapping[str, Any], portal: Any) -> None:
        """Take the clients by what their tools name as the server, and the thread that they run in."""
        self._clients = clients
        self._portal = portal

    def call(self, tool: McpTool, name: str, arguments: Mapping[str, object]) -> None:
        """Call a tool; raise `RefusedByServer` if the answer is an error."""
        given = {key: str(one) if isinstance(one, UUID) else one for key, one in arguments.items()}
        client = self._clients[tool.server]
        answer = self._portal.call(client.call_tool, tool.name or name, given, TIMEOUT)
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
    try:
        from anyio.from_thread import start_blocking_portal
        from mcp import Client
    except ImportError:
        raise InputError(f"servers are asked by the library mcp; {install('import')}") from None
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        clients: dict[str, Any] = {}
        for name, tool in served.items():
            where = tool.server
            if where not in clients:
                try:
                    client = Client(_target(where, database))
                    clients[where] = stack.enter_context(portal.wrap_async_context_manager(client))
                except Exception as error:  # noqa: BLE001 (whatever library, transport or server raise)
                    raise InputError(
                        f"the server {where!r} does not answer ({_cause(error)}); see that it starts"
                    ) from None
            known = portal.call(_names, clients[where])
            if (tool.name or name) not in known:
                raise InputError(
                    f"the server {where!r} has no tool {tool.name or name}; it has {', '.join(known)}"
                )
        yield Servers(clients, portal)


async def _names(client: Any) -> list[str]:
    """Return the names of the tools of a server."""
    names: list[str] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


def _target(where: str, database: str) -> Any:
    """Return what a client connects to: a URL, or the command that starts the server."""
    from mcp import StdioServerParameters

    if where.startswith(("http://", "https://")):
        return where
    command, *arguments = (word.replace("{database}", database) for word in shlex.split(where))
    return StdioServerParameters(command=command, args=arguments)


def _cause(error: BaseException) -> str:
    """Return the first error in a group of them, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
