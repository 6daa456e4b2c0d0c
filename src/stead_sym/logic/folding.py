"""Fold `true` and `false` into the formulas around them.

The equations hold in every state and over any set of runs, also over none, such as the fair runs of a state
that has no fair run. There E[…] is false and A[…] is true, so EX false is `false` and EX true stays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Previously,
    Since,
    Truth,
    Until,
    conjunction,
    conjuncts,
    disjunction,
    map_children,
)


def conjoin(*parts: Formula) -> Formula:
    """Return the conjunction, flattened, each part once, without `true`; `false` if a part is."""
    kept = dict.fromkeys(one for part in parts if part != TRUE for one in conjuncts(part))
    kept.pop(TRUE, None)
    return FALSE if FALSE in kept else conjunction(tuple(kept))


def disjoin(*parts: Formula) -> Formula:
    """Return the disjunction, flattened, each part once, without `false`; `true` if a part is."""
    kept: dict[Formula, None] = {}
    for part in parts:
        kept.update(dict.fromkeys(part.parts if isinstance(part, Or) else (part,)))
    kept.pop(FALSE, None)
    return TRUE if TRUE in kept else disjunction(tuple(kept))


def negate(formula: Formula) -> Formula:
    """Return ¬f, without a double negation."""
    match formula:
        case Truth(value):
            return Truth(not value)
        case Not(body):
            return body
        case _:
            return Not(formula)


def fold(formula: Formula, decide: Callable[[Formula], bool | None] | None = None) -> Formula:
    """Return an equivalent formula in which no `true` or `false` decides what is around it.

    ``decide`` returns the truth of a subformula, None if it is open. What is below an operator of the past
    stays as it is. A formula of the kernel gives another one.
    """
    if isinstance(formula, Since | Previously):  # which states count depends on the free variables
        return formula
    formula = map_children(partial(fold, decide=decide), formula)
    known = None if decide is None else decide(formula)
    if known is not None:
        return Truth(known)
    match formula:
        case And(parts):
            return conjoin(*parts)
        case Or(parts):
            return disjoin(*parts)
        case Not(body):
            return negate(body)
        case Implies(left, right) if isinstance(left, Truth) or isinstance(right, Truth):
            return disjoin(negate(left), right)
        case Iff(Truth(value), other) | Iff(other, Truth(value)):
            return other if value else negate(other)
        case Equal(left, right) if left == right:  # a term stands for one value wherever it is
            return TRUE
        case Exists(_, Truth(False)) | Forall(_, Truth(True)):
            return Truth(isinstance(formula, Forall))
        case Next(path, Truth(value)) | Future(path, Truth(value)) | Globally(path, Truth(value)) if (
            value == (path == "A")
        ):
            return Truth(value)
        case Until(path, _, Truth(value), weak) if value == (path == "A") and (value or not weak):
            return Truth(value)
        case _:
            return formula
