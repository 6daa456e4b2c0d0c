"""A bound system: load a state, run a tool, read the state that it leaves.

One decision: each state is loaded into tables that were emptied, and committed, and each call has a
connection of its own. A tool may therefore commit, roll back, close it, or open others, as in production.

Rows that were there before are never deleted.

A connection that waits for a lock would wait for ever, since nothing else runs meanwhile. So waiting is an
error at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import DataError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from stead_sym.conformance.binding import Binding, McpTool
from stead_sym.conformance.bound_tables import Beyond, BoundTables, Loader, reason_of, shown_url
from stead_sym.conformance.calling import Caller, let_interrupt, serving, statements
from stead_sym.data.spelling import Unusable, spelled, text_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Value


class CannotLoad(Exception):
    """An error for a state that the database refuses; its text is what the database says."""


class Unlisted(Exception):
    """An error for a cell that no value of its sort stands for; its text names both."""


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
                with serving(binding.tools, url) as system.caller.servers:
                    yield system
            finally:
                with suppress(SQLAlchemyError, InputError):
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
            if engine.dialect.name == "sqlite":
                let_interrupt(connection)
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
        self._loader = Loader(self._tables, self._emptied)
        self.caller = Caller(deployment, binding)
        self._listed = {sort.name: self._bound.contents(sort.name) for sort in deployment.schema.sorts}
        self._written: dict[tuple[str, Value], object] = {}
        self._read: dict[tuple[str, object], Value] = {}
        self._number: dict[str, int] = {}
        self._identified: dict[str, Literal["uuid", "number", "text"]] = {}
        self.last: Call | None = None
        """The last call; None if there was none."""

    def clear(self) -> None:
        """Empty the tables."""
        self._connection.rollback()
        self._loader.empty(self._connection)
        self._connection.commit()

    def load(self, state: Instance) -> None:
        """Replace what the tables hold by a state; raise `CannotLoad` if the database refuses it."""
        self._written, self._read, self._number = {}, {}, {}
        for sort, values in state.active_domain.items():
            for value in sorted(values):
                self.content(sort, value)
        try:
            self._loader.empty(self._connection)
            self._loader.insert(self._connection, self._grouped(state))
            for statement in self._sequences:
                self._connection.execute(statement)
            self._connection.commit()
        except SQLAlchemyError as error:
            with self._used():
                self._connection.rollback()
                refused = isinstance(error, IntegrityError | DataError) or self._is_whole()
                if not refused or (isinstance(error, OperationalError) and self.last is not None):
                    raise error from None
            self._need_contents(state, reason_of(error))
            raise CannotLoad(reason_of(error)) from None

    def _is_whole(self) -> bool:
        """Return True if the tables still are as they were found."""
        try:
            for table in self._tables.values():
                self._connection.execute(sa.select(table).limit(0))
        except SQLAlchemyError:
            return False
        finally:
            self._connection.rollback()
        return True

    def _need_contents(self, state: Instance, reason: str) -> None:
        """Raise `InputError` if a column that no relation has got no content, and the database says so."""
        for name in dict.fromkeys(self._rows[fact.relation].table for fact in state.facts):
            rows = [bound for bound in self._rows.values() if bound.table == name]
            given = {column for bound in rows for column in (*bound.columns, *bound.where)}
            given |= set(self._binding.defaults.get(name, ()))
            for column in self._tables[name].c:
                if not column.nullable and column.name not in given and column.name in reason:
                    raise InputError(
                        f"the table {name} takes no row ({reason}): no relation has {column.name}; say what"
                        f" it holds, by defaults={{{name!r}: {{{column.name!r}: …}}}} in the binding"
                    )

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Raise `InputError` for an error of the database after a call, which must be the tool's doing."""
        try:
            yield
        except SQLAlchemyError as error:
            if self.last is None:
                raise
            raise InputError(
                f"after {self.last} the tables cannot be emptied or read ({reason_of(error)}); let the tool"
                " close what it opens, and keep the tables; a database in memory ends with its connection,"
                " so bind a file for it"
            ) from None

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
        for name, sort in self.caller.new.get(call.tool, {}).items():
            arguments[name] = self.content(sort, f"{sort}_for_{name}_{len(self._written)}")
        self.last = call
        with self._used(), self._engine.connect() as connection:
            if watch is not None:
                _listen(connection, watch)
            try:
                self.caller.call(call, arguments, connection)
                if not connection.closed:
                    connection.commit()
            except (InputError, KeyboardInterrupt):  # the first of a call that gives no answer
                raise
            except BaseException as error:  # noqa: BLE001 (whatever a tool raises refuses the call)
                if not connection.closed:
                    connection.rollback()
                return reason_of(error)
        return None

    def state(self) -> Instance:
        """Return what the tables hold, with new names for new identifiers; raise `Unlisted`."""
        with self._used():
            facts = [fact for relation in self._relations for fact in self._facts(relation)]
            self._connection.rollback()
        return Instance(self._deployment.schema, frozenset(facts))

    def beyond(self) -> Mapping[str, Mapping[object, object]]:
        """Return the cells of the database that no relation describes.

        They are grouped by the name of their table or column, then by the primary key of their row.
        """
        if self._beyond.is_empty:
            return {}
        with self._used():
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
        if sort not in self._identified:
            self._identified[sort] = self._kind_of_identifiers(sort)
        match self._identified[sort]:
            case "uuid":
                return UUID(int=number)
            case "number":
                return number
            case "text":
                return value

    def _kind_of_identifiers(self, sort: str) -> Literal["uuid", "number", "text"]:
        """Return the kind of all columns that hold identifiers of a sort; text if they differ."""
        columns = list(self._bound.columns_of(sort))
        if columns and all(isinstance(self._tables[t.name].c[name].type, sa.Uuid) for t, name in columns):
            return "uuid"
        kinds = {c.kind for table, name in columns if (c := table.column(name)) is not None}
        return "number" if kinds == {"number"} else "text"

    # tables and tools

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


def _listen(connection: sa.Connection, watch: Watch) -> None:
    """Have each statement and each commit of a connection watched."""

    def statement(_: object, __: object, text: str, *___: object) -> None:
        watch(text)

    def commit(_: object) -> None:
        watch("COMMIT")

    sa.event.listen(connection, "before_cursor_execute", statement)
    sa.event.listen(connection, "commit", commit)
