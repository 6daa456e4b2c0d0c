"""A guard in agents of LangChain and LangGraph.

One decision: the middleware intercepts the calls of all tools, so a tool that the deployment does not have is
denied unless it is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from stead_sym.guard.adapters.functions import guarded_functions, not_installed
from stead_sym.guard.decision import Denied
from stead_sym.guard.guard import Do, Guard

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool, ToolException
except ModuleNotFoundError:
    raise not_installed("langchain", "langchain") from None


class GuardedTool(BaseTool):  # type: ignore[misc]
    """A tool whose calls are checked and carried out in one transaction."""

    guard: Any
    do: Any
    handle_tool_error: Any = True

    def _run(self, /, **arguments: object) -> object:
        return _result(self.guard.call(self.name, arguments, self.do))

    async def _arun(self, /, **arguments: object) -> object:
        return _result(await self.guard.acall(self.name, arguments, self.do))


def guarded_tools(guard: Guard, functions: Mapping[str, Do]) -> list[GuardedTool]:
    """Return tools that check a call and carry it out with a function, in one transaction (`Guard.call`).

    A call that is denied is answered with the reason, as an error. Raise `InputError` for a function of no
    tool.
    """
    return [
        GuardedTool(
            name=one.name, description=one.description, args_schema=one.parameters, guard=guard, do=one.do
        )
        for one in guarded_functions(guard, functions)
    ]


class GuardMiddleware(AgentMiddleware):  # type: ignore[misc]
    """A guard before the tools of an agent: `create_agent(…, middleware=[GuardMiddleware(guard)])`.

    The model is shown the tools that have an allowed call now. A call that is denied is answered with the
    reason, as an error. The others are made one after the other (`Guard.forward`); those of `guarded_tools`
    are checked in their own transactions. Tools named in ``unguarded`` are left alone, and further tools
    that the deployment does not have are denied.
    """

    def __init__(self, guard: Guard, *, unguarded: Iterable[str] = ()) -> None:
        super().__init__()
        self._guard = guard
        self._unguarded = frozenset(unguarded)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model with the tools that have an allowed call now."""
        return handler(self._shown(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call the model with the tools that have an allowed call now."""
        return await handler(await asyncio.to_thread(self._shown, request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the tool if the guard allows it."""
        if self._passes(request):
            return handler(request)
        name, arguments = request.tool_call["name"], request.tool_call["args"]
        decision = self._guard.forward(name, arguments, lambda: handler(request), _is_error)
        return _refusal(decision, request) if isinstance(decision, Denied) else decision.result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call the tool if the guard allows it."""
        if self._passes(request):
            return await handler(request)
        name, arguments = request.tool_call["name"], request.tool_call["args"]
        decision = await self._guard.aforward(name, arguments, lambda: handler(request), _is_error)
        return _refusal(decision, request) if isinstance(decision, Denied) else decision.result

    def _passes(self, request: Any) -> bool:
        """Return True if a call is not for the middleware to check."""
        own = isinstance(request.tool, GuardedTool) and request.tool.guard is self._guard
        return own or request.tool_call["name"] in self._unguarded

    def _shown(self, request: Any) -> Any:
        names = self._guard.allowed_tools() | self._unguarded
        return request.override(tools=[tool for tool in request.tools if _name(tool) in names])


def _result(decision: Any) -> object:
    if isinstance(decision, Denied):
        raise ToolException(decision.words)
    return decision.result


def _refusal(denied: Denied, request: Any) -> Any:
    call = request.tool_call
    return ToolMessage(denied.words, name=call["name"], tool_call_id=call["id"], status="error")


def _is_error(answer: Any) -> bool:
    return getattr(answer, "status", None) == "error"


def _name(tool: Any) -> object:
    """Return the name of a tool, or the type of one that the provider of the model runs."""
    return tool.get("name", tool.get("type")) if isinstance(tool, dict) else tool.name
