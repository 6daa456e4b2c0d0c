"""Operators that are defined by others: what each stands for.

One decision: `expand` puts the meaning in the place of such an operator, as it does with the body of a
definition. Engines, evidence, certificates, exports and findings meet the meaning only, so that an operator
more is a line here, a word of the grammar, and a function in `logic.compose`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from stead_sym.logic.syntax import TRUE, Derived, Formula, Future, Globally, Implies, Not, Since

OPERATORS: Mapping[str, Callable[[Formula, Formula], Formula]] = MappingProxyType(
    {
        "~>": lambda f, g: Globally("A", Implies(f, Future("A", g))),
    }
)
"""The meaning of each operator by how it is written between its operands."""

PREFIXES: Mapping[str, Callable[[Formula], Formula]] = MappingProxyType(
    {
        "once": lambda f: Since(TRUE, f),
        "historically": lambda f: Not(Since(TRUE, Not(f))),
    }
)
"""The meaning of each operator by how it is written before its operand."""


def meaning(formula: Derived) -> Formula:
    """The formula that the outermost operator stands for, at its place in the text."""
    if len(formula.operands) == 1:
        return replace(PREFIXES[formula.operator](*formula.operands), span=formula.span)
    return replace(OPERATORS[formula.operator](*formula.operands), span=formula.span)
