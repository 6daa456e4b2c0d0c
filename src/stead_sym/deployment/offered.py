"""Define `offered w(x)` in formulas: the call may be made in the state.

One decision: it is the use of a definition that each tool has, so that all code that reads expanded formulas
supports it. The definition is the guard, with the gates that a deployment is behind, for active arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Tool
from stead_sym.relational.schema import Schema


def offers(tools: Iterable[Tool], schema: Schema) -> Mapping[str, fo.Definition]:
    """Return the definitions `offered w(x) = guard_w(x) & active(x)` of the tools, by name."""
    return {
        fo.OFFERED + tool.name: fo.Definition(
            fo.OFFERED + tool.name,
            tuple(fo.Binder(p.name, p.sort, declared=schema.is_finite(p.sort)) for p in tool.params),
            _offered(tool, schema),
            span=tool.span,
        )
        for tool in tools
        if not tool.event
    }


def _offered(tool: Tool, schema: Schema) -> fo.Formula:
    """Return the guard, and that arguments are active unless the guard implies it.

    A call may have any value of a finite sort. Of a sort of integers the argument may also be a sum.
    """
    in_range = []
    for param in tool.params:
        sort = schema.sort(param.sort)
        if (sort.values is None or sort.is_numeric) and not _needs(tool.guard, param.name):
            binder = fo.Binder("x", param.sort, declared=sort.values is not None)
            own = fo.Binder("y", param.sort, declared=binder.declared) if param.name == "x" else binder
            in_range.append(fo.Exists(own, fo.Equal(fo.Var(own.name), fo.Var(param.name))))
    guard = () if tool.guard == fo.TRUE and in_range else (tool.guard,)
    return fo.conjunction((*guard, *in_range))


def says_offered(formula: fo.Resolved, definitions: Mapping[str, fo.Definition]) -> bool:
    """Return True if the formula has an `offered`, perhaps in a definition that it uses."""
    used = {part.definition for part in fo.subformulas(formula) if isinstance(part, fo.Use)}
    return any(
        name.startswith(fo.OFFERED) or says_offered(definitions[name].body, definitions) for name in used
    )


def _needs(formula: fo.Formula, name: str) -> bool:
    """Return True if the formula syntactically implies that some fact holds the variable's value."""
    match formula:
        case fo.Atom(_, args):
            return fo.Var(name) in args
        case fo.And(parts):
            return any(_needs(part, name) for part in parts)
        case fo.Or(parts):
            return all(_needs(part, name) for part in parts)
        case fo.Exists(binder, body):
            return binder.name != name and _needs(body, name)
        case _:
            return False
