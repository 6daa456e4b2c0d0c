"""First-order satisfaction in an instance, clause by clause as in the paper.

Quantifiers range over the active domain; an atom with an inactive argument is false, since no fact holds it;
equality compares identifiers, active or not. A term with `+`, `-`, `count` or `sum` denotes an integer,
identified with the value that is its numeral. Over many values a quantifier tries only those that can decide
it (`candidates`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar, assert_never

from stead_sym.logic.candidates import MANY, worth_trying
from stead_sym.logic.syntax import (
    INTEGERS,
    RESOLVE_FIRST,
    And,
    Atom,
    Binder,
    Compare,
    Const,
    Count,
    Derived,
    Did,
    Each,
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
    Previously,
    Quantified,
    Same,
    Since,
    Sum,
    Tally,
    Term,
    Truth,
    Until,
    Use,
    Var,
    Weight,
    Wildcard,
    is_compound,
    unexpanded,
    unfollowed,
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
    listed: Mapping[str, Collection[Value]] = MappingProxyType({}),
) -> bool:
    """Return True if (D, σ) ⊨ f, or (D ⊕ D', σ) ⊨ f if ``after`` is D'.

    Quantifiers range over ``active``, by default ad(D), or ad(D ⊕ D') with ``after``; those of `x in s` range
    over all declared values, or over ``listed`` where D has other names for them. Raise `TypeError` for a
    formula that is not expanded or has a relation that the schema lacks, and `ValueError` for a temporal
    operator, and for a primed symbol without ``after``.
    """
    if active is None:
        active = state.active_domain
        if after is not None:
            active = {sort: active[sort] | after.active_domain[sort] for sort in active}
    return _Reading(state, after, active, listed).holds(formula, dict(assignment or {}))


def denoted_by(
    term: Term,
    state: Instance,
    assignment: Mapping[str, Value],
    *,
    after: Instance | None = None,
    active: Mapping[str, Set[Value]] | None = None,
) -> Value:
    """Return the value that a term denotes in (D, σ); for `+`, `-`, `count` or `sum`, the integer's numeral.

    The arguments are those of `holds`.
    """
    if not is_compound(term):
        return value_of(term, assignment)
    read = _Reading(state, after, state.active_domain if active is None else active, {})
    return str(read.integer(term, assignment))


@dataclass(frozen=True, slots=True)
class _Reading:
    """D, or D ⊕ D', with the domains of the quantifiers."""

    state: Instance
    after: Instance | None
    active: Mapping[str, Set[Value]]
    listed: Mapping[str, Collection[Value]]

    def range_of(
        self, binder: Binder, body: Formula, sigma: Mapping[str, Value], truth: bool
    ) -> Collection[Value]:
        """Return the values of the variable.

        If they are many, those with which the body cannot have this truth value are left out.
        """
        values: Collection[Value] = self.active[binder.sort]
        if binder.declared:
            values = self.listed.get(binder.sort) or declared(self.state.schema, binder)
        if len(values) < MANY:
            return values
        return worth_trying(values, body, binder.name, self.state, sigma, truth)

    def instances(
        self, formula: Quantified, sigma: Mapping[str, Value], truth: bool
    ) -> Iterator[Mapping[str, Value]]:
        """Yield σ with each value of the variable with which the body can have this truth value."""
        binder = formula.binder
        return ({**sigma, binder.name: u} for u in self.range_of(binder, formula.body, sigma, truth))

    def value(self, term: Term, sigma: Mapping[str, Value]) -> Value:
        """Return the value that a term denotes."""
        return str(self.integer(term, sigma)) if is_compound(term) else value_of(term, sigma)

    def integer(self, term: Term, sigma: Mapping[str, Value]) -> int:
        """Return the element of ℤ that a term denotes."""
        match term:
            case Sum(left, "+", right):
                return self.integer(left, sigma) + self.integer(right, sigma)
            case Sum(left, "-", right):
                return self.integer(left, sigma) - self.integer(right, sigma)
            case Tally(each):
                return self.total(each, sigma)
            case _:
                return int(value_of(term, sigma))

    def total(self, each: Formula, sigma: Mapping[str, Value]) -> int:
        """Return the sum of the term, or of 1, over the values that satisfy the condition."""
        if isinstance(each, Each):
            return sum(self.total(each.body, inner) for inner in self.instances(each, sigma, True))
        assert isinstance(each, Weight)
        if not self.holds(each.condition, sigma):
            return 0
        return sum(self.integer(term, sigma) for term in each.of) if each.of else 1

    def holds(self, formula: Formula, sigma: Mapping[str, Value]) -> bool:
        """Return True if (D, σ) ⊨ f."""

        def here(f: Formula) -> bool:
            return self.holds(f, sigma)

        state = self.state
        match formula:
            case Truth(value):
                return value
            case Equal(left, right):
                return self.value(left, sigma) == self.value(right, sigma)
            case Compare("<" | "<=" | ">" | ">=" as ordering, left, right, sort) if sort == INTEGERS:
                return ORDERINGS[ordering](self.integer(left, sigma), self.integer(right, sigma))
            case Compare(_, left, right):
                return compares(formula, value_of(left, sigma), value_of(right, sigma), state.schema)
            case Atom():
                refuse_unknown(formula.relation, state.schema)
                fact = Fact(formula.relation, tuple(self.value(term, sigma) for term in formula.args))
                return fact in (_primed(self.after) if formula.primed else state)
            case Use() | Derived():
                raise unexpanded(formula)
            case Not(body):
                return not here(body)
            case And(parts):
                return all(map(here, parts))
            case Or(parts):
                return any(map(here, parts))
            case Implies(left, right):
                return not here(left) or here(right)
            case Iff(left, right):
                return here(left) == here(right)
            case Exists(_, body):
                return any(self.holds(body, inner) for inner in self.instances(formula, sigma, True))
            case Forall(_, body):
                return all(self.holds(body, inner) for inner in self.instances(formula, sigma, False))
            case Count(comparison, number, _, body):
                count = sum(self.holds(body, inner) for inner in self.instances(formula, sigma, True))
                return {"atleast": count >= number, "atmost": count <= number, "exactly": count == number}[
                    comparison
                ]
            case Since() | Previously() | Did():
                raise unfollowed(formula)
            case Each() | Weight():
                raise ValueError(f"a part of a term is no formula: {formula}")
            case Same(relation):
                return _primed(self.after).tuples(relation) == state.tuples(relation)
            case Empty(relation):
                return not _primed(self.after).tuples(relation)
            case Next() | Future() | Globally() | Until():
                raise ValueError(f"temporal operator in a first-order formula: {formula}")
            case _:
                assert_never(formula)


def declared(schema: Schema, binder: Binder) -> tuple[Value, ...]:
    """Return the domain of the variable of `x in s`: all declared values of the finite sort."""
    values = schema.sort(binder.sort).values
    assert values is not None, f"{binder} ranges over a finite sort"
    return values


def compares(comparison: Compare, left: Value, right: Value, schema: Schema) -> bool:
    """Return True if the comparison holds between two values of its sort."""
    sort = schema.sort(comparison.sort)
    if sort.is_numeric:  # the value may also be an integer outside the sort that a step has written
        return ORDERINGS[comparison.ordering](int(left), int(right))
    return ORDERINGS[comparison.ordering](sort.rank[left], sort.rank[right])


ORDERINGS: Mapping[Ordering, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "succ": lambda i, j: i + 1 == j,
}


def value_of(term: Term, assignment: Mapping[str, _T]) -> _T | Value:
    """Return the value that a term denotes: a constant itself, a variable its assigned value.

    Raise `KeyError` for a variable without a value. Raise `TypeError` for a name of a raw formula, and for
    a sum or a tally, whose value depends on a state (`denoted_by`).
    """
    if isinstance(term, Var):
        return assignment[term.name]
    if isinstance(term, Const):
        return term.value
    if isinstance(term, Sum | Tally):
        raise TypeError(f"{term} is an integer that a state has, and no name of a value")
    raise unquantified(term) if isinstance(term, Wildcard) else unresolved(term)


def fact_of(atom: Atom, assignment: Mapping[str, Value], schema: Schema) -> Fact:
    """Return the fact that an atom, primed or not, denotes under an assignment.

    Raise the errors of `value_of`, and `TypeError` if the schema lacks the relation: the formula is over
    another schema, or is a raw one that uses a definition.
    """
    refuse_unknown(atom.relation, schema)
    return Fact(atom.relation, tuple(value_of(term, assignment) for term in atom.args))


def refuse_unknown(relation: str, schema: Schema) -> None:
    """Raise `TypeError` if the schema lacks the relation."""
    if not schema.has_relation(relation):
        raise TypeError(f"{relation} is no relation here; if it is a definition, {RESOLVE_FIRST}")


def _primed(after: Instance | None) -> Instance:
    if after is None:
        raise ValueError("a primed symbol is read outside `ensure`")
    return after
