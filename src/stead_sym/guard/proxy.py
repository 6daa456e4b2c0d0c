"""A server of the Model Context Protocol in front of another one: it forwards the calls that a guard allows.

One decision: the tools run in the other server, in transactions of their own. So the proxy makes one call
after the other, and what it checked is what the call finds, unless something else writes to the database.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

from stead_sym.errors import InputError
from stead_sym.guard.decision import Denied
from stead_sym.guard.guard import Guard
from stead_sym.imports.server import list_tools, make_client, unanswered_error


def serve(guard: Guard, where: str) -> None:
    """Serve the tools of a server, of a command or a URL, on stdin and stdout until stdin is closed.

    Raise `InputError` if the server does not answer, or has none of the agent's tools.
    """
    client = make_client(where)
    import anyio

    async def run() -> None:
        from mcp.server.stdio import stdio_server

        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(client)
                offered = {tool.name for tool in await list_tools(client)}
            except Exception as error:  # noqa: BLE001 (whatever library, transport or server raise)
                raise unanswered_error(where, error) from None
            if not offered.intersection(tool["name"] for tool in guard.tools):
                raise InputError(
                    f"the server {where!r} has no tool of {guard.deployment.name}; it has"
                    f" {', '.join(sorted(offered)) or 'none'}"
                )
            server = proxied(guard, client)
            reading, writing = await stack.enter_async_context(stdio_server())
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def proxied(guard: Guard, client: Any) -> Any:
    """Return the server in front of the one that a client is connected to."""
    from mcp.server.lowlevel import Server

    proxy = _Proxy(guard, client)
    return Server("stead-sym guard", on_list_tools=proxy.list_tools, on_call_tool=proxy.call_tool)


class _Proxy:
    """The handlers of the proxy's requests."""

    def __init__(self, guard: Guard, client: Any) -> None:
        import anyio

        self._guard = guard
        self._client = client
        self._one_by_one = anyio.Lock()

    async def list_tools(self, _: Any, __: Any) -> Any:
        """Return the server's tools of which some call is allowed now."""
        import anyio
        from mcp.types import ListToolsResult

        try:
            allowed = {call.tool for call in await anyio.to_thread.run_sync(self._guard.calls, 1)}
        except InputError:  # nothing is known to be allowed
            allowed = set()
        found = await list_tools(self._client)
        return ListToolsResult(tools=[tool for tool in found if tool.name in allowed])

    async def call_tool(self, _: Any, params: Any) -> Any:
        """Return the server's answer to a call that is allowed, or why it is denied."""
        from mcp import MCPError

        async with self._one_by_one:
            decision = await self._guard.acheck(params.name, params.arguments)
            if isinstance(decision, Denied):
                return _error(decision.words)
            answer: Any = None
            try:
                answer = await self._client.call_tool(params.name, params.arguments or {})
            except MCPError as error:
                return _error(f"{decision.call} may not have been carried out: {error}")
            finally:
                self._guard.record(decision, "done" if answer and not answer.is_error else "failed")
            return answer


def _error(text: str) -> Any:
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
