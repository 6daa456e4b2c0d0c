"""Handle states in which nothing can be done: `terminal when f`, and the step that stays in them.

One decision: the loop of a terminal state is an event without effect, whose guard is that f is true, no call
is offered and no event enabled. So everything that reads a deployment has the loop, its evidence and its
claims, and need not know of terminal states. A state in which an agent selects nothing that it is offered is
not terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import Terminal
from stead_sym.deployment.tool import Tool
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.schema import Schema


def staying(lines: Sequence[Terminal], tools: Sequence[Tool], schema: Schema) -> tuple[Tool, ...]:
    """Return the event of the loop in terminal states.

    Returns none if no state is terminal, or if the event is among the tools.
    """
    if not lines or any(tool.stays for tool in tools):
        return ()
    name = fresh_name("terminal", (tool.name for tool in tools))
    said = fo.disjunction(tuple(line.when for line in lines))
    nothing = fo.Not(fo.disjunction(tuple(called(tool, schema) for tool in tools)))
    guard = nothing if any(line.when == fo.TRUE for line in lines) else fo.conjunction((said, nothing))
    return (Tool(name, guard=guard, event=True, stays=True, span=lines[0].span),)


def called(tool: Tool, schema: Schema) -> fo.Formula:
    """Return ∃ u. guard_ω(u): some call of ω is offered, or the event enabled."""
    return over(fo.Exists, tool, tool.guard, schema)


def over(
    quantifier: Callable[[fo.Binder, fo.Formula], fo.Formula], tool: Tool, formula: fo.Formula, schema: Schema
) -> fo.Formula:
    """Return the formula for some, or all, values that the parameters range over (`semantics.offer`)."""
    for param in reversed(tool.params):
        listed = schema.is_finite(param.sort)
        formula = quantifier(fo.Binder(param.name, param.sort, declared=listed), formula)
    return formula
