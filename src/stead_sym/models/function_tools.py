"""Offered calls as the function tools of a chat, and the calls that a model makes of them.

The decision: each tool of the deployment is one function, whose arguments are enumerations of the offered
values. Enumerations cannot express which values go together. If not all combinations are offered, the
description lists those that are, and every call is looked up among the offered ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import InputError
from stead_sym.support.printable import one_line

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Refused(Exception):
    """An error: the answer is no offered call; `words` gives the reason, also to the model."""

    def __init__(self, why: str, said: object = "") -> None:
        """Create the error; ``why`` has `{}` in place of ``said``, which is kept complete for redaction."""
        super().__init__(why, said)
        self._why = why
        self._said = said

    def words(self, clean: Callable[[str], str]) -> str:
        """Return the reason, with the start of what was ``said`` after redaction by ``clean``."""
        try:
            said = str(self._said)
        except (ValueError, RecursionError):  # a number with too many digits, or nesting that is too deep
            said = "what cannot be written down"
        return self._why.replace("{}", one_line(clean(said), 100))


def function_tools(calls: Collection[Call], tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the functions of the offered ``calls``, by name, as JSON data."""
    offered = {call.tool for call in calls}
    return [
        _function(tool, sorted(call.args for call in calls if call.tool == tool.name))
        for tool in sorted(tools, key=lambda tool: tool.name)
        if tool.name in offered
    ]


def check_names(tools: Sequence[Tool]) -> None:
    """Raise `InputError` for names that a function tool cannot have."""
    for tool in tools:
        for name in (tool.name, *(param.name for param in tool.params)):
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"the name {name} of {tool.name} cannot be that of a function in a chat; give it at most"
                    " 64 letters a-z, digits and _"
                )


def called(
    message: dict[str, Any], calls: Collection[Call], tools: Sequence[Tool], most: int = 1
) -> tuple[Call, ...]:
    """Return the offered calls in an assistant's message, in their order.

    Raise `Refused` if it has none, more than ``most``, or another. The same call twice counts as several: an
    executor of the calls would execute it twice.
    """
    made = message.get("tool_calls")
    if not isinstance(made, list) or not made:
        raise Refused("no function was called")
    if len(made) > most:
        wanted = "one is" if most == 1 else f"{most} at most are"
        raise Refused(f"{len(made)} calls were made where {wanted} wanted")
    return tuple(_call(one, calls, tools) for one in made)


def _call(made: Any, calls: Collection[Call], tools: Sequence[Tool]) -> Call:
    function = made.get("function") if isinstance(made, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    tool = next((tool for tool in tools if tool.name == name), None)
    if function is None or tool is None or tool.name not in {call.tool for call in calls}:
        raise Refused("the function {} is not offered", name)
    arguments = function.get("arguments")
    try:
        given = json.loads(arguments, object_pairs_hook=_once) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        raise Refused(f"the arguments of {name} are no JSON: {{}}", arguments) from None
    given = {} if given is None and not tool.params else given
    names = [param.name for param in tool.params]
    if not isinstance(given, dict) or sorted(given) != sorted(names):
        wanted = ", ".join(names) or "none"
        raise Refused(f"the arguments of {name} are {{}}; it takes {wanted}", arguments)
    values = [given[name] for name in names]
    if not all(isinstance(value, str) for value in values):
        raise Refused(f"the arguments of {name} are {{}}; each has to be a text", arguments)
    call = Call(tool.name, tuple(values))
    if call not in calls:
        raise Refused("{} is not offered", call)
    return call


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise `Refused` if it has a key twice.

    Parsers differ in which of two values they take.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("an argument is given twice")
    return found


def _function(tool: Tool, offered: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    names = [param.name for param in tool.params]
    columns = [sorted(set(column)) for column in zip(*offered, strict=True)] if names else []
    description = [tool.description] if tool.description else []
    if names and len(offered) < math.prod(map(len, columns)):
        combinations = (
            json.dumps(dict(zip(names, args, strict=True)), ensure_ascii=False) for args in offered
        )
        description.append(f"Possible arguments: {'; '.join(combinations)}")
    properties = {
        param.name: {"type": "string", "enum": values, "description": param.sort}
        for param, values in zip(tool.params, columns, strict=True)
    }
    parameters = {
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": False,
    }
    # `strict` makes servers that support it constrain decoding to the enumerations.
    function: dict[str, Any] = {"name": tool.name, "parameters": parameters, "strict": True}
    if description:
        function["description"] = "\n".join(description)
    return {"type": "function", "function": function}
