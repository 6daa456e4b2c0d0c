"""A running system as a deployment sees it: rows for facts, code or SQL for tools.

One decision: a relation is bound to rows by columns alone, so that the same words load a state and read it
back. What is read therefore is what was loaded, unless the database or a tool changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from stead_sym.errors import InputError
from stead_sym.imports.transactions import read_transactions


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of an MCP server, called with the arguments by name.

    ``server`` is its URL, or the command that starts it, in which `{database}` stands for the URL of the
    scratch database. ``name`` is that of the tool there, by default the deployment's.
    """

    server: str
    name: str = ""


Implementation: TypeAlias = str | Sequence[str] | Callable[..., object] | McpTool
"""An implementation: SQL statements with `:parameter` for arguments, a function, or a tool of a server.

A SELECT among the statements that returns no row refuses the call.
"""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table that are the facts of a relation.

    A fact R(u₁, …, uₙ) stands for a row with uᵢ in the i-th of ``columns``, and with what ``where`` says in
    further columns. A row with NULL in one of the columns is no fact. Relations bound to one table whose keys
    have the same columns share its rows.
    """

    table: str
    columns: tuple[str, ...]
    where: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Binding:
    """A running system as a deployment sees it.

    ``database``
        The URL of a database for this alone, as SQLAlchemy takes it. Nothing is run unless ``scratch`` says
        that it is one, and unless the tables of the relations are empty.
    ``schema``
        SQL that creates the tables, or a function that does, given a connection; run once if the database
        has none.
    ``relations``
        The rows of relations, of those only that the names do not give: relation `OrderItems` stands for the
        table `order_items` with columns of the same names, and `OrdersApprovedBy` for a column that may be
        NULL, as `stead-sym import` drafts them.
    ``tools``
        What runs each tool or event. A function is called with the arguments by name, and with the
        ``connection`` if it has a parameter of this name. It refuses a call by raising an exception.
    ``defaults``
        By table, what columns hold that no relation speaks of.
    ``identifiers``
        By sort, the n-th identifier as the system has it; by default n in columns of numbers, and the name
        of the value in columns of texts.
    """

    database: str
    tools: Mapping[str, Implementation]
    scratch: bool = False
    schema: str | Callable[[Any], object] = ""
    relations: Mapping[str, Rows] = field(default_factory=dict)
    defaults: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    identifiers: Mapping[str, Callable[[int], object]] = field(default_factory=dict)


def sql_tools(path: str | Path) -> Mapping[str, Sequence[str]]:
    """Return the statements of each tool of a text in SQL, as `stead-sym import --sql` reads it.

    Raise `InputError` if the text cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); name a text of SQL") from None
    return {one.name: [each.with_colons for each in one.statements] for one in read_transactions(text)}
