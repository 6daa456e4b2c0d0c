"""The runs that changed something, and what they changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, assert_never

from stead_sym.conformance.drafting.literals import Case, Constant, Looked, Operand, Own, Rows, Templates
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Value


@dataclass(frozen=True, slots=True)
class New:
    """A fresh identifier, named by the first relation and column that it is in."""

    relation: str
    place: int
    sort: str


@dataclass(frozen=True, slots=True)
class Step:
    """The number that is a distance above or below another one."""

    start: Operand
    sign: str
    distance: Operand
    sort: str


Right: TypeAlias = Operand | New | Step
"""The value that a column gets."""


@dataclass(frozen=True, slots=True)
class Updated:
    """A row whose key stays, before and after."""

    before: Fact
    after: Fact


class Change:
    """A run that changed something: the state before, the values of the parameters, the state after."""

    def __init__(
        self,
        number: int,
        before: Instance,
        sigma: Mapping[str, Value],
        after: Instance,
        known: frozenset[Value],
    ) -> None:
        self.number = number
        self.before, self.sigma, self.after = before, sigma, after
        self.rows = Rows(before)
        self.removed = before.facts - after.facts
        self.added = after.facts - before.facts
        self._known = known.union(sigma.values())

    @cached_property
    def new(self) -> Mapping[New, Value]:
        """Return the fresh identifiers; those that cannot be named apart are left out."""
        schema = self.before.schema
        named: dict[tuple[str, Value], New] = {}
        found: dict[New, list[Value]] = {}
        for relation in schema.relations:
            for place, sort in enumerate(relation.sorts):
                if schema.is_finite(sort):
                    continue
                for fact in sorted(self.added):
                    value = fact.args[place] if fact.relation == relation.name else None
                    if value is None or value in self._known or value in self.before.active_domain[sort]:
                        continue
                    if (sort, value) not in named:
                        name = named[sort, value] = New(relation.name, place, sort)
                        found.setdefault(name, []).append(value)
        return {name: values[0] for name, values in found.items() if len(values) == 1}

    def updated(self, relation: Relation) -> Iterator[Updated]:
        """Yield the rows of a relation that have other values under the same key."""
        if not relation.keys:
            return
        gone = {relation.key(f.args): f for f in self.removed if f.relation == relation.name}
        for fact in sorted(self.added):
            if fact.relation == relation.name and (before := gone.get(relation.key(fact.args))) is not None:
                yield Updated(before, fact)

    def inserted(self, relation: Relation) -> list[Fact]:
        """Return the rows that are new, not updated."""
        updated = {one.after for one in self.updated(relation)}
        return sorted(f for f in self.added if f.relation == relation.name and f not in updated)

    def deleted(self, relation: Relation) -> list[Fact]:
        """Return the rows that are gone, not updated."""
        updated = {one.before for one in self.updated(relation)}
        return sorted(f for f in self.removed if f.relation == relation.name and f not in updated)

    def case(self, row: Sequence[Own] = (), args: Sequence[Value] = ()) -> Case:
        """Return the state before the call, with the values of its parameters and of a row's columns."""
        cells = {one.name: value for one, value in zip(row, args, strict=True)}
        return Case(self.rows, {**self.sigma, **cells})

    def value(self, right: Right, case: Case, templates: Templates) -> Value | None:
        """Return what a column gets, None if there is no such value."""
        match right:
            case New():
                return self.new.get(right)
            case Step(start, sign, distance):
                known = [case.value(one, templates.keys) for one in (start, distance)]
                try:
                    low, far = (int(one) for one in known if one is not None)
                except ValueError:
                    return None
                return str(low + far if sign == "+" else low - far)
            case Own() | Constant() | Looked():
                return case.value(right, templates.keys)
            case _:
                assert_never(right)


def rights(
    templates: Templates, sort: str, changes: Sequence[Change], column: Own | None = None
) -> Iterator[Right]:
    """Yield what a column of this sort may get, the simplest first; ``column`` is its old value."""
    yield from templates.constants(sort)
    yield from (one for one in templates.variables if one.sort == sort and one != column)
    yield from dict.fromkeys(new for change in changes for new in change.new if new.sort == sort)
    yield from (one for one in templates.looked if one.sort == sort)
    if templates.schema.sort(sort).is_numeric:
        starts = [column] if column is not None else [o for o in templates.looked if o.sort == sort]
        distances: list[Operand] = [Constant("1", sort), Constant("2", sort)]
        distances += [one for one in templates.variables if one != column and _numeric(templates, one)]
        distances += [one for one in templates.looked if _numeric(templates, one)]
        for start in starts:
            yield from (Step(start, sign, one, sort) for one in distances for sign in "+-" if one != start)
    yield from (one for one in templates.twice if one.sort == sort)
    values = templates.deployment.constants[sort]
    if not templates.schema.is_finite(sort) and len(values) <= 5:
        yield from (Constant(value, sort) for value in values)


def _numeric(templates: Templates, one: Operand) -> bool:
    return templates.schema.sort(one.sort).is_numeric
