"""Fold `true` and `false` into the formulas around them.

The equations hold in every state and over any set of runs, also over none, such as the fair runs of a state
that has no fair run. There E[…] is false and A[…] is true, so EX false is `false` and EX true stays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import stead_sym.logic.syntax as fo


def conjoin(*parts: fo.Formula) -> fo.Formula:
    """Return the conjunction, flattened, each part once, without `true`; `false` if a part is."""
    kept = dict.fromkeys(one for part in parts if part != fo.TRUE for one in fo.conjuncts(part))
    kept.pop(fo.TRUE, None)
    return fo.FALSE if fo.FALSE in kept else fo.conjunction(tuple(kept))


def disjoin(*parts: fo.Formula) -> fo.Formula:
    """Return the disjunction, flattened, each part once, without `false`; `true` if a part is."""
    kept: dict[fo.Formula, None] = {}
    for part in parts:
        kept.update(dict.fromkeys(part.parts if isinstance(part, fo.Or) else (part,)))
    kept.pop(fo.FALSE, None)
    return fo.TRUE if fo.TRUE in kept else fo.disjunction(tuple(kept))


def negate(formula: fo.Formula) -> fo.Formula:
    """Return ¬f, without a double negation."""
    match formula:
        case fo.Truth(value):
            return fo.Truth(not value)
        case fo.Not(body):
            return body
        case _:
            return fo.Not(formula)


def fold(formula: fo.Formula, decide: Callable[[fo.Formula], bool | None] | None = None) -> fo.Formula:
    """Return an equivalent formula in which no `true` or `false` decides what is around it.

    ``decide`` returns the truth of a subformula, None if it is open. What is below an operator of the past
    stays as it is. A formula of the kernel gives another one.
    """
    if isinstance(formula, fo.Since | fo.Previously):  # which states count depends on the free variables
        return formula
    formula = fo.map_children(partial(fold, decide=decide), formula)
    known = None if decide is None else decide(formula)
    if known is not None:
        return fo.Truth(known)
    match formula:
        case fo.And(parts):
            return conjoin(*parts)
        case fo.Or(parts):
            return disjoin(*parts)
        case fo.Not(body):
            return negate(body)
        case fo.Implies(left, right) if isinstance(left, fo.Truth) or isinstance(right, fo.Truth):
            return disjoin(negate(left), right)
        case fo.Iff(fo.Truth(value), other) | fo.Iff(other, fo.Truth(value)):
            return other if value else negate(other)
        case fo.Equal(left, right) if left == right:  # a term stands for one value wherever it is
            return fo.TRUE
        case fo.Exists(_, fo.Truth(False)) | fo.Forall(_, fo.Truth(True)):
            return fo.Truth(isinstance(formula, fo.Forall))
        case (
            fo.Next(path, fo.Truth(value))
            | fo.Future(path, fo.Truth(value))
            | fo.Globally(path, fo.Truth(value))
        ) if value == (path == "A"):
            return fo.Truth(value)
        case fo.Until(path, _, fo.Truth(value), weak) if value == (path == "A") and (value or not weak):
            return fo.Truth(value)
        case _:
            return formula
