"""A database for any deployment: a table with columns c0, c1, … for each relation."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from stead_sym.conformance.binding import Binding, Rows
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Schema


def schema_of(schema: Schema, checked: bool = True) -> Iterable[str]:
    """The tables; with ``checked`` the columns of finite sorts hold only what these list."""
    for relation in schema.relations:
        columns = []
        for place, sort in enumerate(map(schema.sort, relation.sorts)):
            kind = "INTEGER" if sort.is_numeric else "TEXT"
            listed = "', '".join(sort.values or ())
            check = f" CHECK (c{place} IN ('{listed}'))" if sort.values and checked else ""
            columns.append(f"c{place} {kind} NOT NULL{check}")
        yield f'CREATE TABLE "{relation.name.lower()}" ({", ".join(columns) or "there INTEGER"})'


def rows_of(schema: Schema) -> dict[str, Rows]:
    """The binding of every relation to its table."""
    return {
        relation.name: Rows(relation.name.lower(), tuple(f"c{place}" for place in range(relation.arity)))
        for relation in schema.relations
    }


def binding(schema: Schema, url: str = "sqlite://") -> Binding:
    return Binding(url, {}, relations=rows_of(schema))


def fill(connection: sa.Connection, schema: Schema, facts: Iterable[Fact]) -> None:
    """Replace what the tables hold."""
    for relation in schema.relations:
        connection.exec_driver_sql(f'DELETE FROM "{relation.name.lower()}"')
    for fact in facts:
        sorts = map(schema.sort, schema.relation(fact.relation).sorts)
        cells = tuple(
            int(u) if sort.is_numeric and u.isdigit() else u for u, sort in zip(fact.args, sorts, strict=True)
        )
        cells = cells or (1,)
        given = {f"c{place}": cell for place, cell in enumerate(cells)}
        places = ", ".join(f":{name}" for name in given)
        connection.execute(sa.text(f'INSERT INTO "{fact.relation.lower()}" VALUES ({places})'), given)


def tables(schema: Schema, checked: bool = True, url: str = "sqlite://") -> sa.Connection:
    """A connection to a database, by default a new one in memory, with the tables."""
    engine = sa.create_engine(url, enable_from_linting=False)
    connection = engine.connect()
    if engine.dialect.name == "postgresql":
        connection.exec_driver_sql("SET jit = off")  # as a guard does
    for statement in schema_of(schema, checked):
        connection.exec_driver_sql(statement)
    return connection
