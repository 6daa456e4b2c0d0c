"""Which keys an insertion respects, as far as the shape of its effect tells.

One decision: this looks at the text of an effect only. It may say no where no state ever breaks the key, and
never claims a proof where it says yes: the symbolic engine takes it for a guess (`symbolic.encode.mutex`), a
finding for what is worth a remark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Insert, Tool
from stead_sym.logic.syntax import Atom, Exists, Formula, Not, Term, Var, conjuncts


def respects(tool: Tool, effect: Effect, insert: Insert, key: tuple[int, ...]) -> bool:
    """Whether an insertion looks as if no other fact with its key could be there afterwards."""
    bound = {binder.name for binder in insert.binders}
    args = insert.atom.args
    others = [k for k in range(len(args)) if k not in key]
    if any(_name(args[k]) in bound for k in others):
        return False
    fresh = {binder.name for binder in effect.fresh}
    if any(_name(args[k]) in fresh for k in key):
        return True
    required = [part for formula in _conditions(tool, effect, insert) for part in conjuncts(formula)]
    return any(_clears(s, insert.atom, key, required) for s in effect.statements) or any(
        _excludes(part, insert.atom, key) for part in required
    )


def _clears(statement: object, atom: Atom, key: tuple[int, ...], required: Sequence[Formula]) -> bool:
    """The statement deletes the facts with the key of the atom: all of them, or the one that a
    condition says is there."""
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


def _excludes(condition: Formula, atom: Atom, key: tuple[int, ...]) -> bool:
    """The condition says that no fact has the key of the atom: ~exists y. P(key, y), or more."""
    if not isinstance(condition, Not):
        return False
    body, quantified = condition.body, set[str]()
    while isinstance(body, Exists):
        quantified.add(body.binder.name)
        body = body.body
    return (
        isinstance(body, Atom)
        and body.relation == atom.relation
        and all(
            _name(term) in quantified or (k in key and term == atom.args[k])
            for k, term in enumerate(body.args)
        )
    )


def _conditions(tool: Tool, effect: Effect, insert: Insert) -> Iterator[Formula]:
    yield from (tool.guard, effect.when, insert.where)
    yield from (s.where for s in effect.statements if isinstance(s, Choose))


def _name(term: Term) -> str | None:
    return term.name if isinstance(term, Var) else None
