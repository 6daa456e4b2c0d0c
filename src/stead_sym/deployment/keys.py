"""Guess which keys an insertion respects, from the shape of its effect.

One decision: only the text of an effect is looked at. The answer may be no although no state ever breaks the
key, and yes is no proof. The symbolic engine uses the answer as an assumption, which it checks
(`symbolic.encode.mutex`). A finding uses it to decide what to warn of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Insert, Tool
from stead_sym.relational.schema import Schema


def respects(tool: Tool, effect: Effect, insert: Insert, key: tuple[int, ...], schema: Schema) -> bool:
    """Return whether, by its shape, an insertion leaves no other fact with its key."""
    args = insert.atom.args
    others = {_name(args[k]) for k in range(len(args)) if k not in key}
    if others & _free(insert, {_name(args[k]) for k in key}, schema):
        return False
    fresh = {binder.name for binder in effect.fresh}
    if any(_name(args[k]) in fresh for k in key):
        return True
    required = [part for formula in _conditions(tool, effect, insert) for part in fo.conjuncts(formula)]
    return any(_clears(s, insert.atom, key, required) for s in effect.statements) or any(
        _excludes(part, insert.atom, key) for part in required
    )


def _free(insert: Insert, fixed: Set[str | None], schema: Schema) -> Set[str]:
    """Return the variables of `for` for which several values may meet its condition, ``fixed`` ones given.

    A variable is left out if an atom of the condition has it beside a declared key that is given.
    """
    free = {binder.name for binder in insert.binders} - fixed
    atoms = [pair for part in fo.conjuncts(insert.where) for pair in _keyed(part, schema)]
    while given := [pair for pair in atoms if free.isdisjoint(pair[0])]:
        atoms = [pair for pair in atoms if pair not in given]
        free -= {name for _, names in given for name in names}
    return free


def _keyed(condition: fo.Formula, schema: Schema) -> Iterator[tuple[Set[str | None], Set[str | None]]]:
    """Yield for an atom the names at the declared key of its relation, and all of its free names.

    The condition is an atom P(k, v), or ∃y. P(k, v) such that k has no y.
    """
    quantified = set[str | None]()
    while isinstance(condition, fo.Exists):
        quantified.add(condition.binder.name)
        condition = condition.body
    if not isinstance(condition, fo.Atom) or not schema.has_relation(condition.relation):
        return
    keys = schema.relation(condition.relation).keys
    given = {_name(condition.args[k]) for k in keys}
    if keys and not given & quantified:
        yield given, {_name(term) for term in condition.args} - quantified


def _clears(statement: object, atom: fo.Atom, key: tuple[int, ...], required: Sequence[fo.Formula]) -> bool:
    """Return whether the statement deletes the facts with the key of the atom.

    It deletes all of them, or the one that a condition requires.
    """
    match statement:
        case Clear(relations):
            return atom.relation in relations
        case Delete(old, binders) if old.relation == atom.relation:
            if any(old.args[k] != atom.args[k] for k in key):
                return False
            wild = {binder.name for binder in binders}
            return old in required or all(
                _name(term) in wild for k, term in enumerate(old.args) if k not in key
            )
        case _:
            return False


def _excludes(condition: fo.Formula, atom: fo.Atom, key: tuple[int, ...]) -> bool:
    """Return whether the condition implies that no fact has the key of the atom: ~exists y. P(key, y)."""
    if not isinstance(condition, fo.Not):
        return False
    body, quantified = condition.body, set[str]()
    while isinstance(body, fo.Exists):
        quantified.add(body.binder.name)
        body = body.body
    return (
        isinstance(body, fo.Atom)
        and body.relation == atom.relation
        and all(
            _name(term) in quantified or (k in key and term == atom.args[k])
            for k, term in enumerate(body.args)
        )
    )


def _conditions(tool: Tool, effect: Effect, insert: Insert) -> Iterator[fo.Formula]:
    yield from (tool.guard, effect.when, insert.where)
    yield from (s.where for s in effect.statements if isinstance(s, Choose))


def _name(term: fo.Term) -> str | None:
    return term.name if isinstance(term, fo.Var) else None
