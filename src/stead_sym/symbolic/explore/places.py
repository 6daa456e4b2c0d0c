"""Where the static facts of a context lie in the data: an index from the shape of a record's static
neighbourhood to the records that have it.

Call a relation static if no fact of it comes or goes. Let K be a context and S ⊂ K its facts of static
relations. match_K(D, x) asks that x be injective, avoid the rigid values and take each fact of K to one that is
shown, so it takes S into the facts of D0. With H_S all such x on the values of S, where these are all the values
of K that are not rigid,

    match_K(D, x) = ⋁_{h ∈ H_S} x = h ∧ φ_h(D) ∧ few_K(D),
    φ_h = ⋀_{f ∈ K} shown(h(f)) ∧ ⋀_{c ∈ K} offered(h(c)),

with few_K(D): D shows and offers no more than K does. H_S depends on S up to isomorphism only, and so is found
once for all contexts that agree in what never changes. An h is left out where ψ_h = ⋀_{f ∈ S} shown(h(f)),
which each φ_h implies, implies shown(e) for some e ∉ h(S) of a static relation: D shows more of it than K has
then. So what is left are the records whose neighbourhood is S, hardly those whose neighbourhood is larger, and
the lists of all shapes are together as long as the data.
(That S has all facts of its relations matters: a fact of another relation that holds in every state may have
a counterpart that comes and goes beside another record, and the two make one context.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.encode.encoding import Encoding

_TIMES = 8  # so many places per value of the domain are looked at


@dataclass(frozen=True, slots=True)
class Place:
    """A member h of H_S: ``of`` takes the values of S, with ``shown`` = ψ_h."""

    of: Mapping[Value, Value]
    shown: Bdd


class Places:
    """H_S for the static parts S of contexts. ``shown`` says where a fact is shown."""

    def __init__(self, encoding: Encoding, rigid: Set[Value], shown: Callable[[Fact], Bdd]) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self.rigid = rigid
        self.shown = shown
        self._known: dict[Instance, Sequence[Place] | None] = {}
        self._limit = _TIMES * sum(map(len, encoding.values.values()))

    def of(self, facts: Set[Fact]) -> Iterator[Place] | None:
        """The places of some static facts; None where there are too many to look at."""
        form = canonical_form(Instance(self.encoding.schema, frozenset(facts)), self.rigid)
        if form.instance not in self._known:
            self._known[form.instance] = self._found(form.instance)
        known = self._known[form.instance]
        if known is None:
            return None
        names = {value: name for value, name in form.labelling.items() if value not in self.rigid}
        return (Place({value: p.of[name] for value, name in names.items()}, p.shown) for p in known)

    def _found(self, pattern: Instance) -> Sequence[Place] | None:
        m, found = self.manager, list[Place]()
        looked = 0
        for place in self._extended(self._ordered(pattern.facts), {}):
            looked += 1
            if looked > self._limit:
                return None
            image = [self._image(fact, place) for fact in pattern.facts]
            shown = m.conj(map(self.shown, sorted(image)))
            if shown != m.false and not self._shows_more(shown, place, frozenset(image)):
                found.append(Place(place, shown))
        return found

    def _shows_more(self, shown: Bdd, place: Mapping[Value, Value], image: Set[Fact]) -> bool:
        """Another fact of a relation that never changes is shown wherever the pattern is."""
        encoding = self.encoding
        return any(
            fact not in image and self.manager.implies(shown, self.shown(fact))
            for relation in encoding.schema.relations
            if not encoding.dynamic_facts[relation.name]
            for position in range(relation.arity)
            for value in place.values()
            for fact in encoding.facts_at(relation.name, position, value)
        )

    def _image(self, fact: Fact, place: Mapping[Value, Value]) -> Fact:
        return Fact(fact.relation, tuple(place.get(value, value) for value in fact.args))

    def _ordered(self, facts: Set[Fact]) -> Sequence[Fact]:
        """Each fact after one that it shares values with, if there is one."""
        left, ordered, placed = sorted(facts), list[Fact](), set[Value]()
        while left:
            fact = min(
                left,
                key=lambda f: (placed.isdisjoint(f.args), len(set(f.args) - self.rigid - placed), f),
            )
            left.remove(fact)
            ordered.append(fact)
            placed.update(set(fact.args) - self.rigid)
        return ordered

    def _extended(
        self, facts: Sequence[Fact], place: Mapping[Value, Value]
    ) -> Iterator[Mapping[Value, Value]]:
        """The injective extensions of a place that take these facts to static ones."""
        if not facts:
            yield place
            return
        fact, rest = facts[0], facts[1:]
        for args in self._candidates(fact, place):
            new: dict[Value, Value] = {}
            taken = set(place.values())
            for value, image in zip(fact.args, args, strict=True):
                known = value if value in self.rigid else place.get(value, new.get(value))
                if known is None and image not in taken and image not in self.rigid:
                    new[value] = image
                    taken.add(image)
                elif known != image:
                    break
            else:
                yield from self._extended(rest, {**place, **new})

    def _candidates(self, fact: Fact, place: Mapping[Value, Value]) -> Iterator[tuple[Value, ...]]:
        """The static facts that a fact may be taken to."""
        static, encoding = self.encoding.static, self.encoding
        placed = [(k, place[value]) for k, value in enumerate(fact.args) if value in place]
        fixed = placed or [(k, value) for k, value in enumerate(fact.args) if value in self.rigid]
        facts = (
            encoding.facts_at(fact.relation, *fixed[0])
            if fixed
            else encoding.static_facts[fact.relation]
        )
        return (other.args for other in facts if other in static)
