"""The truth of a formula in one state: in its database, the step into it, and what was before.

A *state* is a database, the last step as far as some formula that counts asks for it, and the truth of each
``since`` and ``previously`` for all assignments of active values and constants.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import product
from typing import Any

from language3 import (
    Atom,
    Binary,
    Binder,
    Compare,
    Count,
    Deployment,
    Did,
    Formula,
    Named,
    Not,
    Past,
    Quantified,
    Since,
    Sum,
    Sum2,
    Term,
    Truth,
    Value,
    Var,
    Wild,
    below,
)

Datum = str | int
Fact = tuple[str, tuple[Datum, ...]]
Facts = frozenset[Fact]
Call = tuple[str, tuple[Datum, ...]]
Env = Mapping[Var, Datum]
Assignment = tuple[Datum, ...]

COMPARED: dict[str, Callable[..., bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
JOINED: dict[str, Callable[[bool, bool], bool]] = {
    "&": lambda f, g: f and g,
    "|": lambda f, g: f or g,
    "->": lambda f, g: not f or g,
    "<->": operator.eq,
}
COUNTED: dict[str, Callable[[int, int], bool]] = {
    "atleast": operator.ge,
    "atmost": operator.le,
    "exactly": operator.eq,
}


@dataclass(frozen=True)
class State:
    """``step`` is (tool, arguments, agent or None); ``past`` has (number of a formula, values) where true."""

    facts: Facts
    step: tuple[str, tuple[Datum, ...], str | None] | None = None
    past: frozenset[tuple[int, Assignment]] = frozenset()


@dataclass(frozen=True)
class Reading:
    """The point at which a formula is read: facts, what quantifiers range over, and the state with its step
    and past."""

    facts: Facts
    active: Mapping[str, frozenset[Datum]]
    state: State


def expanded(node: Any, d: Deployment) -> Any:
    """With atoms by position in place of named ones, and ``since`` for ``once`` and ``historically``."""
    match node:
        case Named(relation, columns):
            given = dict(columns)
            terms = (given.get(column.name, Wild()) for column in d.relation[relation].columns)
            return Atom(relation, tuple(expanded(term, d) for term in terms))
        case Past("once", body):
            return Since(Truth(True), expanded(body, d))
        case Past("historically", body):
            return Not(Since(Truth(True), Not(expanded(body, d))))
        case tuple():
            return tuple(expanded(each, d) for each in node)
        case _ if is_dataclass(node):
            parts = {
                entry.name: expanded(getattr(node, entry.name), d) for entry in fields(node) if entry.init
            }
            return replace(node, **parts)
        case _:
            return node


def free(node: object) -> frozenset[Var]:
    """The free variables of a term or formula."""
    match node:
        case Var():
            return frozenset([node])
        case Quantified(_, binder, body):
            return free(body) - {binder.var}
        case Count(binders, body):
            return free(body) - {binder.var for binder in binders}
        case Sum(term, binders, body):
            return (free(term) | free(body)) - {binder.var for binder in binders}
        case _:
            return frozenset[Var]().union(*map(free, below(node)))


class Truths:
    """The formulas of an expanded deployment; ``pasts`` are those about the past, inner ones first."""

    def __init__(self, d: Deployment, pasts: list[Formula]) -> None:
        self.d, self.pasts = d, pasts
        self.ranks = {v: i for sort in d.sorts if sort.values for i, v in enumerate(sort.values)}
        self.number = {g: i for i, g in enumerate(pasts)}
        self.over = [tuple(sorted(free(g), key=lambda v: v.name)) for g in pasts]

    def active(self, facts: Facts) -> dict[str, frozenset[Datum]]:
        found: dict[str, set[Datum]] = {sort.name: set() for sort in self.d.sorts}
        for relation, row in facts:
            for column, value in zip(self.d.relation[relation].columns, row, strict=True):
                found[column.sort].add(value)
        return {sort: frozenset(values) for sort, values in found.items()}

    def reading(self, state: State) -> Reading:
        return Reading(state.facts, self.active(state.facts), state)

    def range(self, binder: Binder, at: Reading) -> list[Datum]:
        values = self.d.sort[binder.var.sort].values if binder.declared else at.active[binder.var.sort]
        return sorted(values or (), key=str)

    def tuples(self, binders: tuple[Binder, ...], at: Reading, env: Env) -> Iterator[Env]:
        for values in product(*(self.range(binder, at) for binder in binders)):
            yield {**env, **dict(zip((binder.var for binder in binders), values, strict=True))}

    def value(self, term: Term, at: Reading, env: Env) -> Datum:
        match term:
            case Var():
                return env[term]
            case Value(value):
                return value
            case Sum2(op, left, right):
                u, v = self.value(left, at, env), self.value(right, at, env)
                assert isinstance(u, int)
                assert isinstance(v, int)
                return u + v if op == "+" else u - v
            case Count(binders, body):
                return sum(self.holds(body, at, e) for e in self.tuples(binders, at, env))
            case Sum(of, binders, body):
                found = self.tuples(binders, at, env)
                return sum(int(self.value(of, at, e)) for e in found if self.holds(body, at, e))
        raise TypeError(term)

    def matches(self, args: tuple[Term, ...], row: tuple[Datum, ...], at: Reading, env: Env) -> bool:
        return all(
            isinstance(term, Wild) or self.value(term, at, env) == value
            for term, value in zip(args, row, strict=True)
        )

    def holds(self, f: Formula, at: Reading, env: Env) -> bool:
        """Return if a formula without temporal operators, expanded, is true where it is read."""
        match f:
            case Truth(value):
                return value
            case Atom(relation, args):
                return any(name == relation and self.matches(args, row, at, env) for name, row in at.facts)
            case Did(tool, args, by):
                step = at.state.step
                if step is None or step[0] != tool or not self.matches(args, step[1], at, env):
                    return False
                return by is None or step[2] == by
            case Compare(op, left, right):
                u, v = self.value(left, at, env), self.value(right, at, env)
                if op in ("=", "!="):
                    return COMPARED[op](u, v)
                return COMPARED[op](*(w if isinstance(w, int) else self.ranks[w] for w in (u, v)))
            case Not(body):
                return not self.holds(body, at, env)
            case Binary(op, left, right):
                return JOINED[op](self.holds(left, at, env), self.holds(right, at, env))
            case Quantified(word, binder, body, number):
                truths = [self.holds(body, at, e) for e in self.tuples((binder,), at, env)]
                if number is not None:
                    return COUNTED[word](sum(truths), number)
                return all(truths) if word == "forall" else any(truths)
            case Since() | Past():
                i = self.number[f]
                return (i, tuple(env[var] for var in self.over[i])) in at.state.past
        raise TypeError(f)

    def with_past(self, state: State, before: State | None) -> State:
        """The state with the truth of each past formula: from g and f now, and what was true before.

        A formula has a truth value for assignments of constants and of values active now only; where a value
        was not active before, there is no entry of before, and the stretch begins now.
        """
        active = self.active(state.facts)
        earlier = None if before is None else self.reading(before)
        for i, f in enumerate(self.pasts):
            at = self.reading(state)
            alive = [sorted({*self.d.constants(v.sort), *active[v.sort]}, key=str) for v in self.over[i]]
            for values in product(*alive):
                env = dict(zip(self.over[i], values, strict=True))
                match f:
                    case Since(left, right):
                        was = before is not None and (i, values) in before.past
                        true = self.holds(right, at, env) or (was and self.holds(left, at, env))
                    case Past("previously", body):
                        true = (
                            earlier is not None
                            and self.holds(body, earlier, env)
                            and all(
                                value in self.d.constants(var.sort) or value in earlier.active[var.sort]
                                for var, value in env.items()
                            )
                        )
                    case _:
                        raise TypeError(f)
                if true:
                    state = replace(state, past=state.past | {(i, values)})
        return state
