"""Enumerate the nodes of an export and its edges, for formats that list them.

A node is a triple (V, D, ν) of `ground`: the layer, the state, and the values of the slots of V. With
representatives the value of a slot is, as defined in "What an assignment is" in
`symbolic.encode.representatives`, a name, or the class of a dead value: two slots hold the same dead value
iff their classes are equal. The one decision: moves are computed here from D, D' and ν, following that proof
and not the engine's relation.

    a name that D' has, or a constant, stays;
    a name that D' lacks becomes a class, distinct for every name;
    a class stays, or becomes one of the names that D' has and D and C lack: no two the same name.

If states record their last step, D' in the first two lines also has the arguments of that step. A name that D
has for this reason alone moves like a class (`symbolic.check.held_values`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product

from stead_sym.analyses.state_graph import StateGraph
from stead_sym.deployment.deployment import Deployment
from stead_sym.export.names import Layer
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True, order=True)
class Dead:
    """A value that occurs in no fact of the state, nor in its last step, and is no constant.

    ``number`` counts those in slots of one sort, in the order of the slots, from 0.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Node:
    """A node (V, D, ν): the number of D in the graph, the layer, and the values of its slots."""

    state: int
    layer: Layer = ()
    held: tuple[Value | Dead, ...] = ()


@dataclass(frozen=True)
class Nodes:
    """The reachable nodes, the first ``initial`` of them the initial ones.

    ``edges[i]`` maps the numbers of the successors of node i to descriptions of a step there.
    """

    nodes: tuple[Node, ...]
    initial: int
    edges: tuple[Mapping[int, str], ...]

    @property
    def transitions(self) -> int:
        """The number of pairs of a node and a successor."""
        return sum(map(len, self.edges))


def of_last_step(deployment: Deployment, facts: Iterable[Fact], sort: str) -> Iterator[tuple[Fact, Value]]:
    """Yield the facts that record a step, with each of its arguments of a sort."""
    sorts = {relation.name: relation.sorts for relation in deployment.history.whole_steps}
    for fact in facts:
        for own, value in zip(sorts.get(fact.relation, ()), fact.args, strict=False):
            if own == sort:
                yield fact, value


def all_nodes(deployment: Deployment, graph: StateGraph, layers: Set[Layer]) -> Nodes:
    """Return the nodes that are reachable from the initial states in the empty layer."""
    moving = _Moving(deployment, graph)
    number = {Node(i): i for i in range(graph.initial)}
    nodes = list(number)
    edges: list[dict[int, str]] = []
    for node in nodes:  # the list grows during the loop
        out: dict[int, str] = {}
        for after, label in _edges(moving, layers, node):
            if after not in number:
                number[after] = len(nodes)
                nodes.append(after)
            out.setdefault(number[after], label)
        edges.append(out)
    return Nodes(tuple(nodes), graph.initial, tuple(edges))


class _Moving:
    """The names of the states of a graph, for the values that slots hold along its steps.

    They are looked up once for each state and sort, since many edges lead to one state.
    """

    def __init__(self, deployment: Deployment, graph: StateGraph) -> None:
        self.graph = graph
        self.constants = {sort: frozenset(values) for sort, values in deployment.constants.items()}
        self._deployment = deployment
        self._kept: dict[tuple[int, str], Set[Value]] = {}

    def active(self, state: int, sort: str) -> Set[Value]:
        """Return the active values of a sort in a state."""
        return self.graph.states[state].active_domain[sort]

    def kept(self, state: int, sort: str) -> Set[Value]:
        """Return the active values of a sort in a state, and those of the last step."""
        if (state, sort) not in self._kept:
            facts = self.graph.states[state].facts
            of_step = {value for _, value in of_last_step(self._deployment, facts, sort)}
            self._kept[state, sort] = self.active(state, sort) | of_step
        return self._kept[state, sort]


def _edges(moving: _Moving, layers: Set[Layer], node: Node) -> Iterator[tuple[Node, str]]:
    for after, label in moving.graph.steps[node.state].items():
        for held in _moved(moving, node, after):
            yield Node(after, node.layer, held), label
    for layer in sorted(layers):
        if layer and layer[:-1] == node.layer:
            for value in sorted(moving.active(node.state, layer[-1].sort)):
                yield Node(node.state, layer, (*node.held, value)), f"hold {value}"


def _moved(moving: _Moving, node: Node, after: int) -> Iterator[tuple[Value | Dead, ...]]:
    """Yield the possible values of the slots after a step to another state."""
    sorts = [slot.sort for slot in node.layer]
    by_sort = {sort: tuple(_moves(moving, node, after, sort)) for sort in dict.fromkeys(sorts)}
    for chosen in product(*by_sort.values()):
        renamed = dict(zip(by_sort, chosen, strict=True))
        yield _in_order(sorts, [renamed[s][value] for s, value in zip(sorts, node.held, strict=True)])


def _moves(
    moving: _Moving, node: Node, after: int, sort: str
) -> Iterator[Mapping[Value | Dead, Value | Dead]]:
    """Yield the possible mappings of the slots' values of one sort by a step."""
    held = dict.fromkeys(
        value for slot, value in zip(node.layer, node.held, strict=True) if slot.sort == sort
    )
    before, now = moving.active(node.state, sort), moving.active(after, sort)
    constants, kept = moving.constants[sort], moving.kept(after, sort)
    fates: dict[Value | Dead, Value | Dead] = {}
    for number, value in enumerate(held):
        stays = value in constants or (value in before and value in kept)
        fates[value] = value if stays else Dead(number)
    dead = [value for value in held if value not in before | constants]
    drawn = sorted(now - before - constants)
    for reborn in _injections(dead, drawn):
        yield {**fates, **reborn}


def _injections(
    dead: Sequence[Value | Dead], drawn: Sequence[Value]
) -> Iterator[Mapping[Value | Dead, Value | Dead]]:
    """Yield the injections of some of the dead values into the drawn ones."""
    if not dead:
        yield {}
        return
    first, *rest = dead
    for others in _injections(rest, drawn):
        yield others
        for name in drawn:
            if name not in others.values():
                yield {**others, first: name}


def _in_order(sorts: Sequence[str], held: Sequence[Value | Dead]) -> tuple[Value | Dead, ...]:
    """Return the values, with the dead ones of each sort numbered in the order of the slots."""
    numbers: dict[tuple[str, Dead], Dead] = {}
    counted: dict[str, int] = {}
    ordered: list[Value | Dead] = []
    for sort, value in zip(sorts, held, strict=True):
        if isinstance(value, Dead):
            if (sort, value) not in numbers:
                numbers[sort, value] = Dead(counted.get(sort, 0))
                counted[sort] = counted.get(sort, 0) + 1
            value = numbers[sort, value]
        ordered.append(value)
    return tuple(ordered)
