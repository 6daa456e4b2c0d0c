"""The paper's definitions on small instances, by trying all renamings: what tests compare with.

The decision: nothing clever, no graph, no early cut; usable up to six values or so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, permutations, product

from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.tool import Tool
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Value


def bijections(left: Instance, right: Instance, fixed: Set[Value]) -> Iterator[dict[Value, Value]]:
    """The sort-preserving bijections from ad(left) \\ C onto ad(right) \\ C, for C = ``fixed``."""
    per_sort: list[list[tuple[tuple[Value, Value], ...]]] = []
    for sort, values in left.active_domain.items():
        source, target = sorted(values - fixed), sorted(right.active_domain[sort] - fixed)
        if len(source) != len(target):
            return
        per_sort.append([tuple(zip(source, image, strict=True)) for image in permutations(target)])
    for choice in product(*per_sort):
        yield dict(pair for pairs in choice for pair in pairs)


def isomorphisms(left: Instance, right: Instance, fixed: Set[Value]) -> Iterator[Mapping[Value, Value]]:
    """The witnesses of left ≃_C right (Definition "C-isomorphism"), without the values of C."""
    return (renaming for renaming in bijections(left, right, fixed) if left.rename(renaming) == right)


def automorphisms(instance: Instance, fixed: Set[Value]) -> list[Mapping[Value, Value]]:
    """Aut_C(D): the witnesses of D ≃_C D."""
    return list(isomorphisms(instance, instance, fixed))


def context_automorphisms(
    context: DecisionContext, tools: Iterable[Tool], rigid: Set[Value]
) -> list[Mapping[Value, Value]]:
    """Aut_B(D, A): the offered calls are facts of relations of their own."""
    schema = context.view.schema
    sorts = {tool.name: tuple(param.sort for param in tool.params) for tool in tools}
    joint = Schema(schema.sorts, (*schema.relations, *(Relation(f"call {t}", sorts[t]) for t in sorts)))
    facts = {Fact(f"call {call.tool}", call.args) for call in context.calls}
    return automorphisms(Instance(joint, context.view.facts | facts), rigid)


def least_labelling(instance: Instance, rigid: Set[Value]) -> Instance:
    """can_B(D) (Definition "Canonical instance"): the least of all B-labellings, for B = ``rigid``.

    ν^S_i is the i-th of ``S.1``, ``S.2``, …, which neither B nor D should hold; instances are ordered by the
    sorted list of their facts.
    """
    own, names = [], []
    for sort, values in instance.active_domain.items():
        own += sorted(values - rigid)
        names.append([f"{sort}.{i}" for i in range(1, len(values - rigid) + 1)])
    labellings = (
        instance.rename(dict(zip(own, chain.from_iterable(images), strict=True)))
        for images in product(*map(permutations, names))
    )
    return min(labellings, key=lambda labelling: sorted(labelling.facts))
