"""Initial databases by their parts: those of every size, and one of many records.

*`initially any P, … where f`.* A part D0↾X is also a part of D0↾Y for Y ⊇ X. Let Y contain the values that
keep true each conjunct of f that some number of values keeps true; and for a conjunct ∀x. g, if so many
values keep g true for values of x, those that keep it true for all x in X ∪ C. So D0↾Y is `init` with more
facts of P, …, and satisfies the former, and the latter for these x. References of the schema are conjuncts of
this kind. A conjunct of any other form is left out, which admits more instances.

*Many records.* The identifiers of `init` are constants. Those that no formula and no statement mentions may
be treated as ordinary values: let A' be the deployment whose constants are the other ones, and which may
choose any value, active or not. What is always true in A' from the same D0 is always true in the deployment
(`docs/theory.md`).

The parts of such a D0 on k values are enumerated by their connected components. A *kind* is the set of facts
of a value alone; a part is a union of parts on values that facts connect, and two values of different
components have no common fact of these two alone. So all of these unions have to be views, whether or not D0
has them, in which the components are parts of D0, and for two values of different components there are two
values of their kinds without such a fact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from math import prod

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.formulas import Formulas
from stead_sym.certificate.checker.needed import Needed
from stead_sym.certificate.checker.over_names import Given, OverNames, View, sizes_of
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Delete, Insert
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.errors import Undecided
from stead_sym.logic.names import constants
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import TextValue, Value

MOST_CONNECTED = 200_000
"""The maximum number of sets of connected values that are enumerated."""


@dataclass(frozen=True)
class _Condition:
    """A conjunct ∀x. g, where ``needs`` values keep g true for values of x."""

    binders: tuple[fo.Binder, ...]
    body: fo.Expanded
    needs: int


class Starting:
    """The initial instances of one deployment."""

    def __init__(self, given: Given, needed: Needed) -> None:
        self._given, self._deployment, self._needed = given, given.deployment, needed

    @cached_property
    def _conditions(self) -> tuple[_Condition, ...]:
        lines = self._deployment.initially
        assert lines is not None
        found = [*fo.conjuncts(lines.where)]
        for reference in self._deployment.schema.references:
            claim = claim_named(self._deployment, reference.name)
            assert claim is not None
            found.append(claim.invariant)
        return tuple(one for condition in found if (one := self._condition(condition)) is not None)

    def _condition(self, formula: fo.Expanded) -> _Condition | None:
        binders: list[fo.Binder] = []
        while True:
            try:
                return _Condition(tuple(binders), formula, self._needed.true(formula))
            except CertificateRejected:
                if not isinstance(formula, fo.Forall):
                    return None
                binders.append(formula.binder)
                formula = formula.body

    def over(self, sizes: tuple[int, ...], most: int) -> Iterator[tuple[OverNames, Bdd]]:
        """Yield the parts D0↾Y, where X has the given names, and Y further ones: ``most`` in all."""
        first = dict(zip(self._given.sorts, sizes, strict=True))
        kept: list[_Condition] = []
        beside = 0
        for one in self._conditions:
            number = one.needs * prod(
                len(self._deployment.constants[binder.sort]) + first.get(binder.sort, 0)
                for binder in one.binders
            )
            if sum(sizes) + beside + number <= most:
                beside += number
                kept.append(one)
        for more in sizes_of(beside, len(sizes)):
            yield self._over(sizes, tuple(a + b for a, b in zip(sizes, more, strict=True)), kept)

    def _over(
        self, sizes: tuple[int, ...], wide: tuple[int, ...], kept: list[_Condition]
    ) -> tuple[OverNames, Bdd]:
        deployment, init = self._deployment, self._deployment.init
        assert deployment.initially is not None
        there = OverNames(
            self._given, wide, extra=init.facts, relations=deployment.initially.relations, first=sizes
        )
        m, space = there.space.manager, there.space
        listed = set(deployment.initially.relations)
        fixed = {
            bit: fact in init
            for fact, bit in space.atoms.items()
            if fact in init or fact.relation not in listed
        }
        start = m.cube(fixed) & there.keys_and_bounds
        formulas = Formulas(space, deployment.schema, there.facts)
        for one in kept:
            for sigma in self._assignments(one, there):
                active = [
                    formulas.active(binder.sort, sigma[binder.name])
                    for binder in one.binders
                    if not binder.declared
                ]
                for case in formulas.refuting(one.body, sigma):
                    start = start & ~m.conj((*active, case))
        return there, start

    def _assignments(self, one: _Condition, there: OverNames) -> Iterator[dict[str, Value]]:
        """Yield the values of the binders among the first names and C."""
        constants = self._deployment.constants
        ranges = [(*constants[b.sort], *there.first.get(b.sort, ())) for b in one.binders]
        for values in product(*ranges):
            yield {binder.name: value for binder, value in zip(one.binders, values, strict=True)}


def valued(deployment: Deployment, known: Iterable[Value], open_sorts: Iterable[str]) -> Deployment:
    """Return A', whose constants of open sorts are ``known``.

    Its `init` has the facts about constants only.
    """
    if deployment.initially is not None:
        raise CertificateRejected("there is one initial database, whose identifiers are values", "views")
    kept, schema = frozenset(known), deployment.schema
    left = {
        sort: tuple(u for u in values if u in kept or sort not in open_sorts)
        for sort, values in deployment.constants.items()
    }
    told = {text.value for text in schema.texts}
    texts = (
        TextValue(u, sort, u)
        for sort, values in left.items()
        for u in values
        if u not in told and not schema.is_finite(sort)
    )
    schema = replace(schema, texts=(*schema.texts, *texts))
    every = {u for values in left.values() for u in values}
    init = Instance(schema, frozenset(f for f in deployment.init.facts if every.issuperset(f.args)))
    return replace(deployment, schema=schema, init=init, loaded=(), stated=None, ungated=None, text=None)


def mentioned(deployment: Deployment, sentences: Iterable[fo.Formula]) -> Iterator[Value]:
    """Yield the constants in the guards and statements of a deployment, and in sentences."""
    said = list(sentences)
    for tool in deployment.tools_and_events:
        said += [tool.guard, *(effect.when for effect in tool.effects)]
        for statement in (s for effect in tool.effects for s in effect.statements):
            match statement:
                case Insert(atom, _, where) | Delete(atom, _, where):
                    said += [atom, where]
                case Choose(_, where):
                    said.append(where)
                case _:
                    pass
    for formula in said:
        yield from constants(formula)


class Recorded:
    """The parts of an instance on k values, or more."""

    def __init__(self, given: Given, facts: Iterable[Fact]) -> None:
        self._given, self._k = given, given.k
        self._about: defaultdict[frozenset[Value], list[Fact]] = defaultdict(list)
        sort_of: dict[Value, str] = {}
        for fact in facts:
            own = given.sort_of((fact,))
            sort_of.update(own)
            self._about[frozenset(own)].append(fact)
        self._kind_of = {value: self._kind(value, sort) for value, sort in sort_of.items()}
        self._number = Counter(self._kind_of.values())
        self._sharing = Counter(self._pair(*values) for values in self._about if len(values) == 2)

    def _kind(self, value: Value, sort: str) -> tuple[str, View]:
        name = f"{sort}?"
        own = self._about.get(frozenset((value,)), ())
        return sort, frozenset(fact.rename({value: name}) for fact in own)

    def _pair(self, one: Value, other: Value) -> frozenset[tuple[str, View]]:
        return frozenset((self._kind_of[one], self._kind_of[other]))

    def parts(self) -> Iterator[View]:
        """Yield the form of each part, possibly repeated."""
        alone = tuple(self._about.get(frozenset(), ()))
        classes: dict[tuple[View, tuple[tuple[str, View], ...]], frozenset[Value]] = {}
        for values in self._connected():
            kinds = tuple(sorted((self._kind_of[v] for v in values), key=lambda k: (k[0], sorted(k[1]))))
            classes.setdefault((self._given.form(self._within(values)), kinds), values)
        for number in range(self._k + 1):
            for chosen in combinations_with_replacement(classes.items(), number):
                if sum(len(values) for _, values in chosen) <= self._k and all(
                    self._may_be_apart(one, other)
                    for (_, values), (_, others) in combinations(chosen, 2)
                    for one in values
                    for other in others
                ):
                    facts = (
                        fact.rename({value: f"{value}?{place}" for value in values})
                        for place, (_, values) in enumerate(chosen)
                        for fact in self._within(values)
                    )
                    yield self._given.form((*alone, *facts))

    def _connected(self) -> Iterator[frozenset[Value]]:
        """Yield the sets of at most k values that facts connect."""
        beside: defaultdict[Value, list[frozenset[Value]]] = defaultdict(list)
        for values in self._about:
            if 1 < len(values) <= self._k:
                for value in values:
                    beside[value].append(values)
        # one value of each kind, alone
        yield from {kind: frozenset((value,)) for value, kind in self._kind_of.items()}.values()
        seen = {values for values in self._about if 1 < len(values) <= self._k}
        todo = list(seen)
        while todo:
            values = todo.pop()
            yield values
            for more in (more for value in values for more in beside[value]) if len(values) < self._k else ():
                wider = values | more
                if len(wider) <= self._k and wider not in seen:
                    if len(seen) >= MOST_CONNECTED:
                        raise Undecided(
                            f"unknown: facts connect more than {MOST_CONNECTED:,} sets of {self._k} records"
                        )
                    seen.add(wider)
                    todo.append(wider)

    def _within(self, values: frozenset[Value]) -> Iterator[Fact]:
        """Yield the facts about some of these values alone."""
        for size in range(1, len(values) + 1):
            for some in combinations(values, size):
                yield from self._about.get(frozenset(some), ())

    def _may_be_apart(self, one: Value, other: Value) -> bool:
        first, second = self._kind_of[one], self._kind_of[other]
        number, more = self._number[first], self._number[second]
        pairs = number * (number - 1) // 2 if first == second else number * more
        return self._sharing[self._pair(one, other)] < pairs
