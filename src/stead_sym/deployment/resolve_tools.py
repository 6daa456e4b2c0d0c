"""Resolve tools: names and sorts of parameters, guards, and the statements of effects.

One decision: every variable of an effect gets a name of its own. A `choose` or `fresh` that declares a name
again is renamed here, so that code that reads effects need not handle shadowing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

import stead_sym.logic.syntax as fo
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
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.names import column_named, left_out
from stead_sym.logic.sorts import OF_DATABASES, Names, check_name, is_wildcard, resolve, substitute
from stead_sym.logic.substitution import expand, fresh_name
from stead_sym.relational.schema import Relation


def refuse_doubles(kind: str, named: Iterable[tuple[str, Span | None]]) -> None:
    """Raise `DeclarationError` at the second of two equal names."""
    first: dict[str, Span | None] = {}
    for name, span in named:
        if name in first:
            place = first[name]
            where = f" (first at {place.line}:{place.column})" if place else ""
            raise DeclarationError(f"{kind} {name} is declared twice{where}; rename or remove one", span)
        first[name] = span


def declared_params(owner: str, params: tuple[fo.Binder, ...], names: Names) -> tuple[fo.Binder, ...]:
    """Return the parameters with their sorts, which have to be written: nothing else fixes them."""
    refuse_doubles(f"parameter of {owner},", ((p.name, p.span) for p in params))
    found = []
    for param in params:
        check_name("parameter", param.name, param.span)
        sort = param.known_sort or param.default
        if sort is None:
            raise DeclarationError(
                f"the parameter {param.name} of {owner} has no sort; write `{param.name}: SORT`", param.span
            )
        found.append(replace(param, known_sort=names.sort(sort, param.span), default=None))
    return tuple(found)


def scope_of(binders: Iterable[fo.Binder]) -> dict[str, str]:
    """Return the sort of each variable, as `resolve` expects it."""
    return {binder.name: binder.sort for binder in binders}


def resolve_head(tool: Tool, names: Names) -> Tool:
    """Return the tool, whose parameters have their sorts, with its guard resolved.

    Raises `DeclarationError`.
    """
    check_name("event" if tool.event else "tool", tool.name, tool.span, words=False)
    return replace(tool, guard=resolve(tool.guard, names, scope_of(tool.params)))


def resolve_effects(tool: Tool, names: Names) -> Tool:
    """Return the tool, whose head is resolved, with its effects resolved.

    Raises `DeclarationError`.
    """
    for effect in tool.effects:
        if tool.event and effect.refused:
            raise DeclarationError(
                f"{tool.name} is an event, which nobody refuses; write `effect when …`", effect.span
            )
    return replace(
        tool, effects=tuple(_effect(effect, tool.params, names) for effect in tool.effects) or (Effect(),)
    )


@dataclass(slots=True)
class _Block:
    """The variables in scope in an effect.

    A variable that is declared again gets another name, so that each parameter, chosen and fresh value of an
    effect has a name of its own.
    """

    names: Names
    scope: dict[str, str]
    renaming: dict[str, fo.Term] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def declare(self, word: str, binder: fo.Binder, span: Span | None) -> fo.Binder:
        span = binder.span or span
        check_name("variable", binder.name, span)
        sort = binder.known_sort or binder.default
        if sort is None:
            raise DeclarationError(
                f"`{word} {binder.name}` has no sort; write `{word} {binder.name}: SORT`", span
            )
        self.scope[binder.name] = self.names.sort(sort, span)
        name = binder.name
        if name in self.used:
            name = fresh_name(name, self.used | self.names.constants.keys())
            self.renaming[binder.name] = fo.Var(name)
        self.used.add(name)
        return replace(binder, name=name, known_sort=sort, default=None)

    def formula(self, formula: fo.Raw, *, primed: bool = False) -> fo.Resolved:
        return substitute(resolve(formula, self.names, self.scope, primed=primed), self.renaming)


def _effect(effect: Effect, params: tuple[fo.Binder, ...], names: Names) -> Effect:
    if effect.refused and effect.statements:
        raise DeclarationError(
            "an effect that is `refused` changes nothing; leave its statements out", effect.span
        )
    block = _Block(names, scope_of(params), used={p.name for p in params})
    if effect.is_ensure:
        for statement in effect.statements:
            if not isinstance(statement, Ensure):
                raise DeclarationError(
                    "`ensure` stands in place of other statements, not beside them; "
                    "put all of the effect into `ensure`, or nothing",
                    statement.span,
                )
    when = block.formula(effect.when)
    return replace(effect, when=when, statements=tuple(_statement(s, block) for s in effect.statements))


def _statement(statement: Statement, block: _Block) -> Statement:
    match statement:
        case Choose(binder, where):
            binder = block.declare("choose", binder, statement.span)
            return replace(statement, binder=binder, where=block.formula(where))
        case Fresh(binder):
            binder = block.declare("fresh", binder, statement.span)
            if block.names.schema.is_finite(binder.sort):
                raise DeclarationError(
                    f"sort {binder.sort} is finite: its values are all constants, so none is fresh; "
                    "use `choose`",
                    statement.span,
                )
            return replace(statement, binder=binder)
        case Insert() | Delete() | Assign():
            return _change(statement, block)
        case Clear(relations):
            for name in relations:
                relation_signature(name, block.names, statement.span)
            return statement
        case Ensure(formula):
            resolved = block.formula(formula, primed=True)
            if fo.tells_of_steps(expand(resolved, block.names.definitions)):  # by a definition
                raise DeclarationError(OF_DATABASES, statement.span)
            return replace(statement, formula=resolved)
        case _:
            assert_never(statement)


def _change(statement: Insert | Delete | Assign, block: _Block) -> Insert | Delete | Assign:
    """Resolve `insert P(t) for x where f`; x has the sorts that `exists x. P(t) & f` gives it."""
    atom = statement.atom
    if atom.primed:
        raise DeclarationError(f"{atom} is primed; write {atom.relation} without the prime", atom.span)
    relation_signature(atom.relation, block.names, atom.span)
    word = {Insert: "insert", Delete: "delete", Assign: "set"}[type(statement)]
    relation = block.names.schema.relation(atom.relation)
    if word != "delete" and (missing := left_out(atom, relation)):
        mend = f"; `set {atom.relation}(…).COLUMN = …` changes one" if word == "set" else ""
        raise DeclarationError(
            f"`{word}` needs all columns of {atom.relation}: add {missing}{mend}", atom.span
        )
    if word != "delete" and any(map(is_wildcard, atom.args)):
        raise DeclarationError(
            f"`_` says of no value that `{word}` should add it; name the value with `choose` or `for`",
            atom.span,
        )
    if word == "set" and not relation.keys:
        raise DeclarationError(
            f"{atom.relation} declares no key, so that `set` replaces nothing;"
            f" mark columns in `relation {atom.relation}(… key, …)`, or use `insert`",
            atom.span,
        )
    refuse_doubles(f"variable of this {word},", ((b.name, b.span) for b in statement.binders))
    places = tuple(range(relation.arity))
    if isinstance(statement, Assign) and statement.column is not None:
        atom, places = _row(atom, statement.column, relation)
    formula: fo.Formula = fo.And((atom, statement.where))
    for binder in reversed(statement.binders):
        formula = fo.Exists(binder, formula, span=binder.span)
    formula = block.formula(formula)
    binders = []
    while isinstance(formula, fo.Exists):
        binders.append(replace(formula.binder, default=None))
        formula = formula.body
    assert isinstance(formula, fo.And)
    assert isinstance(formula.parts[0], fo.Atom)
    atom = formula.parts[0]
    atom = replace(atom, args=tuple(atom.args[place] for place in places))
    return replace(statement, atom=atom, binders=tuple(binders), where=formula.parts[1])


def _row(atom: fo.Atom, column: str, relation: Relation) -> tuple[fo.Atom, tuple[int, ...]]:
    """Return the atom P(k, t) of `set P(k).c = t`, with `_` in other columns, and the places of k and t."""
    place, given = column_named(relation, column, atom.span), len(atom.args) - 1
    if place in relation.keys:
        raise DeclarationError(
            f"{column} is a column of the key of {relation.name}; insert a fact with another key, and delete"
            " this one",
            atom.span,
        )
    if given != len(relation.keys):
        raise DeclarationError(
            f"the key of {relation.name} has {len(relation.keys)} columns, not {given}; before the dot stands"
            " a value for each of them",
            atom.span,
        )
    places = (*relation.keys, place)
    args: list[fo.Term] = [fo.Name(fo.WILDCARD, span=atom.span)] * relation.arity
    for k, term in zip(places, atom.args, strict=True):
        args[k] = term
    return replace(atom, args=tuple(args)), places


def relation_signature(name: str, names: Names, span: Span | None) -> tuple[str, ...]:
    """Return the sorts of a relation's columns; raises `DeclarationError` for a define or an unknown name."""
    if name in names.definitions:
        raise DeclarationError(f"{name} is a define, not data; name a relation", span)
    return names.signature(name, span)
