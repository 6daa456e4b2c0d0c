"""Give each relation of a deployment a table: names, types, keys, references, and the rows of `init`.

One decision: the names are chosen such that `stead-sym import` makes the relations of these names again. A
sort is a DOMAIN where there are any (PostgreSQL); SQLite has the constraint at each column instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy.dialects.postgresql.base import RESERVED_WORDS, ischema_names
from sqlalchemy.dialects.sqlite.base import SQLiteIdentifierPreparer

from stead_sym.deployment.deployment import Deployment
from stead_sym.relational.schema import Relation, Schema, Sort, holds_message

Dialect: TypeAlias = Literal["postgres", "sqlite"]
"""A database that the SQL is written for, as `sqlglot` calls it."""
SQL_DIALECTS: tuple[Dialect, ...] = ("postgres", "sqlite")

THERE = ("there", "'yes'")
"""The column and the content of the only row of a table for a relation without columns."""

_WORDS = (
    "column comment database format function index row schema sequence session set trigger type view window"
)
"""Words that no database reserves, and that `sqlglot` takes for the beginning of something else."""
_QUOTED = frozenset(RESERVED_WORDS) | frozenset(SQLiteIdentifierPreparer.reserved_words) | {*_WORDS.split()}
_MORE_TYPES = "bool box char circle decimal int line number path point"
_TYPES = frozenset(ischema_names) | {*_MORE_TYPES.split()}
"""Names of types, which no DOMAIN can have."""


@dataclass(frozen=True, slots=True)
class SqlTable:
    """The table of a relation; ``key`` has the places of its primary key. Names are as SQL has them.

    A relation without columns has no ``columns`` here either: its table has that of `THERE`.
    """

    relation: Relation
    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]

    @property
    def written(self) -> tuple[str, ...]:
        """The columns that a row is written to."""
        return self.columns or THERE[:1]


def sql_tables(deployment: Deployment, dialect: Dialect) -> Mapping[str, SqlTable]:
    """Return the tables by relation, those that others refer to first if no two refer to each other."""
    relations = [r for r in deployment.schema.relations if not holds_message(r.name)]
    taken = {sort.name.lower() for sort in deployment.schema.sorts} if dialect == "postgres" else set[str]()
    tables: dict[str, SqlTable] = {}
    for relation in relations:
        name = re.sub(r"(?<=[A-Za-z0-9])(?=[A-Z])", "_", relation.name).lower()
        name = _unlike(name, taken, "_")
        taken.add(name)
        key = relation.keys or tuple(range(relation.arity))
        tables[relation.name] = SqlTable(relation, quoted(name), tuple(map(quoted, _columns(relation))), key)
    return {name: tables[name] for name in _ordered(relations)}


def _columns(relation: Relation) -> Iterator[str]:
    """Yield the names of the columns: those of the relation, or else of their sorts, with numbers."""
    names = relation.columns or ("",) * relation.arity
    taken = {name.lower() for name in names if name}
    for name, sort in zip(names, relation.sorts, strict=True):
        if name:
            yield name
            continue
        alike = [one for one, own in zip(relation.sorts, names, strict=True) if one == sort and not own]
        number, chosen = 1, sort if len(alike) == 1 else f"{sort}_1"
        while chosen.lower() in taken:
            number += 1
            chosen = f"{sort}_{number}"
        taken.add(chosen.lower())
        yield chosen


def _unlike(name: str, taken: Iterable[str], more: str) -> str:
    """Return the name with more at its end, as often as it takes to be none that is taken."""
    taken = {*taken}
    while name in taken:
        name += more
    return name


def _ordered(relations: Sequence[Relation]) -> Sequence[str]:
    """Return the names of the relations, those that others refer to first; of a cycle, in any order."""
    found: dict[str, None] = {}
    targets = {r.name: [name for _, name in r.refers] for r in relations}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name not in found and name not in above:
            for target in targets[name]:
                add(target, (*above, name))
            found[name] = None

    for relation in relations:
        add(relation.name, ())
    return list(found)


def quoted(name: str) -> str:
    """Return a name as SQL has it, in quotes if it needs them."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _QUOTED
    return name if plain else f'"{name}"'


def text_literal(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def literal(value: str, sort: Sort | None) -> str:
    """Return a value of a sort as a literal; without a sort, it is an integer."""
    return value if sort is None or sort.is_numeric else text_literal(value)


# what creates the tables


def schema_text(deployment: Deployment, tables: Mapping[str, SqlTable], dialect: Dialect) -> str:
    """Return the statements that create the tables."""
    parts = []
    if dialect == "postgres":
        used = {sort for table in tables.values() for sort in table.relation.sorts}
        parts += [_domain(sort) for sort in deployment.schema.sorts if sort.name in used]
    later: list[str] = []
    created: set[str] = set()
    for name, table in tables.items():
        created.add(name)
        parts.append(_created(table, tables, deployment.schema, dialect, created, later))
    return "\n".join([*parts, *later]) + "\n"


def _domain_name(sort: Sort) -> str:
    return quoted(f"{sort.name}_" if sort.name.lower() in _TYPES else sort.name)


def _domain(sort: Sort) -> str:
    check = _condition("VALUE", sort)
    kind = "INTEGER" if sort.is_numeric else "TEXT"
    return f"CREATE DOMAIN {_domain_name(sort)} AS {kind}{f' CHECK ({check})' if check else ''};"


def _condition(content: str, sort: Sort) -> str:
    """Return the condition that a content is one that the sort lists; an empty text if it lists none."""
    if sort.values is None:
        return ""
    if sort.is_numeric:
        return f"{content} BETWEEN {sort.values[0]} AND {sort.values[-1]}"
    return f"{content} IN ({', '.join(map(text_literal, sort.values))})"


def _created(
    table: SqlTable,
    tables: Mapping[str, SqlTable],
    schema: Schema,
    dialect: Dialect,
    created: set[str],
    later: list[str],
) -> str:
    """Return the statement that creates a table; references to later ones are added to ``later``."""
    lines = []
    for column, name in zip(table.columns, table.relation.sorts, strict=True):
        sort = schema.sort(name)
        if dialect == "postgres":
            lines.append(f"{column} {_domain_name(sort)} NOT NULL")
        else:
            check = _condition(column, sort)
            kind = "INTEGER" if sort.is_numeric else "TEXT"
            lines.append(f"{column} {kind} NOT NULL{f' CHECK ({check})' if check else ''}")
    if not table.columns:
        column, content = THERE
        lines.append(f"{column} TEXT NOT NULL CHECK ({column} IN ({content}))")
    keys = [table.columns[place] for place in table.key] or [THERE[0]]
    lines.append(f"PRIMARY KEY ({', '.join(keys)})")
    for place, target in table.relation.refers:
        other = tables[target]
        key = other.columns[other.key[0]]
        reference = (
            f"FOREIGN KEY ({table.columns[place]}) REFERENCES {other.name} ({key})"
            " DEFERRABLE INITIALLY DEFERRED"
        )
        if target in created or dialect == "sqlite":  # which looks for it when rows are written
            lines.append(reference)
        else:
            later.append(f"ALTER TABLE {table.name} ADD {reference};")
    return f"CREATE TABLE {table.name} (\n  " + ",\n  ".join(lines) + "\n);"


def rows_text(deployment: Deployment, tables: Mapping[str, SqlTable]) -> str:
    """Return the statements that insert the facts of `init`."""
    parts = []
    for name, table in tables.items():
        sorts = [deployment.schema.sort(one) for one in table.relation.sorts]
        rows = [
            f"({', '.join(map(literal, args, sorts)) or THERE[1]})"
            for args in sorted(deployment.init.tuples(name))
        ]
        if rows:
            listed = ", ".join(table.written)
            parts.append(f"INSERT INTO {table.name} ({listed}) VALUES\n  " + ",\n  ".join(rows) + ";\n")
    return "".join(parts)
