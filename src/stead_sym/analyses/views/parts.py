"""Compute parts of instances up to renaming.

Definition. α_k(D) is the set of parts D↾X with |X| ≤ k, up to renaming of values outside C, and for a set V
of such instances γ(V) = { D : α_k(D) ⊆ V } (`views.gluing`). A part of a part of D is a part of D.

One decision: an instance stands for all that it is C-isomorphic to by its *form*, which is found by trying
all renamings that matter, so that nothing rests on nauty. Forms have few values here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, groupby, islice, permutations, product
from typing import TypeAlias

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import fresh_values, generated
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

Facts: TypeAlias = frozenset[Fact]
Sizes: TypeAlias = tuple[int, ...]
"""The number of values of each open sort, in the order of the schema."""

MOST_RECORDS = 6
"""Instances over at most this many values outside C are looked at, and what one step makes of them."""

MOST_AT_LAST = 8
"""The same for what is not shown over `MOST_RECORDS` values, and for a sentence once there are views."""

MOST_NODES = 2_000_000
"""The diagrams of one set of views have at most this many nodes."""


@dataclass(frozen=True, slots=True)
class HowFar:
    """The limits of a look at steps: of ``values``, ``operations`` on diagrams and their ``nodes``."""

    values: int = MOST_RECORDS
    operations: float = math.inf
    nodes: float = MOST_NODES

    def within(self, operations: float, nodes: float = math.inf) -> HowFar:
        """Return the same with at most so many operations, and nodes."""
        return HowFar(self.values, min(self.operations, operations), min(self.nodes, nodes))


AT_FIRST = HowFar()
AT_LAST = HowFar(MOST_AT_LAST, 1_500)
"""The limits of the last look, with fewer operations: over more values each of them takes longer."""


class Parts:
    """The parts of the instances of one deployment; steps are looked at over at most ``most`` values."""

    def __init__(self, deployment: Deployment, most: int = MOST_RECORDS) -> None:
        self.most = most
        self.schema = deployment.schema
        self.constants = frozenset(v for values in deployment.constants.values() for v in values)
        self.sorts = self.schema.infinite_sorts
        every = tuple(sort.name for sort in self.schema.sorts)
        names = MOST_AT_LAST + max(fresh_values(deployment).values(), default=0)
        self.names = {s: tuple(islice(generated(s, every, self.constants), names)) for s in self.sorts}
        self.form = lru_cache(maxsize=1 << 18)(self._form)

    def sort_of(self, facts: Iterable[Fact]) -> dict[Value, str]:
        """Return the active values outside C, each with its sort."""
        return {
            value: sort
            for fact in facts
            for value, sort in zip(fact.args, self.schema.relation(fact.relation).sorts, strict=True)
            if value not in self.constants
        }

    def sizes(self, facts: Iterable[Fact]) -> Sizes:
        """Return the number of active values outside C of each open sort."""
        number = Counter(self.sort_of(facts).values())
        return tuple(number[sort] for sort in self.sorts)

    def part(self, facts: Iterable[Fact], kept: Iterable[Value]) -> Facts:
        """Return D↾X."""
        known = self.constants.union(kept)
        return frozenset(fact for fact in facts if known.issuperset(fact.args))

    def alpha(self, facts: Facts, k: int) -> Iterator[Facts]:
        """Yield α_k(D), as forms, possibly repeated."""
        outside = sorted(self.sort_of(facts))
        for size in range(min(k, len(outside)) + 1):
            for kept in combinations(outside, size):
                yield self.form(self.part(facts, kept))

    def _form(self, facts: Facts) -> Facts:
        """Return the least renaming of the facts to the first names.

        Values with different roles are named in the order of their roles.
        """
        sort_of = self.sort_of(facts)
        roles = {value: self._role(facts, value) for value in sort_of}
        order = sorted(sort_of, key=lambda v: (sort_of[v], roles[v]))
        groups = [tuple(group) for _, group in groupby(order, key=lambda v: (sort_of[v], roles[v]))]
        places: Counter[str] = Counter()
        named: list[tuple[Value, ...]] = []
        for group in groups:
            sort, first = sort_of[group[0]], places[sort_of[group[0]]]
            named.append(self.names[sort][first : first + len(group)])
            places[sort] += len(group)
        names = [name for group in named for name in group]
        orders = product(*(permutations(group) for group in groups))
        renamings = (dict(zip(chain.from_iterable(order), names, strict=True)) for order in orders)
        return min((renamed_facts(facts, renaming) for renaming in renamings), key=sorted)

    def _role(self, facts: Facts, value: Value) -> list[tuple[str, tuple[str, ...]]]:
        """Return the facts that have a value, with the other values outside C identified."""
        return sorted(
            (
                fact.relation,
                tuple("=" if u == value else u if u in self.constants else "*" for u in fact.args),
            )
            for fact in facts
            if value in fact.args
        )


def renamed_facts(facts: Iterable[Fact], renaming: Mapping[Value, Value]) -> Facts:
    """Return ι(D)."""
    return frozenset(fact.rename(renaming) for fact in facts)


def refuse_many(n: int, what: str = "it", instead: str = "", most: int = MOST_AT_LAST) -> None:
    """Raise `Undecided` if ``what`` takes databases of n records, more than ``most``.

    ``instead`` is the remedy.
    """
    if n > most:
        said = f"unknown: {what} takes databases of {n} records, and {most} are looked at"
        raise Undecided(f"{said}; {instead}" if instead else said)
