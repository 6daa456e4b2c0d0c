"""A server of the Model Context Protocol in front of another one: it forwards the calls that a guard allows.

One decision: the tools run in the other server, in transactions of their own. So all proxies of a database
make one call after the other, and what one checked is what the call finds, unless something else writes to
the database.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from stead_sym.errors import InputError
from stead_sym.guard.decision import Decision, Denied, Outcome
from stead_sym.guard.guard import Guard
from stead_sym.imports.server import cause_of, list_tools, make_client, unanswered_error

_OWN = ("127.0.0.1", "localhost", "[::1]")
_LEAVE = 5  # seconds for calls that are under way when a server that is asked by HTTP ends


def serve(guard: Guard, where: str, timeout: float, http: socket.socket | None = None) -> None:
    """Serve the tools of another server, of a command or a URL, on stdin and stdout until stdin is closed.

    With ``http``, a socket that listens, serve them by HTTP there until a signal comes. The other server has
    ``timeout`` seconds for an answer. Raise `InputError` if it does not answer, or has none of the agent's
    tools.
    """
    client = make_client(where, timeout=timeout)
    import anyio

    async def run() -> InputError | None:  # raised here, it would come out of the client in a group
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(client)
                offered = {tool.name for tool in await list_tools(client)}
            except Exception as error:  # noqa: BLE001 (whatever library, transport or server raise)
                return unanswered_error(where, error)
            if not offered.intersection(tool["name"] for tool in guard.tools):
                return InputError(
                    f"the server {where!r} has no tool of {guard.deployment.name}; it has"
                    f" {', '.join(sorted(offered)) or 'none'}"
                )
            server = proxied(guard, client)
            await (_on_stdio(server) if http is None else _by_http(server, http))
            return None

    try:
        failed = anyio.run(run)
    except ExceptionGroup as group:  # the connection to the other server is lost, so nothing can be called
        raise unanswered_error(where, group) from None
    if failed is not None:
        raise failed


def listening(address: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT, of this machine only; raise `InputError`.

    Whoever reaches a proxy is the agent, since it asks for no name. So other machines must not reach it.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"{address!r} is no address; write HOST:PORT, such as 127.0.0.1:8000")
    if host not in _OWN:
        raise InputError(
            f"{address}: the proxy asks nobody who they are, and is for agents on this machine; serve at"
            f" {_OWN[0]}:{port}, behind what lets in who may"
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), int(port)), family=family)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise InputError(f"{address}: cannot be served ({why}); give another port") from None


async def _on_stdio(server: Any) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _by_http(server: Any, listener: socket.socket) -> None:
    import uvicorn

    host, port, *_ = listener.getsockname()
    shown = f"[{host}]" if ":" in host else host
    print(f"stead-sym: serving http://{shown}:{port}/mcp", file=sys.stderr, flush=True)
    app = server.streamable_http_app(host=host)  # which refuses requests that name another host
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_LEAVE)
    await uvicorn.Server(config).serve(sockets=[listener])


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
        async with self._checked(params.name, params.arguments) as decision:
            if isinstance(decision, Denied):
                return _error(decision.words)
            became: Outcome = "unknown"  # also if the request is cancelled meanwhile
            try:
                answer = await self._client.call_tool(params.name, params.arguments or {})
                became = "failed" if answer.is_error else "done"
            except Exception as error:  # noqa: BLE001 (whatever library or transport raise)
                return _error(f"{decision.call} may not have been carried out: {cause_of(error)}")
            finally:
                self._guard.record(decision, became)
            return answer

    @asynccontextmanager
    async def _checked(self, tool: str, arguments: Mapping[str, object] | None) -> AsyncIterator[Decision]:
        """Check a call in another thread, once no other call of a proxy is under way."""
        import anyio

        async with self._one_by_one:  # so that one thread at most waits for other processes
            held = self._guard.one_by_one(tool, arguments)
            decision = await anyio.to_thread.run_sync(held.__enter__)
            try:
                yield decision
            finally:
                held.__exit__(None, None, None)


def _error(text: str) -> Any:
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
