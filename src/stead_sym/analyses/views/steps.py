"""Bound the number of values over which a step has to be looked at.

Theorem. Let D → D' by an alternative of a call or an event, and X be a set of x values outside C such that
D'↾X ≠ D↾X. There is Y ⊇ X ∩ ad(D) such that D↾Y → E by the same call, with the same choices and fresh
values, and E↾X = D'↾X, and for one of the statements s Y has at most

    x + m − v_s + g

values. All of these are numbers of values by sort. m is the number of parameters and chosen variables of open
sorts, v_s the number of parameters, chosen and fresh variables of open sorts in the fact that s inserts or
deletes, and g what is kept: what the guard and `when` need (`views.needs`), each `where` of a `choose`, the
values that make parameters and chosen values active, and what each statement needs, to insert or delete the
same facts over X ∪ C: what keeps its condition true, and what keeps it false, for each assignment of such
values to the binders in its atom, and for an insertion what makes these active. Where only the facts of some
relations are asked for in D'↾X, the same goes for the statements about these relations. The proof is in
`docs/theory.md`.

From these numbers follows what will be looked at for every number of records (`ViewsPlan`): the records of
parts and of steps, and which specifications can be shown so. `views.closure` takes the same numbers, so that
what is printed is what is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement
from math import prod
from operator import or_
from types import MappingProxyType
from typing import Literal, TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.needs import Needs, Number, Outside, within_bounds
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Assign, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.deployment.witnesses import is_old
from stead_sym.logic.kernel import core

How: TypeAlias = Literal["views", "watched", "not shown"]
"""``views``: the sentences of an AG are to be true in γ(V). ``watched``: they belong to a watched deployment.

A watched deployment has relations that remember (`views.watching`). ``not shown``: the specification is of
neither kind.
"""


def values(
    needs: Needs,
    tool: Tool,
    effect: Effect,
    parts: Iterable[Number],
    relations: Collection[str] | None = None,
) -> Iterator[Number]:
    """Yield the numbers of values of each sort over which a step has to be looked at, for such parts.

    With ``relations`` they are for the facts of these relations in such parts. Yields nothing if the
    alternative changes nothing there. Raises `Outside`, as for an `ensure`.
    """
    named, fixed, beside, changing = _read(needs, tool, effect, relations)
    for x in parts:
        kept = _with_changes(needs, fixed, changing, x)
        for written in beside:
            y = Counter(x)
            y.update(named)
            y.subtract(written)
            if min(y.values(), default=0) >= 0:  # else X has not all fresh values of the fact
                yield y + kept


def fewer(needs: Needs, tool: Tool) -> str:
    """Return the remedy so that the steps of a tool rest on fewer values.

    A parameter that no condition ties to a fact takes the values that may stand beside it.
    """
    said: list[fo.Formula] = [tool.guard, *(effect.when for effect in tool.effects)]
    for param in tool.params:
        holding = [r for r in needs.schema.relations if param.sort in r.sorts]
        if needs.is_open(param.sort) and holding and not _says(param.name, said):
            first = min(holding, key=lambda relation: relation.arity)
            args = ["_"] * first.arity
            args[first.sorts.index(param.sort)] = param.name
            return f"name {param.name} in its guard by a fact, as `{first.name}({', '.join(args)})`"
    return "ask for fewer records at once in its conditions, or write a bound"


def _with_changes(needs: Needs, kept: Number, changing: Iterable[Insert | Delete], x: Number) -> Number:
    """Return g, given what it has that depends on no part."""
    return sum((_changes(needs, statement, x) for statement in changing), kept)


def _read(
    needs: Needs, tool: Tool, effect: Effect, relations: Collection[str] | None
) -> tuple[Number, Number, list[Number], list[Insert | Delete]]:
    """Return m, what g has for every part, the v_s, and the statements that need more for larger parts."""
    if not effect.statements:
        return Counter(), Counter(), [], []
    named: Number = Counter(param.sort for param in tool.params if needs.is_open(param.sort))
    said: list[fo.Formula] = [tool.guard, effect.when]
    kept = needs.kept(tool.guard) + needs.kept(effect.when)
    beside: list[Number] = []
    changing: list[Insert | Delete] = []
    for statement in effect.statements:
        match statement:
            case Choose(binder, where):
                kept += needs.kept(where)
                if needs.is_open(binder.sort):
                    named[binder.sort] += 1
                    kept += Counter() if _says(binder.name, [where]) else needs.active(binder.sort)
            case Fresh():
                pass
            case Insert(atom) | Delete(atom) if relations is not None and atom.relation not in relations:
                pass
            case Insert() | Delete():
                sorts = needs.schema.relation(statement.atom.relation).sorts
                bound = {b.name for b in statement.binders}
                variables = {
                    (term.name, sort)
                    for term, sort in zip(statement.atom.args, sorts, strict=True)
                    if isinstance(term, fo.Var) and term.name not in bound and needs.is_open(sort)
                }
                beside.append(Counter(sort for _, sort in variables))
                if any(fo.Var(binder.name) in statement.atom.args for binder in statement.binders):
                    changing.append(statement)
                else:
                    kept += _changes(needs, statement, Counter())
            case Clear(cleared):
                if relations is None or not set(cleared).isdisjoint(relations):
                    beside.append(Counter())
            case Ensure():
                raise Outside(
                    f"the effect of {tool.name} is an `ensure`; write `insert` and `delete` statements",
                    statement.span,
                )
            case Assign():
                raise AssertionError(f"{statement} is not expanded")
            case _:
                assert_never(statement)
    for param in tool.params:
        if needs.is_open(param.sort) and not _says(param.name, said):
            kept += needs.active(param.sort)
    return named, kept, beside, changing


def _says(name: str, formulas: Iterable[fo.Expanded]) -> bool:
    """Return whether one of the formulas states in a fact that the value of a variable is active."""
    return any(is_old(f, name, frozenset()) for f in formulas)


def _changes(needs: Needs, statement: Insert | Delete, x: Number) -> Number:
    """Return what an insertion or deletion needs to do the same to all facts over x values and C."""
    args = statement.atom.args
    sizes: dict[str, int] = {}
    condition: fo.Expanded = statement.where
    for binder in statement.binders:
        if fo.Var(binder.name) in args:
            sizes[binder.name] = _range(needs, binder, x)
        else:
            condition = fo.Exists(binder, condition)
    sides: list[Number] = []
    for positive in (True, False):
        side: Number = Counter()
        for (names, sort), each in needs.of(condition, positive, every=bool(sizes)).items():
            side[sort] += each * prod(sizes[name] for name in names & sizes.keys())
        sides.append(side)
    total = sides[0] + sides[1] if sizes else reduce(or_, sides)
    if isinstance(statement, Insert):
        for binder in statement.binders:
            if binder.name in sizes and not is_old(core(condition), binder.name, frozenset()):
                for sort, each in needs.active(binder.sort).items():
                    total[sort] += each * sizes[binder.name]
    return total


def _range(needs: Needs, binder: fo.Binder, x: Number) -> int:
    """Return how many values a binder of a fact over x values and C may have."""
    return len(needs.deployment.constants[binder.sort]) + x[binder.sort]


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
                    named, fixed, beside, changing = _read(needs, tool, effect, None)
                    kept = _with_changes(needs, fixed, changing, x)
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
