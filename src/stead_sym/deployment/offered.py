"""Define `offered w(x)` in formulas: the call may be made in the state.

One decision: it is the use of a definition that each tool has, so that all code that reads expanded formulas
supports it. The definition is the guard, with the gates that a deployment is behind, for active arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stead_sym.deployment.tool import Tool
from stead_sym.logic.syntax import (
    OFFERED,
    TRUE,
    And,
    Atom,
    Binder,
    Definition,
    Equal,
    Exists,
    Formula,
    Or,
    Resolved,
    Use,
    Var,
    conjunction,
    subformulas,
)
from stead_sym.relational.schema import Schema


def offers(tools: Iterable[Tool], schema: Schema) -> Mapping[str, Definition]:
    """Return the definitions `offered w(x) = guard_w(x) & active(x)` of the tools, by name."""
    return {
        OFFERED + tool.name: Definition(
            OFFERED + tool.name,
            tuple(Binder(p.name, p.sort, declared=schema.is_finite(p.sort)) for p in tool.params),
            _offered(tool, schema),
            span=tool.span,
        )
        for tool in tools
        if not tool.event
    }


def _offered(tool: Tool, schema: Schema) -> Formula:
    """Return the guard, and that arguments are active unless the guard implies it.

    A call may have any value of a finite sort. Of a sort of integers the argument may also be a sum.
    """
    in_range = []
    for param in tool.params:
        sort = schema.sort(param.sort)
        if (sort.values is None or sort.is_numeric) and not _needs(tool.guard, param.name):
            binder = Binder("x", param.sort, declared=sort.values is not None)
            own = Binder("y", param.sort, declared=binder.declared) if param.name == "x" else binder
            in_range.append(Exists(own, Equal(Var(own.name), Var(param.name))))
    guard = () if tool.guard == TRUE and in_range else (tool.guard,)
    return conjunction((*guard, *in_range))


def says_offered(formula: Resolved, definitions: Mapping[str, Definition]) -> bool:
    """Return True if the formula has an `offered`, perhaps in a definition that it uses."""
    used = {part.definition for part in subformulas(formula) if isinstance(part, Use)}
    return any(name.startswith(OFFERED) or says_offered(definitions[name].body, definitions) for name in used)


def _needs(formula: Formula, name: str) -> bool:
    """Return True if the formula syntactically implies that some fact holds the variable's value."""
    match formula:
        case Atom(_, args):
            return Var(name) in args
        case And(parts):
            return any(_needs(part, name) for part in parts)
        case Or(parts):
            return all(_needs(part, name) for part in parts)
        case Exists(binder, body):
            return binder.name != name and _needs(body, name)
        case _:
            return False
