"""The rules of a shield in Cedar, with the schema of the requests that they decide.

A request is a call: the agent is the principal, the tool the action, the database the resource, and the
arguments are `context.input`. One decision: each tool has one `permit`, and there is no `forbid`. Cedar
leaves out a rule that it cannot evaluate, so that a request whose facts are missing is denied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import stead_sym.logic.syntax as fo
from stead_sym.analyses.shield.cedar_conditions import (
    Bound,
    Conditions,
    Expression,
    InexpressibleError,
    laid_out,
)
from stead_sym.analyses.shield.cedar_names import Vocabulary, key, member, quoted
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.evidence.document import Json
from stead_sym.logic.substitution import expand
from stead_sym.relational.instance import Instance

_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class CedarRules:
    """The calls that a shield allows, as rules for a policy engine of Cedar.

    ``text`` are the rules, with the ``schema`` as comments. It is empty if some tool has a condition that
    Cedar does not express; ``unsaid`` has these tools, each with the reason.
    """

    deployment: Deployment
    text: str
    schema: str
    unsaid: Mapping[str, str]
    vocabulary: Vocabulary

    def request(self, call: Call, state: Instance) -> tuple[dict[str, Json], list[Json]]:
        """Return the request for a call in a state, and the entities with their attributes, as JSON."""
        names, tool = self.vocabulary, self.deployment.tool(call.tool)
        given = {
            param.name: names.data(value, param.sort)
            for param, value in zip(tool.params, call.args, strict=True)
        }
        constants = self.deployment.constants
        values = {sort: {*state.active_domain[sort], *constants[sort]} for sort in names.sorts}
        for param, value in zip(tool.params, call.args, strict=True):
            values.get(param.sort, set()).add(value)
        entities: list[Json] = [
            _entity(names, names.types[sort], value, names.attributes_of(sort, value, state))
            for sort, of_sort in values.items()
            for value in sorted(of_sort)
        ]
        database = self.deployment.name
        entities.append(_entity(names, names.database, database, names.attributes_of("", None, state)))
        asked: dict[str, Json] = {
            "principal": names.entity(names.agent, _AGENT),
            "action": names.entity("Action", call.tool),
            "resource": names.entity(names.database, database),
            "context": {"input": given},
        }
        return asked, entities


def cedar_rules(
    deployment: Deployment, conditions: Mapping[str, fo.Formula | None], title: str
) -> CedarRules:
    """Return the rules that allow the calls of each tool under its condition; None if there is none."""
    names = Vocabulary(deployment.schema, deployment.name)
    saying = Conditions(names)
    found: dict[str, Expression] = {}
    unsaid: dict[str, str] = {}
    for name, condition in conditions.items():
        scope = {
            param.name: Bound(member("context.input", param.name), param.sort)
            for param in deployment.tool(name).params
        }
        try:
            if condition is None:
                raise InexpressibleError("no condition was found that says what the shield does")
            expanded = expand(condition, deployment.names.definitions)
            found[name] = saying.expression(expanded, scope)
        except InexpressibleError as error:
            unsaid[name] = str(error)
    schema = "\n".join(_schema(deployment, names, conditions))
    lines = (line for name, expression in found.items() for line in _rule(names, name, expression))
    text = "" if unsaid or not found else "\n".join((*_head(title, schema), *lines))
    return CedarRules(deployment, text, schema, unsaid, names)


def _entity(names: Vocabulary, kind: str, value: str, attributes: dict[str, Json]) -> Json:
    return {"uid": {"type": f"{names.namespace}::{kind}", "id": value}, "attrs": attributes, "parents": []}


def _head(title: str, schema: str) -> Iterator[str]:
    yield f"// {' '.join(title.split())}"
    yield "// The tools' own guards are not among these rules. Attributes are what the database has"
    yield "// when a call is decided; `this` is the entity. The schema of requests:"
    yield "//"
    yield from (f"// {line}".rstrip() for line in schema.splitlines())


def _rule(names: Vocabulary, tool: str, expression: Expression) -> Iterator[str]:
    action = names.entity("Action", tool)
    yield ""
    if expression.text == "false":
        yield f"// No call of {tool} is allowed."
        return
    if expression.text == "true":
        yield f"permit (principal, action == {action}, resource);"
        return
    word, lines = laid_out(expression)
    yield f"permit (principal, action == {action}, resource)"
    yield f"{word} {{"
    yield from (f"  {line}" for line in lines)
    yield "};"


def _schema(deployment: Deployment, names: Vocabulary, tools: Mapping[str, object]) -> Iterator[str]:
    """Yield the lines of the schema of requests and entities."""
    yield f"namespace {names.namespace} {{"
    yield f"  entity {names.agent};"
    for kind, holder in ((names.database, ""), *((kind, sort) for sort, kind in names.types.items())):
        held = list(names.held_by(holder))
        yield f"  entity {kind}{' = {' if held else ';'}"
        yield from (f"    {names.typed_attribute(one)}, // {one.described}" for one in held)
        if held:
            yield "  };"
    for name in tools:
        params = (f"{key(param.name)}: {names.typed(param.sort)}" for param in deployment.tool(name).params)
        given = f"{{ {', '.join(params)} }}".replace("{  }", "{}")
        yield f"  action {name if key(name) == name else quoted(name)} appliesTo {{"
        yield f"    principal: {names.agent}, resource: {names.database},"
        yield f"    context: {{ input: {given} }},"
        yield "  };"
    yield "}"
