"""Rewrite effects that write sums and tallies to effects that write values.

    insert P(…, t, …) for x where f    is    insert P(…, y, …) for x, y in s where f & y = t
    delete P(…, t, …) for x where f    is    delete P(…, y, …) for x, y in s where f & y = t

if the sort s of the column has the integer t. If an insertion meets an integer that s lacks (`out_of_range`),
a step that is taken breaks the definition of the deployment. A deletion then deletes nothing.

One decision: the explicit engine computes what is written and does not use these equations.
"""

from __future__ import annotations

from dataclasses import replace

from stead_sym.deployment.tool import Delete, Effect, Insert, Statement
from stead_sym.logic.folding import conjoin
from stead_sym.logic.substitution import fresh_name
from stead_sym.logic.syntax import (
    INTEGERS,
    Binder,
    Compare,
    Const,
    Equal,
    Exists,
    Formula,
    Term,
    Var,
    disjunction,
    free_variables,
    is_compound,
    quantify,
    terms,
)
from stead_sym.relational.schema import Schema


def without_integer_terms(effect: Effect, schema: Schema) -> Effect:
    """Return the effect with only variables and constants in what it inserts and deletes."""
    if not any(map(_has_terms, effect.statements)):
        return effect
    return replace(effect, statements=tuple(_plain(s, schema) for s in effect.statements))


def out_of_range(effect: Effect, schema: Schema) -> Formula:
    """Return the condition that some insertion meets an integer that is not in its column's sort.

    It is a formula over the variables of the effect.
    """
    found: list[Formula] = []
    for statement in effect.statements:
        if isinstance(statement, Insert) and _has_terms(statement):
            sorts = schema.relation(statement.atom.relation).sorts
            outside = disjunction(
                tuple(
                    part
                    for term, sort in zip(statement.atom.args, sorts, strict=True)
                    if is_compound(term)
                    for part in _outside(term, schema.sort(sort).values or ())
                )
            )
            found.append(quantify(Exists, statement.binders, conjoin(statement.where, outside)))
    return disjunction(tuple(found))


def _outside(term: Term, values: tuple[str, ...]) -> tuple[Formula, Formula]:
    return (
        Compare("<", term, Const(values[0]), INTEGERS),
        Compare(">", term, Const(values[-1]), INTEGERS),
    )


def _has_terms(statement: Statement) -> bool:
    return isinstance(statement, Insert | Delete) and any(map(is_compound, statement.atom.args))


def _plain(statement: Statement, schema: Schema) -> Statement:
    if not isinstance(statement, Insert | Delete) or not _has_terms(statement):
        return statement
    atom = statement.atom
    taken = {*map(str, terms(atom)), *free_variables(atom), *free_variables(statement.where)}
    taken |= {binder.name for binder in statement.binders}
    binders, where, args = list(statement.binders), statement.where, list[Term]()
    for term, sort in zip(atom.args, schema.relation(atom.relation).sorts, strict=True):
        if is_compound(term):
            name = fresh_name("_n", taken)
            taken.add(name)
            binders.append(Binder(name, sort, declared=True))
            where = conjoin(where, Equal(Var(name), term))
            term = Var(name)
        args.append(term)
    return replace(statement, atom=replace(atom, args=tuple(args)), binders=tuple(binders), where=where)
