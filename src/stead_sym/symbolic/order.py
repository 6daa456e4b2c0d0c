"""The order of the state bits: the facts of one entity together, linked entities next to each other.

Values are linked by the static facts and by the fields that mention few of them; the reverse
Cuthill-McKee order of that graph keeps links short. Fields that no single entity owns (a
relation that names *which* record is at hand, a flag) stand above all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import pairwise

import networkx as nx

from stead_sym.deployment.deployment import Deployment
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value
from stead_sym.symbolic.encoding import Field

_FEW = 3  # values beside the owners that still say something about where a field belongs
_HUB = 16  # a value linked to more others than this orders nothing


def arranged(fields: Iterable[Field], static: Iterable[Fact], deployment: Deployment) -> tuple[Field, ...]:
    """The fields in the order of their bits, from the top."""
    rigid = deployment.schema.rigid
    listed = list(fields)
    graph = nx.Graph()
    for field in listed:
        owners = _owners(field, rigid)
        graph.add_nodes_from(sorted(owners))
        mentioned = sorted({u for fact in field.facts for u in fact.args} - rigid)
        if owners and len(mentioned) <= len(owners) + _FEW:
            graph.add_edges_from(pairwise(mentioned))
    for fact in sorted(static):
        graph.add_edges_from(pairwise(sorted(set(fact.args) - rigid)))
    hubs = {value for value, degree in graph.degree if degree > _HUB}
    graph.remove_edges_from([edge for edge in graph.edges if hubs & set(edge)])
    rank = {value: k for k, value in enumerate(nx.utils.reverse_cuthill_mckee_ordering(graph))}

    def place(field: Field) -> tuple[int, Field]:
        owners = _owners(field, rigid)
        return (min((rank[u] for u in owners if u in rank), default=-1), field)

    return tuple(field for _, field in sorted(map(place, listed), key=lambda pair: (pair[0], pair[1].facts)))


def _owners(field: Field, rigid: Set[Value]) -> set[Value]:
    """The values, rigid ones aside, that every fact of the field mentions."""
    return set.intersection(*(set(fact.args) for fact in field.facts)) - rigid
