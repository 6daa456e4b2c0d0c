"""The text that an editor shows for the name under the pointer: its declaration and its sorts.

One decision: sorts are those of the resolved deployment, found by the places of its binders. If the file
cannot be resolved, names are shown without sorts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import stead_sym.logic.syntax as fo
from stead_sym.cli.editor.names import Place, Symbol
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.errors import InputError
from stead_sym.logic.names import WORDS
from stead_sym.relational.schema import Relation, Sort

KEYWORDS = (
    "deployment", "sort", "rigid", "relation", "key", "references", "total", "init", "from", "env",
    "table", "query", "into", "text", "initially", "any", "bound", "define",
    "tool", "event", "agent", "tools", "view", "policy", "call", "system", "instructions", "fair", "strong",
    "outcome",     "terminal", "gate", "permit", "forbid", "default", "deny", "allow", "refuses", "refused",
    "calls", "sequential", "batch", "parallel", "on", "refusal", "skip", "stop", "spec", "invariant",
    "guard", "effect", "when", "where", "for", "each", "choose", "fresh", "insert", "delete", "set", "clear",
    "ensure", "expect", "fails", "holds", "in",
    "did", "offered", "by", "once", "historically", "previously", "since", "count", "sum", *sorted(WORDS),
)  # fmt: skip
"""The words of the language, items first; a test compares them with the grammar."""

_MAX_LISTED = 12


def described(symbol: Symbol, deployment: Deployment | None) -> str:
    """Return the symbol in a line or two of Markdown; names alone if there is no deployment."""
    if deployment is None:
        return f"{symbol.kind} `{symbol.name}`"
    try:
        return _described(symbol, deployment)
    except (InputError, StopIteration):  # the deployment belongs to an earlier text, without such a name
        return f"{symbol.kind} `{symbol.name}`"


def _described(symbol: Symbol, d: Deployment) -> str:
    name = symbol.name
    match symbol.kind:
        case "sort":
            return _sort(d.schema.sort(name), d)
        case "relation":
            relation = d.schema.relation(name)
            return f"relation `{_signature(relation)}`"
        case "define":
            found = next((one for one in d.written.definitions if one.name == name), None)
            return f"define `{_definition(found)}`" if found else f"define `{name}`"
        case "tool" | "event":
            tool = next(one for one in d.written.tools if one.name == name)
            params = ", ".join(map(str, tool.params))
            kind = "event" if tool.event else "tool"
            more = f"\n\n{tool.description}" if tool.description else ""
            return f"{kind} `{name}({params})`, guard `{tool.guard}`{more}"
        case "constant":
            sorts = d.schema.listed.get(name) or (d.sort_of_constant.get(name, "?"),)
            rigid = ", known by name" if name in d.schema.rigid else ""
            return f"constant `{name}: {' or '.join(sorts)}`{rigid}"
        case "variable":
            sort = _sort_of_variable(symbol, d)
            return f"variable `{name}: {sort}`" if sort else f"variable `{name}`"
        case "spec":
            spec = next((one for one in d.written.specs if one.name == name), None)
            whom = f" for {', '.join(spec.whom)}" if spec and spec.whom else ""
            return f"spec{whom} `{spec.formula}`" if spec else f"spec `{name}`"
        case kind:
            return f"{kind} `{name}`"


def _sort(sort: Sort, d: Deployment) -> str:
    if sort.values is not None:
        how = "ordered" if sort.ordered else "rigid" if sort.rigid else "names that the wrapper renames"
        listed = f"{', '.join(sort.values[:_MAX_LISTED])}{' …' * (len(sort.values) > _MAX_LISTED)}"
        return f"sort `{sort.name}`, finite: {listed} ({how})"
    constants = len(d.constants[sort.name])
    if d.unbounded:
        most = "any number of" if sort.name in d.unbounded else f"at most {d.bounds[sort.name]}"
        return f"sort `{sort.name}`, unbounded: {most} values in use besides {constants} constants (`bound`)"
    size = normal_restriction(d).sizes[sort.name]
    return (
        f"sort `{sort.name}`, unbounded: at most {d.bounds[sort.name]} values in use besides {constants}"
        f" constants (`bound`); {size} in the restriction"
    )


def _signature(relation: Relation) -> str:
    return str(relation).removeprefix("relation ")


def _definition(definition: fo.Definition) -> str:
    params = ", ".join(map(str, definition.params))
    return f"{definition.name}({params}) = {definition.body}"


def _sort_of_variable(symbol: Symbol, d: Deployment) -> str | None:
    if symbol.argument is not None:
        tool, position = symbol.argument
        params = d.tool(tool).params
        return params[position].sort if position < len(params) else None
    return _binders(d).get(symbol.declaration) if symbol.declaration else None


def _binders(d: Deployment) -> Mapping[Place, str]:
    """Return the sorts of all variables by the places where they are declared."""
    return {
        Place(binder.span.line, binder.span.column, len(binder.name)): binder.known_sort
        for binder in _within(d.written)
        if binder.span is not None and binder.known_sort is not None
    }


def _within(item: object) -> Iterator[fo.Binder]:
    """Yield every binder in a part of a deployment."""
    if isinstance(item, fo.Binder):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _within(part)
    elif is_dataclass(item) and not isinstance(item, type):
        for one in fields(item):
            yield from _within(getattr(item, one.name))
