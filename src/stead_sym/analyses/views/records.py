"""Represent initial databases of many records as views.

The identifiers of `init` are constants of a deployment. Those that nothing else mentions can be values as any
others: with C' for what is mentioned, let A' be the deployment whose constants are C'.

Theorem. If AG f holds in A' from the same D0 then it holds in A, where A' chooses (`choose`) among C' and all
values of the sort, active or not. Agents tell no values apart that are not in C'.

Proof. A step of A is one of A': guards, conditions and f have no constants beside C', a fresh value of A is
outside ad(D) ∪ C, so outside ad(D) ∪ C', and a value that is chosen is in ad(D) ∪ C. ∎

α_k(D0) is found by grouping values by the facts they are in, in a time that does not depend on how many parts
there are. A part on j values is one whose values share a fact, which is found by going through the facts, or
one in which no fact has all of the values. For j = 2 there are such parts for two kinds of values where not
each value of one kind shares a fact with each of the other, which is counted. For j > 2 all instances are
taken whose parts on j - 1 values are there and in which no fact has all of the values, of which D0 may lack
some: that admits more views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Generic, TypeAlias, TypeVar

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.diagrams import Diagrams
from stead_sym.analyses.views.gluing import Gluing
from stead_sym.analyses.views.parts import MOST_AT_LAST, Facts, Sizes, renamed_facts
from stead_sym.analyses.views.slicing import Slice
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Delete, Insert, Statement
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.names import constants
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, TextValue, Value
from stead_sym.support.memory import seldom_collecting

MOST_CONSTANTS = 12
"""Up to this many identifiers of `init` of open sorts stay constants, even if nothing mentions them."""


@seldom_collecting()
def forgetting(
    deployment: Deployment, asked: Iterable[fo.Expanded], known: Iterable[Value] = ()
) -> tuple[Deployment, Records | None]:
    """Return A' and its D0, if agents distinguish the values ``known`` from others.

    Returns the deployment itself and None if it has few constants, or if `initially` admits other initial
    databases too.
    """
    open_sorts = deployment.unbounded or frozenset(deployment.bounds)
    many = sum(len(deployment.constants[sort]) for sort in open_sorts)
    if many <= MOST_CONSTANTS or deployment.initially is not None:
        return deployment, None
    mentioned = _mentioned(deployment, asked).union(known)
    left = {
        sort: tuple(u for u in values if u in mentioned or sort not in open_sorts)
        for sort, values in deployment.constants.items()
    }
    known = {u for values in left.values() for u in values}
    schema, told = deployment.schema, {text.value for text in deployment.schema.texts}
    texts = (
        TextValue(u, sort, u)
        for sort, values in left.items()
        for u in values
        if u not in told and not schema.is_finite(sort)
    )
    schema = replace(schema, texts=(*schema.texts, *texts))
    records = Records(schema, known, deployment.init.facts)
    init = Instance(schema, records.given)
    fewer = replace(deployment, schema=schema, init=init, loaded=(), stated=None, ungated=None, text=None)
    return fewer, records


def crowded(deployment: Deployment) -> frozenset[str]:
    """Return the sorts of whose identifiers in `init` more than `MOST_CONSTANTS` can be values.

    A bound of such a sort counts values outside C only. If its identifiers are values, there is no bound.
    """
    if deployment.initially is not None:
        return frozenset()
    return frozenset(sort for sort in deployment.bounds if len(deployment.constants[sort]) > MOST_CONSTANTS)


def _mentioned(deployment: Deployment, asked: Iterable[fo.Expanded]) -> frozenset[Value]:
    """Return the constants of all formulas."""
    formulas = [*asked, *(spec.formula for spec in deployment.specs)]
    found: set[Value] = {text.value for text in deployment.schema.texts}
    for tool in deployment.tools_and_events:
        formulas += [tool.guard, *(effect.when for effect in tool.effects)]
        formulas += chain.from_iterable(
            _said(statement) for effect in tool.effects for statement in effect.statements
        )
    for role in deployment.agents:
        formulas += [line.where for line in role.views]
        found.update(*(policy.constants for policy in role.policies))
    return frozenset(found.union(*map(constants, formulas)))


def _said(statement: Statement) -> Iterator[fo.Expanded]:
    match statement:
        case Insert(atom, _, where) | Delete(atom, _, where):
            yield from (atom, where)
        case Choose(_, where):
            yield where
        case _:
            pass


_NAMES = tuple(f"·{place}" for place in range(MOST_AT_LAST))
"""Placeholders for values in the facts of kinds and shapes; the language has no such names."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """Values of some ``kinds`` with the ``facts`` that they share, in which names stand for them in order."""

    kinds: tuple[int, ...]
    facts: Facts


_Owner = TypeVar("_Owner", Value, tuple[Value, ...])
_Group: TypeAlias = tuple[Value, ...]
"""Different values that share facts, in ascending order."""
_Having: TypeAlias = tuple[tuple[tuple[int, ...], int], ...]
"""The facts of a group: the places of values in it that share some, with the number of the set of these."""


class _Numbered(Generic[_Owner]):
    """Sets of facts that their owners have, each of which has a number.

    A set grows by one fact at a time, and what it grows to is looked up: there are few different sets, of
    millions of owners.
    """

    def __init__(self) -> None:
        self.sets: list[tuple[str, Facts]] = []
        self.of: dict[_Owner, int] = {}
        self._number: dict[tuple[str, Facts], int] = {}
        self._wider: dict[tuple[int, Fact], int] = {}

    def start(self, owner: _Owner, sort: str = "") -> int:
        """Return the number of the set of an owner, which is empty at first."""
        number = self.of.get(owner)
        if number is None:
            number = self.of[owner] = self._numbered((sort, frozenset()))
        return number

    def add(self, owner: _Owner, fact: Fact, sort: str = "") -> None:
        """Add a fact to the set of an owner."""
        number = self.start(owner, sort)
        wider = self._wider.get((number, fact))
        if wider is None:
            own, facts = self.sets[number]
            wider = self._wider[number, fact] = self._numbered((own, facts | {fact}))
        self.of[owner] = wider

    def _numbered(self, one: tuple[str, Facts]) -> int:
        if one not in self._number:
            self._number[one] = len(self.sets)
            self.sets.append(one)
        return self._number[one]


def _within(group: _Group, shared: Mapping[_Group, int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the places of values in a group that share facts, with the number of the set of these facts."""
    places = range(len(group))
    for part in chain.from_iterable(combinations(places, n) for n in range(2, len(group) + 1)):
        number = shared.get(tuple(group[place] for place in part))
        if number is not None:
            yield part, number


class Records:
    """A large D0. Values of one sort are of one *kind* if they are in the same facts beside constants."""

    def __init__(self, schema: Schema, known: Collection[Value], facts: Facts) -> None:
        """Group the values that are not ``known``, which are the constants."""
        self._all, self._within = facts, dict[Schema, Records]()
        self._sorts_of = {r.name: r.sorts for r in schema.relations}
        self._place = {sort.name: n for n, sort in enumerate(schema.sorts)}
        given: list[Fact] = []
        self.relations: set[str] = set()
        own, shared = _Numbered[Value](), _Numbered[_Group]()
        for fact in facts:
            relation, args = fact
            values = {u for u in args if u not in known}
            if not values:
                given.append(fact)
                continue
            self.relations.add(relation)
            if len(values) == 1:
                (value,) = values
                sort = self._sorts_of[relation][args.index(value)]
                own.add(value, Fact(relation, tuple([_NAMES[0] if u == value else u for u in args])), sort)
                continue
            for value, sort in zip(args, self._sorts_of[relation], strict=True):
                if value in values:
                    own.start(value, sort)
            if len(values) <= len(_NAMES):
                group = tuple(sorted(values))
                names = dict(zip(group, _NAMES, strict=False))
                shared.add(group, Fact(relation, tuple([names.get(u, u) for u in args])))
        self.given = frozenset(given)
        self._kinds = own.sets
        self._number = Counter(own.of.values())
        self._sharing: Counter[tuple[int, ...]] = Counter()
        self._shapes: set[_Shape] = set()
        self._share(own.of, shared)

    def _share(self, kind_of: Mapping[Value, int], shared: _Numbered[_Group]) -> None:
        """Find the kinds of values that share facts, with these facts.

        Groups of the same kinds with the same facts, in each part of the group too, are looked at once.
        """
        alike: Counter[tuple[tuple[int, ...], _Having]] = Counter()
        for group, number in shared.of.items():
            having = (((0, 1), number),) if len(group) == 2 else tuple(_within(group, shared.of))
            alike[tuple([kind_of[value] for value in group]), having] += 1
        for (kinds, having), number in alike.items():
            order = sorted(range(len(kinds)), key=lambda n: (self._place[self._kinds[kinds[n]][0]], kinds[n]))
            name = {place: _NAMES[n] for n, place in enumerate(order)}
            within = (
                fact.rename({_NAMES[n]: name[place] for n, place in enumerate(part)})
                for part, facts in having
                for fact in shared.sets[facts][1]
            )
            shape = tuple(kinds[place] for place in order)
            self._sharing[shape] += number
            self._shapes.add(_Shape(shape, frozenset(within)))

    @seldom_collecting()
    def within(self, part: Slice) -> Records:
        """Return D0 restricted to a slice."""
        schema = part.deployment.schema
        if schema not in self._within:
            facts = part.facts(self._sorts_of, self._all)
            self._within[schema] = Records(schema, part.deployment.all_constants, facts)
        return self._within[schema]

    def views(self, diagrams: Diagrams, k: int) -> dict[Sizes, Bdd]:
        """Return α_k(D0), or a larger set, for each size of k values."""
        m, views = diagrams.manager, dict[Sizes, Bdd]()
        for j in range(1, k + 1):
            fewer, gluing = Gluing(diagrams, j - 1, views=views), Gluing(diagrams, j)
            for size in gluing.views:
                names = _Names(diagrams, size)
                if j == 1:
                    kinds = (kind for kind in self._number if self._kinds[kind][0] == names.sorts[0])
                    shapes = [_Shape((), frozenset()), *(_Shape((kind,), frozenset()) for kind in kinds)]
                else:
                    shapes = [shape for shape in self._shapes if self._sorts(shape.kinds) == names.sorts]
                    apart = fewer.over(size) & diagrams.none_of(names.about_all())
                    gluing.add(size, apart & ~self._nowhere_apart(names) if j == 2 else apart)
                gluing.add(size, m.disj(names.cube((*self.given, *self._facts(s, names))) for s in shapes))
            views = gluing.views
        return views

    def _sorts(self, kinds: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self._kinds[kind][0] for kind in kinds)

    def _facts(self, shape: _Shape, names: _Names) -> Facts:
        """Return the part that has the shape."""
        to = dict(zip(_NAMES, names.names, strict=False))
        own = (
            renamed_facts(self._kinds[kind][1], {_NAMES[0]: name})
            for kind, name in zip(shape.kinds, names.names, strict=False)
        )
        return renamed_facts(shape.facts, to).union(*own)

    def _nowhere_apart(self, names: _Names) -> Bdd:
        """Return the instances of two names of such kinds that their values always share a fact.

        They include two names of one kind that has a single value. For a kind without facts some values are
        in no fact at all, so such kinds are left out.
        """
        alone = ((kind, kind) for kind, number in self._number.items() if number == 1)
        found: list[Bdd] = []
        for pair in {*self._sharing, *alone}:
            if self._sorts(pair) == names.sorts and all(self._kinds[kind][1] for kind in pair):
                one, other = (self._number[kind] for kind in pair)
                pairs = one * (one - 1) // 2 if pair[0] == pair[1] else one * other
                if self._sharing[pair] == pairs:
                    for order in {pair, pair[::-1]} if len(set(names.sorts)) == 1 else {pair}:
                        of_kind = zip(order, names.names, strict=True)
                        found.append(names.diagrams.manager.conj(self._is(k, n, names) for k, n in of_kind))
        return names.diagrams.manager.disj(found)

    def _is(self, kind: int, name: Value, names: _Names) -> Bdd:
        """Return the instances in which the name is of a kind."""
        facts = renamed_facts(self._kinds[kind][1], {_NAMES[0]: name})
        own = [fact for fact in names.facts if name in fact.args and not names.has_other(fact, name)]
        return names.diagrams.manager.cube({names.diagrams.bit(fact): fact in facts for fact in own})


class _Names:
    """The names of a size, each with its sort."""

    def __init__(self, diagrams: Diagrams, size: Sizes) -> None:
        self.diagrams, self.facts = diagrams, diagrams.facts(size)
        own = list(zip(diagrams.parts.sorts, diagrams.names(size), strict=True))
        self.sorts = tuple(sort for sort, names in own for _ in names)
        self.names = tuple(name for _, names in own for name in names)

    def about_all(self) -> Iterator[Fact]:
        """Return the facts that have all of the names."""
        return (fact for fact in self.facts if set(self.names).issubset(fact.args))

    def has_other(self, fact: Fact, name: Value) -> bool:
        """Return whether a fact has another name."""
        return any(u != name and u in self.names for u in fact.args)

    def cube(self, facts: Iterable[Fact]) -> Bdd:
        """Return the instance with these facts."""
        there = frozenset(facts)
        return self.diagrams.manager.cube({self.diagrams.bit(fact): fact in there for fact in self.facts})
