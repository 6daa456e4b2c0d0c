"""Conditions that an alternative of an effect is enabled, or changes the state: formulas over the parameters.

One decision: a `choose` over a finite sort ranges over the declared values. One over another sort ranges over
active values first. Its constants need not be active; they are expanded one by one only if this yields few
combinations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Statement
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Schema, Value

_MAX_CHOICES = 64
"""The largest number of combinations of constants that are expanded."""

Constants = Mapping[str, Sequence[Value]]
"""The constants C of each sort that is not finite."""


def can_write_out(effect: Effect, constants: Constants) -> bool:
    """Return True if the constants of the choices are few enough to be expanded."""
    number = 1
    for statement in effect.statements:
        if isinstance(statement, Choose):
            number *= 1 + len(constants.get(statement.binder.sort, ()))
    return number <= _MAX_CHOICES


def enabled(effect: Effect, constants: Constants) -> fo.Formula:
    """Return `when`, with a value for every `choose`: a declared, an active, or one of ``constants``."""
    return fo.conjunction((effect.when, _chosen(effect.statements, fo.TRUE, constants)))


def changes(effect: Effect, schema: Schema, constants: Constants) -> fo.Formula | None:
    """Return the condition that the effect is enabled and D' ≠ D, or None if it has no formula.

    That is: some inserted fact is not in D, or some deleted fact is in D and is not inserted as well. No
    formula over D expresses it for an `ensure`, and none is needed if a fresh value is inserted: then it is
    certain.
    """
    fresh = {binder.name for binder in effect.fresh}
    inserts: list[Insert] = []
    deletes: list[Delete] = []
    for number, statement in enumerate(effect.statements):
        match statement:
            case Insert(atom, binders):
                bound = {binder.name for binder in binders}
                if any(isinstance(t, fo.Var) and t.name in fresh - bound for t in atom.args):
                    return None
                inserts.append(statement)
            case Delete():
                deletes.append(_apart(statement))
            case Clear(relations):
                deletes += [_clearing(schema, relation, number) for relation in relations]
            case Ensure():
                return None
            case _:
                pass
    new = [fo.quantify(fo.Exists, i.binders, fo.conjunction((i.where, fo.Not(i.atom)))) for i in inserts]
    gone = [
        fo.quantify(
            fo.Exists,
            d.binders,
            fo.conjunction((d.where, d.atom, *(fo.Not(_inserted(d.atom, i)) for i in inserts))),
        )
        for d in deletes
    ]
    return fo.conjunction((effect.when, _chosen(effect.statements, fo.disjunction((*new, *gone)), constants)))


def _chosen(statements: Sequence[Statement], goal: fo.Formula, constants: Constants) -> fo.Formula:
    """Return the condition that values of the `choose` statements satisfy their `where` and the goal."""
    if not statements:
        return goal
    first, rest = statements[0], statements[1:]
    inner = _chosen(rest, goal, constants)
    match first:
        case Choose(binder, where):
            body = fo.conjunction((where, inner))
            if binder.sort not in constants:
                return fo.Exists(replace(binder, declared=True), body)
            named = (substitute(body, {binder.name: fo.Const(u)}) for u in constants[binder.sort])
            return fo.disjunction((fo.Exists(binder, body), *named))
        case Fresh(binder):
            return _without(inner, binder.name)
        case _:
            return inner


def _without(formula: fo.Formula, fresh: str) -> fo.Formula:
    """Return the formula for a value that is in no fact and equals no other term."""
    if fresh not in fo.free_variables(formula):
        return formula
    match formula:
        case fo.Atom():
            return fo.FALSE
        case fo.Equal(left, right):
            return fo.TRUE if left == right else fo.FALSE
        case _ if isinstance(formula, fo.Quantified) and formula.binder.name == fresh:
            return formula
        case _:
            return fo.map_children(lambda f: _without(f, fresh), formula)


def _clearing(schema: Schema, relation: str, number: int) -> Delete:
    """Return `clear P` as a deletion of all its facts."""
    sorts = schema.relation(relation).sorts
    binders = tuple(fo.Binder(f"cleared_{number}_{k}", sort) for k, sort in enumerate(sorts))
    return Delete(fo.Atom(relation, fo.variables_of(binders)), binders)


def _apart(delete: Delete) -> Delete:
    """Return the deletion with its own variables renamed apart.

    Otherwise an insertion could mention a parameter of the same name.
    """
    apart: dict[str, fo.Term] = {b.name: fo.Var(f"deleted_{b.name}") for b in delete.binders}
    binders = tuple(replace(b, name=f"deleted_{b.name}") for b in delete.binders)
    atom = substitute(delete.atom, apart)
    assert isinstance(atom, fo.Atom)
    return replace(delete, atom=atom, binders=binders, where=substitute(delete.where, apart))


def _inserted(atom: fo.Atom, insert: Insert) -> fo.Formula:
    """Return the condition that the insertion inserts this fact, with its own variables renamed."""
    if insert.atom.relation != atom.relation:
        return fo.FALSE
    apart: dict[str, fo.Term] = {b.name: fo.Var(f"inserted_{b.name}") for b in insert.binders}
    binders = [replace(b, name=f"inserted_{b.name}") for b in insert.binders]
    args = substitute(insert.atom, apart)
    assert isinstance(args, fo.Atom)
    same = [fo.Equal(s, t) for s, t in zip(atom.args, args.args, strict=True)]
    return fo.quantify(fo.Exists, binders, fo.conjunction((substitute(insert.where, apart), *same)))
