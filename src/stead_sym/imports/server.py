"""Ask an MCP server for its tools, with the library `mcp`."""

from __future__ import annotations

import shlex
from typing import Any

from stead_sym.errors import InputError
from stead_sym.imports.tools import ToolSchema, tools_of
from stead_sym.support.extras import install

TIMEOUT = 30.0
"""So many seconds a server has to answer."""


def tools_of_server(where: str) -> tuple[ToolSchema, ...]:
    """Return the tools of a server: the URL of one that is reached by HTTP, or a command that starts one.

    Raise `InputError` if the library is not installed, or if the server does not answer.
    """
    try:
        import anyio
        from mcp import Client, StdioServerParameters
    except ImportError:
        raise InputError(f"servers are asked by the library mcp; {install('import')}") from None
    target: Any = where
    if not where.startswith(("http://", "https://")):
        try:
            command, *arguments = shlex.split(where)
        except ValueError as error:
            raise InputError(f"the command {where!r} cannot be read ({error}); close its quotes") from None
        target = StdioServerParameters(command=command, args=arguments)
    found: list[Any] = []

    async def ask() -> None:
        with anyio.fail_after(TIMEOUT):
            async with Client(target) as client:
                cursor = None
                while True:
                    page = await client.list_tools(cursor=cursor)
                    found.extend(tool.model_dump(by_alias=True, exclude_none=True) for tool in page.tools)
                    cursor = page.next_cursor
                    if cursor is None:
                        return

    try:
        anyio.run(ask)
    except Exception as error:  # noqa: BLE001 (whatever the library, the transport or the server raises)
        raise InputError(
            f"the server {where!r} does not answer ({_cause(error)}); see that it starts"
        ) from None
    return tools_of(found)


def _cause(error: BaseException) -> str:
    """Return the first error in a group of them, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
