"""Over-approximate the values of a variable for which a formula can be true, or false, in an instance.

One decision: candidates only restrict an enumeration. Whether a formula holds is decided by `evaluate` alone,
and small sets of values are not restricted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

Pattern: TypeAlias = tuple[Value | None, ...]
"""Arguments of an atom, with None for any value."""
Matching: TypeAlias = Callable[[fo.Atom, Pattern], Iterable[tuple[Value, ...]] | None]
"""A function from an atom and a pattern to the tuples of its facts that match; None if they are unknown."""

MANY = 16
"""The minimum number of values for which candidates are computed."""

FEW = 4
"""The maximum number of values of a bound variable that are tried one by one."""


def worth_trying(
    values: Collection[Value],
    formula: fo.Formula,
    name: str,
    state: Instance,
    assignment: Mapping[str, Value],
    truth: bool = True,
) -> Collection[Value]:
    """Return the values with which the formula can have this truth value in the state.

    The values are those of the variable ``name``. A value is left out only if the formula does not have the
    truth value for any values of the variables that ``assignment`` lacks.
    """
    if len(values) < MANY:
        return values
    known = {other: value for other, value in assignment.items() if other != name}
    found = candidates(formula, name, facts_of(state), known, truth)
    if found is None:
        return values
    return found & values if isinstance(values, frozenset) else [value for value in values if value in found]


def facts_of(state: Instance) -> Matching:
    """Return the matching function of an instance; primed symbols and unknown relations give None."""

    def matching(atom: fo.Atom, pattern: Pattern) -> Iterable[tuple[Value, ...]] | None:
        known = not atom.primed and state.schema.has_relation(atom.relation)
        return state.matching(atom.relation, pattern) if known else None

    return matching


def candidates(
    formula: fo.Formula, name: str, matching: Matching, assignment: Mapping[str, Value], truth: bool = True
) -> frozenset[Value] | None:
    """Return a superset of the values u with (D, σ[x ↦ u]) ⊨ f; None if f restricts nothing.

    x is the variable ``name``. The variables that σ lacks may have any values. If ``truth`` is False, ⊭
    replaces ⊨.
    """

    def of(part: fo.Formula, wanted: bool = truth) -> frozenset[Value] | None:
        return candidates(part, name, matching, assignment, wanted)

    match formula:
        case fo.Truth(value):
            return None if value == truth else frozenset()
        case fo.Atom(_, terms) if truth and fo.Var(name) in terms:
            place = terms.index(fo.Var(name))
            tuples = matching(formula, tuple(_value(term, assignment) for term in terms))
            return None if tuples is None else frozenset(args[place] for args in tuples)
        case fo.Equal(left, right) if truth and fo.Var(name) in (left, right):
            same = _value(right if left == fo.Var(name) else left, assignment)
            return None if same is None else frozenset({same})
        case fo.Not(body):
            return of(body, not truth)
        case fo.And(parts) | fo.Or(parts):
            return _all(map(of, parts)) if isinstance(formula, fo.And) == truth else _some(map(of, parts))
        case fo.Implies(left, right):
            sides = (of(*side) for side in ((left, not truth), (right, truth)))
            return _some(sides) if truth else _all(sides)
        case fo.Weight(_, condition) if truth:
            return of(condition)
        case fo.Exists(binder, body) | fo.Each(binder, body) if truth and binder.name != name:
            return _of_quantifier(binder.name, body, name, matching, assignment, truth)
        case fo.Forall(binder, body) if not truth and binder.name != name:
            return _of_quantifier(binder.name, body, name, matching, assignment, truth)
        case _:
            return None


def _of_quantifier(
    bound: str,
    body: fo.Formula,
    name: str,
    matching: Matching,
    assignment: Mapping[str, Value],
    truth: bool,
) -> frozenset[Value] | None:
    """Return a superset of the values with which the body has this truth value for some value of ``bound``.

    If they are many, and few values of ``bound`` can do, they are found for each of these.
    """
    rest = {other: value for other, value in assignment.items() if other != bound}
    found = candidates(body, name, matching, rest, truth)
    if found is None or len(found) < MANY:
        return found
    few = candidates(body, bound, matching, rest, truth)
    if few is None or len(few) > FEW:
        return found
    return _some(candidates(body, name, matching, {**rest, bound: value}, truth) for value in few)


def _value(term: fo.Term, assignment: Mapping[str, Value]) -> Value | None:
    if isinstance(term, fo.Const):
        return term.value
    return assignment.get(term.name) if isinstance(term, fo.Var) else None


def _all(sets: Iterable[frozenset[Value] | None]) -> frozenset[Value] | None:
    """Return the intersection of the known sets, None if none is known; stop early at one value or none."""
    found: frozenset[Value] | None = None
    for values in sets:
        if values is not None:
            found = values if found is None else found & values
            if len(found) <= 1:
                break
    return found


def _some(sets: Iterable[frozenset[Value] | None]) -> frozenset[Value] | None:
    """Return the union of the sets, None if one of them is unknown."""
    union: frozenset[Value] = frozenset()
    for values in sets:
        if values is None:
            return None
        union |= values
    return union
