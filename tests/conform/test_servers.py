"""Tools of MCP servers in a binding: the server of the refund desk, started on the scratch database."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import stead_sym as st
from refund_app.binding import binding
from stead_sym.conformance.binding import McpTool
from stead_sym.conformance.conform import conform
from stead_sym.errors import InputError

pytestmark = pytest.mark.gate

EXAMPLES = Path(__file__).parents[2] / "examples"
SERVER = f"{sys.executable} -m refund_app.server {{database}}"


@pytest.fixture(autouse=True)
def _where_the_server_finds_the_example(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES))


def desk(**changed):
    tools = {name: McpTool(SERVER) for name in binding.tools}
    return st.load(EXAMPLES / "refund_app" / "refunds.stead"), replace(binding, tools={**tools, **changed})


def test_the_tools_of_a_server_agree_with_the_file():
    found = conform(*desk())
    assert found.differences == ()
    assert found.agrees
    assert all(one.offered for one in found.tools.values())


def test_a_fault_behind_a_server_is_found():
    deployment, served = desk(cancel_order="DELETE FROM orders WHERE id = :order_id")
    found = conform(deployment, served, max_states=12)
    assert {one.call.tool for one in found.differences} == {"cancel_order"}


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        (McpTool(SERVER, "refund"), "has no tool refund; it has open_refund"),
        (McpTool(f"{sys.executable} -c pass"), "does not answer"),
        (McpTool("no_such_program"), "does not answer"),
        (McpTool("'open"), "close its quotes"),
    ],
)
def test_a_server_that_does_not_fit_is_an_error_in_one_line(tool, says):
    with pytest.raises(InputError, match=says) as error:
        conform(*desk(pay_refund=tool), max_states=1)
    assert "\n" not in str(error.value)


def test_a_server_that_ends_amid_a_call_is_no_refusal(tmp_path):
    (tmp_path / "ending.py").write_text(
        "import os\n"
        "from mcp.server.mcpserver import MCPServer\n"
        "server = MCPServer('ending')\n"
        "@server.tool()\n"
        "def pay_refund(refund_id: int) -> str:\n"
        "    os._exit(1)\n"
        "server.run()\n"
    )
    with pytest.raises(InputError, match=r"gives no answer to pay_refund \(it ended\)"):
        conform(*desk(pay_refund=McpTool(f"{sys.executable} {tmp_path / 'ending.py'}")), max_states=4)
