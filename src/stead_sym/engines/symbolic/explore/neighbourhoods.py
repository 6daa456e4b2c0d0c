"""The agent's view and offer at the places of a static part, computed for all of them in one descent.

Let h be a place of S (`places`). Its *items* are the facts that may be shown and the calls that may be
offered whose values are all in h(S) or rigid; w_i is the set of states that show or offer the item i. For a
set I of items

    χ_I = ψ_h ∧ ⋀_{i ∈ I} w_i ∧ ⋀_{i ∉ I} ¬w_i

are the states that show and offer exactly these of the items. A state D of χ_I shows exactly I if it shows
and offers nothing else, for which it is enough that it has no more tuples of each relation and tool than I
has.

Only the bits Λ_h that ψ_h and the w_i range over determine the χ_I of a state of ψ_h. So for a set U of
states P_h = ∃ (bits ∖ Λ_h). U ∧ ψ_h determines which I occur in U. One decision: the places are the leaves of
a binary tree in the order of the variables, and U is projected on the bits of half of them, and of half of
these, down to P_h. Each level of the tree has the bits of each record once, so that all P_h together take O(n
log n) steps over the n bits and not a pass over the whole set for each place or context.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.explore.places import Place
from stead_sym.engines.symbolic.explore.views import Views
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_MOST = 1 << 10  # the maximum number of calls over the values of a place at which places are visited

Item: TypeAlias = Fact | Call


class Key(NamedTuple):
    """The facts and calls at a place, under the names of the pattern: the context up to isomorphism."""

    facts: frozenset[Fact]
    calls: frozenset[Call]


@dataclass(frozen=True, slots=True)
class Site:
    """A place with its items, each as a bit (`Shape.items`).

    ``sure`` are those present wherever the pattern is shown; ``items`` has each of the others with the states
    in which it is shown or offered. ``bits`` is Λ_h, ``level`` its first level in the order of the variables.
    """

    place: Place
    sure: int
    items: tuple[tuple[int, Bdd], ...]
    bits: Bits
    level: int

    def classes(self, manager: Manager, states: Bdd) -> Iterator[tuple[int, Bdd]]:
        """Yield the sets I of items that are shown in any of some states, over `bits`, each with χ_I."""
        parts = [(states, self.sure)]
        for item, there in self.items:
            split = []
            for near, held in parts:
                inside = near & there
                if inside == near:
                    split.append((near, held | item))
                elif inside == manager.false:
                    split.append((near, held))
                else:
                    split += [(inside, held | item), (near & ~there, held)]
            parts = split
        for _, held in parts:
            condition = self.place.shown
            for item, there in self.items:
                condition = condition & (there if held & item else ~there)
            yield held, condition


@dataclass(frozen=True, slots=True)
class _Branch:
    """A node of the tree: adjacent sites, a single one or those of two branches.

    ``shown`` are the states with the pattern at one of them; ``gone`` the bits of the parent branch that are
    not theirs.
    """

    shown: Bdd
    gone: Bits
    below: _Leaf | tuple[_Branch, _Branch]


class _Leaf(NamedTuple):
    shape: Shape
    site: Site


class Shape:
    """A pattern, the static part of contexts, with its sites from the top of the order down.

    The ``items`` are under the names of the pattern; a set of them is an integer with a bit for each.
    """

    def __init__(
        self, encoding: Encoding, pattern: Instance, items: Sequence[Item], sites: Iterable[Site]
    ) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self.pattern = pattern
        self.items = items
        self.sites = sorted(sites, key=lambda site: site.level)

    def key(self, items: int) -> Key:
        """Return the items of a set."""
        held = [item for place, item in enumerate(self.items) if items >> place & 1]
        facts = frozenset(item for item in held if isinstance(item, Fact))
        return Key(facts, frozenset(item for item in held if isinstance(item, Call)))

    @cached_property
    def tree(self) -> Tree:
        """The tree of the sites of this shape alone."""
        return Tree(self.encoding, [self])


class Tree:
    """The sites of some shapes, in the order of the variables."""

    def __init__(self, encoding: Encoding, shapes: Iterable[Shape]) -> None:
        self.manager = encoding.manager
        self.shapes = tuple(shapes)
        leaves = [_Leaf(shape, site) for shape in self.shapes for site in shape.sites]
        leaves.sort(key=lambda leaf: leaf.site.level)
        self._root = self._branch(leaves, encoding.state_bits) if leaves else None

    @property
    def shown(self) -> Bdd:
        """The states in which the pattern of a shape is shown at one of its sites."""
        return self.manager.false if self._root is None else self._root.shown

    def near(self, states: Bdd) -> Iterator[tuple[Shape, Site, Bdd]]:
        """Yield the sites that show the pattern of their shape in some of the ``states``, each with P_h."""
        todo = [] if self._root is None else [(self._root, states)]
        while todo:
            branch, within = todo.pop()
            projected = self.manager.exist(branch.gone, within & branch.shown)
            if projected == self.manager.false:
                continue
            match branch.below:
                case _Leaf(shape, site):
                    yield shape, site, projected
                case left, right:
                    todo += [(right, projected), (left, projected)]

    def _branch(self, leaves: Sequence[_Leaf], above: Bits) -> _Branch:
        """Return the branch of these sites, with the bits of the parent branch ``above``."""
        if len(leaves) == 1:
            [leaf] = leaves
            return _Branch(leaf.site.place.shown, above - leaf.site.bits, leaf)
        halves = leaves[: len(leaves) // 2], leaves[len(leaves) // 2 :]
        own = [frozenset[str]().union(*(leaf.site.bits for leaf in half)) for half in halves]
        every = own[0] | own[1]
        left, right = (self._branch(half, every) for half in halves)
        return _Branch(left.shown | right.shown, above - every, (left, right))


class Neighbourhoods:
    """The construction of shapes; the identity of rigid values matters to the agent."""

    def __init__(self, views: Views, rigid: Set[Value]) -> None:
        self.views = views
        self.encoding = views.encoding
        self.manager = views.manager
        self.rigid = rigid
        self._support: dict[Bdd, Bits] = {}
        self._same: dict[tuple[Item, Bdd], bool | None] = {}

    def shape(self, pattern: Instance, places: Sequence[Place]) -> Shape | None:
        """Return the shape of a pattern with these places; None if there are too many calls."""
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
        bits: dict[Item, int] = {}
        sites = [self._site(place, anywhere, among, calls, bits) for place in places]
        return Shape(self.encoding, pattern, list(bits), sites)

    def _site(
        self,
        place: Place,
        anywhere: Bdd,
        among: Mapping[str, Sequence[Value]],
        calls: Sequence[Call],
        bits: dict[Item, int],
    ) -> Site:
        """Return a site; ``anywhere`` are the states that show the pattern at any.

        Its items get a bit if they have none yet.
        """
        name_of = {value: name for name, value in place.of.items()}
        items: list[tuple[Item, Bdd]] = []
        items += ((fact.rename(name_of), self.views.fact(fact)) for fact in self._facts(place, among))
        items += ((call, self.views.call(call.rename(place.of))) for call in calls)
        sure, left = 0, list[tuple[int, Bdd]]()
        for item, there in items:
            always = self._settled(item, anywhere, there)
            if always is None:
                always = self._always(place.shown, there)
            if always is False:
                continue
            bit = bits.setdefault(item, 1 << len(bits))
            if always:
                sure |= bit
            else:
                left.append((bit, there))
        own = self._bits(place.shown).union(*(self._bits(there) for _, there in left))
        return Site(place, sure, tuple(left), own, self.manager.depth(place.shown))

    def _settled(self, item: Item, anywhere: Bdd, there: Bdd) -> bool | None:
        """Return `_always` for a fact or call that is the same at every site, cached.

        A call without parameters may depend on all records, and a test at each site would take quadratic
        time.
        """
        if not self.rigid >= set(item.args):
            return None
        key = (item, anywhere)
        if key not in self._same:
            self._same[key] = self._always(anywhere, there)
        return self._same[key]

    def _always(self, shown: Bdd, there: Bdd) -> bool | None:
        """Return True if the fact or call is present wherever the pattern is shown, False if nowhere.

        ``there`` are the states where it is present. None if it is present in some of the states.
        """
        if self.manager.implies(shown, there):
            return True
        return False if self.manager.implies(shown, ~there) else None

    def _facts(self, place: Place, among: Mapping[str, Sequence[Value]]) -> Iterator[Fact]:
        """Yield the facts that can hold over the values of a place and the rigid ones.

        They are looked up at the position at which these values have the fewest facts.
        """
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
