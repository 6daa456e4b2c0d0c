"""Bound the new values that an `ensure` formula admits in D', by the shape of its conjuncts.

A value is new if it is neither in ad(D) nor in C. In each column of each relation the new values come from
sources, each with a number of values:

    same(P), empty(P)              no source in any column of P;
    ∀x̄. P'(x̄) → f                  in column i, if each alternative of f puts x_i into ad(D) ∪ C, which is no
                                   source, or makes it a variable y of an ∃ around: y, one value; or puts it
                                   into a column of D' whose sources are known already: these;
    atmost n x. f, exactly n x. f  in each column (P, i) such that P'(…, x, …) implies f: n values.

One decision: a source has an identity, so that an ∃ whose value is in several columns counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.witnesses import is_old
from stead_sym.relational.schema import Schema

Column: TypeAlias = tuple[str, int]
"""A relation and a place in its tuples."""

Sources: TypeAlias = Mapping[fo.Formula | str, int]
"""The sources of new values of a column, each with the number of values."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The variables with values in ad(D), and those of an ∃, each with its source."""

    old: frozenset[str]
    some: Mapping[str, str]

    def without(self, name: str) -> _Scope:
        return _Scope(self.old - {name}, {known: s for known, s in self.some.items() if known != name})


def columns_bounded(formula: fo.Formula, old: frozenset[str], schema: Schema) -> Mapping[Column, Sources]:
    """Return the sources of new values for each column of D' for which the formula bounds them.

    ``old`` are the free variables with values in ad(D).
    """
    bounded: dict[Column, Sources] = {}
    while True:  # a column by what is known of others before, so that no two of them are each other's reason
        columns = _Shape(schema, bounded).columns(formula, _Scope(old, {}))
        if columns.keys() <= bounded.keys():
            return bounded
        bounded = {**columns, **bounded}


class _Shape:
    """The bounds that the shape of a formula gives.

    ``known`` has the bounds of the whole formula that were found before. Sources have the same names whenever
    the formula is looked at.
    """

    def __init__(self, schema: Schema, known: Mapping[Column, Sources]) -> None:
        self._sorts = {relation.name: relation.sorts for relation in schema.relations}
        self._known = known
        self._count = 0

    def columns(self, f: fo.Formula, scope: _Scope) -> Mapping[Column, Sources]:
        """Return the columns that f bounds; shapes that are not listed bound none."""
        match f:
            case fo.Not(fo.Not(body)):
                return self.columns(body, scope)
            case fo.Not(fo.Or(parts)):
                return self.columns(fo.And(tuple(map(fo.Not, parts))), scope)
            case fo.Not(fo.Exists(binder, body)):
                return self.columns(fo.Forall(binder, fo.Not(body)), scope)
            case fo.Not(fo.Count("atleast", number, binder, body)):
                return self.columns(fo.Count("atmost", number - 1, binder, body), scope)
            case fo.And(parts):
                return _least(self.columns(part, scope) for part in parts)
            case fo.Implies(left, right):
                return self.columns(fo.Or((fo.Not(left), right)), scope)
            case fo.Or(parts):
                alternatives = [self.columns(part, scope) for part in parts]
                common = (
                    set(alternatives[0]).intersection(*alternatives[1:]) if alternatives else set[Column]()
                )
                return {column: _union(one[column] for one in alternatives) for column in common}
            case fo.Same(relation) | fo.Empty(relation):
                return {(relation, place): {} for place in range(len(self._sorts[relation]))}
            case fo.Exists(binder, body):
                inner = scope.without(binder.name)
                if is_old(body, binder.name, inner.old):
                    return self.columns(body, replace(inner, old=inner.old | {binder.name}))
                self._count += 1
                source = f"{binder.name} {self._count}"
                return self.columns(body, replace(inner, some={**inner.some, binder.name: source}))
            case fo.Forall():
                return _least(self._clause(names, part, scope) for names, part in _clauses(f))
            case fo.Count("atmost" | "exactly", number, binder, body):
                self._count += 1
                return {column: {f"atmost {self._count}": number} for column in self._held(body, binder)}
            case _:
                return {}

    def _clause(self, names: frozenset[str], clause: fo.Formula, scope: _Scope) -> Mapping[Column, Sources]:
        """Return the columns that ∀ names. clause bounds."""
        for name in names:
            scope = scope.without(name)
        parts = list(_disjuncts(clause))
        bounded: dict[Column, Sources] = {}
        for number, part in enumerate(parts):
            match part:
                case fo.Not(fo.Atom(relation, args, True)):
                    variables = {term.name for term in args if isinstance(term, fo.Var)}
                    if len(variables) < len(args) or not variables <= names:
                        continue
                    rest = parts[:number] + parts[number + 1 :]
                    for place, term in enumerate(args):
                        assert isinstance(term, fo.Var)
                        sources = _every(self._located(other, term.name, scope) for other in rest)
                        if sources is not None:
                            bounded[relation, place] = sources
        return bounded

    def _located(self, f: fo.Formula, name: str, scope: _Scope) -> Sources | None:
        """Return the sources that f leaves for the value of a variable; None if it leaves any value."""
        if is_old(f, name, scope.old, constants=True):
            return {}
        match f:
            case fo.Equal(left, right):
                for one, other in ((left, right), (right, left)):
                    if one == fo.Var(name) and isinstance(other, fo.Var) and other.name in scope.some:
                        return {scope.some[other.name]: 1}
            case fo.And(parts):
                bounds = [
                    sources for part in parts if (sources := self._located(part, name, scope)) is not None
                ]
                return min(bounds, key=lambda sources: sum(sources.values()), default=None)
            case fo.Or(parts):
                return _every(self._located(part, name, scope) for part in parts)
            case fo.Atom(relation, args, True) if fo.Var(name) in args:
                return self._known.get((relation, args.index(fo.Var(name))))
            case fo.Exists(binder, body) if binder.name != name:
                return self._located(body, name, scope.without(binder.name))
            case _:
                pass
        return None

    def _held(self, f: fo.Formula, binder: fo.Binder) -> frozenset[Column]:
        """Return the columns for which every new value x that D' has there satisfies f."""
        if _spares_new(f, binder):
            columns = ((name, k, own) for name, sorts in self._sorts.items() for k, own in enumerate(sorts))
            return frozenset((name, place) for name, place, own in columns if own == binder.sort)
        inner: set[str] = set()
        while isinstance(f, fo.Exists) and not f.binder.declared and f.binder.name != binder.name:
            inner.add(f.binder.name)
            f = f.body
        match f:
            case fo.Atom(relation, args, True) if fo.Var(binder.name) in args:
                place = args.index(fo.Var(binder.name))
                others = [term.name for k, term in enumerate(args) if k != place and isinstance(term, fo.Var)]
                if len(set(others)) == len(args) - 1 and inner.issuperset(others):
                    return frozenset({(relation, place)})
            case fo.Or(parts) if not inner:
                return frozenset[Column]().union(*(self._held(part, binder) for part in parts))
            case fo.And(parts) if parts and not inner:
                return frozenset.intersection(*(self._held(part, binder) for part in parts))
            case _:
                pass
        return frozenset()


def _clauses(f: fo.Formula) -> Iterator[tuple[frozenset[str], fo.Formula]]:
    """Split ∀x̄. (f ∧ g ∧ …) into ∀x̄. f, ∀x̄. g, and so on.

    Declared variables stand for constants, which are not new.
    """
    names: set[str] = set()
    while isinstance(f, fo.Forall) and not f.binder.declared:
        names.add(f.binder.name)
        f = f.body
    todo = [f]
    while todo:
        match part := todo.pop():
            case fo.And(parts):
                todo += parts
            case fo.Iff(left, right):
                todo += (fo.Implies(left, right), fo.Implies(right, left))
            case _:
                yield frozenset(names), part


def _disjuncts(f: fo.Formula, positive: bool = True) -> Iterator[fo.Formula]:
    """Yield formulas whose disjunction is f, or its negation unless ``positive``."""
    match f:
        case fo.Not(body):
            yield from _disjuncts(body, not positive)
        case fo.Implies(left, right) if positive:
            yield from _disjuncts(left, False)
            yield from _disjuncts(right)
        case fo.Or(parts) if positive:
            for part in parts:
                yield from _disjuncts(part)
        case fo.And(parts) if not positive:
            for part in parts:
                yield from _disjuncts(part, False)
        case _:
            yield f if positive else fo.Not(f)


def _every(sources: Iterable[Sources | None]) -> Sources | None:
    """Return the sources of all alternatives; None if one of them leaves any value."""
    alternatives = list(sources)
    return None if None in alternatives else _union(one for one in alternatives if one is not None)


def _union(sources: Iterable[Sources]) -> Sources:
    return {source: number for one in sources for source, number in one.items()}


def _least(found: Iterable[Mapping[Column, Sources]]) -> Mapping[Column, Sources]:
    """Return for each column the least of its bounds."""
    best: dict[Column, Sources] = {}
    for columns in found:
        for column, sources in columns.items():
            if column not in best or sum(sources.values()) < sum(best[column].values()):
                best[column] = sources
    return best


def _spares_new(f: fo.Formula, binder: fo.Binder) -> bool:
    """Return whether all that f requires of x is not to be some constant, which no new value is."""
    match f:
        case fo.Not(fo.Equal(left, right)):
            return {left, right} & {fo.Var(binder.name)} != set() and any(
                isinstance(term, fo.Const) for term in (left, right)
            )
        case fo.Truth(value):
            return value
        case _:
            return False
