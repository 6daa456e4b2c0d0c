"""Views one by one, and the instances all of whose parts are views: what `stead_sym.analyses.views` does with
diagrams, from the definitions.

An instance over n + 1 values is one over n, with facts about the last value such that with every k - 1 of the
others they make a part that is given: so γ(V) is made from the values up, and never by trying all facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.closure import Closing
from stead_sym.analyses.views.needs import Outside
from stead_sym.analyses.views.parts import MOST_RECORDS, Facts, Sizes, renamed_facts
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import outcomes, possible
from stead_sym.deployment.tool import Call
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact, Instance, broken_keys
from stead_sym.relational.schema import Value


class TooMany(Exception):
    """There are too many instances to look at them one by one."""


class Explicit:
    """The least set of views that a `Closing` looks for."""

    def __init__(self, closing: Closing, most_instances: int, most_joined: int) -> None:
        self.k, self.parts, self.assumed = closing.k, closing.parts, closing.assumed
        self.deployment, self.needs = closing.deployment, closing.needs
        self.within = closing.within
        self.most_instances, self.most_joined = most_instances, most_joined
        self._admitted: dict[Facts, bool] = {}
        self.restriction = normal_restriction(
            self.deployment.within(dict.fromkeys(self.deployment.bounds, 0))
        )

    def broken(self, state: Instance) -> str:
        """The first of what is assumed that is false, if one is."""
        for one in self.assumed:
            relation = one.name.removeprefix("key of ")
            if relation == one.name:
                if not holds(one.sentence, state):
                    return one.name
            else:
                facts = (Fact(relation, args) for args in state.by_relation.get(relation, ()))
                if any(True for _ in broken_keys(state.schema, facts)):
                    return one.name
        return ""

    def admitted(self, facts: Facts) -> bool:
        """Return if what is assumed is true."""
        if facts not in self._admitted:
            self._admitted[facts] = not self.broken(Instance(self.deployment.schema, facts))
        return self._admitted[facts]

    def gluing(self, views: Iterable[Facts]) -> Gluing:
        """γ(V), those instances that satisfy what is assumed."""
        return Gluing(self, frozenset(views))

    def closed(self) -> frozenset[Facts] | str:
        """The least V, or what is assumed and a step breaks. Raises `TooMany`."""
        n = max(self.within.values(), default=0)
        if n > MOST_RECORDS:
            raise TooMany
        views: set[Facts] = set()
        for start in self.initial():
            if broken := self.broken(start):
                return broken
            views.update(self.parts.alpha(start.facts, self.k))
        stepped: set[Facts] = set()
        while True:
            new: set[Facts] = set()
            for facts in self.gluing(views).instances(n):
                if facts in stepped:
                    continue
                stepped.add(facts)
                if len(stepped) > self.most_instances:
                    raise TooMany
                for _, after in self.after(facts):
                    if broken := self.broken(after):
                        return broken
                    new.update(self.parts.alpha(after.facts, self.k))
            if new <= views:
                return frozenset(views)
            views |= new

    def initial(self) -> tuple[Instance, ...]:
        """Initial instances that have among them all parts on k values of initial instances of every size;
        and of one in which something assumed is false, a part in which it is."""
        lines = self.deployment.initially
        if lines is None:
            return (self.deployment.init,)
        parts, needed = [], 0
        for part in fo.conjuncts(lines.where):
            try:
                needed += self.needs.kept(part).total()
            except Outside:
                continue  # without it there are more initial instances
            parts.append(part)
        asked = (self.needs.refuted(a.sentence).total() for a in self.assumed if a.starting)
        n = max([self.k, *asked]) + needed
        open_sorts = self.deployment.unbounded or self.deployment.bounds
        within = self.deployment.within(dict.fromkeys(open_sorts, n))
        # a part of an initial instance may lack the row that another one refers to
        relations = tuple(replace(r, refers=(), total=None) for r in within.schema.relations)
        within = replace(within, schema=replace(within.schema, relations=relations))
        line = replace(lines, where=fo.conjunction(tuple(parts)))
        weaker = replace(within, written=replace(self.deployment.written, initially=(line,)))
        domain = {s: (*c, *self.parts.names.get(s, ())[:n]) for s, c in self.deployment.constants.items()}
        found = initial_states(weaker, domain, self.most_instances + 1)
        if len(found) > self.most_instances:
            raise TooMany
        return found

    def after(self, facts: Facts) -> Iterator[tuple[Call, Instance]]:
        """The steps that need so many values, and what they lead to, up to renaming of fresh values."""
        state = Instance(self.deployment.schema, facts)
        size = len(self.parts.sort_of(facts))
        near = around(self.deployment, self.restriction, state)
        for call in possible(self.deployment, state):
            if size <= self.within[call.tool]:
                for after in outcomes(self.deployment, call, state, near):
                    yield call, after


class Gluing:
    """γ(V) for one set V of forms over at most k values, closed under parts; of its instances those that are
    ``admitted``, which parts of admitted ones are."""

    def __init__(self, by: Explicit, views: frozenset[Facts]) -> None:
        self.parts, self.k, self.admitted = by.parts, by.k, by.admitted
        self.most_joined = by.most_joined
        self.views = [(view, self.parts.sizes(view)) for view in views if self.admitted(view)]
        self._tables: dict[tuple[Sizes, int], dict[Facts, set[Facts]]] = {}
        self._levels: dict[Sizes, frozenset[Facts]] = {}
        self._tried = 0

    def instances(self, n: int) -> Iterator[Facts]:
        """γ(V) over n values outside C or fewer, as forms, each once. Raises `TooMany`."""
        if n > MOST_RECORDS:
            raise TooMany
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
        if self._tried > self.most_joined:
            raise TooMany
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
