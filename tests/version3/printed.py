"""The text of what is written, fully bracketed."""

from __future__ import annotations

from typing import Any

from language3 import (
    Agent,
    Atom,
    Binary,
    Binder,
    Choose,
    Clear,
    Column,
    Compare,
    Count,
    Deployment,
    Did,
    Effect,
    Formula,
    Fresh,
    Named,
    Next,
    Not,
    Past,
    Quantified,
    Relation,
    Rule,
    SetColumn,
    Since,
    Sort,
    Spec,
    Sum,
    Sum2,
    Tool,
    Truth,
    Until,
    Value,
    Var,
    View,
    Wild,
    Write,
)


def text_of(node: Any) -> str:
    """The text of a term, formula, statement or item."""
    t = text_of
    match node:
        case Wild():
            return "_"
        case Var(name):
            return name
        case Value(value):
            return str(value)
        case Sum2(op, left, right):
            return f"({t(left)} {op} {t(right)})"
        case Binder(Var(name, sort), declared):
            return f"{name} in {sort}" if declared else f"{name}: {sort}"
        case Count(binders, body):
            return f"(count {', '.join(map(t, binders))}. {t(body)})"
        case Sum(term, binders, body):
            return f"(sum {t(term)} for {', '.join(map(t, binders))}. {t(body)})"
        case Truth(value):
            return "true" if value else "false"
        case Atom(relation, args):
            return f"{relation}({', '.join(map(t, args))})"
        case Named(relation, columns):
            return f"{relation}({', '.join(f'{name} = {t(term)}' for name, term in columns)})"
        case Did(tool, args, by):
            return f"did {tool}({', '.join(map(t, args))})" + (f" by {by}" if by is not None else "")
        case Compare(op, left, right):
            return f"{t(left)} {op} {t(right)}"
        case Not(body):
            return f"~({t(body)})"
        case Binary(op, left, right):
            return f"(({t(left)}) {op} ({t(right)}))"
        case Quantified(word, binder, body, number):
            return f"({word} {'' if number is None else f'{number} '}{t(binder)}. {t(body)})"
        case Next(op, body) | Past(op, body):
            return f"{op} ({t(body)})"
        case Until(path, op, left, right):
            return f"{path}[{t(left)} {op} {t(right)}]"
        case Since(left, right):
            return f"(({t(left)}) since ({t(right)}))"
        case Choose(var, where):
            return f"choose {t(Binder(var))}{_if(' where', where)}"
        case Fresh(var):
            return f"fresh {t(Binder(var))}"
        case Write(word, atom, binders, where):
            return f"{word} {t(atom)}{_for(binders)}{_if(' where', where)}"
        case SetColumn(relation, key, column, term, binders, where):
            return f"set {t(Atom(relation, key))}.{column} = {t(term)}{_for(binders)}{_if(' where', where)}"
        case Clear(relations):
            return f"clear {', '.join(relations)}"
        case Effect(statements, when):
            head = "effect" if when is None else f"effect when {t(when)}"
            return "\n    ".join([f"  {head}", *map(t, statements)])
        case Rule(word, tool, args, when):
            return f"{word} {tool}({', '.join(map(t, args))}){_if(' when', when)}"
        case View(relation, args, where):
            return f"view {relation}({', '.join(map(t, args))}){_if(' where', where)}"
        case Tool(name, params, guard, effects, event):
            head = f"{'event' if event else 'tool'} {name}({', '.join(t(Binder(p)) for p in params)})"
            return "\n".join(
                [head, *([f"  guard {t(guard)}"] if guard != Truth(True) else []), *map(t, effects)]
            )
        case Spec(name, formula, only_for, expect):
            said = f" for {', '.join(only_for)}" if only_for else ""
            return f"spec {name}{said}{f' expect {expect}' if expect else ''}\n  {t(formula)}"
        case Sort(name, None):
            return f"sort {name}"
        case Sort(name, values, ordered, rigid):
            if isinstance(values[0], int):
                return f"sort {name} = {values[0]}..{values[-1]}"
            listed = (" < " if ordered else ", ").join(values)
            return f"sort {name} = {{ {listed} }}{' rigid' if rigid else ''}"
        case Column(sort, name, key, references):
            said = f"{f'{name}: ' if name else ''}{sort}{' key' if key else ''}"
            return said + (f" references {references}" if references else "")
        case Relation(name, columns, total):
            return f"relation {name}({', '.join(map(t, columns))})" + (f" total {total}" if total else "")
        case Agent(name, tools, views, policies):
            lines = [t(view) for view in views]
            for policy, rules in policies:
                lines += [f"policy {policy}", *(f"  {t(rule)}" for rule in rules)]
            if not name:
                return "\n".join(lines)
            return "\n  ".join([f"agent {name}", f"tools {', '.join(tools)}", *lines])
        case Deployment():
            items = [f"deployment {node.name}", *map(t, node.sorts), *map(t, node.relations)]
            items += [f"bound {sort} {number}" for sort, number in node.bounds]
            items += [f"init {t(fact)}" for fact in node.init]
            if node.initially:
                items.append(f"initially any {', '.join(node.initially)} where {t(node.initially_where)}")
            items += map(t, node.tools)
            for gate, rules in node.gates:
                items += [f"gate {gate}", *(f"  {t(rule)}" for rule in rules)]
            items += [f"terminal when {t(f)}" for f in node.terminal]
            items += [f"fair {t(f)}" for f in node.fair]
            return "\n".join([*items, *map(t, node.agents), *map(t, node.specs)]) + "\n"
    raise TypeError(node)


def _if(word: str, formula: Formula) -> str:
    return "" if formula == Truth(True) else f"{word} {text_of(formula)}"


def _for(binders: tuple[Var, ...]) -> str:
    return f" for {', '.join(text_of(Binder(var)) for var in binders)}" if binders else ""
