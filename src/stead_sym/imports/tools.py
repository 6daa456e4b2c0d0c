"""Read what an agent is told of its tools: function schemas, a server's list of tools, Python functions.

One decision: every form becomes a name, a description and parameters with what their JSON Schema says of one
value. The forms differ only in where they put these.
"""

from __future__ import annotations

import enum
import inspect
import json
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from stead_sym.errors import InputError

ParameterKind: TypeAlias = Literal["text", "number", "integer", "boolean", "list", "object", "unknown"]
"""The type of a parameter."""

_JSON_KINDS: Mapping[str, ParameterKind] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "list",
    "object": "object",
}
_PYTHON_KINDS: Mapping[type, ParameterKind] = {
    str: "text",
    float: "number",
    int: "integer",
    bool: "boolean",
    list: "list",
    tuple: "list",
    set: "list",
    dict: "object",
}
_READING = (
    "get_",
    "list_",
    "find_",
    "search_",
    "read_",
    "lookup_",
    "look_up_",
    "fetch_",
    "show_",
    "describe_",
)
"""Beginnings of the names of tools that only read."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool; ``values`` are the texts of its `enum`, ``low`` and ``high`` its bounds.

    ``columns`` are the tables and columns whose values it stands for, in lower case, if that is known.
    """

    name: str
    kind: ParameterKind
    description: str = ""
    values: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    required: bool = True
    columns: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as an agent sees it; ``reads`` says that it changes nothing, as far as anybody says so."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    reads: bool


def read_tools(text: str) -> tuple[ToolSchema, ...]:
    """Return the tools of a JSON text.

    It holds a list of function schemas as chat models take them, with or without ``{"type": "function", …}``
    around each; or the answer of a server to `tools/list`. Raise `InputError`.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:  # nested too deep
        raise InputError(f"the tools are no JSON ({error}); give a list of function schemas") from None
    return tools_of(found)


def tools_of(found: object) -> tuple[ToolSchema, ...]:
    """Return the tools of decoded JSON; see `read_tools`."""
    while isinstance(found, Mapping):
        inner = found.get("result", found.get("tools", found.get("functions")))
        if inner is None:
            found = [found]
            break
        found = inner
    if not isinstance(found, list):
        raise InputError('the tools are no list; give a list of function schemas, or {"tools": [...]}')
    return _distinct([_tool(number, one) for number, one in enumerate(found, 1)])


def tools_of_functions(functions: Iterable[Callable[..., Any]]) -> tuple[ToolSchema, ...]:
    """Return the tools that Python functions are: names, first paragraphs of docstrings, annotations."""
    return _distinct([_function(function) for function in functions])


def _distinct(tools: Sequence[ToolSchema]) -> tuple[ToolSchema, ...]:
    """Return the tools; raise `InputError` if two have one name."""
    names = [tool.name for tool in tools]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two tools are called {twice}; give each a name of its own")
    return tuple(tools)


def _tool(number: int, found: object) -> ToolSchema:
    """Return the tool of one schema."""
    schema = found.get("function", found) if isinstance(found, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(schema.get("name"), str):
        raise InputError(f"tool {number} has no name; give a function schema with `name` and `parameters`")
    name, annotations = schema["name"], schema.get("annotations")
    inputs = schema.get("parameters", schema.get("inputSchema", schema.get("input_schema"))) or {}
    if not isinstance(inputs, Mapping):
        raise InputError(f"the parameters of {name} are no JSON Schema of an object")
    required = inputs.get("required")
    definitions = inputs.get("$defs") or inputs.get("definitions") or {}
    properties = inputs.get("properties") or {}
    if not isinstance(properties, Mapping):
        raise InputError(f"the `properties` of {name} are no object")
    parameters = tuple(
        _parameter(key, value, definitions, required is None or key in required)
        for key, value in properties.items()
    )
    reads = annotations.get("readOnlyHint") if isinstance(annotations, Mapping) else None
    description = str(schema.get("description") or "").strip()
    return ToolSchema(
        name, description, parameters, name.startswith(_READING) if reads is None else bool(reads)
    )


def _parameter(name: str, schema: object, definitions: Mapping[str, object], required: bool) -> Parameter:
    """Return the parameter of a property."""
    found = _followed(schema, definitions)
    values = found.get("enum", [found["const"]] if "const" in found else [])
    word = found.get("type")
    if isinstance(word, list):  # a type or null
        word = next((one for one in word if one != "null"), None)
    kind = _JSON_KINDS.get(str(word), "text" if values else "unknown")
    texts = tuple(str(v) for v in values if v is not None) if isinstance(values, list) else ()
    low, high = _bound(found, "minimum", 1), _bound(found, "maximum", -1)
    return Parameter(name, kind, str(found.get("description") or ""), texts, low, high, required)


def _bound(schema: Mapping[str, object], word: str, step: int) -> int | None:
    """Return a bound of an integer, inclusive."""
    if isinstance(bound := schema.get(word), int):
        return bound
    bound = schema.get(f"exclusive{word.capitalize()}")
    return bound + step if isinstance(bound, int) and not isinstance(bound, bool) else None


def _followed(schema: object, definitions: Mapping[str, object]) -> Mapping[str, Any]:
    """Return a schema with its reference and its only alternative besides null put in."""
    found: dict[str, Any] = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(20):  # a reference may lead back to itself
        if isinstance(reference := found.pop("$ref", None), str):
            found = {**_mapping(definitions.get(reference.rpartition("/")[2])), **found}
            continue
        alternatives = found.pop("anyOf", None) or found.pop("oneOf", None) or found.pop("allOf", None)
        if not isinstance(alternatives, list):
            break
        rest = [_mapping(one) for one in alternatives if _mapping(one).get("type") != "null"]
        if len(rest) == 1:
            found = {**rest[0], **found}
    return found


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _function(function: Callable[..., Any]) -> ToolSchema:
    """Return the tool that a Python function is; a `connection` of no simple type is not the agent's."""
    name = getattr(function, "__name__", "")
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # annotations of modules that are not there
        hints = {}
    described = (inspect.getdoc(function) or "").split("\n\n")[0]
    parameters = tuple(
        _annotated(p.name, hints.get(p.name), p.default is p.empty)
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in ("self", "cls")
    )
    parameters = tuple(p for p in parameters if (p.name, p.kind) != ("connection", "unknown"))
    return ToolSchema(name, " ".join(described.split()), parameters, name.startswith(_READING))


def _annotated(name: str, hint: Any, required: bool) -> Parameter:
    """Return the parameter of an annotation."""
    if get_origin(hint) in (Union, types.UnionType):
        rest = [one for one in get_args(hint) if one is not type(None)]
        if len(rest) == 1:
            return _annotated(name, rest[0], False)
        return Parameter(name, "unknown", required=required)
    if get_origin(hint) is Literal:
        return Parameter(name, "text", values=tuple(map(str, get_args(hint))), required=required)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return Parameter(name, "text", values=tuple(str(one.value) for one in hint), required=required)
    origin = get_origin(hint) or hint
    kind = _PYTHON_KINDS.get(origin, "unknown") if isinstance(origin, type) else "unknown"
    return Parameter(name, kind, required=required)
