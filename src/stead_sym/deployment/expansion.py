"""Expand the parts of a deployment from those that are written to those that the semantics is defined for.

Uses of `define` and the wildcards of formulas are expanded, and some of what is written becomes other parts:

- `terminal when f` is an event, see `deployment.terminal`;
- `delete P(c, _)` is `delete P(c, x) for x`, since a value of a fact is active;
- `set P(k, v)` is `delete P(k, _)` and `insert P(k, v)`, k being the columns of the key; for those of a
  single column see `deployment.column_sets`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias, assert_never

from stead_sym.deployment.column_sets import without_columns
from stead_sym.deployment.offered import offers
from stead_sym.deployment.parts import AgentRole, Parts, Policy, View
from stead_sym.deployment.terminal import staying
from stead_sym.deployment.tool import (
    Assign,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    Statement,
    Tool,
)
from stead_sym.logic.substitution import expand, wildcard_names, without_wildcards
from stead_sym.logic.syntax import Expanded, Resolved, Wildcard, free_variables, map_children, terms
from stead_sym.relational.schema import Schema

_Closing: TypeAlias = Callable[[Resolved], Expanded]


def expanded(parts: Parts, schema: Schema) -> Parts:
    """Return the same parts with definitions, wildcards, `set` and `terminal` expanded.

    They have no definitions.
    """
    by_name = {**{one.name: one for one in parts.definitions}, **offers(parts.tools, schema)}

    def closed(formula: Resolved) -> Expanded:
        return expand(formula, by_name)

    tools = tuple(_tool(tool, closed, schema) for tool in parts.tools)
    terminal = tuple(replace(line, when=closed(line.when)) for line in parts.terminal)
    return Parts(
        tools=(*tools, *staying(terminal, tools, schema)),
        views=_views(parts.views, closed),
        policies=_policies(parts.policies, closed),
        fair=tuple(map(closed, parts.fair)),
        fair_actions=parts.fair_actions,
        specs=tuple(replace(spec, formula=closed(spec.formula)) for spec in parts.specs),
        agents=tuple(_agent(agent, closed) for agent in parts.agents),
        initially=tuple(replace(line, where=closed(line.where)) for line in parts.initially),
        terminal=terminal,
        gates=parts.gates,
    )


def _views(views: tuple[View, ...], closed: _Closing) -> tuple[View, ...]:
    return tuple(replace(view, where=closed(view.where)) for view in views)


def _policies(policies: tuple[Policy, ...], closed: _Closing) -> tuple[Policy, ...]:
    return tuple(
        replace(policy, rules=tuple(replace(rule, when=closed(rule.when)) for rule in policy.rules))
        for policy in policies
    )


def _agent(agent: AgentRole, closed: _Closing) -> AgentRole:
    return replace(agent, views=_views(agent.views, closed), policies=_policies(agent.policies, closed))


def _tool(tool: Tool, closed: _Closing, schema: Schema) -> Tool:
    return replace(
        tool,
        guard=closed(tool.guard),
        effects=tuple(_effect(effect, closed, schema) for effect in tool.effects),
    )


def _effect(effect: Effect, closed: _Closing, schema: Schema) -> Effect:
    taken = frozenset(name for statement in effect.statements for name in _names(statement))
    names = wildcard_names(taken)
    of_columns: dict[str, list[Assign]] = {}
    statements: list[Statement] = []
    for written in map(partial(_with_closed_terms, closed=closed), effect.statements):
        if isinstance(written, Assign) and written.column is not None:
            of_columns.setdefault(written.atom.relation, []).append(written)
        else:
            statements.extend(_statements(written, closed, schema, names))
    for relation, sets in of_columns.items():
        statements.extend(without_columns(sets, schema.relation(relation), closed, names))
    return replace(effect, when=closed(effect.when), statements=tuple(statements))


def _with_closed_terms(statement: Statement, closed: _Closing) -> Statement:
    """Return the statement with the formulas of the tallies that it writes expanded."""
    if not isinstance(statement, Insert | Delete | Assign):
        return statement
    return replace(statement, atom=map_children(closed, statement.atom))


def _names(statement: Statement) -> Iterator[str]:
    """Yield the names that occur in the statement's atom and in the formula beside it."""
    if isinstance(statement, Insert | Delete | Assign):
        yield from map(str, terms(statement.atom))
        yield from free_variables(statement.atom)
        yield from (binder.name for binder in statement.binders)
        yield from free_variables(statement.where)


def _statements(
    statement: Statement, closed: _Closing, schema: Schema, names: Iterator[str]
) -> Iterator[Statement]:
    match statement:
        case Choose():
            yield replace(statement, where=closed(statement.where))
        case Insert():
            yield replace(statement, where=closed(statement.where))
        case Delete(atom, binders, where):
            named, wild = without_wildcards(atom.args, names)
            yield replace(
                statement, atom=replace(atom, args=named), binders=(*binders, *wild), where=closed(where)
            )
        case Assign(atom, binders, where, span=span):
            relation = schema.relation(atom.relation)
            key = (
                term if column in relation.keys else Wildcard(relation.sorts[column])
                for column, term in enumerate(atom.args)
            )
            named, wild = without_wildcards(key, names)
            yield Delete(replace(atom, args=named), (*binders, *wild), closed(where), span=span)
            yield Insert(atom, binders, closed(where), span=span)
        case Ensure():
            yield replace(statement, formula=closed(statement.formula))
        case Fresh() | Clear():
            yield statement
        case _:
            assert_never(statement)
