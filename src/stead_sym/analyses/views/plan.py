"""Plan what will be looked at for every number of records.

The plan has the number of records of parts, the number of records of steps, and which specifications can be
shown so.

One decision: the numbers are those that `views.closure` takes, by the theorem of `views.steps`, so that what
is printed is what is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from types import MappingProxyType
from typing import Literal, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.needs import Needs, Number, Outside, within_bounds
from stead_sym.analyses.views.steps import read
from stead_sym.deployment.deployment import Deployment

How: TypeAlias = Literal["views", "watched", "not shown"]
"""``views``: the sentences of an AG are to be true in γ(V). ``watched``: they belong to a watched deployment.

A watched deployment has relations that remember (`views.watching`). ``not shown``: the specification is of
neither kind.
"""


@dataclass(frozen=True, slots=True)
class Look:
    """The steps of an alternative of a tool or event, looked at over ``total`` = x + m - v + g values.

    Parts have x values; ``named`` is m, ``written`` v, ``kept`` g. They are the numbers for the part that
    takes the most, or 0 if the alternative changes none. If a bound of a sort is assumed, ``total`` has no
    more values of it. ``outside`` says why its steps are not looked at, with the remedy.
    """

    tool: str
    event: bool
    alternative: int
    named: int = 0
    written: int = 0
    kept: int = 0
    total: int = 0
    outside: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """The way in which a specification is to be shown.

    If it is false anywhere, it is refuted over ``needs`` values. ``reason`` says why it is not shown.
    """

    how: How
    needs: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ViewsPlan:
    """The plan for every number of values of the ``sorts``: parts on ``ks`` of them, in this order.

    ``together`` has what is shown in the same induction, with invariants of the file. ``left_out`` has those
    that cannot be shown, with the reasons. ``agents`` describes for each agent which of its choices are
    looked at. The ``looks`` are for the first of ``ks``.
    """

    deployment: Deployment
    sorts: tuple[str, ...]
    ks: tuple[int, ...]
    looks: tuple[Look, ...]
    specs: Mapping[str, Sought]
    together: tuple[str, ...]
    left_out: Mapping[str, str]
    agents: Mapping[str, str]


def looks(deployment: Deployment, k: int, bounds: Mapping[str, int] = MappingProxyType({})) -> Iterator[Look]:
    """Yield the steps of each alternative that has statements, for parts on k values.

    The ``bounds`` of some sorts are assumed.
    """
    needs = Needs(deployment)
    sorts = [sort.name for sort in deployment.schema.sorts if needs.is_open(sort.name)]
    parts = tuple(map(Counter, combinations_with_replacement(sorts, k)))
    for tool in deployment.tools_and_events:
        for number, effect in enumerate(tool.effects, 1):
            if not effect.statements:
                continue
            found: list[Look] = []
            try:
                for x in parts:
                    named, kept, beside = read(needs, tool, effect, x)
                    for written in beside:
                        total = Counter(x)
                        total.update(named)
                        total.subtract(written)
                        if min(total.values(), default=0) >= 0:
                            m, v, g = named.total(), written.total(), kept.total()
                            n = within_bounds(total + kept, bounds).total()
                            found.append(Look(tool.name, tool.event, number, m, v, g, n))
            except Outside as error:
                yield Look(tool.name, tool.event, number, outside=str(error))
                continue
            nothing = Look(tool.name, tool.event, number)
            yield max(found, key=lambda one: one.total, default=nothing)


def needed(deployment: Deployment, sentences: tuple[fo.Expanded, ...]) -> Number:
    """Return the largest number of values needed to refute one of the sentences; raises `Outside`."""
    needs = Needs(deployment)
    return max((needs.refuted(sentence) for sentence in sentences), key=Counter.total, default=Counter())
