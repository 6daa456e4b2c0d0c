"""The cells of a live database that stand for a deployment's values.

One decision: the values of an infinite sort are the contents of its columns, so that nothing is renamed on
the way to the database and back. A column that may hold what its finite sort does not list is *loose*.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import Any, TypeAlias
from uuid import UUID

import sqlalchemy as sa

from stead_sym.conformance.bound_tables import BoundTables
from stead_sym.data.spelling import Unusable, spelled, text_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import InputError
from stead_sym.export.conditions import Cell
from stead_sym.export.schemas import argument_schema
from stead_sym.relational.schema import Sort, Value, is_numeral

_TYPES: Mapping[str, sa.types.TypeEngine[Any]] = {
    "text": sa.String(),
    "number": sa.BigInteger(),
    "boolean": sa.Boolean(),
    "uuid": sa.Uuid(),
}
_HELD: Mapping[str, type] = {"text": str, "number": int, "boolean": bool, "uuid": UUID}
_INTEGERS = range(-(2**63), 2**63)


SqlCell: TypeAlias = Cell[sa.ColumnElement[Any]]
"""An expression of SQLAlchemy that has the content for a value of a sort."""


class Cells:
    """The cells that stand for the values of each sort in the bound tables."""

    def __init__(self, deployment: Deployment, bound: BoundTables, connection: sa.Connection) -> None:
        """Find what the columns of each sort hold; raise `InputError` if they do not agree."""
        self.deployment = deployment
        self.schema = deployment.schema
        self._is_sqlite = connection.dialect.name == "sqlite"
        self._inexact = _inexact(connection)
        self.bound = bound
        self._kinds = {sort.name: self._kind(sort) for sort in self.schema.sorts}
        self._contents = {sort.name: self._listed(sort) for sort in self.schema.sorts}
        self._values = {
            name: {content: value for value, content in contents.items()}
            for name, contents in self._contents.items()
        }
        self._named = {name: dict(self._constants(deployment, name)) for name in self._contents}
        self.any_loose = any(
            self.is_loose(relation.name, place)
            for relation in self.schema.relations
            for place in range(relation.arity)
        )

    def _kind(self, sort: Sort) -> str:
        kinds: dict[str, str] = {}  # each with a column
        for table, name in self.bound.columns_of(sort.name):
            column = table.column(name)
            kind = "other" if column is None else str(column.kind)
            of = self.bound.tables[table.name].c[name].type
            if isinstance(of, sa.Uuid):
                kind = "uuid"
            if getattr(of, "collation", None) in self._inexact or of.__visit_name__ == "CITEXT":
                raise InputError(f"{table.name}.{name} takes different texts for equal; bind another column")
            kinds.setdefault(kind, f"{table.name}.{name}")
        if len(kinds) > 1:
            (one, here), (other, there), *_ = kinds.items()
            raise InputError(
                f"sort {sort.name} is {one} in {here} and {other} in {there}; bind columns that hold the same"
            )
        kind = next(iter(kinds), "number" if sort.is_numeric else "text")
        if kind not in _TYPES:
            raise InputError(
                f"sort {sort.name} is {kind} in {kinds[kind]}; bind a column of texts or numbers"
            )
        if sort.is_numeric and kind != "number":
            raise InputError(f"sort {sort.name} has integers, and {kinds[kind]} holds {kind}; bind numbers")
        return kind

    def _listed(self, sort: Sort) -> Mapping[Value, object]:
        """Return what stands for each value of a finite sort."""
        listed = self.bound.contents(sort.name)
        kind = self._kinds[sort.name]
        if sort.values is None and kind != "boolean":
            return {}
        match kind:
            case "text":
                return {value: str(content) for value, content in listed.items()}
            case "number":
                if all(is_numeral(str(content)) for content in listed.values()):
                    return {value: int(str(content)) for value, content in listed.items()}
            case "boolean":
                if listed and all(isinstance(content, bool) for content in listed.values()):
                    return listed
        raise InputError(f"the columns of sort {sort.name} hold {kind}, which its values are not; bind texts")

    def _constants(self, deployment: Deployment, sort: str) -> Iterator[tuple[object, Value]]:
        """Yield what stands for each constant of an infinite sort, and the constant."""
        if not self.schema.is_finite(sort):
            for value in deployment.constants[sort]:
                with suppress(InputError):  # no content of the columns stands for it
                    yield self.content(value, sort), value

    # values and contents

    def type_of(self, sort: str) -> sa.types.TypeEngine[Any]:
        """Return the type of what stands for values of the sort."""
        return _TYPES[self._kinds[sort]]

    def literal(self, value: Value, sort: str) -> SqlCell:
        """Return the cell of a constant; raise `InputError` if nothing can stand for it."""
        return Cell(sa.literal(self.content(value, sort), self.type_of(sort)), sort)

    def content(self, value: Value, sort: str) -> object:
        """Return what stands for a constant; raise `InputError` if nothing can."""
        if self.schema.is_finite(sort):
            return self._contents[sort][value]
        kind, plain = self._kinds[sort], value.removeprefix(f"{sort}_")
        if kind == "text":
            return value
        if kind == "number" and is_numeral(plain):
            return int(plain)
        raise InputError(
            f"the constant {value} of sort {sort} is no {kind} as its columns hold; name it after its content"
        )

    def argument(self, given: object, sort: str) -> object:
        """Return what stands for an argument of a call; raise `Unusable`, which says what it should be."""
        known = self.schema.sort(sort)
        if known.values is not None:
            if given is None:
                raise Unusable(f"has to be one of {_shortly(known)}")
            try:
                return self._contents[sort][spelled(text_of(given), known, self.schema)]
            except Unusable:
                raise Unusable(f"has to be one of {_shortly(known)}") from None
        match self._kinds[sort]:
            case "number":
                if isinstance(given, int) and not isinstance(given, bool) and given in _INTEGERS:
                    return given
                raise Unusable("has to be a whole number")
            case "uuid":
                try:
                    return UUID(given) if isinstance(given, str) else _no_uuid()
                except ValueError:
                    raise Unusable("has to be a UUID") from None
            case _:
                if not isinstance(given, str) or "\0" in given or not _encodes(given):
                    raise Unusable("has to be a text")
                return text_of(given)

    def sample(self, sort: str) -> object:
        """Return some content of the type that stands for values of the sort."""
        some: Mapping[str, object] = {"text": "", "number": 0, "uuid": UUID(int=0)}
        return next(iter(self._contents[sort].values()), some.get(self._kinds[sort]))

    def shown(self, content: object, sort: str) -> object:
        """Return the argument that a content is, as a call has it; raise `Unusable` if it is none."""
        if self.schema.is_finite(sort):
            value = self._values[sort][content]
            return int(value) if is_numeral(value) else value
        kind = self._kinds[sort]
        if isinstance(content, float | Decimal):
            if not isfinite(content) or content != int(content):
                raise Unusable("has a fraction or no number, which no argument has")
            content = int(content)
        if not isinstance(content, _HELD[kind]):  # SQLite keeps what is no number in a column of numbers
            raise Unusable(f"holds {content!r}, which is no {kind}")
        return str(content) if isinstance(content, UUID) else content

    def value(self, content: object, sort: str) -> Value:
        """Return the value that a content stands for; raise `Unusable` if its finite sort lists none."""
        known = self.schema.sort(sort)
        if known.values is None:
            return self._named[sort].get(content) or str(self.shown(content, sort))
        listed = self._values[sort].get(content)
        if listed is None:
            raise Unusable(f"holds {content!r}, which is none of {_shortly(known)}")
        return listed

    def json_type(self, sort: str) -> Mapping[str, object]:
        """Return the JSON schema of an argument of the sort."""
        kind = "integer" if self._kinds[sort] == "number" else "string"
        return argument_schema(self.schema.sort(sort), kind)

    # columns

    def column(self, alias: sa.FromClause, relation: str, place: int) -> SqlCell:
        """Return the cell of a relation's column in a row of its table."""
        column = alias.c[self.bound.rows[relation].columns[place]]
        sort = self.schema.relation(relation).sorts[place]
        return Cell(self._exactly(column), sort, self.is_loose(relation, place))

    def _exactly(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        """Return the content of a column so that equal ones are the same text, in upper and lower case."""
        if isinstance(column.type, sa.Enum) and column.type.native_enum:
            return sa.cast(column, sa.String())
        if self._is_sqlite and isinstance(column.type, sa.String):
            return sa.collate(column, "BINARY")
        if self._is_sqlite and isinstance(column.type, sa.Numeric):  # which may hold a text
            return sa.type_coerce(column, sa.BigInteger())
        return column

    def is_loose(self, relation: str, place: int) -> bool:
        """Return True if the database lets the column hold what its finite sort does not list."""
        sort = self.schema.relation(relation).sorts[place]
        known = self.schema.sort(sort)
        if known.values is None:
            return False
        bound = self.bound.rows[relation]
        table = self.bound.found.table(bound.table)
        column = None if table is None else table.column(bound.columns[place])
        return column is None or not set(column.values or (None,)) <= set(map(str, self._values[sort]))

    def rows_of(self, name: str, *, listed: bool) -> sa.FromClause:
        """Return new rows of a relation's table, or if ``listed`` the values of a finite sort, as `v`."""
        if not listed:
            return self.bound.tables[self.bound.rows[name].table].alias()
        sort, kind = self.schema.sort(name), self.type_of(name)
        if sort.is_numeric and sort.values:
            counted = sa.select(sa.literal(int(sort.values[0]), kind).label("v")).cte(recursive=True)
            more = sa.select(counted.c.v + 1).where(counted.c.v < int(sort.values[-1]))
            return counted.union_all(more).alias()
        values = [sa.select(sa.literal(one, kind).label("v")) for one in self._contents[name].values()]
        return (values[0] if len(values) == 1 else sa.union_all(*values)).subquery()

    def is_fact(self, alias: sa.FromClause, relation: str) -> Iterator[sa.ColumnElement[bool]]:
        """Yield the conditions that a row is a fact: what `where` says, and no NULL."""
        bound = self.bound.rows[relation]
        for name, content in bound.where.items():
            yield alias.c[name] == content
        for name in bound.columns:  # also of a primary key, which may be NULL in SQLite
            yield alias.c[name].is_not(None)

    def rank(self, expression: sa.ColumnElement[Any], sort: str) -> sa.ColumnElement[Any]:
        """Return the position of a content in the list of its ordered sort, NULL if it is not listed."""
        kind, rank = self.type_of(sort), self.schema.sort(sort).rank
        whens = [
            (expression == sa.literal(one, kind), rank[value]) for value, one in self._contents[sort].items()
        ]
        return sa.case(*whens)

    def known(self, cell: SqlCell) -> sa.ColumnElement[bool]:
        """Return the condition that the content of a cell is one that its finite sort lists."""
        sort, expression = self.schema.sort(cell.sort), cell.expression
        if sort.is_numeric and sort.values:
            return sa.and_(
                expression.between(int(sort.values[0]), int(sort.values[-1])),
                sa.cast(expression, sa.BigInteger()) == expression,
            )
        kind = self.type_of(cell.sort)
        return expression.in_([sa.literal(content, kind) for content in self._contents[cell.sort].values()])


def _shortly(sort: Sort) -> str:
    values = sort.values or ()
    if sort.is_numeric:
        return f"{values[0]}..{values[-1]}"
    return ", ".join(values[:8]) + ", …" * (len(values) > 8)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_uuid() -> UUID:
    raise ValueError


def _inexact(connection: sa.Connection) -> Collection[str]:
    """Return the collations for which different texts may be equal; those of SQLite are never used."""
    if connection.dialect.name != "postgresql":
        return ()
    asked = sa.text("SELECT collname FROM pg_collation WHERE NOT collisdeterministic")
    return frozenset(connection.scalars(asked))
