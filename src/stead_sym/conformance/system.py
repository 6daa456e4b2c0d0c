"""A bound system: load a state, run a tool, read the state that it leaves.

One decision: each state is loaded into tables that were emptied, and committed, and each call has a
connection of its own. A tool may therefore commit, roll back, close it, or open others, as in production.

Rows that were there before are never deleted.

A connection that waits for a lock would wait for ever, since nothing else runs meanwhile. So waiting is an
error at once.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from stead_sym.conformance.beyond import Beyond
from stead_sym.conformance.binding import Binding, McpTool
from stead_sym.conformance.bound_tables import BoundTables, reason_of, shown_url
from stead_sym.conformance.servers import Servers, serving
from stead_sym.data.spelling import Unusable, spelled, text_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Value

_SELECT = re.compile(r"\s*SELECT\b", re.IGNORECASE)


class CannotLoad(Exception):
    """An error for a state that the database refuses; its text is what the database says."""


class Unlisted(Exception):
    """An error for a cell that no value of its sort stands for; its text names both."""


_REFUSALS = (Exception, SystemExit, GeneratorExit, asyncio.CancelledError)
"""Whatever a tool may raise but Ctrl-C."""
_NO_WAITING = {
    "sqlite": ("PRAGMA busy_timeout = 0", "PRAGMA synchronous = OFF"),
    "postgresql": ("SET lock_timeout = '20ms'",),
    "mysql": ("SET SESSION innodb_lock_wait_timeout = 1",),
    "mariadb": ("SET SESSION innodb_lock_wait_timeout = 1",),
}
"""By dialect, the statements for each new connection: a lock that another one holds is an error at once."""

Watch: TypeAlias = Callable[[str], None]
"""Called with each statement of a tool, and with COMMIT, before it is done."""


@contextmanager
def opened(deployment: Deployment, binding: Binding, *, concurrent: bool = False) -> Iterator[System]:
    """Yield the system that a binding describes; raise `InputError` if it does not fit the deployment.

    A temporary file stands for a database in memory, which has one connection only, if ``concurrent`` or if
    a tool is one of a server.
    """
    name = shown_url(binding.database)
    if not binding.scratch:
        raise InputError(
            f"{name} is not marked as a scratch database, and its tables would be emptied; bind a"
            " database that may be, with scratch=True"
        )
    served = any(isinstance(tool, McpTool) for tool in binding.tools.values())
    try:
        with (
            _engine(binding.database, concurrent or served) as engine,
            engine.connect() as connection,
        ):
            if binding.schema and not sa.inspect(connection).get_table_names():
                if callable(binding.schema):
                    binding.schema(connection)
                else:
                    for statement in statements(binding.schema):
                        connection.execute(sa.text(statement))
                connection.commit()
            system = System(deployment, binding, engine, connection)
            url = engine.url.render_as_string(hide_password=False)
            try:
                with serving(binding.tools, url) as system.servers:
                    yield system
            finally:
                with suppress(SQLAlchemyError):
                    system.clear()
    except (SQLAlchemyError, ImportError) as error:
        raise InputError(f"{name}: cannot be used ({reason_of(error)}); see to the database") from None


@contextmanager
def _engine(url: str, concurrent: bool) -> Iterator[sa.Engine]:
    """Yield an engine on whose connections nothing waits for a lock."""
    made = sa.make_url(url)
    options: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        if made.get_backend_name() == "sqlite" and made.database in (None, "", ":memory:"):
            if concurrent:
                made = made.set(database=str(Path(folder) / "scratch.db"))
            else:  # one connection, also in threads of a tool
                options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
        engine = sa.create_engine(made, **options)

        @sa.event.listens_for(engine, "connect")
        def never_wait(connection: Any, _: object) -> None:
            cursor = connection.cursor()
            for statement in _NO_WAITING.get(engine.dialect.name, ()):
                cursor.execute(statement)
            cursor.close()
            connection.commit()

        try:
            yield engine
        finally:
            engine.dispose()


class System:
    """A system with a connection to its scratch database."""

    def __init__(
        self, deployment: Deployment, binding: Binding, engine: sa.Engine, connection: sa.Connection
    ) -> None:
        """Find the rows of every relation.

        Raise `InputError` if there are none, if a tool cannot be called, and for a table that holds rows,
        which are somebody's data. A table with rows that no relation is bound to is left as it is.
        """
        self._deployment = deployment
        self._binding = binding
        self._engine = engine
        self._connection = connection
        self._bound = BoundTables(deployment, binding, connection)
        self._tables = self._bound.tables
        self._relations = deployment.schema.relations
        self._rows = self._bound.rows
        self._beyond = Beyond(self._tables, self._rows)
        self._emptied = self._to_empty()
        self._sequences = list(self._numbering())
        connection.rollback()
        self._takes_connection = {name: self._callable(name) for name in binding.tools}
        self._listed = {sort.name: self._bound.contents(sort.name) for sort in deployment.schema.sorts}
        self._written: dict[tuple[str, Value], object] = {}
        self._read: dict[tuple[str, object], Value] = {}
        self._number: dict[str, int] = {}
        self._last: Call | None = None
        self.servers: Servers | None = None

    def clear(self) -> None:
        """Empty the tables."""
        self._connection.rollback()
        self._empty()
        self._connection.commit()

    def load(self, state: Instance) -> None:
        """Replace what the tables hold by a state; raise `CannotLoad` if the database refuses it."""
        self._written, self._read, self._number = {}, {}, {}
        for sort, values in state.active_domain.items():
            for value in sorted(values):
                self.content(sort, value)
        try:
            self._empty()
            for name, rows in self._grouped(state).items():
                self._connection.execute(self._tables[name].insert(), rows)
            for statement in self._sequences:
                self._connection.execute(statement)
            self._connection.commit()
        except SQLAlchemyError as error:
            self._connection.rollback()
            if isinstance(error, OperationalError) and self._last is not None:
                raise InputError(
                    f"after {self._last} the tables cannot be emptied ({reason_of(error)}); let the tool"
                    " close what it opens"
                ) from None
            raise CannotLoad(reason_of(error)) from None

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

    def run(self, call: Call, watch: Watch | None = None) -> str | None:
        """Run a tool; return what it says if it refuses the call, None if it does not."""
        tool = self._deployment.tool(call.tool)
        arguments = {p.name: self.content(p.sort, u) for p, u in zip(tool.params, call.args, strict=True)}
        self._last = call
        with self._engine.connect() as connection:
            if watch is not None:
                _listen(connection, watch)
            try:
                self._execute(call.tool, arguments, connection)
                if not connection.closed:
                    connection.commit()
            except InputError:  # from a server that gives no answer
                raise
            except _REFUSALS as error:
                if not connection.closed:
                    connection.rollback()
                return reason_of(error)
        return None

    def state(self) -> Instance:
        """Return what the tables hold, with new names for new identifiers; raise `Unlisted`."""
        facts = [fact for relation in self._relations for fact in self._facts(relation)]
        self._connection.rollback()
        return Instance(self._deployment.schema, frozenset(facts))

    def beyond(self) -> Mapping[str, Mapping[object, object]]:
        """Return what no relation has: by table or by column, its cells by the keys of their rows."""
        found = self._beyond.cells(self._connection)
        self._connection.rollback()
        return found

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
        for cells in self._connection.execute(self._queries[relation.name]):
            if None not in cells:
                args = (self._value(s, cell) for s, cell in zip(relation.sorts, cells, strict=False))
                yield Fact(relation.name, tuple(args))

    @cached_property
    def _queries(self) -> Mapping[str, sa.Select[Any]]:
        """Return for each relation the query of its rows."""
        queries = {}
        for relation in self._relations:
            bound = self._rows[relation.name]
            table = self._tables[bound.table]
            columns: list[sa.ColumnElement[Any]] = [table.c[name] for name in bound.columns]
            asked: sa.Select[Any] = sa.select(*(columns or [sa.literal(1)])).select_from(table)
            for name, content in bound.where.items():
                asked = asked.where(table.c[name] == content)
            queries[relation.name] = asked
        return queries

    def _value(self, sort: str, cell: object) -> Value:
        """Return the value that a cell stands for, a new one for an identifier that was not loaded."""
        if not isinstance(cell, Hashable):
            raise Unlisted(f"a column of {sort} holds a {type(cell).__name__}, which is no value")
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

    def _identifier(self, sort: str, value: Value, number: int) -> object:
        """Return what stands for an identifier."""
        if sort in self._binding.identifiers:
            return self._binding.identifiers[sort](number)
        columns = list(self._bound.columns_of(sort))
        if columns and all(isinstance(self._tables[t.name].c[name].type, sa.Uuid) for t, name in columns):
            return UUID(int=number)
        kinds = {c.kind for table, name in columns if (c := table.column(name)) is not None}
        return number if kinds == {"number"} else value

    # tables and tools

    def _empty(self) -> None:
        for table in self._emptied:
            self._connection.execute(table.delete())

    def _to_empty(self) -> list[sa.Table]:
        """Return the tables that held no rows, those that refer to others first."""
        bound = {rows.table for rows in self._rows.values()}
        emptied = []
        for name, table in reversed(self._tables.items()):
            row = self._connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first()
            if row is None:
                emptied.append(table)
            elif name in bound:
                raise InputError(
                    f"the table {name} of {shown_url(self._binding.database)} has rows, which would be lost;"
                    " a scratch database has none: empty it yourself, or name another"
                )
        return emptied

    def _numbering(self) -> Iterator[sa.TextClause]:
        """Yield what lets PostgreSQL number new rows after those that were loaded, as other databases do."""
        if self._connection.dialect.name != "postgresql":
            return
        quoted = self._connection.dialect.identifier_preparer
        for table in self._emptied:
            for column in table.primary_key:
                name = quoted.format_table(table)
                asked = sa.func.pg_get_serial_sequence(name, column.name)
                if (sequence := self._connection.scalar(sa.select(asked))) is not None:
                    most = f"SELECT max({quoted.quote(column.name)}) FROM {name}"
                    yield sa.text(f"SELECT setval(:it, coalesce(({most}), 0) + 1, false)").bindparams(
                        it=sequence
                    )

    def _callable(self, name: str) -> bool:
        """Return True if a tool is a function that takes the connection.

        Raise `InputError` if there is no such tool, or if the function does not take its parameters.
        """
        tool = next((tool for tool in self._deployment.tools_and_events if tool.name == name), None)
        if tool is None:
            raise InputError(
                f"the binding runs {name}, which is no tool of {self._deployment.name}; remove it"
            )
        implementation = self._binding.tools[name]
        if not callable(implementation):
            return False
        names = [param.name for param in tool.params]
        signature = inspect.signature(implementation)
        takes = "connection" in signature.parameters and "connection" not in names
        try:
            signature.bind(**dict.fromkeys([*names, *["connection"] * takes]))
        except TypeError as error:
            raise InputError(
                f"the function of {name} cannot be called with {', '.join(names) or 'nothing'} ({error});"
                " give it the tool's parameters"
            ) from None
        return takes

    def _execute(self, name: str, arguments: Mapping[str, object], connection: sa.Connection) -> None:
        """Run a tool's statements, or call its function."""
        implementation = self._binding.tools[name]
        if isinstance(implementation, McpTool):
            assert self.servers is not None, "started when the system was opened"
            self.servers.call(implementation, name, arguments)
            return
        if isinstance(implementation, str):
            implementation = list(statements(implementation))
        if not callable(implementation):
            for statement in implementation:
                names = set(re.findall(r"(?<![:\w]):(\w+)", statement))
                given = {name: content for name, content in arguments.items() if name in names}
                found = connection.execute(sa.text(statement), given)
                if _SELECT.match(statement) and found.first() is None:
                    raise LookupError("a SELECT returns no row")
            return
        extra: dict[str, Any] = {"connection": connection} if self._takes_connection[name] else {}
        answer = implementation(**arguments, **extra)
        if inspect.iscoroutine(answer):
            asyncio.run(answer)


def _listen(connection: sa.Connection, watch: Watch) -> None:
    """Have each statement and each commit of a connection watched."""

    def statement(_: object, __: object, text: str, *___: object) -> None:
        watch(text)

    def commit(_: object) -> None:
        watch("COMMIT")

    sa.event.listen(connection, "before_cursor_execute", statement)
    sa.event.listen(connection, "commit", commit)


def statements(text: str) -> Iterator[str]:
    """Yield the statements of a text; a statement ends with a semicolon at the end of a line."""
    for statement in re.split(r";[ \t]*(?:\n|\Z)", text):
        if statement.strip():
            yield statement.strip()
