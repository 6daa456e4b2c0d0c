"""Canonical forms of instances relative to rigid values, and their automorphisms.

The decision: a form is an explicit instance over canonical names, read off nauty's canonical vertex
order, never nauty's certificate (which omits the sizes of the colour classes, so that structures
that are not isomorphic can share one). Two forms that are equal are therefore isomorphic whatever
nauty does; that isomorphic instances have equal forms rests on nauty, whose order may change with
`NAUTY_VERSION`.

The graph has a vertex per value outside B, and none for B:

- the *pattern* of a fact is its relation with, per position, the rigid value there, or the first
  position of the same value: P(x, open, x) ↦ (P, "0", "=open", "0"). No renaming changes it;
- a fact without values outside B is fixed by every B-isomorphism: it has no vertex;
- the colour of a value is its sort and its *profile*: with which patterns, at which positions and how
  often it stands in facts. A fact with one value outside B, however often in it, is in there wholly and
  has no vertex;
- any other fact is a vertex coloured by its pattern, adjacent to its values outside B. The first of
  each sort is adjacent to it directly; another of that sort through a vertex for its position,
  coloured by pattern and position.

Sort and pattern tell at which positions a neighbour of a fact stands, so the colour-preserving
isomorphisms of the graphs are exactly the B-isomorphisms of the instances (Definition "C-isomorphism").

Names follow the role of a value. nauty's order of the vertices gives a first form D₁ whose names mean
nothing. The values of each sort are then numbered in the order in which a listing of D₁ mentions them
first: the relations in the order of the schema, the facts of a relation in the order of their arguments,
where rigid values come first, then values that an earlier relation has numbered, by their numbers, then the
others in the order of D₁. No two facts of a relation are alike in this, so that the listing, and with it the
renaming ρ that it gives, is a function of D₁ alone; and isomorphic instances have the same D₁. So ρ(D₁) is
again isomorphic to D, and equal for isomorphic instances. As profiles count what is declared first, and more
before less, a value of which more is known comes earlier: the handler of a case is SERVICE_1, who approves
for that handler SERVICE_2, whoever has nothing to do with the case comes later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Protocol, Self, TypeAlias, TypeVar

import pynauty

from stead_sym.errors import DeclarationError
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value

NAUTY_VERSION: str = pynauty.__version__
"""The version of pynauty, whose first numbers are those of nauty."""

FORM_VERSION: str = f"by role, nauty {NAUTY_VERSION}"
"""What canonical names depend on besides the instance: how they are numbered, and nauty's version. A
canonical form is comparable, and may be stored, under one of these only."""

Pattern: TypeAlias = tuple[str, ...]
Occurrence: TypeAlias = tuple[int, Pattern, int]  # the relation's place in the schema, pattern, position
Profile: TypeAlias = tuple[tuple[int, Pattern, int, int], ...]  # occurrences, with how often, negated


@dataclass(frozen=True)
class CanonicalForm:
    """can_B(D) with one witness σ ∈ Lab_B(D) and generators of Aut_B(D) (Definition "Canonical instance").

    ``instance`` is σ(D); two instances have equal ones iff they are B-isomorphic. ``labelling`` is σ
    on ad(D), the identity on B ∩ ad(D). ``generators`` are permutations of ad(D), each given by the
    values it moves. Which of the witnesses σ is, and the choice of generators, are arbitrary.
    """

    instance: Instance
    labelling: Mapping[Value, Value] = field(compare=False)
    generators: tuple[Mapping[Value, Value], ...] = field(compare=False)

    @cached_property
    def inverse(self) -> Mapping[Value, Value]:
        """σ⁻¹: from canonical names back to those of D."""
        return {canonical: value for value, canonical in self.labelling.items()}


def canonical_form(instance: Instance, rigid: Set[Value]) -> CanonicalForm:
    """The canonical form of ``instance`` relative to B = ``rigid``.

    The values of sort s outside B are called ``S_1``, ``S_2``, …, with s in upper case, in the order in which
    a listing mentions them (see the module). Raises
    `DeclarationError` where a value stands at positions of two sorts, or of another sort than the one that
    lists it: `apart` renames those.
    """
    facts = sorted(instance.facts)  # so that nothing below depends on the hashes of strings
    values = _sorted_values(instance.schema, facts)
    graph = _Graph(instance.schema, values, rigid)
    for fact in facts:
        graph.add(fact)
    order, generators = graph.solve()
    labelling = {value: value for value in values if value in rigid}
    prefixes = _prefixes(instance.schema, rigid)
    for value, number in _numbers(instance, values, order, rigid).items():
        labelling[value] = f"{prefixes[values[value]]}_{number}"
    return CanonicalForm(instance.rename(labelling), labelling, generators)


def isomorphic(left: Instance, right: Instance, fixed: Set[Value]) -> bool:
    """Whether left ≃_C right for C = ``fixed``, both of one schema (Definition "C-isomorphism")."""
    if len(left) != len(right):
        return False
    return left == right or canonical_form(left, fixed).instance == canonical_form(right, fixed).instance


class _Renamable(Protocol):
    def rename(self, renaming: Mapping[Value, Value]) -> Self: ...


Item = TypeVar("Item", bound=_Renamable)


def orbit(items: Iterable[Item], generators: Sequence[Mapping[Value, Value]]) -> frozenset[Item]:
    """{ α(a) : a ∈ items, α in the group that ``generators`` generate }.

    The least set that holds ``items`` and is closed under the generators; as the group is finite, it
    is closed under inverses too.
    """
    reached = set(items)
    frontier = list(reached)
    while frontier:
        item = frontier.pop()
        for generator in generators:
            image = item.rename(generator)
            if image not in reached:
                reached.add(image)
                frontier.append(image)
    return frozenset(reached)


def _sorted_values(schema: Schema, facts: Iterable[Fact]) -> dict[Value, str]:
    """The sort of every value in ``facts``; of a numeral that several sorts list, which is rigid, any."""
    values: dict[Value, str] = {}
    listed = schema.listed
    for relation, args in facts:
        for sort, value in zip(schema.relation(relation).sorts, args, strict=True):
            owners = listed.get(value) or (values.setdefault(value, sort),)
            if sort not in owners:
                raise DeclarationError(
                    f"the value {value} is in two sorts, {' and '.join(sorted((sort, owners[0])))} "
                    f"(see {Fact(relation, args)}); give one of them another name"
                )
            values[value] = owners[0]
    return values


def _numbers(
    instance: Instance, sorts: Mapping[Value, str], order: Sequence[Value], rigid: Set[Value]
) -> dict[Value, int]:
    """For each value outside B its number within its sort, from 1: first mentioned, first numbered.

    ``order`` is nauty's order of the values; the listing is the one of the module's first lines.
    """
    fixed = sorted(sorts.keys() & rigid)
    rank = {value: place - len(fixed) for place, value in enumerate(fixed)}
    rank |= {value: place for place, value in enumerate(order, len(order) + 1)}
    numbers: dict[Value, int] = {}
    counters = {sort.name: count(1) for sort in instance.schema.sorts}
    for relation in instance.schema.relations:
        for args in sorted(
            instance.by_relation.get(relation.name, ()), key=lambda args: [rank[v] for v in args]
        ):
            for value in args:
                if value not in numbers and value not in rigid:
                    rank[value] = numbers[value] = next(counters[sorts[value]])
    return numbers


def _prefixes(schema: Schema, rigid: Set[Value]) -> dict[str, str]:
    """The spelling of each sort's canonical names: P in P_1, P_2, …

    It depends on ``schema`` and ``rigid`` only, never on an instance. An underscore is added until no
    other sort, no rigid value and no listed value of the schema can have a name so spelled.
    """
    taken = {value.rpartition("_")[0] for known in (rigid, schema.listed) for value in known}
    prefixes: dict[str, str] = {}
    for sort in schema.sorts:
        prefix = sort.name.upper()
        while prefix in taken:
            prefix += "_"
        taken.add(prefix)
        prefixes[sort.name] = prefix
    return prefixes


class _Graph:
    """The coloured graph of an instance; vertices are numbers, the values outside B first."""

    def __init__(self, schema: Schema, values: Mapping[Value, str], rigid: Set[Value]) -> None:
        self.rigid = rigid
        self.sorts = values
        self.places = {relation.name: place for place, relation in enumerate(schema.relations)}
        self.values = sorted(value for value in values if value not in rigid)
        self.number = {value: i for i, value in enumerate(self.values)}
        self.colours: list[Pattern] = []  # of the vertices that are not values
        self.adjacent: dict[int, list[int]] = {}
        self.occurrences: list[Counter[Occurrence]] = [Counter() for _ in self.values]

    def add(self, fact: Fact) -> None:
        args, rigid = fact.args, self.rigid
        first: dict[Value, int] = {}
        pattern = [fact.relation]
        for i, value in enumerate(args):
            pattern.append("=" + value if value in rigid else str(first.setdefault(value, i)))
        for value, position in first.items():
            occurrence = (self.places[fact.relation], tuple(pattern), position)
            self.occurrences[self.number[value]][occurrence] += 1
        if len(first) > 1:
            self._add_vertices(tuple(pattern), first)

    def _add_vertices(self, pattern: Pattern, first: Mapping[Value, int]) -> None:
        neighbours = self._vertex(pattern)
        direct: set[str] = set()
        for value, position in first.items():
            sort, vertex = self.sorts[value], self.number[value]
            if sort in direct:
                link = self._vertex((*pattern, f"at {position}"))
                link.append(vertex)
                vertex = len(self.values) + len(self.colours) - 1
            direct.add(sort)
            neighbours.append(vertex)

    def _vertex(self, colour: Pattern) -> list[int]:
        """A new vertex; its list of neighbours, to be filled."""
        vertex = len(self.values) + len(self.colours)
        self.colours.append(colour)
        return self.adjacent.setdefault(vertex, [])

    def _profile(self, number: int) -> Profile:
        """The occurrences of a value with how often each is one, in an order in which more comes before
        less: of two profiles that begin alike, the one that goes on is the smaller."""
        counts = sorted((*occurrence, -often) for occurrence, often in self.occurrences[number].items())
        return (*counts, (len(self.places), (), 0, 0))

    def solve(self) -> tuple[list[Value], tuple[dict[Value, Value], ...]]:
        """The values in canonical order, and generators of the automorphism group."""
        cells: dict[tuple[str, Profile], set[int]] = {}
        for i, value in enumerate(self.values):
            cells.setdefault((self.sorts[value], self._profile(i)), set()).add(i)
        if len(cells) == len(self.values):  # every value has a colour of its own
            return [self.values[i] for colour in sorted(cells) for i in cells[colour]], ()
        classes: dict[Pattern, set[int]] = {}
        for i, colour in enumerate(self.colours, len(self.values)):
            classes.setdefault(colour, set()).add(i)
        graph = pynauty.Graph(
            len(self.values) + len(self.colours),
            adjacency_dict=self.adjacent,
            vertex_coloring=[cells[c] for c in sorted(cells)] + [classes[c] for c in sorted(classes)],
        )
        # pynauty's label lists, for each canonical position, the vertex that takes it. Positions go
        # by colour class in the order given, so the values come first, sort by sort.
        order: list[int] = pynauty.canon_label(graph)[: len(self.values)]
        permutations: list[list[int]] = pynauty.autgrp(graph)[0]
        generators = tuple(
            {v: self.values[p[i]] for i, v in enumerate(self.values) if p[i] != i} for p in permutations
        )
        return [self.values[i] for i in order], generators
