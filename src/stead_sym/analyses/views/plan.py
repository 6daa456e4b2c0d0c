"""What will be looked at for every number of records, before anything is: parts on how many records, steps
over how many, and which specifications can be shown so.

One decision: the numbers are those that `views.closure` takes, by the theorem of `views.steps`, so that what
is printed is what is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Literal, TypeAlias

from stead_sym.analyses.views.needs import Needs, Number, Outside
from stead_sym.analyses.views.steps import read
from stead_sym.deployment.deployment import Deployment
from stead_sym.logic.syntax import Expanded

How: TypeAlias = Literal["views", "watched", "not shown"]
"""``views``: the sentences of an AG are to be true in γ(V). ``watched``: they are those of a deployment with
relations that remember (`views.watching`). ``not shown``: it is of no such kind."""


@dataclass(frozen=True, slots=True)
class Look:
    """The steps of an alternative of a tool or event, looked at over ``total`` = x + m - v + g values for
    parts on x: ``named`` is m, ``written`` v, ``kept`` g. They are those of the part that takes the most; 0
    where it changes none. ``outside`` says why its steps are not looked at, and what to write instead."""

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
    """How a specification is to be shown; ``needs``: over so many values it is refuted if it is false
    anywhere. ``reason`` says why it is not."""

    how: How
    needs: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ViewsPlan:
    """What will be looked at for every number of values of the ``sorts``: parts on ``ks`` of them, one number
    after the other. ``together`` is what is shown in the same induction, invariants of the file included, and
    ``left_out`` has those that cannot be, with the reasons. ``agents`` says of each what of its choices is
    looked at. The ``looks`` are for the first of ``ks``."""

    deployment: Deployment
    sorts: tuple[str, ...]
    ks: tuple[int, ...]
    looks: tuple[Look, ...]
    specs: Mapping[str, Sought]
    together: tuple[str, ...]
    left_out: Mapping[str, str]
    agents: Mapping[str, str]


def looks(deployment: Deployment, k: int) -> Iterator[Look]:
    """The steps of each alternative that does something, for parts on k values."""
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
                            found.append(Look(tool.name, tool.event, number, m, v, g, total.total() + g))
            except Outside as error:
                yield Look(tool.name, tool.event, number, outside=str(error))
                continue
            nothing = Look(tool.name, tool.event, number)
            yield max(found, key=lambda one: one.total, default=nothing)


def needed(deployment: Deployment, sentences: tuple[Expanded, ...]) -> Number:
    """The most values of an instance in which one of the sentences is false, if one is. Raises `Outside`."""
    needs = Needs(deployment)
    return max((needs.refuted(sentence) for sentence in sentences), key=Counter.total, default=Counter())
