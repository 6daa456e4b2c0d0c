"""The schema of a database, in the form that every source of schemas gives it.

One decision: only what a deployment can express is kept: names, keys, references, and the finite sets of
values that constraints allow. Two sources that agree on these give the same draft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "number", "boolean", "time", "other"]
"""The type of a column; identifiers are texts or numbers."""
OnDelete: TypeAlias = Literal["refuse", "cascade", "set null", "set default"]
"""The change of a row when the row that it refers to is deleted."""


COMPUTED = "()"
"""The default of a column that the database computes."""


def on_delete(words: str) -> OnDelete:
    """Return what the words of `ON DELETE` mean; `refuse` for none, `NO ACTION` and `RESTRICT`."""
    match " ".join(words.lower().split()):
        case "cascade" | "set null" | "set default" as kind:
            return kind
        case _:
            return "refuse"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table.

    ``values`` are the texts that an ENUM or a CHECK lists, in their order. ``low`` and ``high`` are the
    bounds of an integer, both inclusive. ``type`` is the name of the ENUM or DOMAIN, if it has one.
    ``default`` is the text that the column gets if an INSERT gives it no value, `COMPUTED` if it is none of
    the schema.
    """

    name: str
    kind: Kind
    nullable: bool = True
    values: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    type: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key: ``columns`` hold a key of ``table``, its primary key if ``referenced`` is empty.

    ``on_delete`` says what happens when a row that they refer to is deleted.
    """

    columns: tuple[str, ...]
    table: str
    referenced: tuple[str, ...] = ()
    on_delete: OnDelete = "refuse"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its constraints.

    ``rows`` are the texts of all its rows by column, if they are known and few; None for NULL.
    """

    name: str
    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique: frozenset[tuple[str, ...]] = frozenset()
    rows: tuple[Mapping[str, str | None], ...] = ()

    def column(self, name: str) -> TableColumn | None:
        """Return the column of this name, upper and lower case apart, or None."""
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a database, with ``unread``: what their source holds that could not be read.

    ``url`` is the database that holds the rows, as `init from` names it, None if there is only a text of the
    schema. ``booleans`` are the texts of false and true in it.
    """

    tables: tuple[Table, ...]
    unread: Sequence[str] = field(default=())
    url: str | None = None
    booleans: tuple[str, str] = ("false", "true")

    def table(self, name: str) -> Table | None:
        """Return the table of this name, upper and lower case apart, or None."""
        return next((t for t in self.tables if t.name.lower() == name.lower()), None)
