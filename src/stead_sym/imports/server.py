"""Clients of MCP servers, with the library `mcp`, and what tools a server has."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

from stead_sym.errors import InputError
from stead_sym.imports.tools import ToolSchema, tools_of
from stead_sym.support.extras import install

TIMEOUT = 30.0
"""The time limit on an answer, in seconds."""


def tools_of_server(where: str) -> tuple[ToolSchema, ...]:
    """Return the tools of a server.

    Raise `InputError` if the library is not installed, or if the server does not answer.
    """
    client = make_client(where)
    import anyio

    async def ask() -> list[Any]:
        with anyio.fail_after(TIMEOUT):
            async with client:
                return await list_tools(client)

    try:
        found = anyio.run(ask)
    except Exception as error:  # noqa: BLE001 (whatever the library, the transport or the server raises)
        raise unanswered_error(where, error) from None
    return tools_of([tool.model_dump(by_alias=True, exclude_none=True) for tool in found])


def make_client(where: str, database: str | None = None, timeout: float = TIMEOUT) -> Any:
    """Return a client that is not connected yet.

    It is of the server with a URL, or of the one that a command starts, in this environment. `{database}` in
    the command stands for a given database. Raise `InputError` if the library is not installed, or if the
    command cannot be read.
    """
    try:
        from mcp import Client, StdioServerParameters, stdio_client
    except ImportError:
        raise InputError(f"servers are asked by the library mcp; {install('import')}") from None
    if where.startswith(("http://", "https://")):
        return Client(where, read_timeout_seconds=timeout)
    try:
        command, *arguments = shlex.split(where)
    except ValueError as error:
        raise InputError(f"the command {where!r} cannot be read ({error}); close its quotes") from None
    if database is not None:
        arguments = [word.replace("{database}", database) for word in arguments]
    started = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    # a file is needed, and sys.stderr may have been replaced by something else
    return Client(stdio_client(started, errlog=sys.__stderr__), read_timeout_seconds=timeout)


async def list_tools(client: Any) -> list[Any]:
    """Return the tools of a server that a client is connected to."""
    tools: list[Any] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools


def unanswered_error(where: str, error: BaseException) -> InputError:
    """Return the error for a server that does not answer."""
    return InputError(f"the server {where!r} does not answer ({cause_of(error)}); see that it starts")


def cause_of(error: BaseException) -> str:
    """Return the first cause of an error in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
