"""Canonical forms of instances relative to rigid values, and their automorphisms.

The decision: a form is an explicit instance over canonical names, derived from nauty's canonical vertex
order. Nauty's certificate is not used: it omits the sizes of the colour classes, so structures that are not
isomorphic can share one. Equal forms are therefore isomorphic, even if nauty is wrong. That isomorphic
instances have equal forms relies on nauty, whose order may change with `NAUTY_VERSION`.

Names follow the role of a value. The `Layout` of D numbers its values and so gives a first form D₁, which is
equal for isomorphic instances. Its names are arbitrary. The values of each sort are then renumbered in the
order of their first occurrences in a listing of D₁. The listing has the relations in the order of the schema,
and the facts of a relation in the order of their arguments. Among arguments, rigid values come first, then
values already numbered by an earlier relation, by their numbers, then the others in the order of D₁. No two
facts of a relation compare equal, so the listing, and the renaming ρ that it gives, is a function of D₁
alone. So ρ(D₁) is again isomorphic to D, and equal for isomorphic instances. D₁ orders values by profile,
with relations compared in the order of their declaration. So the handler of a case is SERVICE_1, the approver
for that handler is SERVICE_2, and values unrelated to the case come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from typing import Protocol, Self, TypeVar

from stead_sym.errors import DeclarationError
from stead_sym.relational.encoding import Encoding
from stead_sym.relational.graph import closure
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.layout import Layout, Placement
from stead_sym.relational.nauty import CANONICAL_SECONDS, NAUTY_VERSION
from stead_sym.relational.parts import Parts
from stead_sym.relational.schema import Schema, Value

FORM_VERSION: str = f"by role, nauty {NAUTY_VERSION}"
"""The version of canonical names: the numbering scheme and nauty's version.

Canonical forms are comparable, and may be stored, only under the same version.
"""


@dataclass(frozen=True)
class CanonicalForm:
    """can_B(D) with one witness σ ∈ Lab_B(D) and generators of Aut_B(D) (Definition "Canonical instance").

    ``instance`` is σ(D); two instances have equal ones iff they are B-isomorphic. ``labelling`` is σ on
    ad(D), the identity on B ∩ ad(D). `generators` are permutations of ad(D), each given by the values it
    moves. The choices of the witness σ and of the generators are arbitrary.
    """

    instance: Instance
    labelling: Mapping[Value, Value] = field(compare=False)
    _layout: Layout = field(compare=False, repr=False)
    _own: Sequence[Value] = field(compare=False, repr=False)

    @cached_property
    def generators(self) -> tuple[Mapping[Value, Value], ...]:
        """Generators of Aut_B(D), computed on demand: their number grows with that of symmetric records."""
        own = self._own
        return tuple({own[v]: own[w] for v, w in g.items()} for g in self._layout.all_generators)


def canonical_form(
    instance: Instance, rigid: Set[Value], *, canonical_timeout: float = CANONICAL_SECONDS
) -> CanonicalForm:
    """Return the canonical form of ``instance`` relative to B = ``rigid``.

    The values of sort s outside B are called ``S_1``, ``S_2``, …, with s in upper case, in the order of their
    first occurrences in a listing (see the module). Raise `DeclarationError` if a value occurs at positions
    of two sorts, or of a sort other than the one that lists it. Raise `CanonicalLimit` if nauty takes longer
    than ``canonical_timeout`` seconds for a connected component of the facts.
    """
    _refuse_mixed(instance)
    schema = instance.schema
    encoding = Encoding(schema, {sort.name: rigid for sort in schema.sorts}, seconds=canonical_timeout)
    parts = Parts(encoding)
    parts.change(sorted(instance.facts))  # so that nothing below depends on the hashes of strings
    return form_of(encoding, parts.placement())


def form_of(encoding: Encoding, placement: Placement) -> CanonicalForm:
    """Return the canonical form of the facts with this placement, each of whose values has one sort."""
    own = placement.names()
    form, names = named(encoding, placement.layout)
    relations = zip(encoding.schema.relations, form, strict=True)
    facts = chain.from_iterable(map(Fact, repeat(relation.name), tuples) for relation, tuples in relations)
    kept = set(encoding.fixed).intersection(chain.from_iterable(chain.from_iterable(form)))
    labelling = dict(zip(own, names, strict=True)) | {value: value for value in kept}
    return CanonicalForm(Instance(encoding.schema, frozenset(facts)), labelling, placement.layout, own)


def named(encoding: Encoding, layout: Layout) -> tuple[list[list[tuple[Value, ...]]], list[Value]]:
    """Return the canonical form of a layout, as tuples per relation, and the canonical names of its values.

    Values are numbered as in `Layout.starts`. Their names are numbered by first occurrence in the listing
    that the module's docstring defines.
    """
    rows: list[list[tuple[int, ...]]] = [[] for _ in encoding.columns]
    for place, tuples in layout.rows():
        rows[place].extend(tuples)
    sorts = layout.sorts
    size = len(sorts)
    # The negative codes of rigid values index these lists from their ends.
    rank = [*range(size, 2 * size), *range(-len(encoding.fixed), 0)]
    names = [""] * size + encoding.fixed
    last = [0 for _ in encoding.prefixes]
    form = []
    for tuples in rows:
        if tuples and tuples[0]:
            columns = [map(rank.__getitem__, column) for column in zip(*tuples, strict=True)]
            ranks = [*zip(*columns, strict=True)]
            tuples = [tuples[i] for i in sorted(range(len(tuples)), key=ranks.__getitem__)]
        for code in dict.fromkeys(chain.from_iterable(tuples)):
            if code >= 0 and not names[code]:
                sort = sorts[code]
                rank[code] = last[sort] = last[sort] + 1
                names[code] = f"{encoding.prefixes[sort]}_{last[sort]}"
        form.append([tuple([names[code] for code in codes]) for codes in tuples])
    return form, names[:size]


def isomorphic(left: Instance, right: Instance, fixed: Set[Value]) -> bool:
    """Return True if left ≃_C right for C = ``fixed``, both of one schema (Definition "C-isomorphism")."""
    if len(left) != len(right):
        return False
    return left == right or canonical_form(left, fixed).instance == canonical_form(right, fixed).instance


class _Renamable(Protocol):
    @property
    def args(self) -> tuple[Value, ...]: ...
    def rename(self, renaming: Mapping[Value, Value]) -> Self: ...


Item = TypeVar("Item", bound=_Renamable)


def orbit(items: Iterable[Item], generators: Iterable[Mapping[Value, Value]]) -> frozenset[Item]:
    """Return { α(a) : a ∈ items, α in the group that ``generators`` generate }.

    It is the least set that includes ``items`` and is closed under the generators. As the group is finite,
    the set is closed under inverses too.
    """
    return closure(items, generators, lambda item: item.args, lambda item, generator: item.rename(generator))


def _refuse_mixed(instance: Instance) -> None:
    """Raise `DeclarationError` if a value has two sorts, unless it is a numeral that both sorts list."""
    schema = instance.schema
    listed = schema.listed
    tuples: dict[str, list[tuple[Value, ...]]] = {}
    for relation, args in instance.facts:
        tuples.setdefault(relation, []).append(args)
    standing: dict[str, set[Value]] = {}
    for relation, found in tuples.items():
        for sort, column in zip(schema.relation(relation).sorts, zip(*found, strict=True), strict=True):
            standing.setdefault(sort, set()).update(column)
    own: dict[Value, str] = {}
    for sort, values in standing.items():
        doubtful = (values & own.keys()) | {
            value for value in listed.keys() & values if sort not in listed[value]
        }
        if doubtful:
            value = min(doubtful)
            first = own.get(value) or listed[value][0]
            fact = min(fact for fact in instance.facts if _stands(schema, fact, value, sort))
            raise DeclarationError(
                f"the value {value} is in two sorts, {' and '.join(sorted((sort, first)))} "
                f"(see {fact}); give one of them another name"
            )
        own.update(dict.fromkeys(values - listed.keys(), sort))


def _stands(schema: Schema, fact: Fact, value: Value, sort: str) -> bool:
    """Return True if a value occurs in a fact at a position of this sort."""
    return (sort, value) in zip(schema.relation(fact.relation).sorts, fact.args, strict=True)
