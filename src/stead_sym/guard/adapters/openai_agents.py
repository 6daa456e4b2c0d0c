"""A guard in agents of the OpenAI Agents SDK.

One decision: the tools themselves are guarded. A guardrail runs before its tool, and the calls of a message
run at the same time, so two guardrails could let two calls through of which the first forbids the second.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from stead_sym.guard.adapters.functions import guarded_functions, not_installed
from stead_sym.guard.decision import Decision, Denied
from stead_sym.guard.guard import Do, Guard

try:
    from agents import FunctionTool
except ImportError:  # also if a folder of the user has this name
    raise not_installed("agents", "openai-agents") from None

_Invoke = Callable[[Any, str], Awaitable[Any]]


def guarded_tools(guard: Guard, functions: Mapping[str, Do]) -> list[Any]:
    """Return tools that check a call and carry it out with a function, in one transaction (`Guard.call`).

    A call that is denied is answered with the reason. Raise `InputError` for a function of no tool.
    """

    def carrying_out(name: str, do: Do) -> _Invoke:
        return _invoke(name, lambda _, __, arguments: guard.acall(name, arguments, do))

    return [
        FunctionTool(one.name, one.description, one.parameters, carrying_out(one.name, one.do))
        for one in guarded_functions(guard, functions)
    ]


def guard_tools(guard: Guard, tools: Iterable[Any]) -> list[Any]:
    """Return function tools whose calls are made if the guard allows them, one after the other.

    See `Guard.forward`. A call that is denied is answered with the reason.
    """

    def forwarding(name: str, make: _Invoke) -> _Invoke:
        return _invoke(
            name,
            lambda context, text, arguments: guard.aforward(name, arguments, lambda: make(context, text)),
        )

    guarded = [copy.copy(tool) for tool in tools]
    for tool in guarded:
        tool.on_invoke_tool = forwarding(tool.name, tool.on_invoke_tool)
    return guarded


def _invoke(name: str, decide: Callable[[Any, str, dict[str, object]], Awaitable[Decision]]) -> _Invoke:
    """Return what the SDK calls with a context and the arguments as text."""

    async def invoke(context: Any, text: str) -> object:
        try:
            arguments = json.loads(text or "{}")
        except (ValueError, RecursionError):  # nested too deep
            arguments = None
        if not isinstance(arguments, dict):
            return f"The arguments of {name} have to be a JSON object."
        decision = await decide(context, text, arguments)
        return decision.words if isinstance(decision, Denied) else decision.result

    return invoke
