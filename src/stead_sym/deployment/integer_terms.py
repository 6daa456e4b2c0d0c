"""Rewrite effects that write sums and tallies to effects that write values.

    insert P(…, t, …) for x where f    is    insert P(…, y, …) for x, y in s where f & y = t
    delete P(…, t, …) for x where f    is    delete P(…, y, …) for x, y in s where f & y = t

if the sort s of the column has the integer t. If an insertion meets an integer that s lacks (`out_of_range`),
a step that is taken breaks the definition of the deployment. A deletion then deletes nothing.

One decision: the explicit engine computes what is written and does not use these equations.
"""

from __future__ import annotations

from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Delete, Effect, Insert, Statement
from stead_sym.logic.folding import conjoin
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.schema import Schema


def without_integer_terms(effect: Effect, schema: Schema) -> Effect:
    """Return the effect with only variables and constants in what it inserts and deletes."""
    if not any(map(_has_terms, effect.statements)):
        return effect
    return replace(effect, statements=tuple(_plain(s, schema) for s in effect.statements))


def out_of_range(effect: Effect, schema: Schema) -> fo.Formula:
    """Return the condition that some insertion meets an integer that is not in its column's sort.

    It is a formula over the variables of the effect.
    """
    found: list[fo.Formula] = []
    for statement in effect.statements:
        if isinstance(statement, Insert) and _has_terms(statement):
            sorts = schema.relation(statement.atom.relation).sorts
            outside = fo.disjunction(
                tuple(
                    part
                    for term, sort in zip(statement.atom.args, sorts, strict=True)
                    if fo.is_compound(term)
                    for part in _outside(term, schema.sort(sort).values or ())
                )
            )
            found.append(fo.quantify(fo.Exists, statement.binders, conjoin(statement.where, outside)))
    return fo.disjunction(tuple(found))


def _outside(term: fo.Term, values: tuple[str, ...]) -> tuple[fo.Formula, fo.Formula]:
    return (
        fo.Compare("<", term, fo.Const(values[0]), fo.INTEGERS),
        fo.Compare(">", term, fo.Const(values[-1]), fo.INTEGERS),
    )


def _has_terms(statement: Statement) -> bool:
    return isinstance(statement, Insert | Delete) and any(map(fo.is_compound, statement.atom.args))


def _plain(statement: Statement, schema: Schema) -> Statement:
    if not isinstance(statement, Insert | Delete) or not _has_terms(statement):
        return statement
    atom = statement.atom
    taken = {*map(str, fo.terms(atom)), *fo.free_variables(atom), *fo.free_variables(statement.where)}
    taken |= {binder.name for binder in statement.binders}
    binders, where, args = list(statement.binders), statement.where, list[fo.Term]()
    for term, sort in zip(atom.args, schema.relation(atom.relation).sorts, strict=True):
        if fo.is_compound(term):
            name = fresh_name("_n", taken)
            taken.add(name)
            binders.append(fo.Binder(name, sort, declared=True))
            where = conjoin(where, fo.Equal(fo.Var(name), term))
            term = fo.Var(name)
        args.append(term)
    return replace(statement, atom=replace(atom, args=tuple(args)), binders=tuple(binders), where=where)
