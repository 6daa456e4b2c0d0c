"""Translate named columns to positions: `P(c = t)` to `P(_, t, _)`.

One decision: names of columns are eliminated before sorts are inferred, so resolved formulas have none. The
one statement with them, `set P(k).c = t`, is translated in `deployment.expansion`.
"""

from __future__ import annotations

from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.names import Names, nearest
from stead_sym.relational.schema import Relation


def by_position(atom: fo.Atom, names: Names) -> fo.Atom:
    """Return `P(c = t, …)` as P(t1, …, tq), with `_` in the columns that are not named.

    Any other atom is returned unchanged. Raise `DeclarationError` for an unknown column, for one that is
    named twice, and for a definition.
    """
    if not atom.columns:
        return atom
    names.signature(atom.relation, atom.span)  # raises if the relation is unknown
    if atom.relation in names.definitions:
        raise DeclarationError(
            f"{atom.relation} is a define, which has no columns; give it its arguments in their order",
            atom.span,
        )
    relation = names.schema.relation(atom.relation)
    args: list[fo.Term] = [fo.Name(fo.WILDCARD, span=atom.span)] * relation.arity
    for column, term in zip(atom.columns, atom.args, strict=True):
        place = column_named(relation, column, term.span or atom.span)
        if atom.columns.count(column) > 1:
            raise DeclarationError(
                f"{atom.relation} has the column {column} twice here; leave one out", atom.span
            )
        args[place] = term
    return replace(atom, args=tuple(args), columns=())


def column_named(relation: Relation, column: str, span: Span | None) -> int:
    """Return the position of a column, from 0; raise `DeclarationError` if there is no such column."""
    if column in relation.columns:
        return relation.columns.index(column)
    known = [name for name in relation.columns if name]
    declare = f"name it in `relation {relation.name}(…)`, as in `{column}: SORT`"
    raise DeclarationError(f"{relation.name} has no column {column}; {nearest(column, known, declare)}", span)


def left_out(atom: fo.Atom, relation: Relation) -> str | None:
    """Return the columns of P that `P(c = t, …)` does not name, as a list in text.

    None if there are none, or if the atom has no names of columns.
    """
    missing = [
        name or f"the one of sort {sort}"
        for name, sort in zip(relation.columns, relation.sorts, strict=False)
        if atom.columns and name not in atom.columns
    ]
    return ", ".join(missing) or None
