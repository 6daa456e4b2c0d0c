"""A guard in agents of Pydantic AI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stead_sym.guard.adapters.functions import guarded_functions, not_installed
from stead_sym.guard.decision import Denied
from stead_sym.guard.guard import Do, Guard

try:
    from pydantic_ai import Tool, ToolFailed
    from pydantic_ai.toolsets import WrapperToolset
    from pydantic_core import to_jsonable_python
except ModuleNotFoundError:
    raise not_installed("pydantic_ai", "pydantic-ai") from None


def guarded_tools(guard: Guard, functions: Mapping[str, Do]) -> list[Any]:
    """Return tools that check a call and carry it out with a function, in one transaction (`Guard.call`).

    A call that is denied fails with the reason. Raise `InputError` for a function of no tool.
    """

    def carrying_out(name: str, do: Do) -> Callable[..., object]:
        def run(**arguments: object) -> object:
            return _result(guard.call(name, arguments, do))

        return run

    return [
        Tool.from_schema(carrying_out(one.name, one.do), one.name, one.description, one.parameters)
        for one in guarded_functions(guard, functions)
    ]


@dataclass
class GuardedToolset(WrapperToolset):  # type: ignore[misc]
    """A toolset whose calls are made if the guard allows them, one after the other (`Guard.forward`).

    A call that is denied fails with the reason.
    """

    guard: Guard

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Call the tool if the guard allows it."""
        arguments = to_jsonable_python(tool_args)  # as the model gave them, before they were validated
        made = super().call_tool
        return _result(await self.guard.aforward(name, arguments, lambda: made(name, tool_args, ctx, tool)))


def _result(decision: Any) -> object:
    if isinstance(decision, Denied):
        raise ToolFailed(decision.words)
    return decision.result
