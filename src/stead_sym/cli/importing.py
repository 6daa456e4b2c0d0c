"""`stead-sym import`: a deployment drafted from the schema of a database and the tools of an agent.

One decision: what is written is parsed and checked first, so that it verifies as it is; and nothing that was
there is overwritten.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from inspect import isfunction
from os.path import lexists
from pathlib import Path
from typing import Any

from stead_sym.cli.modules import user_module, user_object
from stead_sym.data.source import Database
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import InputError
from stead_sym.imports.ddl import DIALECTS, read_ddl
from stead_sym.imports.draft import draft
from stead_sym.imports.tables import Tables
from stead_sym.imports.tools import ToolSchema, read_tools, tools_of_functions
from stead_sym.imports.transactions import read_transactions
from stead_sym.support.printable import printable


def add_import(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `import`."""
    parser.set_defaults(run=_import)
    parser.add_argument("-o", "--output", metavar="FILE", help="the deployment to write (default: stdout)")
    schema = parser.add_argument_group("the schema of the database, from one of")
    schema.add_argument(
        "--ddl", metavar="FILE", nargs="+", help="the SQL that creates its tables, a dump for instance"
    )
    schema.add_argument(
        "--database",
        metavar="URL",
        help="the database itself: sqlite:///FILE, or env:NAME for the URL in NAME",
    )
    schema.add_argument(
        "--dialect", choices=DIALECTS, help="that of the SQL (default: what reads most of it)"
    )
    parser.add_argument(
        "--table",
        metavar="NAME",
        nargs="+",
        default=[],
        help="tables to keep beside those that a tool speaks of",
    )
    tools = parser.add_argument_group("the tools of the agent, from")
    tools.add_argument(
        "--tools", metavar="FILE", help="function schemas in JSON, or MODULE[:NAME], functions in Python"
    )
    tools.add_argument(
        "--sql",
        metavar="FILE",
        nargs="+",
        default=[],
        help="tools that are SQL, each after a line `-- name: TOOL`: their guards and effects are translated",
    )
    tools.add_argument("--mcp", metavar="SERVER", help="an MCP server: a command that starts it, or its URL")


def _import(options: argparse.Namespace) -> int:
    if options.ddl is None and options.database is None:
        raise InputError("no schema is given; add --ddl FILE or --database URL")
    if options.ddl is not None and options.database is not None:
        raise InputError("two schemas are given; take --ddl or --database")
    output = None if options.output is None else Path(options.output)
    if output is not None and lexists(output):
        raise InputError(f"{output}: is there already; give another name, or remove it")
    folder = Path.cwd() if output is None else output.parent
    tables = _schema(options, folder)
    for name in options.table:
        if tables.table(name) is None:
            known = ", ".join(table.name for table in tables.tables)
            raise InputError(f"there is no table {name}; there are {known}")
    tools = (*_tools(options.tools), *_served(options.mcp))
    transactions = [one for path in options.sql for one in read_transactions(_text(path), options.dialect)]
    name = "imported" if output is None else output.stem
    made = draft(name, tables, tools, keep=options.table, transactions=transactions)
    parse_deployment(made.text, folder=folder)
    if output is None:
        print(made.text, end="")
    else:
        try:
            with output.open("x", encoding="utf-8") as new:
                new.write(made.text)
        except OSError as error:
            raise InputError(f"{output}: cannot be written ({error.strerror}); name another place") from None
        print(printable(output))
    for line in made.left_out:
        print(f"stead-sym: left out: {printable(line)}", file=sys.stderr)
    then = "FILE" if output is None else printable(output)
    print(f"stead-sym: next: fill in guards and effects, then stead-sym verify {then}", file=sys.stderr)
    return 0


def _schema(options: argparse.Namespace, folder: Path) -> Tables:
    """Return the tables that the options name."""
    if options.ddl is not None:
        return read_ddl("\n;\n".join(map(_text, options.ddl)), options.dialect)
    from stead_sym.imports.reflect import read_database  # SQLAlchemy is slow to import

    variable = options.database.removeprefix("env:")
    if variable != options.database:
        return read_database(Database(variable=variable), folder)
    return read_database(Database(url=options.database), folder)


def _tools(words: str | None) -> tuple[ToolSchema, ...]:
    """Return the tools of a JSON file, or of a Python module."""
    if words is None:
        return ()
    if Path(words).exists() or words.endswith(".json"):
        return read_tools(_text(words))
    module, _, name = words.partition(":")
    if name:
        return tools_of_functions(_functions(words, user_object(words, module, name)))
    found = user_module(f"{words} is no file", module)
    own = [one for key, one in vars(found).items() if isfunction(one) and not key.startswith("_")]
    return tools_of_functions(one for one in own if one.__module__ == found.__name__)


def _functions(words: str, found: Any) -> list[Callable[..., Any]]:
    """Return a function, or the functions of a list, as a list."""
    listed = list(found) if isinstance(found, list | tuple) else [found]
    functions = [one for one in listed if callable(one)]
    if len(functions) < len(listed):
        raise InputError(f"{words} must be a function or a list of functions, got {found!r:.80}")
    return functions


def _served(server: str | None) -> tuple[ToolSchema, ...]:
    if server is None:
        return ()
    from stead_sym.imports.server import tools_of_server

    return tools_of_server(server)


def _text(path: str) -> str:
    """Return the text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a file that can") from None
