"""A deployment as a `.stead` file: what `parse_deployment` reads back as an equal deployment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from stead_sym.deployment.deployment import Deployment, Policy, Rule
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Statement, Tool
from stead_sym.logic.printer import print_binders, print_formula
from stead_sym.logic.syntax import TRUE, Formula


def print_deployment(deployment: Deployment) -> str:
    """The text of the whole deployment, in the order in which its parts build on each other."""
    d, parts = deployment, deployment.written
    bounds = [f"bound {sort} {number}" for sort, number in d.bounds.items() if number]
    definitions = [
        f"define {x.name}({print_binders(x.params)}) = {print_formula(x.body)}" for x in parts.definitions
    ]
    views = [
        f"view {v.relation}({', '.join(p.name for p in v.params)}){_clause('where', v.where)}"
        for v in parts.views
    ]
    texts = [("system", d.system), ("instructions", d.instructions)]
    blocks: list[Iterable[str]] = [
        [f"deployment {d.name}"],
        map(str, d.schema.sorts),
        map(str, d.schema.relations),
        ["init", *(f"  {fact}" for fact in d.init)],
        bounds,
        definitions,
        views,
        *(_tool(tool) for tool in parts.tools),
        *(_policy(policy) for policy in parts.policies),
        [f"fair {print_formula(formula)}" for formula in parts.fair],
        [f"spec {spec.name}\n  {print_formula(spec.formula)}" for spec in parts.specs],
        [f'{word} """{text}"""' for word, text in texts if text is not None],
    ]
    return "\n\n".join(text for text in ("\n".join(block) for block in blocks) if text) + "\n"


def _clause(word: str, formula: Formula) -> str:
    return "" if formula == TRUE else f" {word} {print_formula(formula)}"


def _tool(tool: Tool) -> Iterator[str]:
    description = f' "{_escaped(tool.description)}"' if tool.description else ""
    yield f"tool {tool.name}({print_binders(tool.params)}){description}"
    if tool.guard != TRUE:
        yield f"  guard {print_formula(tool.guard)}"
    if tool.effects != (Effect(),):
        for effect in tool.effects:
            yield f"  effect{_clause('when', effect.when)}"
            yield from (f"    {print_statement(statement)}" for statement in effect.statements)


def _escaped(text: str) -> str:
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(character, escape)
    return text


def print_statement(statement: Statement) -> str:
    """One statement of an effect, on one line."""
    match statement:
        case Choose(binder, where):
            return f"choose {binder}{_clause('where', where)}"
        case Fresh(binder):
            return f"fresh {binder}"
        case Insert(atom, binders, where) | Delete(atom, binders, where):
            word = "insert" if isinstance(statement, Insert) else "delete"
            over = f" for {print_binders(binders)}" if binders else ""
            return f"{word} {atom}{over}{_clause('where', where)}"
        case Clear(relations):
            return f"clear {', '.join(relations)}"
        case Ensure(formula):
            return f"ensure {print_formula(formula)}"
        case _:
            assert_never(statement)


def _policy(policy: Policy) -> Iterator[str]:
    yield f"policy {policy.name}"
    yield from (f"  {print_rule(rule)}" for rule in policy.rules)


def print_rule(rule: Rule) -> str:
    """One line of a policy."""
    return f"call {rule.tool}({', '.join(map(str, rule.args))}){_clause('when', rule.when)}"
