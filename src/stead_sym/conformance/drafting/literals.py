"""Literals over a call and a state: the templates of which guards and conditions are drafted.

One decision: a literal is evaluated on its own, by sets of projected rows, and not as a formula. There are
thousands of literals and of runs. The finished draft is checked as a formula (`drafting.drafted`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TypeAlias, assert_never

from stead_sym.deployment.deployment import Deployment
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Relation, Value

_MOST_CONSTANTS = 12
"""The most values of a finite sort that are tried as constants."""
_MOST_FILLED = 3
"""The most columns of an atom that are not `_`."""
_MOST_JOINED = 2
"""The same for an atom that is joined with another."""


@dataclass(frozen=True, slots=True)
class Own:
    """A parameter of the tool, or a column of the row that a condition is about."""

    name: str
    sort: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of a finite sort."""

    value: Value
    sort: str


@dataclass(frozen=True, slots=True)
class Looked:
    """The value in a column of the row with this key; a relation without it has no such value."""

    relation: str
    key: tuple[Operand, ...]
    place: int
    sort: str


Operand: TypeAlias = Own | Constant | Looked


@dataclass(frozen=True, slots=True)
class Holds:
    """`P(t, _)`: a row with these values; None stands for any."""

    relation: str
    args: tuple[Operand | None, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """`t = u`."""

    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Less:
    """`t < u`, or `t <= u`."""

    left: Operand
    right: Operand
    strict: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """`exists x. (P(t, x) & Q(x, u))`: a row of each with one value in the columns ``at``."""

    first: Holds
    second: Holds
    at: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Several:
    """`atleast 2 x. P(x, t)`: rows with two or more values in the column ``place``."""

    rows: Holds
    place: int


Shape: TypeAlias = Holds | Same | Less | Joined | Several


@dataclass(frozen=True, slots=True)
class Literal:
    """A shape or its negation."""

    shape: Shape
    positive: bool = True


class Rows:
    """The rows of a state with its projections, each computed once."""

    def __init__(self, state: Instance) -> None:
        self.state = state
        self._projections: dict[tuple[str, tuple[int, ...]], frozenset[tuple[Value, ...]]] = {}
        self._tables: dict[tuple[str, tuple[int, ...], int], Mapping[tuple[Value, ...], set[Value]]] = {}

    def projection(self, relation: str, places: tuple[int, ...]) -> frozenset[tuple[Value, ...]]:
        """Return the rows of a relation, only with these columns."""
        found = self._projections.get((relation, places))
        if found is None:
            rows = self.state.by_relation.get(relation, frozenset())
            found = frozenset(tuple(row[place] for place in places) for row in rows)
            self._projections[relation, places] = found
        return found

    def column(
        self, relation: str, places: tuple[int, ...], into: int
    ) -> Mapping[tuple[Value, ...], set[Value]]:
        """Return the values of a column by those of other columns."""
        found = self._tables.get((relation, places, into))
        if found is None:
            made: dict[tuple[Value, ...], set[Value]] = {}
            for row in self.state.by_relation.get(relation, ()):
                made.setdefault(tuple(row[place] for place in places), set()).add(row[into])
            found = self._tables[relation, places, into] = made
        return found


@dataclass(slots=True)
class Case:
    """A state with the values of the parameters and of the columns of a row."""

    rows: Rows
    sigma: Mapping[str, Value]
    _looked: dict[Looked, Value | None] = field(default_factory=dict)

    def value(self, operand: Operand, keys: Mapping[str, tuple[int, ...]]) -> Value | None:
        """Return the value of an operand, None if a row that it is looked up in is missing."""
        match operand:
            case Own(name):
                return self.sigma[name]
            case Constant(value):
                return value
            case Looked(relation, key, place):
                if operand not in self._looked:
                    given = tuple(self.value(one, keys) for one in key)
                    self._looked[operand] = self._look(relation, keys[relation], given, place)
                return self._looked[operand]
            case _:
                assert_never(operand)

    def _look(
        self, relation: str, places: tuple[int, ...], given: tuple[Value | None, ...], place: int
    ) -> Value | None:
        known = tuple(value for value in given if value is not None)
        if len(known) < len(given):
            return None
        found = self.rows.column(relation, places, place).get(known)
        return None if found is None else next(iter(found))


class Templates:
    """The literals and operands of a deployment over some variables."""

    def __init__(self, deployment: Deployment, variables: Sequence[Own]) -> None:
        self.deployment = deployment
        self.schema = deployment.schema
        self.keys = {r.name: r.keys for r in self.schema.relations}
        self.variables = tuple(variables)
        self._orders = {s.name: s.rank for s in self.schema.sorts if s.ordered}
        self.looked = list(self._lookups(self.variables, set()))
        first = set(self.looked)
        self.twice = list(self._lookups((*self.variables, *self.looked), first))

    def holds(self, shape: Shape, case: Case) -> bool:
        """Return True if a shape holds in a case."""
        match shape:
            case Holds(relation, args):
                places, given = self._filled(args, case)
                return None not in given and given in case.rows.projection(relation, places)
            case Same(left, right):
                value = case.value(left, self.keys)
                return value is not None and value == case.value(right, self.keys)
            case Less(left, right, strict):
                rank = self._orders[left.sort]
                low, high = (case.value(one, self.keys) for one in (left, right))
                if low is None or high is None or low not in rank or high not in rank:
                    return False
                return rank[low] < rank[high] if strict else rank[low] <= rank[high]
            case Joined(first, second, at):
                one, other = (
                    self._column(part, place, case) for part, place in zip((first, second), at, strict=True)
                )
                return not one.isdisjoint(other)
            case Several(rows, place):
                return len(self._column(rows, place, case)) > 1
            case _:
                assert_never(shape)

    def _filled(
        self, args: tuple[Operand | None, ...], case: Case
    ) -> tuple[tuple[int, ...], tuple[Value | None, ...]]:
        places = tuple(place for place, one in enumerate(args) if one is not None)
        return places, tuple(case.value(one, self.keys) for one in args if one is not None)

    def _column(self, part: Holds, place: int, case: Case) -> set[Value]:
        places, given = self._filled(part.args, case)
        known = tuple(value for value in given if value is not None)
        if len(known) < len(given):
            return set()
        return case.rows.column(part.relation, places, place).get(known, set())

    # operands

    def constants(self, sort: str) -> Iterator[Constant]:
        """Yield the constants of a finite sort, unless they are many."""
        values = self.schema.sort(sort).values or ()
        if len(values) <= _MOST_CONSTANTS:
            yield from (Constant(value, sort) for value in values)

    def operands(self, sort: str, *, deep: bool = True) -> Iterator[Operand]:
        """Yield the operands of a sort, the simplest first."""
        yield from (one for one in self.variables if one.sort == sort)
        yield from self.constants(sort)
        yield from (one for one in self.looked if one.sort == sort)
        if deep:
            yield from (one for one in self.twice if one.sort == sort)

    def _lookups(self, given: Sequence[Operand], known: set[Looked]) -> Iterator[Looked]:
        """Yield what can be looked up by a key of these operands."""
        for relation in self.schema.relations:
            if not relation.keys or len(relation.keys) == relation.arity:
                continue
            ranges = [[one for one in given if one.sort == relation.sorts[k]] for k in relation.keys]
            for key in product(*ranges):
                if any(isinstance(one, Looked) and one.relation == relation.name for one in key):
                    continue
                for place, sort in enumerate(relation.sorts):
                    made = Looked(relation.name, key, place, sort)
                    if place not in relation.keys and made not in known:
                        yield made

    # literals, the simplest first

    def simple(self) -> Iterator[Shape]:
        """Yield comparisons of variables and constants, and rows with them."""
        for number, one in enumerate(self.variables):
            yield from (Same(one, two) for two in self.variables[:number] if two.sort == one.sort)
            yield from (Same(one, two) for two in self.constants(one.sort))
            yield from self._less(one, [*self.variables, *self.constants(one.sort)])
        for relation in self.schema.relations:
            yield from self._atoms(relation, self._plain)

    def looking(self) -> Iterator[Shape]:
        """Yield comparisons and rows with values that are looked up."""
        looked = [*self.looked, *self.twice]
        for number, one in enumerate(looked):
            yield from (
                Same(one, two) for two in looked[:number] if two.sort == one.sort and two in self.looked
            )
            if one in self.twice:
                yield from (Same(one, two) for two in self.constants(one.sort))
                yield from (Same(one, two) for two in self.variables if two.sort == one.sort)
            others: list[Operand] = [*self.variables, *self.constants(one.sort), *self.looked]
            yield from self._less(one, others)
            yield from (
                Less(two, one, strict)
                for two in self.variables
                if two.sort == one.sort and one.sort in self._orders
                for strict in (True, False)
            )
        for relation in self.schema.relations:
            for place, sort in enumerate(relation.sorts):
                for one in looked:
                    if one.sort != sort or one.relation == relation.name:
                        continue
                    yield from self._atoms(relation, self._plain, {place: one})

    def joined(self) -> Iterator[Shape]:
        """Yield pairs of rows that share a value, and counts of rows."""
        parts = [
            shape
            for relation in self.schema.relations
            for shape in self._atoms(relation, self._plain)
            if sum(one is not None for one in shape.args) <= _MOST_JOINED
        ]
        for part in parts:
            relation = self.schema.relation(part.relation)
            for place, one in enumerate(part.args):
                if one is None and not self.schema.is_finite(relation.sorts[place]):
                    if relation.keys != tuple(k for k, a in enumerate(part.args) if a is not None):
                        yield Several(part, place)
                    yield from self._partners(part, place, parts)

    def _partners(self, part: Holds, place: int, parts: Sequence[Holds]) -> Iterator[Shape]:
        sort = self.schema.relation(part.relation).sorts[place]
        if all(one is None for one in part.args):
            return
        for other in parts:
            if other.relation == part.relation:
                continue
            sorts = self.schema.relation(other.relation).sorts
            for at, one in enumerate(other.args):
                if one is None and sorts[at] == sort:
                    yield Joined(part, other, (place, at))

    def _plain(self, sort: str) -> list[Operand]:
        return [*(one for one in self.variables if one.sort == sort), *self.constants(sort)]

    def _atoms(
        self,
        relation: Relation,
        fills: Callable[[str], Sequence[Operand]],
        fixed: Mapping[int, Operand] | None = None,
    ) -> Iterator[Holds]:
        """Yield the atoms of a relation with some columns filled."""
        fixed = fixed or {}
        ranges = [fills(sort) for sort in relation.sorts]
        free = [place for place in range(relation.arity) if place not in fixed]
        for number in range(min(len(free), _MOST_FILLED - len(fixed)) + 1):
            for places in combinations(free, number):
                for some in product(*(ranges[place] for place in places)):
                    filled = {**fixed, **dict(zip(places, some, strict=True))}
                    yield Holds(relation.name, tuple(filled.get(k) for k in range(relation.arity)))

    def _less(self, one: Operand, others: Sequence[Operand]) -> Iterator[Shape]:
        if one.sort not in self._orders:
            return
        for two in others:
            if two != one and two.sort == one.sort:
                yield Less(one, two, True)
                yield Less(one, two, False)


def cost(literal: Literal) -> int:
    """Return the size of a literal; smaller ones are proposed first."""
    shape = literal.shape
    extra = 0 if literal.positive else 1
    match shape:
        case Holds(_, args):
            return extra + 3 + sum(_size(one) for one in args if one is not None)
        case Same(left, right):
            return extra + 3 + _size(left) + _size(right) - 1
        case Less(left, right, _):
            return extra + 5 + _size(left) + _size(right)
        case Joined(first, second, _):
            return extra + 4 + cost(Literal(first)) + cost(Literal(second))
        case Several(rows, _):
            return extra + 7 + cost(Literal(rows))
        case _:
            assert_never(shape)


def _size(operand: Operand) -> int:
    match operand:
        case Own() | Constant():
            return 1
        case Looked(_, key, _):
            return 3 + sum(map(_size, key))
        case _:
            assert_never(operand)
