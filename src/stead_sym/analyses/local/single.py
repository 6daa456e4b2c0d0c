"""Empty relations that never have two tuples, where a step deletes the one which its guard asks for.

Let R have at most one tuple in each reachable state. An alternative that deletes R(t), and is only taken
where R(t) is true, leads from such a state where `clear R` leads. Of that an abstraction knows more: not only
of R(t), but of each tuple that it is not in R.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Clear, Delete, Effect, Statement, Tool
from stead_sym.logic.kernel import core


def emptying(deployment: Deployment, single: Callable[[str], bool]) -> Deployment:
    """Return the deployment in which such alternatives clear the relation.

    The runs are the same. ``single`` tells which relations have at most one tuple in each reachable state.
    """

    def of(tool: Tool, effect: Effect, statement: Statement) -> Statement:
        atom = _deleted(tool, effect, statement)
        return statement if atom is None or not single(atom.relation) else Clear((atom.relation,))

    def of_effect(tool: Tool, effect: Effect) -> Effect:
        return replace(effect, statements=tuple(of(tool, effect, one) for one in effect.statements))

    tools = tuple(
        replace(tool, effects=tuple(of_effect(tool, effect) for effect in tool.effects))
        for tool in deployment.tools_and_events
    )
    return deployment.with_tools(tools)


def _deleted(tool: Tool, effect: Effect, statement: Statement) -> fo.Atom | None:
    """Return the atom that a statement deletes and the guard, or the condition, asks for; None for others."""
    match statement:
        case Delete(atom, (), where) if where == fo.TRUE and atom.args:
            asked = (*fo.conjuncts(core(tool.guard)), *fo.conjuncts(core(effect.when)))
            return atom if core(atom) in asked else None
        case _:
            return None
