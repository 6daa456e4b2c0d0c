"""The instances over some names whose parts are given views, as a diagram over facts.

    γ over n names  =  ⋀ { D↾X is a view up to renaming : X ⊆ the names, |X| = k, or all of fewer }

One decision: the names do not exist in the language, and are interchangeable; so what is true of a call or
of a part is also true of its renamings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, permutations, product

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.space import Space
from stead_sym.certificate.checker.start import broken_keys
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Backend, Bdd, Manager
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

MOST_FACTS = 2_000
"""The maximum number of facts that may hold in an instance over the names."""

View = frozenset[Fact]


@dataclass(frozen=True)
class Given:
    """A set of ``views`` of a deployment over at most k values outside C.

    The sorts ``open_sorts`` have an arbitrary number of values; ``invariants`` are assumed, by their names.
    If identifiers of D0 are treated as values (`checker.starting`), ``records`` are its facts.
    """

    deployment: Deployment
    open_sorts: frozenset[str]
    k: int
    views: frozenset[View]
    invariants: Mapping[str, fo.Formula]
    backend: Backend | None = None
    records: frozenset[Fact] | None = None

    @cached_property
    def sorts(self) -> tuple[str, ...]:
        """The sorts that are not finite."""
        return self.deployment.schema.infinite_sorts

    @cached_property
    def constants(self) -> frozenset[Value]:
        """The set C."""
        return self.deployment.all_constants

    def sort_of(self, facts: Iterable[Fact]) -> dict[Value, str]:
        """Return the values outside C of some facts, each with its sort."""
        return {
            value: sort
            for fact in facts
            for value, sort in zip(
                fact.args, self.deployment.schema.relation(fact.relation).sorts, strict=True
            )
            if value not in self.constants
        }

    def by_sort(self, facts: frozenset[Fact]) -> Mapping[str, Sequence[Value]]:
        """Return the values outside C of some facts, by sort. They are kept: views are placed many times."""
        if facts not in self._by_sort:
            result: dict[str, list[Value]] = {}
            for value, sort in sorted(self.sort_of(facts).items()):
                result.setdefault(sort, []).append(value)
            self._by_sort[facts] = result
        return self._by_sort[facts]

    @cached_property
    def _by_sort(self) -> dict[View, dict[str, list[Value]]]:
        return {}

    def placed(self, facts: Iterable[Fact], names: Mapping[str, Sequence[Value]]) -> Iterator[View]:
        """Yield the facts under all choices of names for their values."""
        given = frozenset(facts)
        by_sort = self.by_sort(given)
        choices = (permutations(names.get(sort, ()), len(values)) for sort, values in by_sort.items())
        for chosen in product(*choices):
            pairs = zip(by_sort.values(), chosen, strict=True)
            renaming = {v: u for values, own in pairs for v, u in zip(values, own, strict=True)}
            yield frozenset(fact.rename(renaming) for fact in given)

    def form(self, facts: Iterable[Fact]) -> View:
        """Return the least renaming of the facts to numbered names."""
        given = frozenset(facts)
        numbers = {sort: len(values) for sort, values in self.by_sort(given).items()}
        return min(self.placed(given, names_of(numbers)), key=sorted)


class OverNames:
    """The instances over some numbers of names of each sort, the ``first`` of which are distinguished.

    In addition there are names that a step may use for ``fresh`` values, and facts that need not occur in
    views: ``extra`` ones, and all of some ``relations``.
    """

    def __init__(
        self,
        given: Given,
        sizes: tuple[int, ...],
        fresh: Mapping[str, int] | None = None,
        extra: Iterable[Fact] = (),
        relations: Iterable[str] = (),
        first: tuple[int, ...] | None = None,
    ) -> None:
        self._given, self._deployment = given, given.deployment
        self.own = names_of(dict(zip(given.sorts, sizes, strict=True)))
        self.first = names_of(dict(zip(given.sorts, sizes if first is None else first, strict=True)))
        beside = fresh or {}
        more = {sort: len(names) + beside.get(sort, 0) for sort, names in self.own.items()}
        self.names = names_of(more)
        domain = {s: (*c, *self.names.get(s, ())) for s, c in self._deployment.constants.items()}
        self._rank = {name: rank for names in self.names.values() for rank, name in enumerate(names)}
        facts = {*extra, *self._renamed()}
        for name in relations:
            sorts = self._deployment.schema.relation(name).sorts
            facts |= {Fact(name, args) for args in product(*(domain[sort] for sort in sorts))}
        if len(facts) > MOST_FACTS:
            raise Undecided(
                f"unknown: views have {len(facts):,} facts, and {MOST_FACTS:,} are checked at most"
            )
        manager = Manager(given.backend)
        order = sorted(
            facts, key=lambda fact: (max((self._rank.get(v, -1) for v in fact.args), default=-1), fact)
        )
        manager.declare_bottom(map(str, order))
        self.space = Space(manager, domain, {fact: str(fact) for fact in order}, frozenset(), frozenset())
        self.ledger = Ledger(self.space, self._deployment.schema)
        holding = {fact: self.space.now(fact) for fact in order}
        self.facts = Facts(self._deployment.schema, holding)
        self._viewed: dict[frozenset[Value], Bdd] = {}
        self.keys_and_bounds = manager.conj(self._keys_and_bounds(holding))
        self.admitted = self._glued() & self.keys_and_bounds
        formulas = Formulas(self.space, self._deployment.schema, self.facts)
        self.broken: list[tuple[str, tuple[Bdd, ...]]] = [("keys and bounds", (~self.keys_and_bounds,))]
        for name, sentence in given.invariants.items():
            self.broken.append((name, tuple(formulas.refuting(sentence, {}))))
        for case in chain.from_iterable(cases for _, cases in self.broken):
            self.admitted = self.admitted & ~case
        self.formulas = Formulas(self.space, self._deployment.schema, self.facts, within=self.admitted)

    def _renamed(self) -> Iterator[Fact]:
        """Yield the facts of views under these names."""
        patterns = {
            (fact.relation, tuple(v if v in self._given.constants else None for v in fact.args))
            for view in self._given.views
            for fact in view
        }
        for relation, pattern in patterns:
            sorts = self._deployment.schema.relation(relation).sorts
            domains = [
                (value,) if value is not None else self.names.get(sort, ())
                for value, sort in zip(pattern, sorts, strict=True)
            ]
            yield from (Fact(relation, args) for args in product(*domains))

    def _keys_and_bounds(self, holding: Mapping[Fact, Bdd]) -> Iterator[Bdd]:
        yield from broken_keys(self.space, self._deployment, holding, negated=True)
        formulas = Formulas(self.space, self._deployment.schema, self.facts)
        for sort, bound in self._deployment.bounds.items():
            if sort not in self._given.open_sorts:
                outside = self._deployment.outside(sort, self.space.domain[sort])
                yield ~self.space.manager.at_least(bound + 1, [formulas.active(sort, v) for v in outside])

    def _glued(self) -> Bdd:
        """Return γ over the names that are not for fresh values."""
        own = {value for names in self.own.values() for value in names}
        extra = {value for names in self.names.values() for value in names} - own
        outside = {bit: False for fact, bit in self.space.atoms.items() if extra & set(fact.args)}
        result = self.space.manager.cube(outside)
        for values in self.subsets(self.own):
            result = result & self.viewed(values)
        return result

    def subsets(self, names: Mapping[str, Sequence[Value]] | None = None) -> Iterator[frozenset[Value]]:
        """Yield the sets of k names, or the set of all if they are fewer, those with early names first."""
        every = [value for values in (self.names if names is None else names).values() for value in values]
        chosen = combinations(every, min(self._given.k, len(every)))
        yield from map(
            frozenset, sorted(chosen, key=lambda vs: sorted((self._rank[v] for v in vs), reverse=True))
        )

    def viewed(self, values: frozenset[Value]) -> Bdd:
        """Return where the part on these values is a view."""
        if values not in self._viewed:
            m, known = self.space.manager, self._given.constants | values
            bits = {fact: bit for fact, bit in self.space.atoms.items() if known.issuperset(fact.args)}
            names = {sort: [v for v in own if v in values] for sort, own in self.names.items()}
            self._viewed[values] = m.disj(
                m.cube({bit: fact in view for fact, bit in bits.items()})
                for view in sorted(self._all_placed(names), key=sorted)
                if view <= bits.keys()
            )
        return self._viewed[values]

    def _all_placed(self, names: Mapping[str, Sequence[Value]]) -> set[View]:
        return {placed for view in self._given.views for placed in self._given.placed(view, names)}

    def is_first(self, call: Call) -> bool:
        """Return whether a call uses the names in their order; any other is a renaming of one that does."""
        taken: dict[str, int] = {}
        seen: set[Value] = set()
        sorts = [param.sort for param in self._deployment.tool(call.tool).params]
        for value, sort in zip(call.args, sorts, strict=True):
            if value in self._rank and value not in seen:
                if self._rank[value] != taken.get(sort, 0):
                    return False
                taken[sort] = taken.get(sort, 0) + 1
                seen.add(value)
        return True

    def check_step(self, where: Bdd, writes: Mapping[Fact, Bdd], call: Call) -> None:
        """Check obligation 3 of `checker.views` for one step."""
        m, place = self.space.manager, f"steps of {call.tool}"
        after = {self.space.atoms[fact]: new for fact, new in writes.items()}
        written = [frozenset(v for v in fact.args if v in self._rank) for fact in writes]
        for values in self.subsets():
            if any(own <= values for own in written):
                wrong = where & ~m.substitute(self.viewed(values), after)
                self.ledger.empty(wrong, f"the parts of what {call} leads to are views", place)
        for name, cases in self.broken:
            wrong = m.disj(where & m.substitute(case, after) for case in cases)
            self.ledger.empty(wrong, f"{call} keeps {name}", place)


def names_of(numbers: Mapping[str, int]) -> dict[str, tuple[Value, ...]]:
    """Return names for the given number of values of each sort; the language has no such names."""
    return {sort: tuple(f"{sort}?{number}" for number in range(size)) for sort, size in numbers.items()}


def sizes_of(n: int, sorts: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to distribute n values over the given number of sorts."""
    yield from (sizes for sizes in product(range(n + 1), repeat=sorts) if sum(sizes) == n)
