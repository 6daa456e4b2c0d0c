"""A bound system: load a state, run a tool, read the state that it leaves.

One decision: each state is loaded into tables that were emptied, and committed. A tool may therefore commit,
roll back or open connections of its own, as it does in production.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from stead_sym.conformance.binding import Binding, Implementation, Rows
from stead_sym.data.spelling import Unusable, spelled, text_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.imports.draft import camel
from stead_sym.imports.reflect import tables_of
from stead_sym.imports.sorts import distinct
from stead_sym.imports.tables import Table
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Value, is_numeral

_SELECT = re.compile(r"\s*SELECT\b", re.IGNORECASE)


class CannotLoad(Exception):
    """An error for a state that the database refuses; its text is what the database says."""


class Unlisted(Exception):
    """An error for a cell that no value of its sort stands for; its text names both."""


@contextmanager
def opened(deployment: Deployment, binding: Binding) -> Iterator[System]:
    """Yield the system that a binding describes; raise `InputError` if it does not fit the deployment."""
    if not binding.scratch:
        raise InputError(
            f"{binding.database} is not marked as a scratch database, and its tables would be emptied; bind a"
            " database that may be, with scratch=True"
        )
    try:
        engine = sa.create_engine(binding.database)
        with engine.connect() as connection:
            if binding.schema and not sa.inspect(connection).get_table_names():
                for statement in statements(binding.schema):
                    connection.execute(sa.text(statement))
                connection.commit()
            yield System(deployment, binding, connection)
    except (SQLAlchemyError, ImportError) as error:
        reason = (str(getattr(error, "orig", None) or error).strip().splitlines() or [""])[0]
        raise InputError(f"{binding.database}: cannot be used ({reason}); see to the database") from None


class System:
    """A system with a connection to its scratch database."""

    def __init__(self, deployment: Deployment, binding: Binding, connection: sa.Connection) -> None:
        """Find the rows of every relation; raise `InputError` if there are none."""
        self._deployment = deployment
        self._binding = binding
        self._connection = connection
        self._found = tables_of(connection)
        metadata = sa.MetaData()
        metadata.reflect(connection)
        self._tables = {table.name: table for table in metadata.sorted_tables}
        connection.rollback()
        self._relations = deployment.schema.relations
        self._rows = {relation.name: self._bound(relation) for relation in self._relations}
        known = {tool.name for tool in deployment.tools_and_events}
        for name in binding.tools:
            if name not in known:
                raise InputError(f"the binding runs {name}, which is no tool of {deployment.name}; remove it")
        self._listed = {sort.name: self._contents(sort.name) for sort in deployment.schema.sorts}
        self._written: dict[tuple[str, Value], object] = {}
        self._read: dict[tuple[str, object], Value] = {}
        self._number: dict[str, int] = {}

    def load(self, state: Instance) -> None:
        """Replace what the tables hold by a state; raise `CannotLoad` if the database refuses it."""
        self._written, self._read, self._number = {}, {}, {}
        for sort, values in state.active_domain.items():
            for value in sorted(values):
                self.content(sort, value)
        try:
            for table in reversed(self._tables.values()):
                self._connection.execute(table.delete())
            for name, rows in self._grouped(state).items():
                self._connection.execute(self._tables[name].insert(), rows)
            self._connection.commit()
        except SQLAlchemyError as error:
            self._connection.rollback()
            raise CannotLoad(str(getattr(error, "orig", None) or error).strip().splitlines()[0]) from None

    def content(self, sort: str, value: Value) -> object:
        """Return what stands for a value in the database, a new identifier for a new value."""
        if (sort, value) not in self._written:
            listed = self._listed[sort]
            if value in listed:
                content = listed[value]
            else:
                number = self._number[sort] = self._number.get(sort, 0) + 1
                content = self._identifier(sort, value, number)
            self._written[sort, value] = content
            self._read[sort, content] = value
        return self._written[sort, value]

    def run(self, call: Call) -> str | None:
        """Run a tool; return what it says if it refuses the call, None if it does not."""
        tool = self._deployment.tool(call.tool)
        arguments = {p.name: self.content(p.sort, u) for p, u in zip(tool.params, call.args, strict=True)}
        try:
            self._execute(self._binding.tools[call.tool], arguments)
            self._connection.commit()
        except Exception as error:  # noqa: BLE001 (a tool refuses by whatever exception it likes)
            self._connection.rollback()
            return (str(error).strip().splitlines() or [type(error).__name__])[0]
        return None

    def state(self) -> Instance:
        """Return what the tables hold, with new names for new identifiers; raise `Unlisted`."""
        facts = [fact for relation in self._relations for fact in self._facts(relation)]
        self._connection.rollback()
        return Instance(self._deployment.schema, frozenset(facts))

    # rows and facts

    def _grouped(self, state: Instance) -> Mapping[str, list[dict[str, object]]]:
        """Return the rows of each table, in an order in which they can be inserted."""
        rows: dict[str, dict[object, dict[str, object]]] = {name: {} for name in self._tables}
        for relation in self._relations:
            bound = self._rows[relation.name]
            for args in sorted(state.tuples(relation.name)):
                contents = [self.content(s, u) for s, u in zip(relation.sorts, args, strict=True)]
                cells = dict(zip(bound.columns, contents, strict=True))
                names = [bound.columns[place] for place in relation.keys] or list(bound.columns)
                key = tuple(sorted((name, cells[name]) for name in names))
                row = rows[bound.table].setdefault(key, dict(self._binding.defaults.get(bound.table, {})))
                row.update(cells)
                row.update(bound.where)
        filled = {name: list(found.values()) for name, found in rows.items() if found}
        for found in filled.values():  # one statement inserts rows of the same columns
            columns = dict.fromkeys(column for row in found for column in row)
            for row in found:
                for column in columns:
                    row.setdefault(column, None)
        return filled

    def _facts(self, relation: Relation) -> Iterator[Fact]:
        bound = self._rows[relation.name]
        table = self._tables[bound.table]
        columns: list[sa.ColumnElement[Any]] = [table.c[name] for name in bound.columns]
        asked: sa.Select[Any] = sa.select(*(columns or [sa.literal(1)])).select_from(table)
        for name, content in bound.where.items():
            asked = asked.where(table.c[name] == content)
        for cells in self._connection.execute(asked):
            if None not in cells:
                args = (self._value(s, cell) for s, cell in zip(relation.sorts, cells, strict=False))
                yield Fact(relation.name, tuple(args))

    def _value(self, sort: str, cell: object) -> Value:
        """Return the value that a cell stands for, a new one for an identifier that was not loaded."""
        if (sort, cell) in self._read:
            return self._read[sort, cell]
        known = self._deployment.schema.sort(sort)
        try:
            text = text_of(cell)
            if known.values is not None:
                return spelled(text, known, self._deployment.schema)
        except Unusable as error:
            raise Unlisted(f"a column of {sort} {error}") from None
        value = f"{sort}_new_{text}" if not re.search(r"\W", text) else f"{sort}_new_{len(self._read)}"
        self._read[sort, cell] = value
        self._written[sort, value] = cell
        return value

    # what stands for what

    def _bound(self, relation: Relation) -> Rows:
        """Return the rows of a relation, by the binding or by its name."""
        given = self._binding.relations.get(relation.name)
        if given is None:
            given = self._by_name(relation)
        table = self._tables.get(given.table)
        if table is None:
            raise InputError(f"{relation.name} is bound to the table {given.table}, which is not there")
        for column in (*given.columns, *given.where):
            if column not in table.c:
                raise InputError(f"{relation.name} is bound to {given.table}.{column}, which is not there")
        if len(given.columns) != len(relation.sorts):
            raise InputError(
                f"{relation.name} has {len(relation.sorts)} columns and is bound to {len(given.columns)}"
            )
        return given

    def _by_name(self, relation: Relation) -> Rows:
        """Return the rows of the table whose name the relation's begins with, in columns of its names."""
        tables = [t for t in self._found.tables if relation.name.startswith(camel(t.name))]
        for table in sorted(tables, key=lambda table: -len(table.name)):
            called = distinct({column.name: column.name for column in table.columns})
            columns = {name.lower(): column for column, name in called.items()}
            found = [columns.get(name.lower()) for name in relation.columns]
            if found and None not in found and len(found) == len(relation.sorts):
                return Rows(table.name, tuple(column for column in found if column is not None))
        raise InputError(f"no table stands for {relation.name}; bind it to the Rows of one")

    def _columns_of(self, sort: str) -> Iterator[tuple[Table, str]]:
        """Yield the columns that hold values of a sort."""
        for relation in self._relations:
            bound = self._rows[relation.name]
            table = self._found.table(bound.table)
            for name, one in zip(bound.columns, relation.sorts, strict=True):
                if one == sort and table is not None:
                    yield table, name

    def _contents(self, sort: str) -> Mapping[Value, object]:
        """Return what stands for each value of a finite sort: the text that a constraint lists, or itself."""
        known = self._deployment.schema.sort(sort)
        if known.values is None:
            return {}
        contents: dict[Value, object] = {}
        for value in known.values:
            contents[value] = int(value) if is_numeral(value) else value
        for table, name in self._columns_of(sort):
            column = table.column(name)
            if column is None:
                continue
            texts: Iterable[tuple[str, object]] = [(text, text) for text in column.values]
            if column.kind == "boolean":
                texts = zip(self._found.booleans, (False, True), strict=True)
            for text, content in texts:
                try:
                    contents[spelled(text, known, self._deployment.schema)] = content
                except Unusable:
                    continue  # the deployment knows fewer values than the database allows
        return contents

    def _identifier(self, sort: str, value: Value, number: int) -> object:
        """Return what stands for an identifier."""
        if sort in self._binding.identifiers:
            return self._binding.identifiers[sort](number)
        kinds = {c.kind for table, name in self._columns_of(sort) if (c := table.column(name)) is not None}
        return number if kinds == {"number"} else value

    def _execute(self, implementation: Implementation, arguments: Mapping[str, object]) -> None:
        """Run a tool's statements, or call its function."""
        if isinstance(implementation, str):
            implementation = list(statements(implementation))
        if not callable(implementation):
            for statement in implementation:
                names = set(re.findall(r"(?<![:\w]):(\w+)", statement))
                given = {name: content for name, content in arguments.items() if name in names}
                found = self._connection.execute(sa.text(statement), given)
                if _SELECT.match(statement) and found.first() is None:
                    raise LookupError("a SELECT returns no row")
            return
        extra: dict[str, Any] = {}
        if "connection" in inspect.signature(implementation).parameters:
            extra["connection"] = self._connection
        implementation(**arguments, **extra)


def statements(text: str) -> Iterator[str]:
    """Yield the statements of a text; a statement ends with a semicolon at the end of a line."""
    for statement in re.split(r";[ \t]*(?:\n|\Z)", text):
        if statement.strip():
            yield statement.strip()
