"""Read tools that are SQL: one transaction each, with named parameters.

A text holds a tool after each line `-- name: TOOL`, as several libraries have it; comments right after that
line describe it. Parameters are written `:order_id`, `@order_id`, `%(order_id)s`, or `$1` and `?` for those
that have no name: these are called by their places.

One decision: what a parameter stands for follows from the columns that it is compared with or written to, not
from its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from stead_sym.errors import InputError
from stead_sym.imports.ddl import DIALECTS
from stead_sym.imports.sorts import Place, place
from stead_sym.imports.sql import bare, first_line, library, literal_of
from stead_sym.imports.tables import COMPUTED, Table, Tables
from stead_sym.imports.tools import Parameter, ToolSchema

_NAME = re.compile(
    r"^[ \t]*(?:--|/\*)[ \t]*name:[ \t]*(\w+)(?:[\^!<*$#]*|[ \t]+:\w+)[ \t]*(?:\*/)?[ \t\r]*$", re.MULTILINE
)
_ARGUMENT = re.compile(r"\bsqlc\.arg\(\s*'?(\w+)'?\s*\)")
_SPELLINGS = re.compile(
    r"""(?P<text>'(?:[^']|'')*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|\w:\w)"""
    r"|%\((?P<format>\w+)\)s|(?<![\w:])[:@$](?P<name>\w+)|\?(?![|&?])",
    re.DOTALL,
)
"""Parameters, and the texts, names, comments and casts in which there are none."""
_PASSING = re.compile(
    r"(BEGIN|START\s+TRANSACTION|COMMIT|END|SET\s+TRANSACTION)\b[^;]*\Z", re.IGNORECASE | re.DOTALL
)
"""Statements that delimit a transaction."""


@dataclass(frozen=True)
class SqlStatement:
    """A statement with the line on which it begins; ``parsed`` is the expression of `sqlglot`."""

    line: int
    text: str
    parsed: Any = field(repr=False, compare=False)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of their first occurrence."""
        found = (parameter_of(node) for node in self.parsed.walk(bfs=False))
        return tuple(dict.fromkeys(name for name in found if name))

    @cached_property
    def with_colons(self) -> str:
        """The text as SQLAlchemy has it: each parameter is written `:name`, and other colons are escaped."""
        places = iter(self.parameters)

        def written(found: re.Match[str]) -> str:
            if (text := found["text"]) is not None:
                return re.sub(r"(?<![:\w\\]):(?=\w)", r"\\:", text)
            name = found["name"] or found["format"] or next(places, "")
            return f":{name}" if name in self.parameters else found[0]

        return _SPELLINGS.sub(written, self.text)


@dataclass(frozen=True)
class Transaction:
    """A tool that is SQL; its statements run one after the other, all of them or none."""

    name: str
    description: str
    statements: tuple[SqlStatement, ...]
    dialect: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of their first occurrence."""
        return tuple(dict.fromkeys(name for one in self.statements for name in one.parameters))

    @property
    def reads(self) -> bool:
        """True if the transaction changes nothing."""
        return all(kind_of(one.parsed) == "select" for one in self.statements)

    def tables(self, tables: Tables) -> frozenset[str]:
        """Return the tables that it names, and those that refer to a table from which it deletes."""
        named = {
            node.name.lower() for one in self.statements for node in one.parsed.walk() if _is_table(node)
        }
        gone = {one.parsed.this.name.lower() for one in self.statements if kind_of(one.parsed) == "delete"}
        while more := {t.name.lower() for t in tables.tables if _referred(t) & gone} - gone:
            gone |= more
        return frozenset(named | gone)


def read_transactions(text: str, dialect: str | None = None) -> tuple[Transaction, ...]:
    """Return the tools of a text.

    Without a dialect, the first of `DIALECTS` is taken in which every statement can be parsed. Raise
    `InputError` if `sqlglot` is not installed, if no tool is named, or if a statement cannot be parsed.
    """
    problem: InputError | None = None
    for one in DIALECTS if dialect is None else (dialect,):
        try:
            return _read(text, one)
        except InputError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _read(text: str, dialect: str) -> tuple[Transaction, ...]:
    parts = _NAME.split(text)
    names, bodies = parts[1::2], [_ARGUMENT.sub(r":\1", body) for body in parts[2::2]]
    if not names:
        raise InputError("no tool is named; write `-- name: TOOL` on a line before the statements of each")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two tools are called {twice}; give each a name of its own")
    begins = [text.count("\n", 0, found.end()) + 1 for found in _NAME.finditer(text)]
    return tuple(
        _transaction(name, body, line, dialect)
        for name, body, line in zip(names, bodies, begins, strict=True)
    )


def _transaction(name: str, body: str, line: int, dialect: str) -> Transaction:
    """Return the tool of a body that begins on this line."""
    described = []
    for one in body.lstrip("\n").splitlines():
        if not one.strip().startswith("--"):
            break
        described.append(one.strip().removeprefix("--").strip())
    statements, places = [], 0
    for begin, statement in _statements(body, line, dialect):
        if not _PASSING.match(statement):
            parsed = _parsed(statement, begin, dialect)
            for node in parsed.walk(bfs=False):
                if type(node).__name__ == "Placeholder" and not node.this:
                    places += 1
                    node.set("this", str(places))
            statements.append(SqlStatement(begin, statement, parsed))
    return Transaction(name, " ".join(described), tuple(statements), dialect)


def _statements(body: str, line: int, dialect: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a body with their lines."""
    sqlglot = library()
    try:
        tokens = sqlglot.tokenize(body, read=dialect)
    except sqlglot.errors.TokenError as error:
        raise InputError(f"line {line}: the SQL cannot be read as {dialect} ({first_line(error)})") from None
    begin = 0
    for n, token in enumerate((*tokens, None)):
        if token is None or token.text == ";":
            if begin < n:
                yield line + tokens[begin].line - 1, body[tokens[begin].start : tokens[n - 1].end + 1]
            begin = n + 1


def _parsed(statement: str, line: int, dialect: str) -> Any:
    """Return the expression of a statement."""
    sqlglot = library()
    try:
        parsed = sqlglot.parse_one(statement, dialect=dialect)
    except sqlglot.errors.SqlglotError as error:
        raise InputError(f"line {line}: cannot be read as {dialect} ({first_line(error)}); mend it") from None
    if kind_of(parsed) is None:
        raise InputError(
            f"line {line}: {statement.split(None, 1)[0]} is no SELECT, INSERT, UPDATE or DELETE; leave it out"
        )
    return parsed


def kind_of(parsed: Any) -> str | None:
    """Return `select`, `insert`, `update` or `delete`; None for any other expression."""
    kind = type(parsed).__name__.lower()
    return kind if kind in ("select", "insert", "update", "delete") else None


def parameter_of(node: Any) -> str | None:
    """Return the name of the parameter that an expression is, or None."""
    if type(node).__name__ not in ("Placeholder", "Parameter"):
        return None
    return str(node.name or getattr(node.this, "name", "") or node.this or "")


def sources_of(node: Any) -> Sequence[Any]:
    """Return the tables whose rows an expression ranges over, innermost scope only."""
    match kind_of(node):
        case "select" | "update":
            begin = node.args.get("from_") or node.args.get("from")
            own = [node.this] if kind_of(node) == "update" else []
            first = [] if begin is None else [begin.this]
            return [*own, *first, *(join.this for join in node.args.get("joins") or ())]
        case "delete":
            return [node.this]
        case _:
            return []


def absent(condition: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield parameters with columns that do not hold them: `NOT EXISTS (SELECT … FROM t WHERE c = :p)`.

    Tables and columns are in lower case.
    """
    node = bare(condition)
    if type(node).__name__ == "And":
        yield from absent(node.this)
        yield from absent(node.expression)
    elif type(node).__name__ == "Not" and type(inner := bare(node.this)).__name__ == "Exists":
        select = bare(inner.this)
        where = select.args.get("where")
        sources = sources_of(select)
        if where is None or len(sources) != 1 or type(equation := bare(where.this)).__name__ != "EQ":
            return
        for one, other in (
            (equation.this, equation.expression),
            (equation.expression, equation.this),
        ):
            if type(one).__name__ == "Column" and (word := parameter_of(other)):
                yield word, (sources[0].name.lower(), one.name.lower())


def source_of(column: Any, tables: Tables) -> tuple[Any, Table] | None:
    """Return the source and the table that a column is of, None if there is no one such table."""
    node = column.parent
    while node is not None:
        found = []
        for source in sources_of(node):
            table = tables.table(source.name) if _is_table(source) else None
            named = not column.table or column.table.lower() == source.alias_or_name.lower()
            if table is not None and named and table.column(column.name) is not None:
                found.append((source, table))
        if found:
            return found[0] if len(found) == 1 else None
        node = node.parent
    return None


def _is_table(node: Any) -> bool:
    return type(node).__name__ == "Table"


def _referred(table: Table) -> set[str]:
    return {key.table.lower() for key in table.foreign_keys}


# what stands with what


@dataclass(frozen=True, slots=True)
class _Meeting:
    """An expression that stands for a value of a column: compared with it, or else written to it."""

    column: Place
    other: Any
    compared: bool


def _meetings(transaction: Transaction, tables: Tables) -> Iterator[_Meeting]:
    """Yield what is compared with columns and written to them."""
    for statement in transaction.statements:
        for node in statement.parsed.walk():
            kind = type(node).__name__
            if kind in ("EQ", "NEQ", "LT", "LTE", "GT", "GTE") and not _is_assignment(node):
                yield from _compared(node.this, node.expression, tables)
                yield from _compared(node.expression, node.this, tables)
            elif kind == "In":
                for one in node.expressions:
                    yield from _compared(node.this, one, tables)
            elif kind == "Between":
                for one in (node.args["low"], node.args["high"]):
                    yield from _compared(node.this, one, tables)
        for table, column, value in assignments(statement, tables):
            if (other := table.column(column)) is not None:
                yield _Meeting(place(table, other.name), value, compared=False)


def _is_assignment(node: Any) -> bool:
    """Return True if an equation is a part of SET."""
    return node.arg_key == "expressions" and kind_of(node.parent) == "update"


def _compared(column: Any, other: Any, tables: Tables) -> Iterator[_Meeting]:
    column = bare(column)
    if type(column).__name__ == "Column" and (found := source_of(column, tables)) is not None:
        yield _Meeting(place(found[1], column.name), bare(other), compared=True)


def assignments(statement: SqlStatement, tables: Tables) -> Iterator[tuple[Table, str, Any]]:
    """Yield the table, the column and the expression of what a statement writes into columns."""
    parsed = statement.parsed
    match kind_of(parsed):
        case "update":
            if (table := tables.table(parsed.this.name)) is not None:
                for one in parsed.expressions:
                    yield table, one.this.name, bare(one.expression)
        case "insert":
            schema = parsed.this
            name = schema.this.name if type(schema).__name__ == "Schema" else schema.name
            if (table := tables.table(name)) is not None:
                columns = inserted_columns(parsed, table)
                values = parsed.expression
                rows = [row.expressions for row in values.expressions] if _is_values(values) else []
                if kind_of(values) == "select":
                    rows = [[one.unalias() for one in values.expressions]]
                for row in rows:
                    for column, value in zip(columns, row, strict=False):
                        yield table, column, bare(value)
        case _:
            return


def inserted_columns(parsed: Any, table: Table) -> Sequence[str]:
    """Return the columns that an INSERT gives values for."""
    if type(parsed.this).__name__ == "Schema":
        return [one.name for one in parsed.this.expressions]
    return [column.name for column in table.columns]


def _is_values(node: Any) -> bool:
    return type(node).__name__ == "Values"


def with_literals(
    tables: Tables, transactions: Sequence[Transaction]
) -> tuple[Tables, Mapping[Place, tuple[str, ...]]]:
    """Return the tables with the texts that transactions name as the values of columns of any texts.

    Only columns of texts without constraints are given values; these are returned too.
    """
    named: dict[Place, dict[str, None]] = {}
    for transaction in transactions:
        for met in _meetings(transaction, tables):
            text = literal_of(met.other)
            if text is not None and _is_any_text(tables, met.column):
                named.setdefault(met.column, {})[text] = None
    for where, texts in named.items():
        found = tables.table(where[0])
        column = None if found is None else found.column(where[1])
        if column is not None and column.default not in (None, COMPUTED):
            texts[str(column.default)] = None
    values = {where: tuple(texts) for where, texts in named.items()}
    changed = tuple(
        replace(
            table,
            columns=tuple(
                replace(column, values=values.get(place(table, column.name), column.values))
                for column in table.columns
            ),
        )
        for table in tables.tables
    )
    return replace(tables, tables=changed), values


def _is_any_text(tables: Tables, where: Place) -> bool:
    table = tables.table(where[0])
    column = None if table is None else table.column(where[1])
    if table is None or column is None or column.kind != "text" or column.values or column.type:
        return False
    keys = [*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)]
    referred = {
        (name or "").lower()
        for other in tables.tables
        for key in other.foreign_keys
        if key.table.lower() == table.name.lower()
        for name in key.referenced
    }
    return where[1] not in {name.lower() for name in keys} | referred


def tools_of_transactions(tables: Tables, transactions: Sequence[Transaction]) -> tuple[ToolSchema, ...]:
    """Return the tools that transactions are, each parameter with the columns that it stands for."""
    return tuple(_tool(tables, one) for one in transactions)


def _tool(tables: Tables, transaction: Transaction) -> ToolSchema:
    meetings = [met for met in _meetings(transaction, tables) if parameter_of(met.other)]
    parameters = []
    for name in transaction.parameters:
        met = [one for one in meetings if parameter_of(one.other) == name]
        compared = [one.column for one in met if one.compared]
        written = [one.column for one in met if not _is_any_text(tables, one.column)]
        columns = tuple(dict.fromkeys(compared or written))
        parameters.append(Parameter(name, "unknown", columns=columns))
    return ToolSchema(
        transaction.name,
        transaction.description,
        tuple(parameters),
        transaction.reads,
    )
