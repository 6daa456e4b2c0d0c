"""Enumerate the values of variables for which a first-order formula holds in an instance.

One decision: variables get values one after the other. Of many values those are tried with which the formula
can be true (`logic.candidates`), and a conjunct is decided as soon as all of its variables have values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import stead_sym.logic.syntax as fo
from stead_sym.logic.candidates import worth_trying
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


def solutions(
    formula: fo.Expanded,
    domains: Mapping[str, Collection[Value]],
    state: Instance,
    assignment: Mapping[str, Value],
) -> Iterator[Mapping[str, Value]]:
    """Yield the σ' ⊇ σ with (D, σ') ⊨ f that give each variable of ``domains`` a value of its domain.

    σ is the assignment; a variable of ``domains`` shadows its own there. The order is that of the domains.
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
