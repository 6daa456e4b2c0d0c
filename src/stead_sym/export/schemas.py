"""Write the tools of a deployment as function schemas: for chat models, or as an MCP server lists them.

One decision: a schema says what the deployment says of the arguments, and no more. An identifier is any
string, because which ones there are depends on the database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError
from stead_sym.relational.schema import Sort

Form: TypeAlias = Literal["openai", "mcp"]
"""A list of functions as chat models take them, or the answer of an MCP server to `tools/list`."""
FORMS: tuple[Form, ...] = ("openai", "mcp")


def argument_schema(sort: Sort, identifier: str = "string") -> Mapping[str, object]:
    """Return the JSON Schema of an argument of a sort; ``identifier`` is the type of unlisted values."""
    if sort.is_numeric and sort.values:
        return {"type": "integer", "minimum": int(sort.values[0]), "maximum": int(sort.values[-1])}
    if sort.values is not None:
        return {"type": "string", "enum": list(sort.values)}
    return {"type": identifier}


def arguments_schema(tool: Tool, of_sort: Callable[[str], Mapping[str, object]]) -> Mapping[str, object]:
    """Return the JSON Schema of the arguments of a tool; ``of_sort`` has the schemas of sorts by name."""
    properties = {param.name: of_sort(param.sort) for param in tool.params}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def to_tools(deployment: Deployment, form: Form = "openai") -> str:
    """Return the tools of a deployment as JSON, for a chat model (`openai`) or an MCP server (`mcp`).

    Raise `InputError` for another form, and if there are no tools.
    """
    if form not in FORMS:
        raise InputError(f"{form!r} is no form of function schemas; take {' or '.join(FORMS)}")
    if not deployment.tools:
        raise InputError(f"{deployment.name} has no tools to export; write `tool NAME(…)`")

    def of_sort(name: str) -> Mapping[str, object]:
        return argument_schema(deployment.schema.sort(name))

    listed: list[Mapping[str, Any]] = []
    for tool in deployment.tools:
        said = {"name": tool.name, "description": tool.description}
        if form == "mcp":
            listed.append({**said, "inputSchema": arguments_schema(tool, of_sort)})
        else:
            function = {**said, "parameters": arguments_schema(tool, of_sort)}
            listed.append({"type": "function", "function": function})
    found: object = {"tools": listed} if form == "mcp" else listed
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
