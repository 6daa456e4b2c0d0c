"""What the agent is shown and offered at the places of a static part, found for all of them in one descent.

Let h be a place of S (`places`). Its *items* are the facts that may be shown and the calls that may be
offered of which every value is in h(S) or rigid; w_i is the set of states that show or offer the item i. For
a set I of items

    χ_I = ψ_h ∧ ⋀_{i ∈ I} w_i ∧ ⋀_{i ∉ I} ¬w_i

are the states that show and offer just these of the items. A state D of χ_I shows exactly I where it shows
and offers nothing besides, for which it is enough that it has no more tuples of each relation and tool than I
has.

Only the bits Λ_h that ψ_h and the w_i range over decide to which χ_I a state of ψ_h belongs. So for a set U
of states P_h = ∃ (bits ∖ Λ_h). U ∧ ψ_h says which I occur in U. One decision: the places are the leaves of a
binary tree in the order of the variables, and U is projected on the bits of half of them, and of half of
these, down to P_h. Each level of the tree has the bits of each record once, so that all P_h together take O(n
log n) steps over the n bits and not a pass over the whole set for each place, let alone for each context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.symbolic.encode.encoding import Encoding
from stead_sym.symbolic.explore.places import Place
from stead_sym.symbolic.explore.views import Views

_MOST = 1 << 10  # calls over the values of a place, past which places are not gone through

Item: TypeAlias = Fact | Call


class Key(NamedTuple):
    """What is shown and offered at a place, under the names of the pattern: the context up to isomorphism."""

    facts: frozenset[Fact]
    calls: frozenset[Call]


@dataclass(frozen=True, slots=True)
class Site:
    """A place with its items under the names of the pattern: those that are ``sure`` wherever the pattern is
    shown, and each of the others with the states in which it is shown or offered. ``bits`` is Λ_h."""

    place: Place
    sure: tuple[Item, ...]
    items: tuple[tuple[Item, Bdd], ...]
    bits: Bits

    def classes(self, manager: Manager, states: Bdd) -> Iterator[tuple[Key, Bdd]]:
        """For some states, over `bits`, the sets I of items that are shown in any of them, each with χ_I."""
        parts = [(states, self.place.shown, self.sure)]
        for item, there in self.items:
            split = []
            for near, condition, held in parts:
                if (inside := near & there) != manager.false:
                    split.append((inside, condition & there, (*held, item)))
                if (outside := near & ~there) != manager.false:
                    split.append((outside, condition & ~there, held))
            parts = split
        for _, condition, held in parts:
            facts = frozenset(item for item in held if isinstance(item, Fact))
            yield Key(facts, frozenset(item for item in held if isinstance(item, Call))), condition


@dataclass(frozen=True, slots=True)
class _Branch:
    """Some sites next to each other: ``shown`` where the pattern is at one of them; ``gone`` the bits of the
    branch above that are none of theirs."""

    shown: Bdd
    gone: Bits
    halves: tuple[_Branch, _Branch] | Site


class Shape:
    """A pattern, the static part of contexts, with its sites."""

    def __init__(self, encoding: Encoding, pattern: Instance, sites: Sequence[Site]) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self.pattern = pattern
        self.sites = sorted(sites, key=lambda site: self.manager.depth(site.place.shown))

    def near(self, states: Bdd) -> Iterator[tuple[Site, Bdd]]:
        """The sites at which the pattern is shown in some of the ``states``, each with P_h."""
        todo = [(self._root, states)] if self.sites else []
        while todo:
            branch, within = todo.pop()
            projected = self.manager.exist(branch.gone, within & branch.shown)
            if projected == self.manager.false:
                continue
            if isinstance(branch.halves, Site):
                yield branch.halves, projected
            else:
                todo += ((half, projected) for half in reversed(branch.halves))

    @property
    def shown(self) -> Bdd:
        """The states in which the pattern is shown at one of the sites."""
        return self._root.shown if self.sites else self.manager.false

    @cached_property
    def _root(self) -> _Branch:
        every = frozenset[str]().union(*(site.bits for site in self.sites))
        root = self._branch(self.sites, every)
        return _Branch(root.shown, self.encoding.state_bits - every, root.halves)

    def _branch(self, sites: Sequence[Site], above: Bits) -> _Branch:
        if len(sites) == 1:
            return _Branch(sites[0].place.shown, above - sites[0].bits, sites[0])
        middle = len(sites) // 2
        own = [frozenset[str]().union(*(s.bits for s in half)) for half in (sites[:middle], sites[middle:])]
        every = own[0] | own[1]
        left, right = self._branch(sites[:middle], every), self._branch(sites[middle:], every)
        return _Branch(left.shown | right.shown, above - every, (left, right))


class Neighbourhoods:
    """Makes shapes. Of rigid values the identity matters to the agent."""

    def __init__(self, views: Views, rigid: Set[Value]) -> None:
        self.views = views
        self.encoding = views.encoding
        self.manager = views.manager
        self.rigid = rigid
        self._support: dict[Bdd, Bits] = {}
        self._same: dict[tuple[Item, Bdd], bool | None] = {}

    def shape(self, pattern: Instance, places: Sequence[Place]) -> Shape | None:
        """The shape of a pattern with these places; None where there are too many calls to look at."""
        names: dict[str, list[Value]] = {}
        for sort, values in pattern.active_domain.items():
            names[sort] = sorted(values - self.rigid)
        among = {
            sort: [*names.get(sort, ()), *(value for value in values if value in self.rigid)]
            for sort, values in self.encoding.values.items()
        }
        calls: list[Call] = []
        for name, interface in self.views.tools.items():
            choices = [among[binder.sort] for binder in interface.tool.params]
            if prod(map(len, choices)) > _MOST:
                return None
            calls += (Call(name, args) for args in product(*choices))
        anywhere = self.manager.disj(sorted((place.shown for place in places), key=self.manager.depth))
        return Shape(self.encoding, pattern, [self._site(place, anywhere, among, calls) for place in places])

    def _site(
        self, place: Place, anywhere: Bdd, among: Mapping[str, Sequence[Value]], calls: Sequence[Call]
    ) -> Site:
        """A site; ``anywhere`` is where the pattern is shown at any."""
        name_of = {value: name for name, value in place.of.items()}
        items: list[tuple[Item, Bdd]] = []
        items += ((fact.rename(name_of), self.views.fact(fact)) for fact in self._facts(place, among))
        items += ((call, self.views.call(call.rename(place.of))) for call in calls)
        sure, left = list[Item](), list[tuple[Item, Bdd]]()
        for item, there in items:
            always = self._settled(item, anywhere, there)
            if always is None:
                always = self._always(place.shown, there)
            if always:
                sure.append(item)
            elif always is None:
                left.append((item, there))
        bits = self._bits(place.shown).union(*(self._bits(there) for _, there in left))
        return Site(place, tuple(sure), tuple(left), bits)

    def _settled(self, item: Item, anywhere: Bdd, there: Bdd) -> bool | None:
        """`_always` for a fact or call that is the same at every site: a call without parameters may depend
        on all records, and to ask at each site would take the square of their number."""
        if not self.rigid >= set(item.args):
            return None
        key = (item, anywhere)
        if key not in self._same:
            self._same[key] = self._always(anywhere, there)
        return self._same[key]

    def _always(self, shown: Bdd, there: Bdd) -> bool | None:
        """Whether what is there in these states is there wherever the pattern is shown; None: in some."""
        if self.manager.implies(shown, there):
            return True
        return False if self.manager.implies(shown, ~there) else None

    def _facts(self, place: Place, among: Mapping[str, Sequence[Value]]) -> Iterator[Fact]:
        """The facts that can hold over the values of a place and the rigid ones. They are looked up at the
        position at which these values have the fewest facts."""
        encoding, own = self.encoding, {*self.rigid, *place.of.values()}
        for name in self.views.shown:
            at = [
                [encoding.facts_at(name, k, place.of.get(value, value)) for value in among[sort]]
                for k, sort in enumerate(encoding.schema.relation(name).sorts)
            ]
            fewest = min(at, key=lambda facts: sum(map(len, facts)), default=[encoding.facts_of(name)])
            yield from (fact for facts in fewest for fact in facts if own.issuperset(fact.args))

    def _bits(self, function: Bdd) -> Bits:
        if function not in self._support:
            self._support[function] = self.manager.support(function)
        return self._support[function]
