"""Changes by the tests to the database of a store behind the store's back."""

from __future__ import annotations

import sqlalchemy as sa


def execute(place: str, *statements: str, **values: object) -> list[sa.Row]:
    """Execute statements in one transaction; the rows of the last one, if it has any."""
    url = place if "://" in place else f"sqlite:///{place}"
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        for statement in statements[:-1]:
            connection.execute(sa.text(statement))
        result = connection.execute(sa.text(statements[-1]), values)
        return list(result) if result.returns_rows else []


def tamper(place: str, statement: str, **values: object) -> None:
    """Execute a statement that a store does not allow; its triggers and unique indexes are gone then."""
    kept = (
        [f"DROP TRIGGER IF EXISTS {table}_is_kept ON {table}" for table in ("decision", "node")]
        if "://" in place
        else [
            f"DROP TRIGGER IF EXISTS {table}_no_{verb}"
            for table in ("decision", "node")
            for verb in ("update", "delete")
        ]
    )
    unique = [f"DROP INDEX IF EXISTS {table}_key" for table in ("decision", "node")]
    execute(place, *kept, *unique, statement, **values)
