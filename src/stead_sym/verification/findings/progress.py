"""Formulas whose truth may depend on fairness."""

from __future__ import annotations

import stead_sym.logic.syntax as fo


def asks_for_progress(formula: fo.Formula) -> bool:
    """Return True if the formula asks for progress on all runs, or for its absence on some run.

    AF, A[f U g], EG and E[f W g] do. Fairness can change their truth, since no finite run decides it.
    """
    match formula:
        case fo.Future("A") | fo.Globally("E") | fo.Until("A", weak=False) | fo.Until("E", weak=True):
            return True
        case _:
            return any(map(asks_for_progress, fo.children(formula)))
