"""Definitions of derived operators by other operators.

One decision: `expand` replaces such an operator by its meaning, as it replaces the use of a definition by its
body. Engines, evidence, certificates, exports and findings see the meaning only. A new operator needs a line
here, a token in the grammar, and a function in `logic.compose`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import stead_sym.logic.syntax as fo

OPERATORS: Mapping[str, Callable[[fo.Formula, fo.Formula], fo.Formula]] = MappingProxyType(
    {
        "~>": lambda f, g: fo.Globally("A", fo.Implies(f, fo.Future("A", g))),
    }
)
"""The meaning of each binary operator, by its symbol."""

PREFIXES: Mapping[str, Callable[[fo.Formula], fo.Formula]] = MappingProxyType(
    {
        "once": lambda f: fo.Since(fo.TRUE, f),
        "historically": lambda f: fo.Not(fo.Since(fo.TRUE, fo.Not(f))),
    }
)
"""The meaning of each unary operator, by its keyword."""


def meaning(formula: fo.Derived) -> fo.Formula:
    """Return the formula that the outermost operator abbreviates, with the operator's span."""
    if len(formula.operands) == 1:
        return replace(PREFIXES[formula.operator](*formula.operands), span=formula.span)
    return replace(OPERATORS[formula.operator](*formula.operands), span=formula.span)
