"""The order of the state bits: the facts of one entity together, linked entities next to each other.

Values are linked by the static facts and by the fields that both own (occur in all facts of); the reverse
Cuthill-McKee order of that graph keeps links short. Fields whose facts have no entity in common (a flag, or a
relation such as `Focus(x)`, which marks the entity that has some property) are above all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

_SEVERAL = 3
_HUB = 6  # the number of linked values that never makes a hub, whatever fraction of their sort they are
_PART = 4


@dataclass(frozen=True, slots=True)
class Order:
    """The fields in the order of their bits, from the top, and the first bit of each value.

    The first bit of a value is that of the first field that it owns or, if it owns none, of its cluster.
    """

    fields: tuple[Field, ...]
    beside: Mapping[Value, str]


def arranged(fields: Iterable[Field], static: Iterable[Fact], deployment: Deployment) -> Order:
    """Return the order of the fields of a deployment."""
    rigid = deployment.schema.rigid
    listed = list(fields)
    graph = nx.Graph()
    for field in listed:
        owners = _owners(field, rigid)
        graph.add_nodes_from(sorted(owners))
        graph.add_edges_from(pairwise(sorted(owners)))
    for fact in sorted(static):
        graph.add_edges_from(pairwise(sorted(set(fact.args) - rigid)))
    degree = dict(graph.degree)
    hubs = _hubs(graph, listed, deployment)
    graph.remove_edges_from([edge for edge in graph.edges if hubs & set(edge)])
    rank = {value: k for k, value in enumerate(_close_together(graph))}
    components = sorted(nx.connected_components(graph), key=lambda values: min(map(rank.__getitem__, values)))
    cluster = {value: k for k, values in enumerate(components) for value in values}

    keyed = {relation.sorts[k] for relation in deployment.schema.relations for k in relation.keys}

    def is_keyed(field: Field, value: Value) -> bool:
        """Return True if the value is of a sort that is a key of some relation."""
        relation, args = field.facts[0]
        return deployment.schema.relation(relation).sorts[args.index(value)] in keyed

    def place(field: Field) -> tuple[int, int, tuple[Fact, ...]]:
        """Return the position of a field, with the record that owns it.

        The record is the owner whose sort has keys, or the one with the fewest links: the order, not the
        employee who has many.
        """
        owners = _owners(field, rigid)
        if not owners:
            return (-1, -1, field.facts)
        record = min(owners, key=lambda value: (not is_keyed(field, value), degree[value], rank[value]))
        return (cluster[record], rank[record], field.facts)

    ordered = tuple(sorted(listed, key=place))
    first: dict[int, str] = {}
    for field in ordered:
        first.setdefault(place(field)[0], field.bits[0])
    beside = {value: first[k] for value, k in cluster.items() if k in first}
    for field in reversed(ordered):
        beside |= dict.fromkeys(_owners(field, rigid), field.bits[0])
    return Order(ordered, beside)


def _close_together(graph: nx.Graph) -> list[Value]:
    """Return the vertices in an order (reverse Cuthill-McKee) that keeps neighbours close.

    networkx iterates over sets of vertices. The order of strings in a set differs between processes, that of
    integers does not. So the vertices are numbered in the order of their names, and an input always gives the
    same order.
    """
    values = sorted(graph)
    numbered = nx.relabel_nodes(graph, {value: k for k, value in enumerate(values)})
    return [values[k] for k in nx.utils.reverse_cuthill_mckee_ordering(numbered)]


def _hubs(graph: nx.Graph, fields: Iterable[Field], deployment: Deployment) -> set[Value]:
    """Return the hubs: values linked to most values of another sort.

    A hub is linked to all values of another sort with at least three values, or to more than a few and more
    than a fourth of them. Such a link is little evidence of which records belong together.

    The criterion is the fraction and not the number. The many orders of a customer belong together; if the
    customer's bits were apart from them, they would have to be remembered from the one position to the other,
    in exponentially many nodes.
    """
    sort_of: dict[Value, str] = {}
    for field in fields:
        for relation, args in field.facts:
            sort_of |= zip(args, deployment.schema.relation(relation).sorts, strict=True)
    members = Counter(sort_of.get(value, "") for value in graph.nodes)

    def is_hub(value: Value) -> bool:
        linked = Counter(sort_of.get(other, "") for other in graph[value])
        del linked[sort_of.get(value, "")]
        return any(
            number == members[sort] >= _SEVERAL or (number > _HUB and _PART * number > members[sort])
            for sort, number in linked.items()
        )

    return {value for value in graph.nodes if is_hub(value)}


def _owners(field: Field, rigid: Set[Value]) -> set[Value]:
    """Return the values, except rigid ones, that every fact of the field mentions."""
    return set.intersection(*(set(fact.args) for fact in field.facts)) - rigid
