"""Deployments as systems that run: the tables and tools that they are exported as, in SQLite."""

from __future__ import annotations

import sqlalchemy as sa

from stead_sym.conformance.binding import Binding, Rows
from stead_sym.export.sql import to_sql
from stead_sym.export.sql_tables import sql_tables
from stead_sym.imports.transactions import read_transactions


def exported(deployment):
    """Return the binding of the tables and tools that a deployment is exported as."""
    sql, tables = to_sql(deployment, "sqlite"), sql_tables(deployment, "sqlite")
    numeric = {sort.name for sort in deployment.schema.sorts if sort.is_numeric}

    def runs(transaction):
        params = {param.name: param.sort for param in deployment.tool(transaction.name).params}

        def run(connection, **arguments):
            given = {n: int(u) if params[n] in numeric else u for n, u in arguments.items()}
            new = {name: f"new_{name}" for name in transaction.parameters if name not in arguments}
            for one in transaction.statements:
                values = {name: {**new, **given}[name] for name in one.parameters}
                found = connection.execute(sa.text(one.text), values)
                if one.text.startswith("SELECT") and found.first() is None:
                    raise ValueError("refused")

        return run

    transactions = read_transactions(sql.tools, "sqlite") if "-- name:" in sql.tools else ()
    return Binding(
        "sqlite://",
        {one.name: runs(one) for one in transactions},
        scratch=True,
        schema=f"{sql.tables}",
        relations={
            name: Rows(
                table.name.strip('"'),
                tuple(column.strip('"') for column in table.columns),
                {} if table.columns else {"there": "yes"},
            )
            for name, table in tables.items()
        },
    )
