"""The tables of a database that stand for a deployment's relations, and what stands for listed values.

One decision: the names of tables and columns bind a relation unless the binding does, as `stead-sym import`
drafts them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping

import sqlalchemy as sa
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from stead_sym.conformance.binding import Binding, Rows
from stead_sym.data.spelling import Unusable, spelled
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import InputError
from stead_sym.imports.draft import camel
from stead_sym.imports.reflect import tables_of
from stead_sym.imports.sorts import distinct
from stead_sym.imports.tables import Table
from stead_sym.relational.schema import Relation, Value, is_numeral
from stead_sym.support.printable import printable

_LONGEST = 300
"""The most characters of what an error says."""


class BoundTables:
    """The rows of every relation in a database.

    ``tables`` are all its tables by name, in an order in which rows can be inserted, ``found`` are the same
    with their constraints, and ``rows`` are the bound rows by relation.
    """

    def __init__(self, deployment: Deployment, binding: Binding, connection: sa.Connection) -> None:
        """Find the rows of every relation; raise `InputError` if there are none."""
        self.found = tables_of(connection)
        metadata = sa.MetaData()
        metadata.reflect(connection)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # references in a circle, which `Loader` deals with
            self.tables = {table.name: table for table in metadata.sorted_tables}
        self._schema = deployment.schema
        self._relations = binding.relations
        self.rows: Mapping[str, Rows] = {r.name: self._rows_of(r) for r in self._schema.relations}

    def _rows_of(self, relation: Relation) -> Rows:
        """Return the rows of a relation, by the binding or by its name."""
        given = self._relations.get(relation.name)
        if given is None:
            given = self._by_name(relation)
        table = self.tables.get(given.table)
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
        tables = [t for t in self.found.tables if relation.name.startswith(camel(t.name))]
        for table in sorted(tables, key=lambda table: -len(table.name)):
            called = distinct({column.name: column.name for column in table.columns})
            columns = {name.lower(): column for column, name in called.items()}
            found = [columns.get(name.lower()) for name in relation.columns]
            if found and None not in found and len(found) == len(relation.sorts):
                return Rows(table.name, tuple(column for column in found if column is not None))
        raise InputError(f"no table stands for {relation.name}; bind it to the Rows of one")

    def columns_of(self, sort: str) -> Iterator[tuple[Table, str]]:
        """Yield the columns that hold values of a sort."""
        for relation in self._schema.relations:
            bound = self.rows[relation.name]
            table = self.found.table(bound.table)
            for name, one in zip(bound.columns, relation.sorts, strict=True):
                if one == sort and table is not None:
                    yield table, name

    def contents(self, sort: str) -> Mapping[Value, object]:
        """Return what stands for each value of a finite sort: the text that a constraint lists, or itself."""
        known = self._schema.sort(sort)
        if known.values is None:
            return {}
        contents: dict[Value, object] = {}
        for value in known.values:
            contents[value] = int(value) if is_numeral(value) else value
        for table, name in self.columns_of(sort):
            column = table.column(name)
            if column is None:
                continue
            texts: Iterable[tuple[str, object]] = [(text, text) for text in column.values]
            if column.kind == "boolean":
                texts = zip(self.found.booleans, (False, True), strict=True)
            for text, content in texts:
                try:
                    contents[spelled(text, known, self._schema)] = content
                except Unusable:
                    continue  # the deployment knows fewer values than the database allows
        return contents


def shown_url(url: str) -> str:
    """Return a URL without its password and options, which may be secret."""
    try:
        return sa.make_url(url).set(query={}).render_as_string(hide_password=True)
    except (SQLAlchemyError, ValueError):
        return "the database of the binding"


def reason_of(error: BaseException) -> str:
    """Return the first line of what an error says, or the name of its class if it says nothing."""
    try:
        text = str(getattr(error, "orig", None) or error)
    except Exception:  # noqa: BLE001 (the error is of a tool, and so is its text)
        text = ""
    return printable((text.strip().splitlines() or [type(error).__name__])[0][:_LONGEST])
