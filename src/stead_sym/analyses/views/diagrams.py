"""Represent instances over C and a few names as diagrams, with a variable for each fact.

A size gives the number of names of each open sort, in the order of the schema; these are the first names. A
relation that no statement changes and that `initially` does not leave open is as in `init`, and has no
variables. Exceptions are the relations ``records``, of which `init` has facts about values that are no
constants (`views.records`).
"""

from __future__ import annotations

import math
import time
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, pairwise, product
from math import prod

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.parts import AT_FIRST, Facts, HowFar, Parts, Sizes
from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.step.grounding import Grounding
from stead_sym.errors import Undecided
from stead_sym.logic.kernel import core
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value
from stead_sym.verification.findings.ranges import changed_by

MOST_OVER_CONSTANTS = 20_000
"""Facts that may be true or false are over at most this many choices of constants."""

_BETWEEN = 32
"""The nodes are counted once every this many diagrams, since that takes longer than most operations."""


class Diagrams:
    """The facts of one deployment, and diagrams of sets of instances.

    Raises `Undecided` past the time ``until`` of the monotonic clock, and past the operations and nodes of
    ``far``. The reason is then what they are ``doing``, with what to do ``instead``.
    """

    def __init__(
        self,
        deployment: Deployment,
        parts: Parts,
        until: float = math.inf,
        far: HowFar = AT_FIRST,
        records: Iterable[str] = (),
    ) -> None:
        self.deployment, self.parts, self._until, self.far = deployment, parts, until, far
        self.manager = Manager()
        self.doing, self.instead = "it", ""
        open_at_first = () if deployment.initially is None else deployment.initially.relations
        written = chain.from_iterable(map(changed_by, deployment.tools_and_events))
        changing = {*records, *open_at_first, *written}
        self.changing = tuple(r for r in deployment.schema.relations if r.name in changing)
        known = deployment.constants
        over = sum(prod(len(known[sort]) for sort in relation.sorts) for relation in self.changing)
        if over > MOST_OVER_CONSTANTS:
            raise Undecided(
                f"unknown: there are {over:,} facts over the constants of the file, and"
                f" {MOST_OVER_CONSTANTS:,} are looked at; leave out the `initially` line, or load fewer facts"
            )
        self.given = frozenset(fact for fact in deployment.init.facts if fact.relation not in changing)
        self._rank = {
            name: (place, sort)
            for sort, names in enumerate(parts.names.values())
            for place, name in enumerate(names)
        }
        self._order: list[tuple[object, ...]] = []
        self._looked = 0
        self._fact_of: dict[str, Fact] = {}
        self._bit_of: dict[Fact, str] = {}
        self.facts = cache(self._facts)
        self.beyond = cache(lambda fewer, sizes: self.bits(self.facts(sizes) - self.facts(fewer)))
        self.none_beyond = cache(lambda fewer, sizes: self._none(self.beyond(fewer, sizes)))
        self.grounded = cache(lambda sizes: Grounded(self, sizes))

    def names(self, sizes: Sizes) -> tuple[tuple[Value, ...], ...]:
        """Return the names of each open sort."""
        return tuple(self.parts.names[s][:n] for s, n in zip(self.parts.sorts, sizes, strict=True))

    def values(self, sizes: Sizes) -> Mapping[str, tuple[Value, ...]]:
        """Return C and the names, by sort."""
        named = dict(zip(self.parts.sorts, self.names(sizes), strict=True))
        return {s: (*known, *named.get(s, ())) for s, known in self.deployment.constants.items()}

    def _facts(self, sizes: Sizes) -> frozenset[Fact]:
        """Return the facts that may be true or false."""
        values = self.values(sizes)
        return frozenset(
            Fact(r.name, args) for r in self.changing for args in product(*(values[s] for s in r.sorts))
        )

    def bits(self, facts: Iterable[Fact]) -> Bits:
        """Return the variables of some facts."""
        return frozenset(map(self.bit, facts))

    def bit(self, fact: Fact) -> str:
        """Return the variable of a fact; facts about the same names have adjacent variables."""
        bit = self._bit_of.get(fact)
        if bit is None:
            bit = self._bit_of[fact] = str(fact)
            self._fact_of[bit] = fact
            ranks = sorted((self._rank[u] for u in fact.args if u in self._rank), reverse=True)
            key = (tuple(ranks), fact)
            at = bisect(self._order, key)
            if at == len(self._order):
                self.manager.declare_bottom([bit, f"{bit}'"])
            else:
                before = str(self._order[at][1])
                self.manager.declare_above(bit, before)
                self.manager.declare_below(f"{bit}'", bit)
            self._order.insert(at, key)
        return bit

    def atom(self, fact: Fact) -> Bdd:
        """Return the instances in which a fact holds."""
        return self.manager.var(self.bit(fact))

    def none_of(self, facts: Iterable[Fact]) -> Bdd:
        """Return the instances without these facts."""
        return self._none(self.bits(facts))

    def _none(self, bits: Iterable[str]) -> Bdd:
        return self.manager.cube(dict.fromkeys(bits, False))

    def refuting(self, given: Bdd, sentence: fo.Expanded, sizes: Sizes) -> Bdd:
        """Return the instances of a set in which a sentence is false.

        The conjuncts are taken one by one: their conjunction may be large over all instances.
        """
        parts = self.grounded(sizes).conjuncts(core(sentence), {})
        return self.limited(self.manager.disj(given & ~part for part in parts))

    def limited(self, function: Bdd) -> Bdd:
        """Return the function; raises `Undecided` past the limits, and once the time is over."""
        if time.monotonic() > self._until:
            raise Undecided("unknown: the time is over")
        self._looked += 1
        if self._looked > self.far.operations:
            said = f"unknown: {self.doing} takes more than {self.far.operations:,} operations on diagrams"
            raise Undecided("; ".join(filter(None, (said, self.instead))))
        most, often = self.far.nodes, self._looked % _BETWEEN == 0
        if often and self.manager.nodes > most and function.dag_size > most // 20:
            raise Undecided(
                f"unknown: parts fit together in too many ways (more than {most:,} nodes); declare"
                " keys, write an `invariant`, or ask of fewer relations"
            )
        return function

    def renamed(self, function: Bdd, facts: Iterable[Fact], to: Mapping[Value, Value]) -> Bdd:
        """Return { ι(D) } for an injective ι and instances with no other facts than these."""
        images = {self.bit(fact): self.atom(fact.rename(to)) for fact in facts if fact != fact.rename(to)}
        return self.manager.substitute(function, images)

    def symmetric(self, function: Bdd, sizes: Sizes) -> Bdd:
        """Return { ι(D) : ι a permutation of the names }.

        It is computed by products of transpositions, of each name with one before it.
        """
        facts = self.facts(sizes)
        for names in self.names(sizes):
            for place, name in enumerate(names):
                swapped = [self.renamed(function, facts, {name: u, u: name}) for u in names[:place]]
                function = self.manager.disj((function, *swapped))
        return self.limited(function)

    def instances(self, function: Bdd, sizes: Sizes) -> Iterator[Facts]:
        """Yield at least one instance of each class of a set that is closed under permutations of names."""
        facts = sorted(self.facts(sizes))
        for names in self.names(sizes):
            for one, other in pairwise(names):
                own = [f for f in facts if one in f.args and not self._others(f, one)]
                function = function & _descending(self, own, {one: other})
        return self.models(function, sizes)

    def models(self, function: Bdd, sizes: Sizes) -> Iterator[Facts]:
        """Yield the instances of a set."""
        bits = sorted(map(self.bit, self.facts(sizes)), key=self.manager.level)
        for assignment in _models(self.manager, function, bits):
            yield self.given.union(self._fact_of[bit] for bit in assignment)

    def _others(self, fact: Fact, name: Value) -> bool:
        return any(u != name and u in self._rank for u in fact.args)

    def fewest(self, function: Bdd, sizes: Sizes) -> Facts:
        """Return an instance of the set with the fewest facts."""
        bits = {self.bit(fact): False for fact in sorted(self.facts(sizes))}
        found = self.manager.nearest(function, bits)
        return self.given.union(self._fact_of[bit] for bit, holds in found.items() if holds)


def _descending(diagrams: Diagrams, facts: Iterable[Fact], to: Mapping[Value, Value]) -> Bdd:
    """Return the instances in which these facts are lexicographically no less than their images."""
    m = diagrams.manager
    found = m.true
    for fact in reversed(list(facts)):
        one, other = diagrams.atom(fact), diagrams.atom(fact.rename(to))
        found = m.ite(one, found | ~other, ~other & found)
    return found


def _models(m: Manager, function: Bdd, bits: list[str]) -> Iterator[list[str]]:
    """Yield the satisfying assignments in the order of the variables, each as the variables that are 1."""
    todo = [(function, 0, list[str]())]
    while todo:
        node, at, on = todo.pop()
        if node == m.false:
            continue
        if at == len(bits):
            yield on
            continue
        if m.depth(node) > m.level(bits[at]):
            low = high = node
        else:
            low, high = m.branches(node)
        todo += [(high, at + 1, [*on, bits[at]]), (low, at + 1, on)]


class Grounded(Grounding):
    """The grounding of formulas over C and some names. Facts about other names are false."""

    def __init__(self, diagrams: Diagrams, sizes: Sizes) -> None:
        super().__init__(diagrams.manager, diagrams.deployment.schema, diagrams.values(sizes))
        self.diagrams, self.facts = diagrams, diagrams.facts(sizes)
        self._holding: dict[tuple[str, Value], list[Bdd]] = {}
        for fact in sorted((*self.facts, *diagrams.given)):
            for place in set(zip(self.schema.relation(fact.relation).sorts, fact.args, strict=True)):
                self._holding.setdefault(place, []).append(self.atom(fact))
        self._active: dict[tuple[str, Value], Bdd] = {}

    def atom(self, fact: Fact, primed: bool = False) -> Bdd:
        """Return the instances in which a fact holds."""
        if fact in self.facts:
            return self.diagrams.atom(fact)
        return self.manager.true if fact in self.diagrams.given else self.manager.false

    def active(self, sort: str, value: Value) -> Bdd:
        """Return the instances in which some fact has the value."""
        if (sort, value) not in self._active:
            self._active[sort, value] = self.manager.disj(self._holding.get((sort, value), ()))
        return self._active[sort, value]
