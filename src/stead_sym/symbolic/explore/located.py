"""Contexts that are shown at places in the data: found at all places at once, and decided there.

Which context a state shows at a place is a matter of the few bits of its neighbourhood (`neighbourhoods`).
So for a set of undecided states each shape of static facts is met once, and each of its places is looked at
once, however many contexts it shows; what is selected there is said over the bits of the place alone.
One decision: a context is known by its shape and what is shown and offered under the names of that; the
canonical form is asked for only once for each, and what the agent selects is kept under those names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.wrapper import CanonicalWrapper, Decision
from stead_sym.deployment.tool import Call
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Instance
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.explore.neighbourhoods import Key, Neighbourhoods, Shape, Site
from stead_sym.symbolic.explore.places import Places
from stead_sym.symbolic.explore.views import Numbers, Views


@dataclass(frozen=True, slots=True)
class Located:
    """A context that is shown at the places of a shape, with the ``numbers`` of its tuples and the sites at
    which it was met, each with χ_I there."""

    shape: Shape
    key: Key
    numbers: Numbers
    sites: Sequence[tuple[Site, Bdd]]

    @property
    def context(self) -> DecisionContext:
        """The context as it is shown at one of its sites."""
        of = self.sites[0][0].place.of
        view = Instance(self.shape.pattern.schema, frozenset(fact.rename(of) for fact in self.key.facts))
        return DecisionContext(view, frozenset(call.rename(of) for call in self.key.calls))


class Locator:
    """Finds and decides the contexts of one agent that are shown at places."""

    def __init__(self, views: Views, wrapper: CanonicalWrapper) -> None:
        self.views = views
        self.rigid = wrapper.rigid
        self._seconds = wrapper.canonical_timeout
        self.encoding = views.encoding
        self.manager = views.manager
        self._places = Places(self.encoding, self.rigid, views.fact)
        self._neighbourhoods = Neighbourhoods(views, self.rigid)
        self._shapes: dict[Instance, Shape | None] = {}
        self._selected: dict[tuple[Shape, Key], frozenset[Call]] = {}

    @property
    def places(self) -> int:
        """The places of all shapes that are known."""
        return sum(len(shape.sites) for shape in self._shapes.values() if shape is not None)

    def search(self, undecided: Bdd) -> Search:
        """Look at the places of all shapes that are known."""
        search = Search(self, undecided)
        for shape in filter(None, self._shapes.values()):
            search.look(shape)
        return search

    def shape(self, context: DecisionContext) -> Shape | None:
        """The shape of a context's static part, if all its names stand in facts of static relations, and the
        diagrams are right everywhere and not on a care set only."""
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
            self._shapes[pattern] = None if places is None else self._neighbourhoods.shape(pattern, places)
        return self._shapes[pattern]

    # what is selected

    def new(self, located: Iterable[Located]) -> Sequence[Located]:
        """Those that were not decided so far."""
        return [one for one in located if (one.shape, one.key) not in self._selected]

    def decided(self, one: Located, decision: Decision) -> None:
        """Keep what is selected in a context. Π^can is equivariant, so that at another site it is the same
        under the names that the values have there."""
        names = {value: name for name, value in one.sites[0][0].place.of.items()}
        self._selected[one.shape, one.key] = frozenset(call.rename(names) for call in decision.calls)

    def shown_at(self, located: Iterable[Located]) -> Bdd:
        """The states that show one of these contexts, at the sites at which it was met."""
        return self._where((one.numbers, condition) for one in located for _, condition in one.sites)

    def selection(self, located: Sequence[Located]) -> Mapping[str, Bdd]:
        """What is selected in these states, per tool over the state bits and its selectors: for a call α that
        is selected in I at the place h of a shape, χ_I ∧ selectors = h(α), where no more is shown than I."""
        m, encoding = self.manager, self.encoding
        chosen: dict[str, list[tuple[Numbers, Bdd]]] = {}
        for one in located:
            for call in sorted(self._selected[one.shape, one.key]):
                selectors = self.views.tools[call.tool].selectors
                for site, condition in one.sites:
                    named = zip(selectors, call.rename(site.place.of).args, strict=True)
                    case = m.conj([condition, *(encoding.is_value(v, u) for v, u in named)])
                    chosen.setdefault(call.tool, []).append((one.numbers, case))
        return {
            name: m.conj([self._where(cases), *map(encoding.valid, self.views.tools[name].selectors)])
            for name, cases in chosen.items()
        }

    def _where(self, cases: Iterable[tuple[Numbers, Bdd]]) -> Bdd:
        """⋁ of the cases, in each of which no more is shown and offered than so many tuples."""
        alike: dict[Numbers, list[Bdd]] = {}
        for numbers, condition in cases:
            alike.setdefault(numbers, []).append(condition)
        within = (self.joined(own) & self.views.no_more_than(of) for of, own in alike.items())
        return self.manager.disj(within)

    def joined(self, conditions: Iterable[Bdd]) -> Bdd:
        """⋁ of the conditions, neighbours first."""
        return self.manager.disj(sorted(conditions, key=self.manager.depth))


class Search:
    """What some undecided states show at places: of the known shapes, and of those of contexts that are met
    (`add`). ``shown``: the states that show the static facts of a shape that was looked at."""

    def __init__(self, locator: Locator, undecided: Bdd) -> None:
        self.locator = locator
        self.manager = locator.manager
        self.undecided = undecided
        self.shown = self.manager.false
        self._looked: set[Shape] = set()
        self._sites: dict[tuple[Shape, Key], list[tuple[Site, Bdd]]] = {}

    def add(self, context: DecisionContext) -> bool:
        """Look at the places of a context's shape; False where it has none, or was looked at before."""
        shape = self.locator.shape(context)
        if shape is None or shape in self._looked:
            return False
        self.look(shape)
        return True

    def look(self, shape: Shape) -> None:
        """Add what is shown at the places of a shape, perhaps among other things."""
        self._looked.add(shape)
        self.shown = self.shown | shape.shown
        for site, near in shape.near(self.undecided):
            for key, condition in site.classes(self.manager, near):
                self._sites.setdefault((shape, key), []).append((site, condition))

    def located(self) -> Iterator[Located]:
        """Those of the contexts met at places that some undecided state shows: one that shows or offers more
        than the items of a place shows another."""
        m, views, joined = self.manager, self.locator.views, self.locator.joined
        alike: dict[Numbers, list[Located]] = {}
        for (shape, key), at in self._sites.items():
            numbers = views.numbers(*key)
            alike.setdefault(numbers, []).append(Located(shape, key, numbers, at))
        for numbers, met in alike.items():
            few = views.no_more_than(numbers)
            every = joined(condition for one in met for _, condition in one.sites)
            if m.implies(self.undecided & every, few):
                yield from met
                continue
            for one in met:
                own = joined(condition for _, condition in one.sites)
                if self.undecided & few & own != m.false:
                    yield one
