"""Call what implements a tool: its SQL, a function, or a tool of an MCP server, which is started once."""

from __future__ import annotations

import asyncio
import inspect
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from stead_sym.conformance.binding import Binding, Implementation, McpTool
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call, Fresh, Tool
from stead_sym.errors import InputError
from stead_sym.imports.server import TIMEOUT, list_tools, make_client, unanswered_error

CALL_SECONDS = 30.0
"""The seconds after which a call that has not ended is taken for one that never does."""
_AGAIN_SECONDS = 1.0
_INSTRUCTIONS = 100_000
"""The number of SQLite's instructions after which some Python runs."""
_SELECT = re.compile(r"\s*SELECT\b", re.IGNORECASE)
_PARAMETER = re.compile(r"(?<![:\w\\]):(\w+)")


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


class Overdue(BaseException):
    """Raised in a call that does not end. It is no `Exception`, which a tool might catch and go on."""


class Caller:
    """The implementations of the tools of a deployment."""

    def __init__(self, deployment: Deployment, binding: Binding) -> None:
        """Raise `InputError` if one cannot be called with the parameters of its tool."""
        self._tools = binding.tools
        self._takes_connection: dict[str, bool] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self.new: dict[str, Mapping[str, str]] = {}
        """By tool, the sorts of parameters of its SQL that stand for new identifiers."""
        known = {tool.name: tool for tool in deployment.tools_and_events}
        for name, implementation in binding.tools.items():
            if name not in known:
                raise InputError(f"the binding runs {name}, which is no tool of {deployment.name}; remove it")
            if callable(implementation):
                self._takes_connection[name] = _takes_connection(known[name], implementation)
            elif not isinstance(implementation, McpTool):
                self._names[name], self.new[name] = _named(known[name], implementation)
        self.servers: Servers | None = None

    def call(self, call: Call, arguments: Mapping[str, object], connection: sa.Connection) -> None:
        """Make a call; raise what the tool raises, and `InputError` if it does not end."""
        name, implementation = call.tool, self._tools[call.tool]
        if isinstance(implementation, McpTool):
            assert self.servers is not None, "started when the system was opened"
            self.servers.call(implementation, name, arguments)
            return
        overdue: list[bool] = []
        try:
            with _limited(CALL_SECONDS, overdue):
                self._made(name, implementation, arguments, connection)
        except BaseException:
            if overdue:  # whatever the tool, or a library amid it, has made of the interruption
                raise InputError(
                    f"{call} has not ended after {CALL_SECONDS:g} s; see to what the tool waits for"
                ) from None
            raise

    def _made(
        self,
        name: str,
        implementation: Implementation,
        arguments: Mapping[str, object],
        connection: sa.Connection,
    ) -> None:
        if not callable(implementation):
            self._execute(name, implementation, arguments, connection)
            return
        extra: dict[str, Any] = {"connection": connection} if self._takes_connection[name] else {}
        answer = implementation(**arguments, **extra)
        if inspect.iscoroutine(answer):
            asyncio.run(answer)

    def _execute(
        self,
        name: str,
        implementation: Implementation,
        arguments: Mapping[str, object],
        connection: sa.Connection,
    ) -> None:
        for statement in _statements_of(implementation):
            used = _PARAMETER.findall(statement)
            given = {word: arguments[self._names[name].get(word, word)] for word in used}
            found = connection.execute(sa.text(statement), given)
            if _SELECT.match(statement) and found.first() is None:
                raise LookupError("a SELECT returns no row")


@contextmanager
def _limited(seconds: float, overdue: list[bool]) -> Iterator[None]:
    """Raise `Overdue` in what runs longer, and again if that is ignored; ``overdue`` is then not empty.

    Only the main thread of a process can be interrupted so; elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        overdue.append(True)
        raise Overdue

    before = signal.signal(signal.SIGALRM, end)
    left = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *left)  # of the call amid which this one was made, if any
        signal.signal(signal.SIGALRM, before)


def let_interrupt(connection: Any) -> None:
    """Let a long statement on a new connection of SQLite be interrupted: some Python runs meanwhile."""
    connection.set_progress_handler(lambda: 0, _INSTRUCTIONS)


def _takes_connection(tool: Tool, implementation: Any) -> bool:
    """Return True if a function takes the connection; raise `InputError` if not the tool's parameters."""
    names = [param.name for param in tool.params]
    try:
        signature = inspect.signature(implementation)
    except (TypeError, ValueError):
        raise InputError(
            f"the function of {tool.name} does not tell its parameters; bind a Python function that calls it"
        ) from None
    takes = "connection" in signature.parameters and "connection" not in names
    try:
        signature.bind(**dict.fromkeys([*names, *["connection"] * takes]))
    except TypeError as error:
        raise InputError(
            f"the function of {tool.name} cannot be called with {', '.join(names) or 'nothing'} ({error});"
            " give it the tool's parameters"
        ) from None
    return takes


def _named(tool: Tool, implementation: Implementation) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the names in SQL of parameters that have others in the file, and the sorts of new identifiers.

    A name that is a word of the language has `_` behind it in the file, and a number is a place. Raise
    `InputError` for a parameter that stands for nothing.
    """
    params = {param.name for param in tool.params}
    statements = [one for effect in tool.effects for one in effect.statements]
    fresh = {one.binder.name: one.binder.sort for one in statements if isinstance(one, Fresh)}
    renamed: dict[str, str] = {}
    new: dict[str, str] = {}
    for statement in _statements_of(implementation):
        for word in _PARAMETER.findall(statement):
            if word in params:
                continue
            if f"{word}_" in params:
                renamed[word] = f"{word}_"
            elif word.isdecimal() and 0 < int(word) <= len(tool.params):
                renamed[word] = tool.params[int(word) - 1].name
            elif word in fresh:
                new[word] = fresh[word]
            else:
                raise InputError(
                    f"the SQL of {tool.name} has :{word}, which is no parameter of the tool"
                    f" ({', '.join(sorted(params)) or 'it has none'}); name one, or write a value there"
                )
    return renamed, new


def _statements_of(implementation: Implementation) -> list[str]:
    assert not callable(implementation) and not isinstance(implementation, McpTool)  # noqa: PT018
    return list(statements(implementation) if isinstance(implementation, str) else implementation)


def statements(text: str) -> Iterator[str]:
    """Yield the statements of a text, without comments before them.

    A statement ends with a semicolon at the end of a line.
    """
    for statement in re.split(r";[ \t]*(?:\n|\Z)", text):
        bare = re.sub(r"\A(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)+", "", statement, flags=re.DOTALL)
        if bare.strip():
            yield bare.strip()
