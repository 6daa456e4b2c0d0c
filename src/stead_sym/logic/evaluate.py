"""First-order satisfaction in an instance, clause by clause as in the paper.

Quantifiers range over the active domain; an atom with an inactive argument is false, since no fact holds it;
equality compares identifiers, active or not. A term with `+`, `-`, `count` or `sum` denotes an integer,
identified with the value that is its numeral. Over many values a quantifier tries only those that can decide
it (`logic.candidates`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.logic.candidates import MANY, worth_trying
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value

_T = TypeVar("_T")


def holds(
    formula: fo.Expanded,
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
    term: fo.Term,
    state: Instance,
    assignment: Mapping[str, Value],
    *,
    after: Instance | None = None,
    active: Mapping[str, Set[Value]] | None = None,
) -> Value:
    """Return the value that a term denotes in (D, σ); for `+`, `-`, `count` or `sum`, the integer's numeral.

    The arguments are those of `holds`.
    """
    if not fo.is_compound(term):
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
        self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Value], truth: bool
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
        self, formula: fo.Quantified, sigma: Mapping[str, Value], truth: bool
    ) -> Iterator[Mapping[str, Value]]:
        """Yield σ with each value of the variable with which the body can have this truth value."""
        binder = formula.binder
        return ({**sigma, binder.name: u} for u in self.range_of(binder, formula.body, sigma, truth))

    def value(self, term: fo.Term, sigma: Mapping[str, Value]) -> Value:
        """Return the value that a term denotes."""
        return str(self.integer(term, sigma)) if fo.is_compound(term) else value_of(term, sigma)

    def integer(self, term: fo.Term, sigma: Mapping[str, Value]) -> int:
        """Return the element of ℤ that a term denotes."""
        match term:
            case fo.Sum(left, "+", right):
                return self.integer(left, sigma) + self.integer(right, sigma)
            case fo.Sum(left, "-", right):
                return self.integer(left, sigma) - self.integer(right, sigma)
            case fo.Tally(each):
                return self.total(each, sigma)
            case _:
                return int(value_of(term, sigma))

    def total(self, each: fo.Formula, sigma: Mapping[str, Value]) -> int:
        """Return the sum of the term, or of 1, over the values that satisfy the condition."""
        if isinstance(each, fo.Each):
            return sum(self.total(each.body, inner) for inner in self.instances(each, sigma, True))
        assert isinstance(each, fo.Weight)
        if not self.holds(each.condition, sigma):
            return 0
        return sum(self.integer(term, sigma) for term in each.of) if each.of else 1

    def holds(self, formula: fo.Formula, sigma: Mapping[str, Value]) -> bool:
        """Return True if (D, σ) ⊨ f."""

        def here(f: fo.Formula) -> bool:
            return self.holds(f, sigma)

        state = self.state
        match formula:
            case fo.Truth(value):
                return value
            case fo.Equal(left, right):
                return self.value(left, sigma) == self.value(right, sigma)
            case fo.Compare("<" | "<=" | ">" | ">=" as ordering, left, right, sort) if sort == fo.INTEGERS:
                return ORDERINGS[ordering](self.integer(left, sigma), self.integer(right, sigma))
            case fo.Compare(_, left, right):
                return compares(formula, value_of(left, sigma), value_of(right, sigma), state.schema)
            case fo.Atom():
                refuse_unknown(formula.relation, state.schema)
                fact = Fact(formula.relation, tuple(self.value(term, sigma) for term in formula.args))
                return fact in (_primed(self.after) if formula.primed else state)
            case fo.Use() | fo.Derived():
                raise fo.unexpanded(formula)
            case fo.Not(body):
                return not here(body)
            case fo.And(parts):
                return all(map(here, parts))
            case fo.Or(parts):
                return any(map(here, parts))
            case fo.Implies(left, right):
                return not here(left) or here(right)
            case fo.Iff(left, right):
                return here(left) == here(right)
            case fo.Exists(_, body):
                return any(self.holds(body, inner) for inner in self.instances(formula, sigma, True))
            case fo.Forall(_, body):
                return all(self.holds(body, inner) for inner in self.instances(formula, sigma, False))
            case fo.Count(comparison, number, _, body):
                count = sum(self.holds(body, inner) for inner in self.instances(formula, sigma, True))
                return {"atleast": count >= number, "atmost": count <= number, "exactly": count == number}[
                    comparison
                ]
            case fo.Since() | fo.Previously() | fo.Did():
                raise fo.unfollowed(formula)
            case fo.Each() | fo.Weight():
                raise ValueError(f"a part of a term is no formula: {formula}")
            case fo.Same(relation):
                return _primed(self.after).tuples(relation) == state.tuples(relation)
            case fo.Empty(relation):
                return not _primed(self.after).tuples(relation)
            case fo.Next() | fo.Future() | fo.Globally() | fo.Until():
                raise ValueError(f"temporal operator in a first-order formula: {formula}")
            case _:
                assert_never(formula)


def declared(schema: Schema, binder: fo.Binder) -> tuple[Value, ...]:
    """Return the domain of the variable of `x in s`: all declared values of the finite sort."""
    values = schema.sort(binder.sort).values
    assert values is not None, f"{binder} ranges over a finite sort"
    return values


def compares(comparison: fo.Compare, left: Value, right: Value, schema: Schema) -> bool:
    """Return True if the comparison holds between two values of its sort."""
    sort = schema.sort(comparison.sort)
    if sort.is_numeric:  # the value may also be an integer outside the sort that a step has written
        return ORDERINGS[comparison.ordering](int(left), int(right))
    return ORDERINGS[comparison.ordering](sort.rank[left], sort.rank[right])


ORDERINGS: Mapping[fo.Ordering, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "succ": lambda i, j: i + 1 == j,
}


def value_of(term: fo.Term, assignment: Mapping[str, _T]) -> _T | Value:
    """Return the value that a term denotes: a constant itself, a variable its assigned value.

    Raise `KeyError` for a variable without a value. Raise `TypeError` for a name of a raw formula, and for
    a sum or a tally, whose value depends on a state (`denoted_by`).
    """
    if isinstance(term, fo.Var):
        return assignment[term.name]
    if isinstance(term, fo.Const):
        return term.value
    if isinstance(term, fo.Sum | fo.Tally):
        raise TypeError(f"{term} is an integer that a state has, and no name of a value")
    raise fo.unquantified(term) if isinstance(term, fo.Wildcard) else fo.unresolved(term)


def fact_of(atom: fo.Atom, assignment: Mapping[str, Value], schema: Schema) -> Fact:
    """Return the fact that an atom, primed or not, denotes under an assignment.

    Raise the errors of `value_of`, and `TypeError` if the schema lacks the relation: the formula is over
    another schema, or is a raw one that uses a definition.
    """
    refuse_unknown(atom.relation, schema)
    return Fact(atom.relation, tuple(value_of(term, assignment) for term in atom.args))


def refuse_unknown(relation: str, schema: Schema) -> None:
    """Raise `TypeError` if the schema lacks the relation."""
    if not schema.has_relation(relation):
        raise TypeError(f"{relation} is no relation here; if it is a definition, {fo.RESOLVE_FIRST}")


def _primed(after: Instance | None) -> Instance:
    if after is None:
        raise ValueError("a primed symbol is read outside `ensure`")
    return after


def solutions(
    formula: fo.Expanded,
    domains: Mapping[str, Collection[Value]],
    state: Instance,
    assignment: Mapping[str, Value],
) -> Iterator[Mapping[str, Value]]:
    """Yield the σ' ⊇ σ with (D, σ') ⊨ f that give each variable of ``domains`` a value of its domain.

    σ is the assignment; a variable of ``domains`` shadows its own there. The order is that of the domains.
    Variables get values one after the other. A conjunct is decided as soon as all of its variables have
    values.
    """
    names = tuple(domains)
    place = {name: number for number, name in enumerate(names, start=1)}
    decided: list[list[fo.Formula]] = [[] for _ in range(len(names) + 1)]
    for part in fo.conjuncts(formula):
        decided[max((place.get(name, 0) for name in fo.free_variables(part)), default=0)].append(part)

    def extended(sigma: Mapping[str, Value], number: int) -> Iterator[Mapping[str, Value]]:
        if not all(holds(part, state, sigma) for part in decided[number]):
            return
        if number == len(names):
            yield sigma
            return
        name = names[number]
        for value in sorted(worth_trying(domains[name], formula, name, state, sigma)):
            yield from extended({**sigma, name: value}, number + 1)

    return extended({name: value for name, value in assignment.items() if name not in domains}, 0)
