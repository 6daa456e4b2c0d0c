"""Conjunction, disjunction and negation of propositional formulas, simplified as they are made.

One decision: a negation goes inside as far as it can, since ¬EX f = AX ¬f and the like hold over all paths as
over the fair ones; so what is exported reads like what was written, and has few shapes.
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
    """The conjunction, without what is true in it and flat."""
    kept = [part for conjunct in parts for part in conjuncts(conjunct) if part != TRUE]
    return FALSE if FALSE in kept else conjunction(tuple(dict.fromkeys(kept)))


def either(*parts: Formula) -> Formula:
    """The disjunction, without what is false in it and flat."""
    kept: dict[Formula, None] = {}
    for part in parts:
        kept.update(dict.fromkeys(part.parts if isinstance(part, Or) else (part,)))
    kept.pop(FALSE, None)
    return TRUE if TRUE in kept else disjunction(tuple(kept))


def negation(formula: Formula) -> Formula:
    """¬f, with the negation inside as far as it goes."""
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
