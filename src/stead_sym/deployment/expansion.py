"""Expand the parts of a deployment from those that are written to those that the semantics is defined for.

Uses of `define` and the wildcards of formulas are expanded, and some of what is written becomes other parts:

- `terminal when f` is an event, see `deployment.terminal`;
- `delete P(c, _)` is `delete P(c, x) for x`, since a value of a fact is active;
- `set P(k, v)` is `delete P(k, _)` and `insert P(k, v)`, k being the columns of the key;
- `set P(k).c = t` alone is `set P(k, y, t) for y where P(k, y, _)`: the fact with the key k gets t in the
  column c and keeps its other columns; if there is no such fact, nothing happens.

Several sets of a column in one effect may have keys with the same value, for example two parameters that
stand for the same record. Together they are then one change of one fact. So the sets with the same words
before the dot and after `for` form a group. Any of the other groups may have the same key as this one: for
each subset of them there is an insertion, on the condition that the keys of exactly this subset are equal to
the key of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.messages import in_messages
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
from stead_sym.errors import Span
from stead_sym.logic.substitution import (
    expand,
    substitute,
    substitute_terms,
    wildcard_names,
    without_wildcards,
)
from stead_sym.relational.schema import Relation, Schema

_Closing: TypeAlias = Callable[[fo.Resolved], fo.Expanded]


def expanded(parts: Parts, schema: Schema) -> Parts:
    """Return the same parts with definitions, wildcards, `set` and `terminal` expanded.

    They have no definitions.
    """
    by_name = {**{one.name: one for one in parts.definitions}, **offers(parts.tools, schema)}

    def closed(formula: fo.Resolved) -> fo.Expanded:
        return expand(formula, by_name)

    tools = tuple(_tool(tool, closed, schema) for tool in parts.tools)
    called = in_messages(parts.roles, tools)
    if called != tools:
        by_name.update(offers(called, schema))  # when a call may be written
        tools = called
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
        calls=parts.calls,
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
        statements.extend(_without_columns(sets, schema.relation(relation), closed, names))
    return replace(effect, when=closed(effect.when), statements=tuple(statements))


def _with_closed_terms(statement: Statement, closed: _Closing) -> Statement:
    """Return the statement with the formulas of the tallies that it writes expanded."""
    if not isinstance(statement, Insert | Delete | Assign):
        return statement
    return replace(statement, atom=fo.map_children(closed, statement.atom))


def _names(statement: Statement) -> Iterator[str]:
    """Yield the names that occur in the statement's atom and in the formula beside it."""
    if isinstance(statement, Insert | Delete | Assign):
        yield from map(str, fo.terms(statement.atom))
        yield from fo.free_variables(statement.atom)
        yield from (binder.name for binder in statement.binders)
        yield from fo.free_variables(statement.where)


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
                term if column in relation.keys else fo.Wildcard(relation.sorts[column])
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


@dataclass(frozen=True, slots=True)
class _Group:
    """Sets of some columns of the facts with one key, for the same values.

    ``values`` has what each column is set to.
    """

    key: tuple[fo.Term, ...]
    binders: tuple[fo.Binder, ...]
    where: fo.Formula
    values: dict[int, tuple[fo.Term, ...]]
    span: Span | None

    def apart(self, names: Iterator[str]) -> _Group:
        """Return the same group with variables of its own."""
        binders = tuple(replace(binder, name=next(names)) for binder in self.binders)
        images: dict[str, fo.Term] = {
            old.name: fo.Var(new.name) for old, new in zip(self.binders, binders, strict=True)
        }

        def image(terms: tuple[fo.Term, ...]) -> tuple[fo.Term, ...]:
            return substitute_terms(terms, images)

        values = {column: image(terms) for column, terms in self.values.items()}
        return replace(
            self, key=image(self.key), binders=binders, where=substitute(self.where, images), values=values
        )

    def meets(self, other: _Group) -> tuple[fo.Formula, ...] | None:
        """Return its condition with the one that both keys have the same values; None if they never have."""
        pairs = [(t, u) for t, u in zip(self.key, other.key, strict=True) if t != u]
        if any(isinstance(t, fo.Const) and isinstance(u, fo.Const) for t, u in pairs):
            return None
        return (*(fo.Equal(t, u) for t, u in pairs), *((self.where,) if self.where != fo.TRUE else ()))


def _without_columns(
    sets: Sequence[Assign],
    relation: Relation,
    closed: Callable[[fo.Resolved], fo.Expanded],
    names: Iterator[str],
) -> Iterator[Statement]:
    """Yield the deletions and insertions for these sets of columns of one relation, in one effect.

    ``names`` are names that do not occur in the effect.
    """
    groups = _groups(sets, relation, closed)
    if len(groups) > 1:
        groups = [group.apart(names) for group in groups]
    for group in groups:
        yield _deletion(group, relation, names)
    for first, group in enumerate(groups):
        kept = tuple(negation for other in groups[:first] for negation in _apart_from(other, group))
        for others, condition in _parts(group, groups[first + 1 :]):
            yield from _insertions(group, others, (*kept, *condition), relation, names)


def _groups(
    sets: Sequence[Assign], relation: Relation, closed: Callable[[fo.Resolved], fo.Expanded]
) -> list[_Group]:
    found: dict[object, _Group] = {}
    for one in sets:
        *key, value = one.atom.args
        column = relation.columns.index(str(one.column))
        group = found.setdefault(
            (tuple(key), one.binders, one.where),
            _Group(tuple(key), one.binders, closed(one.where), {}, one.span),
        )
        if value not in (known := group.values.get(column, ())):
            group.values[column] = (*known, value)
    return list(found.values())


def _deletion(group: _Group, relation: Relation, names: Iterator[str]) -> Delete:
    row: list[fo.Term] = [fo.Wildcard(sort) for sort in relation.sorts]
    for column, term in zip(relation.keys, group.key, strict=True):
        row[column] = term
    args, wild = without_wildcards(row, names)
    return Delete(fo.Atom(relation.name, args), (*group.binders, *wild), group.where, span=group.span)


def _parts(
    group: _Group, others: Sequence[_Group]
) -> Iterator[tuple[tuple[_Group, ...], tuple[fo.Formula, ...]]]:
    """Yield each subset of the other groups, with the condition that exactly their keys equal this key."""
    if not others:
        yield (), ()
        return
    other, *rest = others
    for part, condition in _parts(group, rest):
        yield part, (*_apart_from(other, group), *condition)
        if (meeting := other.meets(group)) is not None:
            yield (other, *part), (*meeting, *condition)


def _apart_from(other: _Group, group: _Group) -> tuple[fo.Formula, ...]:
    """Return the condition that the other group does not set the fact with the key of this one."""
    meeting = other.meets(group)
    if meeting is None:
        return ()
    return (fo.Not(fo.quantify(fo.Exists, other.binders, fo.conjunction(meeting))),)


def _insertions(
    group: _Group,
    others: Sequence[_Group],
    condition: Sequence[fo.Formula],
    relation: Relation,
    names: Iterator[str],
) -> Iterator[Insert]:
    """Yield insertions of the fact with the key of the group, as all of these groups set it."""
    binders = [binder for each in (group, *others) for binder in each.binders]
    values: dict[int, tuple[fo.Term, ...]] = {}
    for each in (group, *others):
        for column, given in each.values.items():
            values[column] = tuple(dict.fromkeys((*values.get(column, ()), *given)))
    row: list[fo.Term] = []
    replaced, key = list[fo.Binder](), iter(group.key)
    for column, sort in enumerate(relation.sorts):
        if column in relation.keys:
            row.append(next(key))
            continue
        old = fo.Binder(next(names), sort, wild=True)
        row.append(fo.Var(old.name))
        (replaced if column in values else binders).append(old)
    old_fact = fo.quantify(fo.Exists, replaced, fo.Atom(relation.name, tuple(row), sorts=relation.sorts))
    own = (group.where,) if group.where != fo.TRUE else ()
    where = fo.conjunction((old_fact, *own, *condition))
    for chosen in product(*values.values()):
        new = dict(zip(values, chosen, strict=True))
        args = tuple(new.get(column, term) for column, term in enumerate(row))
        yield Insert(
            fo.Atom(relation.name, args, sorts=relation.sorts), tuple(binders), where, span=group.span
        )
