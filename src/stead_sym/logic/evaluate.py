"""First-order satisfaction on an instance, clause by clause as the paper has it.

Quantifiers range over the active domain; an atom with an inactive argument is false, since no fact
holds it; equality compares identifiers, active or not. Of many values a quantifier tries those that can
decide it (`candidates`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Set
from typing import TypeVar, assert_never

from stead_sym.logic.candidates import MANY, worth_trying
from stead_sym.logic.syntax import (
    RESOLVE_FIRST,
    And,
    Atom,
    Binder,
    Compare,
    Const,
    Count,
    Derived,
    Empty,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Ordering,
    Same,
    Term,
    Truth,
    Until,
    Use,
    Var,
    Wildcard,
    unexpanded,
    unquantified,
    unresolved,
)
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value

_T = TypeVar("_T")


def holds(
    formula: Expanded,
    state: Instance,
    assignment: Mapping[str, Value] | None = None,
    *,
    after: Instance | None = None,
    active: Mapping[str, Set[Value]] | None = None,
) -> bool:
    """Whether (D, σ) ⊨ f, or (D ⊕ D', σ) ⊨ f when ``after`` gives D'.

    Quantifiers range over ``active``, by default ad(D), or ad(D ⊕ D') with ``after``; those of `x in s` over
    all declared values. Raises `TypeError`
    for a formula that is not expanded or has a relation that the schema lacks, and `ValueError` for a
    temporal operator, and for a primed symbol without ``after``.
    """
    if active is None:
        active = state.active_domain
        if after is not None:
            active = {sort: active[sort] | after.active_domain[sort] for sort in active}
    return _holds(formula, state, dict(assignment or {}), after, active)


def _holds(
    formula: Formula,
    state: Instance,
    sigma: Mapping[str, Value],
    after: Instance | None,
    active: Mapping[str, Set[Value]],
) -> bool:
    def here(f: Formula, binding: tuple[str, Value] | None = None) -> bool:
        return _holds(
            f, state, sigma if binding is None else {**sigma, binding[0]: binding[1]}, after, active
        )

    def range_of(binder: Binder, body: Formula, truth: bool) -> Collection[Value]:
        """The values of the variable, of many those with which the body can have this truth value."""
        values = declared(state.schema, binder) if binder.declared else active[binder.sort]
        if len(values) < MANY:
            return values
        return worth_trying(values, body, binder.name, state, sigma, truth)

    match formula:
        case Truth(value):
            return value
        case Equal(left, right):
            return value_of(left, sigma) == value_of(right, sigma)
        case Compare(_, left, right):
            return compares(formula, value_of(left, sigma), value_of(right, sigma), state.schema)
        case Atom():
            return fact_of(formula, sigma, state.schema) in (_primed(after) if formula.primed else state)
        case Use() | Derived():
            raise unexpanded(formula)
        case Not(body):
            return not here(body)
        case And(parts):
            return all(here(part) for part in parts)
        case Or(parts):
            return any(here(part) for part in parts)
        case Implies(left, right):
            return not here(left) or here(right)
        case Iff(left, right):
            return here(left) == here(right)
        case Exists(binder, body):
            return any(here(body, (binder.name, u)) for u in range_of(binder, body, True))
        case Forall(binder, body):
            return all(here(body, (binder.name, u)) for u in range_of(binder, body, False))
        case Count(comparison, number, binder, body):
            count = sum(here(body, (binder.name, u)) for u in range_of(binder, body, True))
            return {"atleast": count >= number, "atmost": count <= number, "exactly": count == number}[
                comparison
            ]
        case Same(relation):
            return _primed(after).tuples(relation) == state.tuples(relation)
        case Empty(relation):
            return not _primed(after).tuples(relation)
        case Next() | Future() | Globally() | Until():
            raise ValueError(f"temporal operator in a first-order formula: {formula}")
        case _:
            assert_never(formula)


def declared(schema: Schema, binder: Binder) -> tuple[Value, ...]:
    """What the variable of `x in s` ranges over: all declared values of the finite sort."""
    values = schema.sort(binder.sort).values
    assert values is not None, f"{binder} ranges over a finite sort"
    return values


def compares(comparison: Compare, left: Value, right: Value, schema: Schema) -> bool:
    """Whether the comparison holds between two values of its sort."""
    rank = schema.sort(comparison.sort).rank
    return _ORDERINGS[comparison.ordering](rank[left], rank[right])


_ORDERINGS: Mapping[Ordering, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "succ": lambda i, j: i + 1 == j,
}


def value_of(term: Term, assignment: Mapping[str, _T]) -> _T | Value:
    """What a term denotes: a constant itself, a variable what is assigned to it.

    Raises `KeyError` for a variable without a value, `TypeError` for a name of a raw formula.
    """
    if isinstance(term, Var):
        return assignment[term.name]
    if isinstance(term, Const):
        return term.value
    raise unquantified(term) if isinstance(term, Wildcard) else unresolved(term)


def fact_of(atom: Atom, assignment: Mapping[str, Value], schema: Schema) -> Fact:
    """The fact that an atom says, primed or not.

    Raises like `value_of`, and `TypeError` where the schema lacks the relation: the formula is about another
    schema, or is a raw one that uses a definition.
    """
    refuse_unknown(atom.relation, schema)
    return Fact(atom.relation, tuple(value_of(term, assignment) for term in atom.args))


def refuse_unknown(relation: str, schema: Schema) -> None:
    """Raises `TypeError` where the schema lacks the relation."""
    if not schema.has_relation(relation):
        raise TypeError(f"{relation} is no relation here; if it is a definition, {RESOLVE_FIRST}")


def _primed(after: Instance | None) -> Instance:
    if after is None:
        raise ValueError("a primed symbol is read outside `ensure`")
    return after
