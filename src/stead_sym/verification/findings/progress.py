"""Formulas whose truth may depend on fairness."""

from __future__ import annotations

from stead_sym.logic.syntax import Formula, Future, Globally, Until, children


def asks_for_progress(formula: Formula) -> bool:
    """Return True if the formula asks for progress on all runs, or for its absence on some run.

    AF, A[f U g], EG and E[f W g] do. Fairness can change their truth, since no finite run decides it.
    """
    match formula:
        case Future("A") | Globally("E") | Until("A", weak=False) | Until("E", weak=True):
            return True
        case _:
            return any(map(asks_for_progress, children(formula)))
