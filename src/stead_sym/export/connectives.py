"""Conjunction, disjunction and negation of propositional formulas, simplified on construction.

One decision: a negation is pushed inwards as far as possible, since ¬EX f = AX ¬f and the like hold over all
paths as well as over the fair ones. So an exported formula resembles the written one, and has few forms.
"""

from __future__ import annotations

from collections.abc import Mapping

from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Formula,
    Future,
    Globally,
    Next,
    Not,
    Or,
    Path,
    Truth,
    conjunction,
    conjuncts,
    disjunction,
)  # fmt: skip


def both(*parts: Formula) -> Formula:
    """Return the conjunction, flat and without true parts."""
    kept = [part for conjunct in parts for part in conjuncts(conjunct) if part != TRUE]
    return FALSE if FALSE in kept else conjunction(tuple(dict.fromkeys(kept)))


def either(*parts: Formula) -> Formula:
    """Return the disjunction, flat and without false parts."""
    kept: dict[Formula, None] = {}
    for part in parts:
        kept.update(dict.fromkeys(part.parts if isinstance(part, Or) else (part,)))
    kept.pop(FALSE, None)
    return TRUE if TRUE in kept else disjunction(tuple(kept))


def negation(formula: Formula) -> Formula:
    """Return ¬f, with the negation pushed inwards as far as possible."""
    match formula:
        case Truth(value):
            return Truth(not value)
        case Not(body):
            return body
        case And(parts):
            return either(*map(negation, parts))
        case Or(parts):
            return both(*map(negation, parts))
        case Next(path, body):
            return Next(_DUAL[path], negation(body))
        case Future(path, body):
            return Globally(_DUAL[path], negation(body))
        case Globally(path, body):
            return Future(_DUAL[path], negation(body))
        case _:
            return Not(formula)


_DUAL: Mapping[Path, Path] = {"A": "E", "E": "A"}
