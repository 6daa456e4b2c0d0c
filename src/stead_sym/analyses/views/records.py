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

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

from stead_sym.analyses.views.diagrams import Diagrams
from stead_sym.analyses.views.gluing import Gluing
from stead_sym.analyses.views.parts import MOST_RECORDS, Facts, Sizes, renamed_facts
from stead_sym.analyses.views.slicing import Slice
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Delete, Insert, Statement
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.names import constants
from stead_sym.logic.syntax import Expanded
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, TextValue, Value

MOST_CONSTANTS = 12
"""Up to this many identifiers of `init` of open sorts stay constants, even if nothing mentions them."""


def forgetting(
    deployment: Deployment, asked: Iterable[Expanded], known: Iterable[Value] = ()
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
    init = Instance(schema, frozenset(f for f in deployment.init.facts if known.issuperset(f.args)))
    fewer = replace(deployment, schema=schema, init=init, loaded=(), stated=None, ungated=None, text=None)
    return fewer, Records(fewer, deployment.init.facts)


def _mentioned(deployment: Deployment, asked: Iterable[Expanded]) -> frozenset[Value]:
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


def _said(statement: Statement) -> Iterator[Expanded]:
    match statement:
        case Insert(atom, _, where) | Delete(atom, _, where):
            yield from (atom, where)
        case Choose(_, where):
            yield where
        case _:
            pass


_NAMES = tuple(f"·{place}" for place in range(MOST_RECORDS))
"""Placeholders for values in the facts of kinds and shapes; the language has no such names."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """Values of some ``kinds`` with the ``facts`` that they share, in which names stand for them in order."""

    kinds: tuple[int, ...]
    facts: Facts


class Records:
    """A large D0. Values of one sort are of one *kind* if they are in the same facts beside constants."""

    def __init__(self, deployment: Deployment, facts: Facts) -> None:
        self._all, self._within = facts, dict[Schema, Records]()
        sorts = self._sorts_of = {r.name: r.sorts for r in deployment.schema.relations}
        place = {sort.name: n for n, sort in enumerate(deployment.schema.sorts)}
        known = {u for values in deployment.constants.values() for u in values}
        self._given: list[Fact] = []
        self.relations: set[str] = set()
        own: defaultdict[Value, list[Fact]] = defaultdict(list)
        shared: defaultdict[tuple[Value, ...], list[Fact]] = defaultdict(list)
        sort_of: dict[Value, str] = {}
        for fact in facts:
            different = {u: s for u, s in zip(fact.args, sorts[fact.relation], strict=True) if u not in known}
            if not different:
                self._given.append(fact)
                continue
            self.relations.add(fact.relation)
            sort_of.update(different)
            if len(different) == 1:
                own[next(iter(different))].append(fact)
            else:
                shared[tuple(sorted(different))].append(fact)
        kinds: dict[tuple[str, Facts], int] = {}
        kind_of: dict[Value, int] = {}
        for value, sort in sort_of.items():
            kind = sort, renamed_facts(own.get(value, ()), {value: _NAMES[0]})
            kind_of[value] = kinds.setdefault(kind, len(kinds))
        self._kinds = list(kinds)
        self._number = Counter(kind_of.values())
        self._sharing: Counter[tuple[int, ...]] = Counter()
        self._shapes: set[_Shape] = set()
        for values, facts_ in shared.items():
            order = sorted(values, key=lambda value: (place[sort_of[value]], kind_of[value], value))
            groups = (combinations(values, n) for n in range(2, len(values)))
            within = chain(facts_, *(shared.get(group, ()) for group in chain.from_iterable(groups)))
            shape = tuple(map(kind_of.__getitem__, order))
            self._sharing[shape] += 1
            self._shapes.add(_Shape(shape, renamed_facts(within, dict(zip(order, _NAMES, strict=False)))))

    def within(self, part: Slice) -> Records:
        """Return D0 restricted to a slice."""
        schema = part.deployment.schema
        if schema not in self._within:
            self._within[schema] = Records(part.deployment, part.facts(self._sorts_of, self._all))
        return self._within[schema]

    def views(self, diagrams: Diagrams, k: int) -> dict[Sizes, Bdd]:
        """Return α_k(D0), or a larger set, for each size of k values."""
        m, views = diagrams.manager, dict[Sizes, Bdd]()
        for j in range(1, k + 1):
            fewer, gluing = Gluing(diagrams, j - 1, views=views), Gluing(diagrams, j)
            for size in gluing.views:
                names = _Names(diagrams, size)
                if j == 1:
                    kinds = (n for n, (sort, _) in enumerate(self._kinds) if sort == names.sorts[0])
                    shapes = [_Shape((), frozenset()), *(_Shape((kind,), frozenset()) for kind in kinds)]
                else:
                    shapes = [shape for shape in self._shapes if self._sorts(shape.kinds) == names.sorts]
                    apart = fewer.over(size) & diagrams.none_of(names.about_all())
                    gluing.add(size, apart & ~self._nowhere_apart(names) if j == 2 else apart)
                gluing.add(size, m.disj(names.cube((*self._given, *self._facts(s, names))) for s in shapes))
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
