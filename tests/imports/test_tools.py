"""Tools in every form in which agents are told of them: the same tool, read the same."""

from __future__ import annotations

import enum
import json
from typing import Literal

import pytest

from stead_sym.errors import InputError
from stead_sym.imports.tools import Parameter, read_tools, tools_of_functions

_SCHEMA = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "description": "The order."},
        "reason": {"type": "string", "enum": ["late", "wrong"]},
        "copies": {"type": "integer", "minimum": 1, "exclusiveMaximum": 4},
    },
    "required": ["order_id", "reason"],
}
_TOLD = {"name": "cancel_order", "description": "Cancel an order."}
_PARAMETERS = (
    Parameter("order_id", "text", "The order."),
    Parameter("reason", "text", values=("late", "wrong")),
    Parameter("copies", "integer", low=1, high=3, required=False),
)


@pytest.mark.parametrize(
    "found",
    [
        [{"type": "function", "function": {**_TOLD, "parameters": _SCHEMA}}],
        [{"type": "function", **_TOLD, "parameters": _SCHEMA}],
        {"tools": [{**_TOLD, "inputSchema": _SCHEMA}]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**_TOLD, "inputSchema": _SCHEMA}]}},
        [{**_TOLD, "input_schema": _SCHEMA}],
        {**_TOLD, "parameters": _SCHEMA},
    ],
)
def test_every_form_of_a_tool(found):
    [tool] = read_tools(json.dumps(found))
    assert (tool.name, tool.description, tool.reads) == ("cancel_order", "Cancel an order.", False)
    assert tool.parameters == _PARAMETERS


def test_references_and_null_are_followed():
    schema = {
        "$defs": {"Kind": {"enum": ["a", "b"], "type": "string"}, "Loop": {"$ref": "#/$defs/Loop"}},
        "properties": {
            "kind": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}], "default": None},
            "loop": {"$ref": "#/$defs/Loop"},
            "many": {"type": ["array", "null"], "items": {"type": "string"}},
        },
    }
    [tool] = read_tools(json.dumps([{"name": "t", "inputSchema": schema}]))
    kind, loop, many = tool.parameters
    assert (kind.kind, kind.values) == ("text", ("a", "b"))
    assert (loop.kind, many.kind) == ("unknown", "list")


def test_a_tool_that_only_reads_is_known_by_its_annotation_or_its_name():
    told = [
        {"name": "get_order"},
        {"name": "get_rid_of", "annotations": {"readOnlyHint": False}},
        {"name": "peek", "annotations": {"readOnlyHint": True}},
    ]
    assert [tool.reads for tool in read_tools(json.dumps(told))] == [True, False, True]


class _Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


def _pack(
    order_id: str,
    size: _Size,
    count: int,
    tag: Literal["x", "y"] | None = None,
    *,
    fast: bool | None = None,
):
    """Pack an order
    for shipping.

    What follows is not for the agent.
    """


def test_python_functions():
    [tool] = tools_of_functions([_pack])
    assert (tool.name, tool.description) == ("_pack", "Pack an order for shipping.")
    assert [(p.name, p.kind, p.values, p.required) for p in tool.parameters] == [
        ("order_id", "text", (), True),
        ("size", "text", ("small", "large"), True),
        ("count", "integer", (), True),
        ("tag", "text", ("x", "y"), False),
        ("fast", "boolean", (), False),
    ]


def test_the_connection_that_conform_hands_to_a_function_is_no_parameter():
    def ship(connection, order_id: int): ...
    def close(connection: int): ...

    assert [[p.name for p in tool.parameters] for tool in tools_of_functions([ship, close])] == [
        ["order_id"],
        ["connection"],
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        pytest.param("[" * 100_000, "no JSON", id="deep"),
        ("3", "no list"),
        ("[3]", "tool 1 has no name"),
        ('[{"name": 3}]', "tool 1 has no name"),
        ('[{"name": "a", "parameters": 3}]', "no JSON Schema"),
        ('[{"name": "a", "parameters": {"properties": 3}}]', "no object"),
        ('[{"name": "a"}, {"name": "a"}]', "two tools are called a"),
    ],
)
def test_bad_input_is_an_error_in_one_line(text, says):
    with pytest.raises(InputError, match=says):
        read_tools(text)
