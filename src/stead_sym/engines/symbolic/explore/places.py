"""The places of a context's static facts in the data: an index of records by their static neighbourhood.

Call a relation static if no fact of it changes. Let K be a context and S ⊂ K its facts of static relations. A
state shows a context isomorphic to K only if it shows h(S) for an injective h that avoids the rigid values,
and so maps S into the facts of D0: a *place* of S, with ψ_h = ⋀_{f ∈ S} shown(h(f)). The places depend on S
up to isomorphism only, and are computed once for all contexts with the same static part. Of two places with
the same image h(S) one is enough: the names of the values there do not matter to the view (`neighbourhoods`).
A place is omitted if ψ_h implies shown(e) for some e ∉ h(S) of a static relation: D then shows more of it
than K has. So the remaining records are those whose neighbourhood is S, hardly any with a larger one, and the
lists of all shapes together are as long as the data.

S must have all facts of its relations: a fact of another relation that holds in every state may correspond to
one that changes next to another record, and the two make one context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_TIMES = 8  # the maximum number of visited places per value of the domain


@dataclass(frozen=True, slots=True)
class Place:
    """A place h of some facts S: ``of`` maps the values of S that are not rigid, and ``shown`` = ψ_h."""

    of: Mapping[Value, Value]
    shown: Bdd


class Places:
    """The places of the static parts of contexts; ``shown`` returns the states that show a fact."""

    def __init__(self, encoding: Encoding, rigid: Set[Value], shown: Callable[[Fact], Bdd]) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self.rigid = rigid
        self.shown = shown
        self._limit = _TIMES * sum(map(len, encoding.values.values()))

    def of(self, pattern: Instance) -> Sequence[Place] | None:
        """Return the places of a pattern's facts, one for each image of them; None if there are too many."""
        m, found, images = self.manager, list[Place](), set[frozenset[Fact]]()
        looked = 0
        for place in self._extended(self._ordered(pattern.facts), {}):
            looked += 1
            if looked > self._limit:
                return None
            image = frozenset(self._image(fact, place) for fact in pattern.facts)
            if image in images:
                continue
            images.add(image)
            shown = m.conj(map(self.shown, sorted(image)))
            if shown != m.false and not self._shows_more(shown, place, image):
                found.append(Place(place, shown))
        return found

    def _shows_more(self, shown: Bdd, place: Mapping[Value, Value], image: Set[Fact]) -> bool:
        """Return True if another fact of a static relation is shown wherever the pattern is."""
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
        """Return the facts, each after one that it shares values with if there is one."""
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
        """Yield the injective extensions of a place that map these facts to static ones."""
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
        """Yield the arguments of the static facts to which a fact may be mapped."""
        static, encoding = self.encoding.static, self.encoding
        placed = [(k, place[value]) for k, value in enumerate(fact.args) if value in place]
        fixed = placed or [(k, value) for k, value in enumerate(fact.args) if value in self.rigid]
        facts = encoding.facts_at(fact.relation, *fixed[0]) if fixed else encoding.static_facts[fact.relation]
        return (other.args for other in facts if other in static)
