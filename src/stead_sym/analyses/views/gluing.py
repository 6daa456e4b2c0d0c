"""Compute the instances all of whose parts are given, as diagrams.

A set V of instances over at most k values is kept for each size of k values: by those instances over so many
names, each active or not, that are in V up to renaming. So V is closed under permutations of the names, and
with a view it has its parts. Over more names γ(V) is the conjunction of V for all choices of k names:

    γ(V)(x_1, …, x_n) = ⋀ { V(y_1, …, y_k) : {y_1, …, y_k} ⊆ {x_1, …, x_n} }.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, permutations, product

from stead_sym.analyses.views.diagrams import Diagrams
from stead_sym.analyses.views.needs import Number
from stead_sym.analyses.views.parts import Facts, Sizes, refuse_many
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.kernel import Core
from stead_sym.relational.schema import Value


class Gluing:
    """A growing set V of views on k values, with γ(V).

    γ(V) has only the instances that satisfy the sentences ``assumed``, which are true in each part of an
    instance in which they are true.
    """

    def __init__(
        self,
        diagrams: Diagrams,
        k: int,
        assumed: Iterable[Core] = (),
        views: Mapping[Sizes, Bdd] | None = None,
    ) -> None:
        self.diagrams, self.manager, self.k = diagrams, diagrams.manager, k
        self.assumed = tuple(assumed)
        sorts = len(diagrams.parts.sorts)
        every = (sizes for sizes in product(range(k + 1), repeat=sorts) if sum(sizes) == k)
        self.views = dict.fromkeys(every, self.manager.false) if views is None else dict(views)
        self._glued: dict[Sizes, tuple[tuple[Bdd, ...], Bdd]] = {}

    def sizes(self, number: Number) -> Sizes:
        """Return the numbers of values of each sort, in the order of the schema."""
        return tuple(number[sort] for sort in self.diagrams.parts.sorts)

    def number(self, sizes: Sizes) -> Number:
        """Return the numbers of a size, by sort."""
        return Counter(dict(zip(self.diagrams.parts.sorts, sizes, strict=True)))

    def coded(self, view: Facts) -> tuple[Sizes, dict[str, bool]]:
        """Return a view over the first names as a size of k values with the bits of the view."""
        own = self.diagrams.parts.sizes(view)
        size = next(one for one in self.views if all(a <= b for a, b in zip(own, one, strict=True)))
        return size, {self.diagrams.bit(fact): fact in view for fact in self.diagrams.facts(size)}

    def add(self, sizes: Sizes, found: Bdd) -> None:
        """Add views over these numbers of names, with all that are isomorphic to them."""
        if not found <= self.views[sizes]:
            self.views[sizes] |= self.diagrams.symmetric(found, sizes)

    def close(self) -> None:
        """Add the parts of views: each view without one value, beside any other one that is not active."""
        m, changed = self.manager, True
        while changed:
            changed = False
            for sizes, views in list(self.views.items()):
                for sort, number in enumerate(sizes):
                    if not number:
                        continue
                    fewer = _plus(sizes, sort, -1)
                    part = m.exist(self.diagrams.beyond(fewer, sizes), views)
                    for other in range(len(sizes)):
                        wider = _plus(fewer, other, 1)
                        beside = part & self.diagrams.none_beyond(fewer, wider)
                        if not beside <= self.views[wider]:
                            changed = True
                            self.add(wider, beside)

    def over(self, sizes: Sizes) -> Bdd:
        """Return γ(V) over these numbers of names; raises `Undecided` if they are too many."""
        refuse_many(sum(sizes))
        lacking = self.k - sum(sizes)
        if lacking > 0:
            wider = _plus(sizes, 0, lacking)
            return self.manager.cofactor(
                self.over(wider), dict.fromkeys(self.diagrams.beyond(sizes, wider), False)
            )
        given = tuple(self.views.values())
        if sizes not in self._glued or self._glued[sizes][0] != given:
            self._glued[sizes] = given, self._joined(sizes)
        return self._glued[sizes][1]

    def _joined(self, sizes: Sizes) -> Bdd:
        """Join all instances over one name less with the parts that have that name."""
        sentences = (p for f in self.assumed for p in self.diagrams.grounded(sizes).conjuncts(f, {}))
        if sum(sizes) == self.k:
            glued = self.views[sizes]
        else:
            last = max(range(len(sizes)), key=lambda sort: (sizes[sort], sort))
            glued = self.over(_plus(sizes, last, -1))
            for part, names in self._parts(sizes, last):
                facts = self.diagrams.facts(part)
                first = dict(zip(_flat(self.diagrams.names(part)), names, strict=True))
                glued &= self.diagrams.renamed(self.views[part], facts, first)
                self.diagrams.limited(glued)
        for sentence in sentences:
            glued &= sentence
        return self.diagrams.limited(glued)

    def _parts(self, sizes: Sizes, last: int) -> Iterator[tuple[Sizes, tuple[Value, ...]]]:
        """Yield the sizes of k names that include the last name of one sort, each with possible names."""
        names = self.diagrams.names(sizes)
        new = names[last][-1]
        rest = [*names[:last], names[last][:-1], *names[last + 1 :]]
        for part in self.views:
            if part[last] and all(a <= b for a, b in zip(part, sizes, strict=True)):
                chosen = (
                    combinations(own, number - (sort == last))
                    for sort, (own, number) in enumerate(zip(rest, part, strict=True))
                )
                for each in product(*chosen):
                    yield part, _flat((*own, new) if sort == last else own for sort, own in enumerate(each))

    def count(self) -> int:
        """Return |V| up to isomorphism, without enumerating V.

        Views with a given number of active names are counted as orbits: (1 / |G|) Σ_g |{ D : g(D) = D }| for
        the group G of permutations of the names (Burnside).
        """
        found = 0
        for own in product(range(self.k + 1), repeat=len(self.diagrams.parts.sorts)):
            if sum(own) <= self.k:
                size = next(s for s in self.views if all(a <= b for a, b in zip(own, s, strict=True)))
                absent = dict.fromkeys(self.diagrams.beyond(own, size), False)
                found += self._orbits(self.manager.cofactor(self.views[size], absent), own)
        return found

    def _orbits(self, views: Bdd, own: Sizes) -> int:
        m, facts, ground = self.manager, self.diagrams.facts(own), self.diagrams.grounded(own)
        names = dict(zip(self.diagrams.parts.sorts, self.diagrams.names(own), strict=True))
        views = m.conj([views, *(ground.active(sort, u) for sort, each in names.items() for u in each)])
        fixed = orders = 0
        for order in product(*(permutations(each) for each in names.values())):
            to = dict(zip(_flat(names.values()), _flat(order), strict=True))
            same = views  # a conjunction of what is asked of all facts is large
            for fact, image in ((f, f.rename(to)) for f in sorted(facts)):
                if fact != image:
                    same &= self.diagrams.atom(fact).equiv(self.diagrams.atom(image))
            fixed += m.count(same, self.diagrams.bits(facts))
            orders += 1
        return fixed // orders

    def forms(self) -> frozenset[Facts]:
        """Return V, as forms."""
        form = self.diagrams.parts.form
        return frozenset(
            form(facts) for s, views in self.views.items() for facts in self.diagrams.instances(views, s)
        )


def _flat(groups: Iterable[Iterable[Value]]) -> tuple[Value, ...]:
    return tuple(value for group in groups for value in group)


def _plus(sizes: Sizes, sort: int, number: int) -> Sizes:
    return (*sizes[:sort], sizes[sort] + number, *sizes[sort + 1 :])
