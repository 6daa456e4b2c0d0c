"""Print the parts of a deployment as lines of a `.stead` file (`deployment.print_deployment`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.data.source import Loaded
from stead_sym.deployment.parts import SELF, AgentRole, Gate, Initially, Line, Parts, Policy, Rule, Spec, View
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
from stead_sym.logic.printer import print_binders, print_formula
from stead_sym.relational.schema import escaped


def print_parts(parts: Parts) -> Iterator[Iterable[str]]:
    """Yield the parts in blocks of lines, in the order in which they depend on each other.

    The lines `initially any` are not included (`print_initially`).
    """
    yield [f"define {x.name}({print_binders(x.params)}) = {print_formula(x.body)}" for x in parts.definitions]
    yield map(_view, parts.views)
    yield from map(_tool, parts.tools)
    yield from map(_agent, parts.agents)
    yield [] if parts.calls is None else [f"calls {parts.calls}"]
    yield from map(_policy, parts.policies)
    yield from map(print_gate, parts.gates)
    yield [f"terminal{_clause('when', line.when)}" for line in parts.terminal]
    fair = [f"fair {print_formula(formula)}" for formula in parts.fair]
    yield [*fair, *(f"fair {action}" for action in parts.fair_actions)]
    yield map(_spec, parts.specs)


def print_initially(line: Initially) -> str:
    """Return an `initially any` on one line."""
    return f"initially any {', '.join(line.relations)}{_clause('where', line.where)}"


def print_loaded(loaded: Loaded) -> Iterator[str]:
    """Yield the lines of an item that reads data, with how much it read as a comment."""
    yield f"# {loaded.facts:,} facts of {loaded.rows:,} rows"
    yield f"init from {loaded.item.source}\n  into {', '.join(map(str, loaded.item.into))}"


def _clause(word: str, formula: fo.Formula) -> str:
    return "" if formula == fo.TRUE else f" {word} {print_formula(formula)}"


def _spec(spec: Spec) -> str:
    if spec.helps and isinstance(spec.formula, fo.Globally):
        return f"invariant {spec.name}\n  {print_formula(spec.formula.body)}"
    return f"spec {spec.head}\n  {print_formula(spec.formula)}"


def _view(view: View) -> str:
    columns = ", ".join(param.name for param in view.params)
    return f"view {view.relation}({columns}){_clause('where', view.where)}"


def print_texts(system: str | None, instructions: str | None) -> Iterator[str]:
    """Yield the lines of the texts for an agent."""
    for word, text in (("system", system), ("instructions", instructions)):
        if text is not None:
            yield f'{word} """{text}"""'


def _agent(agent: AgentRole) -> Iterator[str]:
    yield f"agent {agent.name}{f' for each {SELF}: {agent.each}' if agent.each else ''}"
    yield f"  tools {', '.join(agent.tools)}"
    if agent.calls is not None:
        yield f"  calls {agent.calls}"
    yield from (f"  {_view(view)}" for view in agent.views)
    for policy in agent.policies:
        yield from (f"  {line}" for line in _policy(policy))
    yield from (f"  {text}" for text in print_texts(agent.system, agent.instructions))


def _tool(tool: Tool) -> Iterator[str]:
    description = f' "{escaped(tool.description)}"' if tool.description else ""
    yield f"{'event' if tool.event else 'tool'} {tool.name}({print_binders(tool.params)}){description}"
    if tool.guard != fo.TRUE:
        yield f"  guard {print_formula(tool.guard)}"
    if tool.effects != (Effect(),):
        for effect in tool.effects:
            yield f"  effect{' refused' * effect.refused}{_clause('when', effect.when)}"
            yield from (f"    {print_statement(statement)}" for statement in effect.statements)


def print_statement(statement: Statement) -> str:
    """Return one statement of an effect, on one line."""
    match statement:
        case Choose(binder, where):
            return f"choose {binder}{_clause('where', where)}"
        case Fresh(binder):
            return f"fresh {binder}"
        case Insert(atom, binders, where) | Delete(atom, binders, where) | Assign(atom, binders, where):
            word = {Insert: "insert", Delete: "delete", Assign: "set"}[type(statement)]
            over = f" for {print_binders(binders)}" if binders else ""
            changed = str(atom)
            if isinstance(statement, Assign) and statement.column is not None:
                changed = f"{replace(atom, args=atom.args[:-1])}.{statement.column} = {atom.args[-1]}"
            return f"{word} {changed}{over}{_clause('where', where)}"
        case Clear(relations):
            return f"clear {', '.join(relations)}"
        case Ensure(formula):
            return f"ensure {print_formula(formula)}"
        case _:
            assert_never(statement)


def print_gate(gate: Gate) -> Iterator[str]:
    """Yield the lines of a gate."""
    yield f"gate {gate.head}"
    yield from (f"  {print_line(line)}" for line in gate.lines)


def print_line(line: Line) -> str:
    """Return one line of a gate."""
    word = "permit" if line.permits else "forbid"
    return f"{word} {line.tool}({', '.join(map(str, line.args))}){_clause('when', line.when)}"


def _policy(policy: Policy) -> Iterator[str]:
    yield f"policy {policy.name}"
    yield from (f"  {print_rule(rule)}" for rule in policy.rules)


def print_rule(rule: Rule) -> str:
    """Return one line of a policy."""
    return f"call {rule.tool}({', '.join(map(str, rule.args))}){_clause('when', rule.when)}"
