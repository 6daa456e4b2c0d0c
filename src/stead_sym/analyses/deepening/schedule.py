"""Order of the bounds that are tried, from the least on.

One decision: bounds that differ by sort come before all are raised to the same number. A run may need many
values of one sort and few of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from types import MappingProxyType
from typing import Protocol

import stead_sym.logic.syntax as fo
from stead_sym.analyses.deepening.fragment import Bounds, initial_bounds
from stead_sym.analyses.deepening.result import Round
from stead_sym.analyses.views.needs import Outside
from stead_sym.analyses.views.shown import always
from stead_sym.analyses.views.steps import needed
from stead_sym.deployment.deployment import Deployment


class Explored(Protocol):
    """The fragments explored so far, on which the next bounds depend."""

    @property
    def rounds(self) -> Collection[Round]:
        """The fragments."""

    @property
    def growing(self) -> tuple[str, ...]:
        """The sorts whose bounds are to be raised after the last fragment."""

    @property
    def open_formulas(self) -> Collection[fo.Expanded]:
        """The formulas of the specifications that a fragment may decide."""

    @property
    def is_done(self) -> bool:
        """True if a fragment was explored and no other can decide anything."""


def bounds_to_try(deployment: Deployment, limit: int, explored: Explored) -> Iterator[Bounds]:
    """Yield the bounds to try up to the limit, each after the fragment with the last was explored."""
    raised = deployment.unbounded or frozenset(deployment.bounds)
    bounds = {**dict.fromkeys(deployment.bounds, 0), **initial_bounds(deployment)}
    # one more than the claim, so that a run that exceeds the claim is explored
    bounds |= {s: b + 1 for s, b in deployment.bounds.items() if s not in raised}
    level = 0
    while True:
        yield MappingProxyType(dict(bounds))
        open_ = [sort for sort in explored.growing if sort in raised]
        if not open_ or explored.is_done:
            return
        growing = [sort for sort in open_ if bounds[sort] < level]
        if not growing:
            level = min(bounds[sort] for sort in open_) + 1
            growing = [sort for sort in open_ if bounds[sort] < level]
        if any(bounds[sort] >= limit for sort in growing):
            return
        if level > 1 and deployment.unbounded:
            apart = {sort: bounds[sort] for sort in open_}
            yield from _bounds_apart(deployment, limit, explored, apart, bounds, level)
            if explored.is_done:
                return
        bounds.update({sort: bounds[sort] + 1 for sort in growing})


def _bounds_apart(
    deployment: Deployment, limit: int, explored: Explored, open_: Bounds, bounds: Bounds, level: int
) -> Iterator[Bounds]:
    """Yield bounds that differ by sort, of fewer values first, before all are raised to a level.

    The bounds start from what a specification needs to be false, and continue with the sorts that some run
    exceeds.
    """
    todo: set[tuple[int, tuple[int, ...]]] = set()  # the added number of values, the bounds
    for formula in explored.open_formulas if len(open_) > 1 else ():
        with suppress(Outside):
            need = needed(deployment, always(formula) or ())
            todo.add((0, tuple(min(max(1, need[sort]), limit) for sort in open_)))
    while todo and not explored.is_done:
        more, numbers = least = min(todo, key=lambda one: (sum(one[1]), one))
        todo.remove(least)
        tried, growing = {**bounds, **dict(zip(open_, numbers, strict=True))}, tuple(open_)
        if not any(all(tried[sort] <= seen.bounds[sort] for sort in tried) for seen in explored.rounds):
            yield MappingProxyType(tried)
            growing = explored.growing
        for place, sort in enumerate(open_):
            wider = (*numbers[:place], numbers[place] + 1, *numbers[place + 1 :])
            is_within = numbers[place] < limit and sum(wider) <= level * len(open_)
            if sort in growing and more < level and is_within:
                todo.add((more + 1, wider))
