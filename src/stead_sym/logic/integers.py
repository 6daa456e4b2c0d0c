"""Linear comparisons of integers, Σ cᵢ·aᵢ + c = 0 or ≤ 0, and their decision.

An aᵢ is a variable or a tally. The callers, which read the kernel, translate each of them to *items*. An item
is a sequence of mutually exclusive propositions, each with a weight; its value is the weight of the true one,
or 0 if none is true. A tally `sum t for x. f` is an item for each value of x: [f] · t.

One decision: the sum is computed item by item, and only the partial sums that the remaining items leave
undecided are distinguished. A sum that is decided whatever the remaining items add is `yes` or `no`. So N
items with weights ≥ 0 compared with a limit L have at most N · (L + 1) partial sums. The bits of numbers, the
most significant first, have a few for each bit, which are the carries of an adder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import stead_sym.logic.syntax as fo
from stead_sym.logic.evaluate import value_of
from stead_sym.relational.schema import Schema

_P = TypeVar("_P")

Item: TypeAlias = Sequence[tuple[_P, int]]
"""Mutually exclusive propositions with their weights."""


@dataclass(frozen=True, slots=True)
class Linear:
    """The comparison Σ cᵢ·aᵢ + constant ⋈ 0; no cᵢ is 0, and the aᵢ are distinct."""

    ordering: Literal["=", "<="]
    parts: tuple[tuple[fo.Var | fo.Tally, int], ...]
    constant: int


def linear(formula: fo.Equal | fo.Compare) -> Linear | None:
    """Return the linear form of a comparison of integers; None for any other formula.

    A comparison of two values of one sort has none. For an equality of two variables only their scope decides
    if they have two sorts (`linear_in`).
    """
    if isinstance(formula, fo.Equal):
        if fo.is_compound(formula.left) or fo.is_compound(formula.right):
            return difference("=", formula.left, formula.right)
        return None
    if formula.known_sort != fo.INTEGERS:
        return None
    match formula.ordering:
        case "<":
            return difference("<=", formula.left, formula.right, 1)
        case "<=":
            return difference("<=", formula.left, formula.right)
        case ">":
            return difference("<=", formula.right, formula.left, 1)
        case ">=":
            return difference("<=", formula.right, formula.left)
        case _:
            raise AssertionError("`succ` stays within a sort")


def linear_in(formula: fo.Equal | fo.Compare, scope: Mapping[str, Any], schema: Schema) -> Linear | None:
    """Return the linear form of a comparison, where a variable denotes a value or a vector with a sort.

    Raise `TypeError` for an equality across two sorts that are not both sorts of integers.
    """
    if (form := linear(formula)) is not None or isinstance(formula, fo.Compare):
        return form
    sides = (value_of(term, scope) for term in (formula.left, formula.right))
    sorts = {side.sort for side in sides if not isinstance(side, str)}
    if len(sorts) < 2:
        return None
    if not all(schema.sort(sort).is_numeric for sort in sorts):
        raise TypeError(f"{formula} is of sorts {' and '.join(sorted(sorts))}, which have no value in common")
    return difference("=", formula.left, formula.right)


def difference(ordering: Literal["=", "<="], left: fo.Term, right: fo.Term, constant: int = 0) -> Linear:
    """Return left − right + constant ⋈ 0."""
    parts, own = coefficients(fo.Sum(left, "-", right))
    return Linear(ordering, tuple(parts.items()), own + constant)


def coefficients(term: fo.Term, factor: int = 1) -> tuple[Mapping[fo.Var | fo.Tally, int], int]:
    """Return the term as Σ cᵢ·aᵢ + c, multiplied by a factor."""
    found, constant = Counter[fo.Var | fo.Tally](), 0
    todo = [(term, factor)]
    while todo:
        one, times = todo.pop()
        match one:
            case fo.Sum(left, sign, right):
                todo += [(right, times if sign == "+" else -times), (left, times)]
            case fo.Const(value):
                constant += times * int(value)
            case fo.Var() | fo.Tally():
                found[one] += times
            case _:
                raise TypeError(f"{one} is no integer of a resolved formula")
    return {part: times for part, times in found.items() if times}, constant


def grounded(
    form: Linear,
    sigma: Mapping[str, Any],
    instances: Callable[[fo.Binder, fo.Formula, Mapping[str, Any]], Iterator[tuple[_P, str]]],
    holds: Callable[[fo.Formula, Mapping[str, Any]], _P],
    both: Callable[[_P, _P], _P],
    spread: Callable[[Any], Item[_P]] | None = None,
) -> tuple[list[Item[_P]], int]:
    """Return the items and the constant of a comparison in which every variable in scope has a value.

    ``instances`` yields the values of a variable, each with the proposition under which it has them;
    ``holds`` returns the proposition that a formula is true. ``spread`` returns the item of a variable in
    scope that denotes several values instead of one.
    """
    items: list[Item[_P]] = []
    constant = form.constant

    def add(term: fo.Term, factor: int, scope: Mapping[str, Any], where: _P | None) -> None:
        nonlocal constant
        parts, own = coefficients(term, factor)
        for part, times in parts.items():
            if isinstance(part, fo.Var):
                value = scope[part.name]
                if spread is None or isinstance(value, str):
                    own += times * int(value)
                else:
                    items.append(
                        [(p if where is None else both(where, p), times * k) for p, k in spread(value)]
                    )
            else:
                tally(part.each, times, scope, where)
        if where is None:
            constant += own
        elif own:
            items.append([(where, own)])

    def tally(each: fo.Formula, factor: int, scope: Mapping[str, Any], where: _P | None) -> None:
        if isinstance(each, fo.Each):
            for there, value in instances(each.binder, each.body, scope):
                inner = there if where is None else both(where, there)
                tally(each.body, factor, {**scope, each.binder.name: value}, inner)
        else:
            assert isinstance(each, fo.Weight)
            here = holds(each.condition, scope)
            here = here if where is None else both(where, here)
            for term in each.of or (fo.Const("1"),):
                add(term, factor, scope, here)

    for part, times in form.parts:
        add(part, times, sigma, None)
    return items, constant


def decided(
    ordering: Literal["=", "<="],
    constant: int,
    items: Sequence[Item[_P]],
    ite: Callable[[_P, _P, _P], _P],
    yes: _P,
    no: _P,
) -> _P:
    """Return the proposition that the sum of the items and the constant is 0, or ≤ 0.

    ``ite(c, f, g)`` is f if c holds, and g otherwise; items that come first are tested first.
    """
    least, most = [0], [0]  # the minimum and the maximum sum of the items from each position on
    for item in reversed(items):
        least.append(least[-1] + min(0, *(weight for _, weight in item)))
        most.append(most[-1] + max(0, *(weight for _, weight in item)))
    least.reverse()
    most.reverse()

    def settled(position: int, total: int) -> bool | None:
        low, high = total + least[position], total + most[position]
        if ordering == "<=":
            return True if high <= 0 else False if low > 0 else None
        return False if not low <= 0 <= high else True if low == high else None

    open_totals: list[set[int]] = [{constant}]  # the undecided partial sums before each item
    for position, item in enumerate(items):
        here = {total for total in open_totals[-1] if settled(position, total) is None}
        open_totals[-1] = here
        steps = {0, *(weight for _, weight in item)}
        open_totals.append({total + step for total in here for step in steps})
    known: dict[int, _P] = {}

    def value(position: int, total: int) -> _P:
        truth = settled(position, total)
        return known[total] if truth is None else yes if truth else no

    for position in reversed(range(len(items))):
        now: dict[int, _P] = {}
        for total in sorted(open_totals[position]):
            result = value(position + 1, total)
            for where, weight in items[position]:
                result = ite(where, value(position + 1, total + weight), result)
            now[total] = result
        known = now
    return value(0, constant)
