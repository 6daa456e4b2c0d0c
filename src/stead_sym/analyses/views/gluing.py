"""The instances all of whose parts are given.

An instance over n + 1 values is one over n, with facts about the last value such that with every k - 1 of the
others they make a part that is given: so γ(V) is made from the values up, and never by trying all facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product

from stead_sym.analyses.views.parts import Facts, Parts, Sizes, refuse_many, renamed_facts
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

MOST_JOINED = 100_000
"""So many times facts are put together."""


class Gluing:
    """γ(V) for one set V of forms over at most k values, closed under parts; of its instances those that are
    ``admitted``, which parts of admitted ones are."""

    def __init__(
        self, parts: Parts, views: frozenset[Facts], k: int, admitted: Callable[[Facts], bool]
    ) -> None:
        self.parts, self.k, self.admitted = parts, k, admitted
        self.views = [(view, parts.sizes(view)) for view in views if admitted(view)]
        self._tables: dict[tuple[Sizes, int], dict[Facts, set[Facts]]] = {}
        self._levels: dict[Sizes, frozenset[Facts]] = {}
        self._tried = 0

    def instances(self, n: int) -> Iterator[Facts]:
        """γ(V) over n values outside C or fewer, as forms, each once. Raises `Undecided` past the limits."""
        refuse_many(n)
        seen: set[Facts] = set()
        for sizes in product(range(n + 1), repeat=len(self.parts.sorts)):
            if sum(sizes) == n:
                seen |= self.level(sizes)
        yield from seen

    def level(self, sizes: Sizes) -> frozenset[Facts]:
        """γ(V) over at most so many values of each sort, as forms."""
        if sizes not in self._levels:
            self._levels[sizes] = frozenset(
                (view for view, own in self.views if _within(own, sizes))
                if sum(sizes) <= self.k
                else self._extended(sizes)
            )
        return self._levels[sizes]

    def _extended(self, sizes: Sizes) -> Iterator[Facts]:
        """Instances with one value less, and all ways to put in the last value of the last sort."""
        last = max(place for place, number in enumerate(sizes) if number)
        fewer = tuple(number - (place == last) for place, number in enumerate(sizes))
        new = self.parts.names[self.parts.sorts[last]][fewer[last]]
        sides: list[_Side] = []
        for others in combinations(self.of_names(fewer), self.k - 1):
            sides.append(_Side(self, others, new, last, tuple(side.values for side in sides)))
        for facts in self.level(fewer):
            for joined in self._joined(facts, sides, frozenset()):
                whole = self.parts.form(facts | joined)
                if self.admitted(whole):
                    yield whole

    def _joined(self, facts: Facts, sides: Sequence[_Side], joined: Facts) -> Iterator[Facts]:
        """The sets of facts with the new value that make a given part with the values of each side."""
        self._tried += 1
        if self._tried > MOST_JOINED:
            raise Undecided(f"unknown: parts on {self.k} values fit together in too many ways")
        if not sides:
            yield joined
            return
        first, *rest = sides
        for option in first.options(facts, joined):
            yield from self._joined(facts, rest, joined | option)

    def of_names(self, sizes: Sizes) -> tuple[tuple[int, Value], ...]:
        """The first names of each sort, each with the place of its sort."""
        return tuple(
            (place, name)
            for place, number in enumerate(sizes)
            for name in self.parts.names[self.parts.sorts[place]][:number]
        )

    def table(self, sizes: Sizes, last: int) -> dict[Facts, set[Facts]]:
        """By instances over so many names, the sets of facts that a value of the last sort may be in."""
        if (sizes, last) not in self._tables:
            table: dict[Facts, set[Facts]] = {}
            names: dict[int, list[Value]] = {place: [] for place in range(len(sizes))}
            for place, name in self.of_names(sizes):
                names[place].append(name)
            names[last].append(_NEW)
            for view, own in self.views:
                if not _within(own, tuple(len(names[place]) for place in range(len(sizes)))):
                    continue
                given = [[name for p, name in self.of_names(own) if p == place] for place in range(len(own))]
                for targets in product(*(permutations(names[p], len(given[p])) for p in range(len(own)))):
                    renaming = {
                        v: u
                        for vs, us in zip(given, targets, strict=True)
                        for v, u in zip(vs, us, strict=True)
                    }
                    placed = renamed_facts(view, renaming)
                    with_new = frozenset(fact for fact in placed if _NEW in fact.args)
                    table.setdefault(placed - with_new, set()).add(with_new)
            self._tables[sizes, last] = table
        return self._tables[sizes, last]


class _Side:
    """Some values, ``others``, that stand beside a new one; the facts that these may be in.

    Of the facts on the side those that lie within an ``earlier`` one are settled: they were chosen there.
    """

    def __init__(
        self,
        gluing: Gluing,
        others: tuple[tuple[int, Value], ...],
        new: Value,
        last: int,
        earlier: tuple[frozenset[Value], ...],
    ) -> None:
        self._parts, self._earlier = gluing.parts, earlier
        self._mine = [name for _, name in others]
        self.values = frozenset((new, *self._mine))
        counted = Counter(place for place, _ in others)
        sizes = tuple(counted[place] for place in range(len(gluing.parts.sorts)))
        first = [name for _, name in gluing.of_names(sizes)]
        self._there = dict(zip(self._mine, first, strict=True))
        self._back = {**dict(zip(first, self._mine, strict=True)), _NEW: new}
        self._table = gluing.table(sizes, last)
        self._known: dict[Facts, dict[Facts, list[Facts]]] = {}

    def options(self, facts: Facts, joined: Facts) -> Sequence[Facts]:
        """The sets of facts with the new value that make a given part with those of ``facts`` on this side,
        and agree with what is settled."""
        old = self._parts.part(facts, self._mine)
        if old not in self._known:
            by_settled: dict[Facts, list[Facts]] = {}
            for option in self._table.get(renamed_facts(old, self._there), ()):
                mine = renamed_facts(option, self._back)
                settled = frozenset[Fact]().union(*(self._parts.part(mine, side) for side in self._earlier))
                by_settled.setdefault(settled, []).append(mine)
            self._known[old] = by_settled
        return self._known[old].get(self._parts.part(joined, self.values), ())


_NEW = "·"
"""The name of the value that is put in, in the tables: none of the language."""


def _within(own: Sizes, sizes: Sizes) -> bool:
    return all(a <= b for a, b in zip(own, sizes, strict=True))
