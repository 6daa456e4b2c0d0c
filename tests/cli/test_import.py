"""`stead-sym import` as people run it: from a file, a database, a Python module and a server."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from stead_sym.cli.main import main

_SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, vip BOOLEAN NOT NULL);
CREATE TABLE states (code TEXT PRIMARY KEY);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers,
  state TEXT NOT NULL REFERENCES states, size TEXT NOT NULL CHECK (size IN ('s', 'extra large')), by INTEGER
  REFERENCES customers (id));
"""
_ROWS = """
INSERT INTO customers VALUES (1, 0), (2, 1);
INSERT INTO states VALUES ('new'), ('on hold');
INSERT INTO orders VALUES (7, 1, 'new', 's', NULL), (8, 2, 'on hold', 'extra large', 1);
"""
_FUNCTIONS = '''
def cancel(order_id: int) -> None:
    """Cancel an order."""


def _helper() -> None: ...


TOOLS = [cancel]
'''


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.sql").write_text(_SCHEMA + _ROWS)
    (tmp_path / "desk_tools.py").write_text(_FUNCTIONS)
    (tmp_path / "broken.py").write_text("1 / 0")
    with sqlite3.connect("shop.db") as database:
        database.executescript(_SCHEMA + _ROWS)
    monkeypatch.delitem(sys.modules, "desk_tools", raising=False)


def relations(path):
    """The declarations of a draft."""
    return sorted(line for line in path.read_text().splitlines() if line.startswith("relation "))


def test_a_schema_and_its_database_give_the_same_relations(tmp_path, capsys):
    assert main(["import", "--ddl", "schema.sql", "--tools", "desk_tools:TOOLS", "-o", "text.stead"]) == 0
    assert (
        main(["import", "--database", "sqlite:///shop.db", "--tools", "desk_tools", "-o", "live.stead"]) == 0
    )
    assert relations(tmp_path / "text.stead") == relations(tmp_path / "live.stead")
    assert 'tool cancel(order_id: order) "Cancel an order."' in (tmp_path / "live.stead").read_text()
    assert main(["verify", "text.stead", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["verify", "live.stead", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"] == 1  # its rows


def test_the_rows_of_a_database_are_the_facts_of_the_draft(tmp_path):
    assert main(["import", "--database", "sqlite:///shop.db", "-o", "live.stead"]) == 0
    extra = (
        "spec held AG Orders(order_8, customer_2, state_on_20_hold, size_extra_20_large)"
        " & ~exists b. OrdersBy(order_7, b)"
    )
    live = tmp_path / "live.stead"
    live.write_text(f"{live.read_text()}\n{extra}\n")
    assert main(["verify", "live.stead", "--quiet"]) == 0


def test_nothing_is_written_over(tmp_path, capsys):
    (tmp_path / "d.stead").write_text("mine")
    assert main(["import", "--ddl", "schema.sql", "-o", "d.stead"]) == 2
    assert (tmp_path / "d.stead").read_text() == "mine"
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no schema is given"),
        (["--ddl", "schema.sql", "--database", "sqlite:///shop.db"], "two schemas"),
        (["--ddl", "nothing.sql"], "cannot be read"),
        (["--database", "sqlite:///nothing.db"], "no such database"),
        (["--database", "env:NOTHING_HERE"], "is not set"),
        (["--ddl", "schema.sql", "--table", "nothing"], "there is no table nothing"),
        (["--ddl", "schema.sql", "--tools", "nothing_here"], "is no file: there is no module"),
        (["--ddl", "schema.sql", "--tools", "desk_tools:nothing"], "has no nothing"),
        (["--ddl", "schema.sql", "--tools", "broken"], "cannot be imported: ZeroDivisionError"),
        (["--ddl", "schema.sql", "--tools", "desk_tools:__doc__"], "must be a function or a list"),
        (["--ddl", "schema.sql", "--mcp", "'"], "cannot be read"),
        (["--ddl", "schema.sql", "--mcp", "no-such-command-here"], "does not answer"),
    ],
)
def test_bad_input_is_one_line(arguments, says, capsys):
    assert main(["import", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert says in line


def test_a_password_does_not_get_into_the_draft(capsys):
    assert main(["import", "--database", "postgresql+psycopg://me:secret@host/db"]) == 2
    assert "secret" not in capsys.readouterr().err


def test_a_server_says_what_tools_it_has(tmp_path):
    (tmp_path / "server.py").write_text(
        textwrap.dedent('''
        from mcp.server.mcpserver import MCPServer

        server = MCPServer("desk")


        @server.tool()
        def cancel(order_id: int) -> str:
            """Cancel an order."""
            return "done"


        server.run()
        ''')
    )
    command = [sys.executable, "-m", "stead_sym", "import", "--ddl", "schema.sql"]
    command += ["--mcp", f"{sys.executable} server.py"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert 'tool cancel(order_id: order) "Cancel an order."' in out
