"""What an `init from …` item says: where rows come from, and which facts a row becomes.

One decision: a name in an argument's place is always a column, and a constant stands in single quotes, as in
SQL, so that a misspelt column can never pass for a new constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from stead_sym.errors import Located
from stead_sym.logic.names import is_name
from stead_sym.relational.schema import escaped


@dataclass(frozen=True, slots=True)
class File:
    """A table in a file, its columns named in the first line or by the format. The path is relative to the
    folder of the deployment."""

    path: str

    def __str__(self) -> str:
        return f'"{escaped(self.path)}"'


@dataclass(frozen=True, slots=True)
class Database:
    """A table of a database, or the rows of a query.

    Of ``url`` and ``variable`` one is given: the URL as SQLAlchemy takes it, without a password, or the name
    of an environment variable that holds it. Of ``table`` and ``query`` one is given as well.
    """

    url: str | None = None
    variable: str | None = None
    table: str | None = None
    query: str | None = None

    def __str__(self) -> str:
        where = f"env {self.variable}" if self.url is None else f'"{escaped(self.url)}"'
        word, rows = ("table", self.table) if self.query is None else ("query", self.query)
        return f'{where} {word} "{escaped(rows or "")}"'


@dataclass(frozen=True, slots=True)
class Column(Located):
    """The cell of this column. With ``optional``, a row in which it is empty makes no fact."""

    name: str
    optional: bool = False

    def __str__(self) -> str:
        name = self.name if is_name(self.name) else f'"{escaped(self.name)}"'
        return f"{name}{'?' * self.optional}"


@dataclass(frozen=True, slots=True)
class Given:
    """The same text for every row, as if a column held it."""

    text: str

    def __str__(self) -> str:
        doubled = self.text.replace("'", "''")
        return f"'{doubled}'"


Argument: TypeAlias = Column | Given


@dataclass(frozen=True, slots=True)
class Into(Located):
    """One fact of each row: the relation, and what stands in its places."""

    relation: str
    arguments: tuple[Argument, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class FactsFrom(Located):
    """`init from SOURCE into P(a, b), Q(a)`: the facts of all rows."""

    source: File | Database
    into: tuple[Into, ...]

    def __str__(self) -> str:
        return f"init from {self.source} into {', '.join(map(str, self.into))}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read, each once, in the order in which they are first named."""
        first: dict[str, Column] = {}
        for into in self.into:
            for argument in into.arguments:
                if isinstance(argument, Column):
                    first.setdefault(argument.name, argument)
        return tuple(first.values())


@dataclass(frozen=True, slots=True)
class Loaded:
    """An item that was read: so many rows became so many facts, each counted once."""

    item: FactsFrom
    rows: int
    facts: int
