"""Contexts that are shown at places in the data: found at all places at once, and decided there.

The context that a state shows at a place depends only on the few bits of its neighbourhood
(`neighbourhoods`). So for a set of undecided states each shape of static facts is handled once, and each of
its places is visited once, however many contexts it shows; the selection there is a function of the bits of
the place alone. One decision: a context is identified by its shape and the facts and calls under the shape's
names. Its canonical form is computed only once, and the agent's selection is stored under those names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.wrapper import CanonicalWrapper, Decision
from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.explore.neighbourhoods import Neighbourhoods, Shape, Site, Tree
from stead_sym.engines.symbolic.explore.places import Places
from stead_sym.engines.symbolic.explore.views import Numbers, Views
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


class TooMany(Exception):
    """An error: more work than the allowance."""


@dataclass(slots=True)
class Allowance:
    """The number of contexts and places that may still be visited; None is no limit."""

    left: int | None = None

    def spend(self, number: int = 1) -> None:
        """Visit ``number`` more. Raise `TooMany` if the allowance is exceeded."""
        if self.left is not None:
            if self.left < number:
                raise TooMany
            self.left -= number


@dataclass(frozen=True, slots=True)
class Located:
    """A context that is shown at the places of a shape.

    It is a set of ``items`` of the shape, with the sites at which it was found, each with χ_I there.
    """

    shape: Shape
    items: int
    sites: Sequence[tuple[Site, Bdd]]

    @property
    def context(self) -> DecisionContext:
        """The context as it is shown at one of its sites."""
        of, key = self.sites[0][0].place.of, self.shape.key(self.items)
        view = Instance(self.shape.pattern.schema, frozenset(fact.rename(of) for fact in key.facts))
        return DecisionContext(view, frozenset(call.rename(of) for call in key.calls))


@dataclass(frozen=True, slots=True)
class Alike:
    """Contexts with equally many tuples of each relation and tool.

    ``few`` are the states that show and offer at most these numbers, and ``shown`` those that show one of the
    contexts, at the sites at which it was found.
    """

    contexts: Sequence[Located]
    few: Bdd
    shown: Bdd


class Locator:
    """The search for, and decision of, the contexts of one agent that are shown at places."""

    def __init__(self, views: Views, wrapper: CanonicalWrapper) -> None:
        self.views = views
        self.rigid = wrapper.rigid
        self._seconds = wrapper.canonical_timeout
        self.encoding = views.encoding
        self.manager = views.manager
        self._places = Places(self.encoding, self.rigid, views.fact)
        self._neighbourhoods = Neighbourhoods(views, self.rigid)
        self._shapes: dict[Instance, Shape | None] = {}
        self._tree: Tree | None = None  # the tree of all shapes
        self._selected: dict[tuple[Shape, int], frozenset[Call]] = {}
        self._canonical: dict[tuple[Shape, int], tuple[DecisionContext, Mapping[Value, Value]]] = {}

    @property
    def places(self) -> int:
        """The number of places of all known shapes."""
        return sum(len(shape.sites) for shape in self._shapes.values() if shape is not None)

    def search(self, undecided: Bdd, allowance: Allowance) -> Search:
        """Visit the places of all known shapes."""
        search = Search(self, undecided, allowance)
        if self._tree is None:
            self._tree = Tree(self.encoding, filter(None, self._shapes.values()))
        search.look(self._tree)
        return search

    def shape(self, context: DecisionContext, allowance: Allowance) -> Shape | None:
        """Return the shape of a context's static part, or None.

        None if some name occurs in no fact of a static relation, or if the diagrams are correct on a care set
        only. Raise `TooMany` for a new shape with more places than the allowance.
        """
        encoding = self.encoding
        static = {fact for fact in context.view.facts if not encoding.dynamic_facts[fact.relation]}
        named = {value for fact in static for value in fact.args}
        items = [*(fact.args for fact in context.view.facts), *(call.args for call in context.calls)]
        names = {value for args in items for value in args} - self.rigid
        if encoding.care != self.manager.true or not names or not names <= named:
            return None
        facts = Instance(encoding.schema, frozenset(static))
        pattern = canonical_form(facts, self.rigid, canonical_timeout=self._seconds).instance
        if pattern not in self._shapes:
            places = self._places.of(pattern)
            allowance.spend(len(places or ()))
            self._tree = None
            self._shapes[pattern] = None if places is None else self._neighbourhoods.shape(pattern, places)
        return self._shapes[pattern]

    # Selections.

    def new(self, located: Iterable[Alike]) -> Sequence[Located]:
        """Return the contexts that are not decided yet."""
        return [
            one for alike in located for one in alike.contexts if (one.shape, one.items) not in self._selected
        ]

    def decided(self, one: Located, decision: Decision) -> None:
        """Record the selection in a context.

        Π^can is equivariant, so at another site it is the same under the names that the values have there.
        """
        names = {value: name for name, value in one.sites[0][0].place.of.items()}
        self._selected[one.shape, one.items] = frozenset(call.rename(names) for call in decision.calls)
        to_pattern = {name: names.get(value, value) for name, value in decision.names.items()}
        self._canonical[one.shape, one.items] = decision.canonical, to_pattern

    def selection(self, located: Iterable[Alike]) -> Mapping[str, Bdd]:
        """Return the selection in these states, per tool over the state bits and its selectors."""
        return self._made(located, lambda one: self._selected[one.shape, one.items])

    def orbits(
        self, located: Iterable[Alike], orbits: Mapping[DecisionContext, Collection[Call]]
    ) -> Mapping[str, Bdd]:
        """Return the selection restricted to one orbit in each of some canonical contexts.

        A context without a decision is shown in none of the states.
        """

        def here(one: Located) -> Iterable[Call]:
            if (one.shape, one.items) not in self._canonical:
                return ()
            context, to_pattern = self._canonical[one.shape, one.items]
            return (call.rename(to_pattern) for call in orbits.get(context, ()))

        return self._made(located, here)

    def _made(
        self, located: Iterable[Alike], calls: Callable[[Located], Iterable[Call]]
    ) -> Mapping[str, Bdd]:
        """Return some calls in these states, per tool over the state bits and its selectors.

        For a call α in I at the place h of a shape it is χ_I ∧ selectors = h(α), in the states that show no
        more than I.
        """
        m, is_value = self.manager, self.encoding.is_value
        selected: dict[str, list[Bdd]] = {}
        for alike in located:
            chosen: dict[str, list[tuple[Site, Bdd]]] = {}
            for one in alike.contexts:
                for call in sorted(calls(one)):
                    cases = chosen.setdefault(call.tool, [])
                    pairs = list(zip(self.views.tools[call.tool].selectors, call.args, strict=True))
                    for site, case in one.sites:
                        of = site.place.of
                        for selector, value in pairs:
                            case = case & is_value(selector, of.get(value, value))
                        cases.append((site, case))
            for name, cases in chosen.items():
                selected.setdefault(name, []).append(self.joined(cases) & alike.few)
        return {
            name: m.conj([m.disj(parts), *map(self.encoding.valid, self.views.tools[name].selectors)])
            for name, parts in selected.items()
        }

    def joined(self, conditions: Iterable[tuple[Site, Bdd]]) -> Bdd:
        """Return ⋁ of the conditions at some sites, neighbours first."""
        ordered = sorted(conditions, key=lambda at: at[0].level)
        return self.manager.disj(condition for _, condition in ordered)


class Search:
    """The contexts that undecided states show at places.

    They are those of the known shapes, and of the shapes of added contexts (`add`). ``shown`` are the states
    that show the static facts of a visited shape.
    """

    def __init__(self, locator: Locator, undecided: Bdd, allowance: Allowance) -> None:
        self.locator = locator
        self.allowance = allowance
        self.manager = locator.manager
        self.undecided = undecided
        self.shown = self.manager.false
        self._looked: set[Shape] = set()
        self._sites: dict[Shape, dict[int, list[tuple[Site, Bdd]]]] = {}

    def add(self, context: DecisionContext) -> bool:
        """Visit the places of a context's shape; return False if it has none, or was visited before."""
        shape = self.locator.shape(context, self.allowance)
        if shape is None or shape in self._looked:
            return False
        self.look(shape.tree)
        return True

    def look(self, tree: Tree) -> None:
        """Add the items that are shown at the sites of some shapes, perhaps among others."""
        self._looked.update(tree.shapes)
        self.shown = self.shown | tree.shown
        for shape, site, near in tree.near(self.undecided):
            met = self._sites.setdefault(shape, {})
            for items, condition in site.classes(self.manager, near):
                met.setdefault(items, []).append((site, condition))

    def located(self) -> Iterator[Alike]:
        """Yield the contexts found at places that some undecided state shows.

        A state that shows or offers more than the items of a place shows another context.
        """
        m, views, joined = self.manager, self.locator.views, self.locator.joined
        numbered: dict[Numbers, list[Located]] = {}
        for shape, met in self._sites.items():
            for items, at in met.items():
                numbers = views.numbers(*shape.key(items))
                numbered.setdefault(numbers, []).append(Located(shape, items, at))
        for numbers, contexts in numbered.items():
            few = views.no_more_than(numbers)
            every = joined(chain.from_iterable(one.sites for one in contexts))
            if not m.implies(self.undecided & every, few):
                there = self.undecided & few
                contexts = [one for one in contexts if there & joined(one.sites) != m.false]
                every = joined(chain.from_iterable(one.sites for one in contexts))
            if contexts:
                yield Alike(contexts, few, every & few)
