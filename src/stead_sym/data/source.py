"""The syntax of an `init from …` item: the source of the rows, and the facts that a row becomes.

One decision: a name as an argument is always a column, and a constant is in single quotes, as in SQL. A
misspelt column can therefore never be read as a new constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from stead_sym.errors import Located
from stead_sym.logic.names import is_name
from stead_sym.relational.schema import escaped


@dataclass(frozen=True, slots=True)
class File:
    """A table in a file, whose columns are named in the first line or by the format.

    The path is relative to the folder of the deployment.
    """

    path: str

    def __str__(self) -> str:
        """Return the source as it is written in the language."""
        return f'"{escaped(self.path)}"'


@dataclass(frozen=True, slots=True)
class Database:
    """A table of a database, the rows of a query, or with neither all of a database.

    Exactly one of ``url`` and ``variable`` is given: the URL as SQLAlchemy takes it, without a password, or
    the name of an environment variable that holds it. Not both of ``table`` and ``query`` are given.
    """

    url: str | None = None
    variable: str | None = None
    table: str | None = None
    query: str | None = None

    def __str__(self) -> str:
        """Return the source as it is written in the language."""
        where = f"env {self.variable}" if self.url is None else f'"{escaped(self.url)}"'
        if self.table is None and self.query is None:
            return where
        word, rows = ("table", self.table) if self.query is None else ("query", self.query)
        return f'{where} {word} "{escaped(rows or "")}"'


@dataclass(frozen=True, slots=True)
class Column(Located):
    """The cell of a column; if ``optional``, a row in which the cell is empty yields no fact."""

    name: str
    optional: bool = False

    def __str__(self) -> str:
        """Return the column as it is written in the language."""
        name = self.name if is_name(self.name) else f'"{escaped(self.name)}"'
        return f"{name}{'?' * self.optional}"


@dataclass(frozen=True, slots=True)
class Given:
    """A constant text, the same for every row."""

    text: str

    def __str__(self) -> str:
        """Return the constant as it is written in the language."""
        doubled = self.text.replace("'", "''")
        return f"'{doubled}'"


Argument: TypeAlias = Column | Given


@dataclass(frozen=True, slots=True)
class Into(Located):
    """The pattern of one fact for each row: a relation and its arguments."""

    relation: str
    arguments: tuple[Argument, ...]

    def __str__(self) -> str:
        """Return the pattern as it is written in the language."""
        return f"{self.relation}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class FactsFrom(Located):
    """An item `init from SOURCE into P(a, b), Q(a)`: the facts of all rows."""

    source: File | Database
    into: tuple[Into, ...]

    def __str__(self) -> str:
        """Return the item as it is written in the language."""
        return f"init from {self.source} into {', '.join(map(str, self.into))}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are read, without repetition, in the order of their first occurrences."""
        first: dict[str, Column] = {}
        for into in self.into:
            for argument in into.arguments:
                if isinstance(argument, Column):
                    first.setdefault(argument.name, argument)
        return tuple(first.values())


@dataclass(frozen=True, slots=True)
class Loaded:
    """An item that was read, with the number of its rows and of the new facts."""

    item: FactsFrom
    rows: int
    facts: int
