"""`stead-sym guard`: tools behind a proxy, asked with the library's own client."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import careless_desk
import pytest
import rogue
import sqlalchemy as sa
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import stead_sym as st
from refund_app import tools
from refund_app.binding import binding
from refund_app.models import Base
from stead_sym.cli.main import main
from stead_sym.guard.proxy import proxied

EXAMPLES = Path(__file__).parents[2] / "examples"
FILE = EXAMPLES / "refund_app" / "refunds.stead"


@pytest.fixture
def url(tmp_path):
    """The desk's database, with two refunds that wait and one that is approved."""
    made = f"sqlite:///{tmp_path / 'live.sqlite'}"
    engine = sa.create_engine(made)
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO staff VALUES (1, 'ann'), (2, 'bob')")
        connection.exec_driver_sql("INSERT INTO orders VALUES (10, 1, 5), (11, 1, 5), (12, 2, 5)")
        connection.exec_driver_sql("INSERT INTO refunds VALUES (20, 10, 'requested', NULL)")
        connection.exec_driver_sql("INSERT INTO refunds VALUES (21, 11, 'approved', 2)")
    engine.dispose()
    return made


def desk_server(url):
    """The desk's tools as a server in this process; one more is not of the deployment."""
    server, engine = MCPServer("desk", log_level="WARNING"), sa.create_engine(url)

    def run(tool, *arguments):
        with engine.begin() as connection:
            return tool(connection, *arguments)

    @server.tool()
    def open_refund(order_id: int) -> str:
        return run(tools.open_refund, order_id)

    @server.tool()
    def approve_refund(refund_id: int, staff_id: int) -> str:
        return run(tools.approve_refund, refund_id, staff_id)

    @server.tool()
    def pay_refund(refund_id: int) -> str:
        return run(tools.pay_refund, refund_id)

    @server.tool()
    def cancel_order(order_id: int) -> str:
        raise ToolError("out of order")

    @server.tool()
    def drop_tables() -> str:
        raise AssertionError("not of the deployment")

    return server


def asked(url, ask, **options):
    """Return what a function does with a client of the proxy."""
    options = {"bounds": False, **options}
    guard = st.Guard(options.pop("desk", st.load(FILE)), replace(binding, database=url), **options)

    async def run():
        with anyio.fail_after(120):
            async with Client(desk_server(url)) as tools, Client(proxied(guard, tools)) as client:
                return await ask(client)

    with guard:
        return anyio.run(run)


def text(answer):
    return " ".join(part.text for part in answer.content)


def test_a_rogue_agent_is_refused_and_a_good_one_is_not(url, tmp_path):
    async def ask(client):
        names = {tool.name for tool in (await client.list_tools()).tools}
        refused = [await client.call_tool("pay_refund", {"refund_id": 20}) for _ in range(5)]
        own = await client.call_tool("approve_refund", {"refund_id": 20, "staff_id": 1})
        unknown = await client.call_tool("drop_tables", {})
        approved = await client.call_tool("approve_refund", {"refund_id": 20, "staff_id": 2})
        paid = []

        async def pay():
            paid.append(await client.call_tool("pay_refund", {"refund_id": 20}))

        async with anyio.create_task_group() as together:
            for _ in range(5):
                together.start_soon(pay)
        return names, refused, own, unknown, approved, paid

    names, refused, own, unknown, approved, paid = asked(url, ask, log=tmp_path / "log")
    assert names == {"open_refund", "approve_refund", "pay_refund", "cancel_order"}
    assert all(answer.is_error for answer in [*refused, own, unknown])
    assert text(refused[0]).startswith("pay_refund(refund_id=20) was not carried out: its guard is not true")
    assert "approve_refund(refund_id=20, staff_id=2)" in text(refused[0])
    assert not approved.is_error
    assert sorted(answer.is_error for answer in paid) == [False, True, True, True, True]
    events = [json.loads(line)["event"] for line in (tmp_path / "log").read_text().splitlines()]
    assert (events.count("denied"), events.count("allowed"), events.count("done")) == (11, 2, 2)
    assert st.check_audit_log(tmp_path / "log", st.load(FILE)).lines == len(events)


def test_tools_without_an_allowed_call_are_not_shown(url):
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM refunds")
    engine.dispose()

    async def ask(client):
        return {tool.name for tool in (await client.list_tools()).tools}

    assert asked(url, ask) == {"open_refund", "cancel_order"}


def test_a_tool_that_fails_is_in_the_log(url, tmp_path):
    async def ask(client):
        return await client.call_tool("cancel_order", {"order_id": 12})

    assert text(asked(url, ask, log=tmp_path / "log")).endswith("out of order")
    events = [json.loads(line)["event"] for line in (tmp_path / "log").read_text().splitlines()]
    assert events == ["opened", "allowed", "failed"]


CAREFUL = """
policy careful
  call approve_refund(r, s)
  call pay_refund(r)
  call open_refund(o)
  call cancel_order(o)
"""


@pytest.fixture(scope="module")
def careful():
    """The desk with any database, and the verification of an agent that approves first."""
    one_each = " where forall a, b, o. (Refunds(a, o, _) & Refunds(b, o, _) -> a = b)"
    every = f"initially any Staff, Orders, Refunds, RefundsApprovedBy{one_each}"
    written = FILE.read_text().replace("initially any Staff, Orders", every)
    desk = st.parse_deployment(written + CAREFUL)
    return {"desk": desk, "bounds": True, "verified": st.verify(desk, "careful")}


@pytest.mark.parametrize(
    ("never_met", "names"),
    [
        ("deny", {"approve_refund"}),
        ("allow", {"approve_refund", "pay_refund", "cancel_order"}),
    ],
)
def test_an_agent_is_held_to_what_was_verified(url, tmp_path, careful, never_met, names):
    async def ask(client):
        shown = {tool.name for tool in (await client.list_tools()).tools}
        approved = await client.call_tool("approve_refund", {"refund_id": 20, "staff_id": 2})
        other = await client.call_tool("cancel_order", {"order_id": 11})
        paid = await client.call_tool("pay_refund", {"refund_id": 20})
        return shown, approved, other, paid

    engine, log = sa.create_engine(url), tmp_path / "log"
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM orders WHERE id = 12")
    engine.dispose()
    shown, approved, other, paid = asked(url, ask, log=log, never_met=never_met, **careful)
    assert shown == names
    assert not approved.is_error
    assert not paid.is_error
    if never_met == "deny":
        why = "not verified: pay_refund(20), pay_refund(21) was verified here, and not this call"
        assert text(other).startswith(f"cancel_order(order_id=11) was not carried out: {why}")
    else:
        assert text(other).endswith("out of order")  # it was made
    assert st.replay_audit_log(log, careful["desk"]).confirmed


# as a command


def words(url, *more):
    server = f"{sys.executable} -m refund_app.server {url}"
    given = ["guard", str(FILE), "--binding", "refund_app.binding", "--database", url, "--no-bounds"]
    return [*given, "--mcp", server, *more]


@pytest.mark.gate
def test_the_command_serves_what_another_server_has(url, tmp_path):
    path = os.pathsep.join([str(EXAMPLES), str(Path(st.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path}
    arguments = ["-m", "stead_sym", *words(url, "--log", str(tmp_path / "log"))]
    started = StdioServerParameters(command=sys.executable, args=arguments, env=environment)

    async def run():
        with anyio.fail_after(300):
            async with Client(stdio_client(started, errlog=sys.__stderr__)) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
                pay = [await client.call_tool("pay_refund", {"refund_id": number}) for number in (20, 21)]
                return names, [answer.is_error for answer in pay]

    assert anyio.run(run) == ({"open_refund", "approve_refund", "pay_refund", "cancel_order"}, [True, False])
    assert st.check_audit_log(tmp_path / "log", st.load(FILE)).lines == 4


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (["--gate", "nothing"], "unknown gate nothing"),
        (["--mcp", f"{sys.executable} -c pass"], "does not answer"),
        (["--database", "sqlite:///missing.sqlite"], "missing.sqlite: there is no such database"),
        (["--binding", "refund_app.tools"], "the module refund_app.tools has no binding"),
        (["--mcp", "http://127.0.0.1:9/mcp"], "the server 'http://127.0.0.1:9/mcp' does not answer"),
        (["--http", "8000"], "'8000' is no address; write HOST:PORT, such as 127.0.0.1:8000"),
        (["--http", "0.0.0.0:8000"], "0.0.0.0:8000: the proxy asks nobody who they are"),
        (["--http", "127.0.0.1:70000"], "127.0.0.1:70000: cannot be served"),
    ],
)
def test_what_does_not_fit_is_a_line(url, capsys, changed, why):
    assert main([*words(url), *changed]) == 2
    assert why in capsys.readouterr().err


def test_an_address_that_is_taken_is_a_line(url, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main([*words(url), "--http", f"127.0.0.1:{taken.getsockname()[1]}"]) == 2
    assert "cannot be served (Address already in use); give another port" in capsys.readouterr().err


@pytest.mark.gate
def test_a_server_without_a_tool_of_the_deployment_is_a_line(url, tmp_path, capsys):
    other = tmp_path / "other.py"
    other.write_text("from mcp.server.mcpserver import MCPServer\nMCPServer('other').run()\n")
    assert main([*words(url), "--mcp", f"{sys.executable} {other}", "--mcp-timeout", "600"]) == 2
    assert "has no tool of refunds; it has none" in capsys.readouterr().err


@pytest.mark.gate
def test_the_other_server_may_be_asked_by_http(tmp_path):
    """The proxy is asked by HTTP too, by a client that names another host as well, which is refused."""
    url = f"sqlite:///{tmp_path / 'live.sqlite'}"
    careless_desk.new_desk(url, {12: "requested", 20: "requested", 21: "approved"}).dispose()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    desk = rogue.Desk(url, tmp_path / "log")
    script = [sys.executable, careless_desk.__file__, url, str(port)]
    server = subprocess.Popen(script, env=rogue.environment(), stderr=subprocess.DEVNULL)
    try:
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert server.poll() is None
            time.sleep(0.01)
        proxy, at = desk.start("--mcp", f"http://127.0.0.1:{port}/mcp")

        async def run():
            async with Client(at) as client:
                return [await client.call_tool("pay_refund", {"refund_id": number}) for number in (20, 21)]

        try:
            assert [answer.is_error for answer in anyio.run(run)] == [True, False]
            headers = {"Host": "example.org", "Content-Type": "application/json"}
            elsewhere = urllib.request.Request(at, b"{}", headers)
            with pytest.raises(urllib.error.HTTPError, match="421"):
                urllib.request.urlopen(elsewhere)
            server.kill()
            server.wait()
            anyio.run(cancelled, at)
            assert proxy.wait() == 2
            assert "does not answer (All connection attempts failed)" in proxy.stderr.read()
        finally:
            proxy.kill()
            proxy.wait()
    finally:
        server.kill()
        server.wait()
    assert st.replay_audit_log(desk.log, st.load(FILE)).outcomes == {"done": 1}


async def cancelled(at):
    """Make a call that is allowed once the other server has ended; it has an error for an answer, or none."""
    async with Client(at) as client:
        with suppress(MCPError):
            assert (await client.call_tool("cancel_order", {"order_id": 12})).is_error
