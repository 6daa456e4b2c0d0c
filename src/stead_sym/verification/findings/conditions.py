"""When an alternative of an effect is enabled, and when it changes something: formulas over the parameters.

One decision: a `choose` over a finite sort is asked over the declared values. One over another sort is asked
over active values first; its constants, which need not be active, are written out one by one only where few
ways to choose come of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Statement
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    Atom,
    Binder,
    Const,
    Equal,
    Exists,
    Formula,
    Not,
    Quantified,
    Term,
    Var,
    conjunction,
    disjunction,
    free_variables,
    map_children,
)
from stead_sym.relational.schema import Schema, Value

_MAX_CHOICES = 64
"""The most choices of constants that are written out."""

Constants = Mapping[str, Sequence[Value]]
"""C, per sort that is not finite."""


def can_write_out(effect: Effect, constants: Constants) -> bool:
    """Whether the constants of the choices are few enough to be written out."""
    number = 1
    for statement in effect.statements:
        if isinstance(statement, Choose):
            number *= 1 + len(constants.get(statement.binder.sort, ()))
    return number <= _MAX_CHOICES


def enabled(effect: Effect, constants: Constants) -> Formula:
    """`when`, and a value for every `choose`: a declared one, an active one, or one of ``constants``."""
    return conjunction((effect.when, _chosen(effect.statements, TRUE, constants)))


def changes(effect: Effect, schema: Schema, constants: Constants) -> Formula | None:
    """Enabled so that D' ≠ D; None where that is not to be said in a formula over D (`ensure`), or is
    certain (a fresh value is inserted).

    Some fact is inserted that D has not, or deleted that D has and that is not inserted as well.
    """
    fresh = {binder.name for binder in effect.fresh}
    inserts: list[Insert] = []
    deletes: list[Delete] = []
    for number, statement in enumerate(effect.statements):
        match statement:
            case Insert(atom, binders):
                bound = {binder.name for binder in binders}
                if any(isinstance(t, Var) and t.name in fresh - bound for t in atom.args):
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
    new = [_over(i.binders, conjunction((i.where, Not(i.atom)))) for i in inserts]
    gone = [
        _over(d.binders, conjunction((d.where, d.atom, *(Not(_inserted(d.atom, i)) for i in inserts))))
        for d in deletes
    ]
    return conjunction((effect.when, _chosen(effect.statements, disjunction((*new, *gone)), constants)))


def _chosen(statements: Sequence[Statement], goal: Formula, constants: Constants) -> Formula:
    """Some values for the `choose` statements satisfy their conditions and the goal."""
    if not statements:
        return goal
    first, rest = statements[0], statements[1:]
    inner = _chosen(rest, goal, constants)
    match first:
        case Choose(binder, where):
            body = conjunction((where, inner))
            if binder.sort not in constants:
                return Exists(replace(binder, declared=True), body)
            named = (substitute(body, {binder.name: Const(u)}) for u in constants[binder.sort])
            return disjunction((Exists(binder, body), *named))
        case Fresh(binder):
            return _without(inner, binder.name)
        case _:
            return inner


def _without(formula: Formula, fresh: str) -> Formula:
    """The formula for a value that is in no fact and equals no other term."""
    if fresh not in free_variables(formula):
        return formula
    match formula:
        case Atom():
            return FALSE
        case Equal(left, right):
            return TRUE if left == right else FALSE
        case _ if isinstance(formula, Quantified) and formula.binder.name == fresh:
            return formula
        case _:
            return map_children(lambda f: _without(f, fresh), formula)


def _over(binders: Sequence[Binder], body: Formula) -> Formula:
    for binder in reversed(binders):
        body = Exists(binder, body)
    return body


def _clearing(schema: Schema, relation: str, number: int) -> Delete:
    """`clear P` as a deletion of all its facts."""
    sorts = schema.relation(relation).sorts
    binders = tuple(Binder(f"cleared_{number}_{k}", sort) for k, sort in enumerate(sorts))
    return Delete(Atom(relation, tuple(Var(b.name) for b in binders)), binders)


def _apart(delete: Delete) -> Delete:
    """The deletion with its own variables renamed apart: an insertion may be about a parameter so named."""
    apart: dict[str, Term] = {b.name: Var(f"deleted_{b.name}") for b in delete.binders}
    binders = tuple(replace(b, name=f"deleted_{b.name}") for b in delete.binders)
    atom = substitute(delete.atom, apart)
    assert isinstance(atom, Atom)
    return replace(delete, atom=atom, binders=binders, where=substitute(delete.where, apart))


def _inserted(atom: Atom, insert: Insert) -> Formula:
    """Whether the insertion puts this fact in; its own variables renamed apart."""
    if insert.atom.relation != atom.relation:
        return FALSE
    apart: dict[str, Term] = {b.name: Var(f"inserted_{b.name}") for b in insert.binders}
    binders = [replace(b, name=f"inserted_{b.name}") for b in insert.binders]
    args = substitute(insert.atom, apart)
    assert isinstance(args, Atom)
    same = [Equal(s, t) for s, t in zip(atom.args, args.args, strict=True)]
    return _over(binders, conjunction((substitute(insert.where, apart), *same)))
