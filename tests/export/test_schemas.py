"""Tools as function schemas: what they say, and that they are read back as they are."""

from __future__ import annotations

import json

import jsonschema
import pytest

import stead_sym as st
from stead_sym.conformance.binding import Binding
from stead_sym.deployment.files import packaged_examples
from stead_sym.errors import InputError
from stead_sym.imports.tools import read_tools

TEXT = """deployment desk
sort order
sort status = { new < paid < sent }
sort n = -1..3
relation Order(id: order key, status: status, left: n)
tool put(order: order, status: status, n: n) "Say how it is."
  guard Order(id = order)
event happens(order: order)
  guard Order(id = order)
"""


def test_each_sort_of_parameter():
    [tool] = json.loads(st.to_tools(st.parse_deployment(TEXT)))
    assert tool == {
        "type": "function",
        "function": {
            "name": "put",
            "description": "Say how it is.",
            "parameters": {
                "type": "object",
                "properties": {
                    "order": {"type": "string"},
                    "status": {"type": "string", "enum": ["new", "paid", "sent"]},
                    "n": {"type": "integer", "minimum": -1, "maximum": 3},
                },
                "required": ["order", "status", "n"],
                "additionalProperties": False,
            },
        },
    }


@pytest.mark.parametrize("name", packaged_examples())
@pytest.mark.parametrize("form", ["openai", "mcp"])
def test_the_import_reads_them_back(name, form):
    deployment = st.load(name)
    text = st.to_tools(deployment, form)
    tools = read_tools(text)
    assert [tool.name for tool in tools] == [tool.name for tool in deployment.tools]
    for tool, found in zip(deployment.tools, tools, strict=True):
        assert found.description == tool.description
        assert [p.name for p in found.parameters] == [p.name for p in tool.params]
        for param, read in zip(tool.params, found.parameters, strict=True):
            sort = deployment.schema.sort(param.sort)
            if sort.is_numeric:
                assert (read.low, read.high) == (int(sort.values[0]), int(sort.values[-1]))
            else:
                assert read.values == (sort.values or ())
    for schema in json.loads(text)["tools"] if form == "mcp" else ():
        jsonschema.Draft202012Validator.check_schema(schema["inputSchema"])


def test_a_guard_shows_the_same(tmp_path):
    url = f"sqlite:///{tmp_path / 'desk.db'}"
    import sqlalchemy as sa

    with sa.create_engine(url).begin() as connection:
        connection.exec_driver_sql('CREATE TABLE "order" (id TEXT PRIMARY KEY, status TEXT, "left" INTEGER)')
    deployment = st.parse_deployment(TEXT)
    guard = st.Guard(deployment, Binding(url, {}))
    assert json.loads(st.to_tools(deployment, "mcp"))["tools"] == list(guard.tools)


def test_what_cannot_be_exported():
    with pytest.raises(InputError, match="'soap' is no form of function schemas; take openai or mcp"):
        st.to_tools(st.load("refund"), "soap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="d has no tools to export"):
        st.to_tools(st.parse_deployment("deployment d\nsort a\nrelation P(a)\n"))
