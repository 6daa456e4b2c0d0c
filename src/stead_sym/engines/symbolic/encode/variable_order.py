"""The order of the state bits: the facts of one entity together, linked entities next to each other.

Values are linked by the static facts and by the fields that both own (occur in all facts of); the reverse
Cuthill-McKee order of that graph keeps links short. Fields whose facts have no entity in common (a flag, or a
relation such as `Focus(x)`, which marks the entity that has some property) are above all others.

The bits of numbers that a step adds to one another are interleaved. Of two balances with a + b = 999, one
above the other in the order, a diagram holds the other balance for each value of the first, and a transfer
every difference. With the bits interleaved by weight, and those of the numbers that a call names beside them,
both take a few carries per bit. Only few and large fields are interleaved: the bits of a record are apart
then, and the sets of many records that have nothing to do with one another are exponentially larger.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Effect, Insert
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Schema, Value

_SEVERAL = 3
_HUB = 6  # the number of linked values that never makes a hub, whatever fraction of their sort they are
_PART = 4
_LARGE = 32  # the minimum number of facts of an interleaved field
_MOST = 8  # the maximum number of interleaved fields

Graph: TypeAlias = Mapping[Value, Set[Value]]
"""The neighbours of each vertex, in the order in which fields name the vertices."""


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
    together = [_owners(field, rigid) for field in listed] + [
        set(fact.args) - rigid for fact in sorted(static)
    ]
    linked = _linked(together)
    degree = {value: len(others) for value, others in linked.items()}
    hubs = _hubs(linked, listed, deployment)
    graph = {value: set() if value in hubs else others - hubs for value, others in linked.items()}
    components = [_close_together(graph, component) for component in reversed(list(_components(graph)))]
    rank = {value: k for k, value in enumerate(chain.from_iterable(components))}
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


def _linked(together: Iterable[Set[Value]]) -> Graph:
    """Return the graph of all values, in which neighbours in the sorted order of a set are linked."""
    links = defaultdict[Value, set[Value]](set)
    for values in together:
        ordered = sorted(values)
        for value in ordered:
            links[value]
        for left, right in pairwise(ordered):
            links[left].add(right)
            links[right].add(left)
    return dict(links)


def _components(graph: Graph) -> Iterator[dict[Value, int]]:
    """Yield the connected components, in the order of their first vertices; each begins with that.

    A component is its vertices with their distances from the first.
    """
    found: set[Value] = set()
    for value in graph:
        if value not in found:
            component = _distances(graph, value)
            found.update(component)
            yield component


def _distances(graph: Graph, start: Value) -> dict[Value, int]:
    """Return the vertices that are reached from one, with their distances, the nearest first."""
    distances = {start: 0}
    waiting = deque([start])
    while waiting:
        value = waiting.popleft()
        for other in graph[value] - distances.keys():
            distances[other] = distances[value] + 1
            waiting.append(other)
    return distances


def _close_together(graph: Graph, component: Mapping[Value, int]) -> list[Value]:
    """Return the vertices of a component in an order that keeps neighbours close.

    It is the reverse of the order of Cuthill and McKee (1969), from a vertex that is about as far from others
    as any (George, Liu 1979). Vertices of the same degree are in the order of their names.
    """
    ordered = dict.fromkeys([_peripheral(graph, component)])
    waiting = deque(ordered)
    while waiting:
        new = sorted(graph[waiting.popleft()] - ordered.keys(), key=lambda value: (len(graph[value]), value))
        ordered |= dict.fromkeys(new)
        waiting.extend(new)
    return list(reversed(ordered))


def _peripheral(graph: Graph, component: Mapping[Value, int]) -> Value:
    """Return a vertex such that those farthest from it have none that is farther from them."""
    value, eccentricity, distances = next(iter(component)), 0, component
    while True:
        most = max(distances.values())
        if most <= eccentricity:
            return value
        farthest = [other for other, distance in distances.items() if distance == most]
        value, eccentricity = min(farthest, key=lambda other: (len(graph[other]), other)), most
        distances = _distances(graph, value)


def _hubs(graph: Graph, fields: Iterable[Field], deployment: Deployment) -> set[Value]:
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
    members = Counter(sort_of.get(value, "") for value in graph)

    def is_hub(value: Value) -> bool:
        linked = Counter(sort_of.get(other, "") for other in graph[value])
        del linked[sort_of.get(value, "")]
        return any(
            number == members[sort] >= _SEVERAL or (number > _HUB and _PART * number > members[sort])
            for sort, number in linked.items()
        )

    return {value for value in graph if is_hub(value)}


def _owners(field: Field, rigid: Set[Value]) -> set[Value]:
    """Return the values, except rigid ones, that every fact of the field mentions."""
    return set.intersection(*(set(fact.args) for fact in field.facts)) - rigid


def interleaved(fields: Sequence[Field], deployment: Deployment) -> tuple[Field, ...]:
    """Return the fields whose bits are interleaved, in the given order: a few, or none."""
    effects = (effect for tool in deployment.tools_and_events for effect in tool.effects)
    related = frozenset[str]().union(*(_related(effect, deployment.schema) for effect in effects))
    found = [field for field in fields if field.facts[0].relation in related and len(field.facts) >= _LARGE]
    return tuple(found) if 1 < len(found) <= _MOST else ()


def _related(effect: Effect, schema: Schema) -> Set[str]:
    """Return the relations whose numbers an alternative writes with those of another record in view."""
    numeric = {
        relation.name: [schema.sort(sort).is_numeric for sort in relation.sorts]
        for relation in schema.relations
    }
    records = {
        (atom.relation, tuple(str(t) for t, is_number in pairs if not is_number))
        for statement in effect.statements
        if isinstance(statement, Insert)
        for atom in (statement.atom, *_atoms(statement))
        if any(numeric.get(atom.relation, ()))
        for pairs in [list(zip(atom.args, numeric[atom.relation], strict=True))]
    }
    return {relation for relation, _ in records} if len(records) > 1 else frozenset()


def _atoms(statement: Insert) -> Iterator[fo.Atom]:
    return (part for part in fo.subformulas(statement.where) if isinstance(part, fo.Atom))
