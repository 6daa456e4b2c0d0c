"""Definitions of derived operators by other operators.

One decision: `expand` replaces such an operator by its meaning, as it replaces the use of a definition by its
body. Engines, evidence, certificates, exports and findings see the meaning only. A new operator needs a line
here, a token in the grammar, and a function in `logic.compose`.
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
"""The meaning of each binary operator, by its symbol."""

PREFIXES: Mapping[str, Callable[[Formula], Formula]] = MappingProxyType(
    {
        "once": lambda f: Since(TRUE, f),
        "historically": lambda f: Not(Since(TRUE, Not(f))),
    }
)
"""The meaning of each unary operator, by its keyword."""


def meaning(formula: Derived) -> Formula:
    """Return the formula that the outermost operator abbreviates, with the operator's span."""
    if len(formula.operands) == 1:
        return replace(PREFIXES[formula.operator](*formula.operands), span=formula.span)
    return replace(OPERATORS[formula.operator](*formula.operands), span=formula.span)
