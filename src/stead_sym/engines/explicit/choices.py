"""Truth for all choices among the calls that agents may make on the explicit graph.

Truth for all choices is defined as a game in `engines.protocol.Engine.whatever_chosen`. The module also
builds the graphs of single choices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from weakref import proxy

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.selection import decision_contexts
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import Graph
from stead_sym.engines.protocol import Choosers
from stead_sym.logic.kernel import core
from stead_sym.relational.schema import Value

Place: TypeAlias = tuple[str, DecisionContext]
"""The name of an agent, with one of its canonical contexts."""


@dataclass(frozen=True, slots=True)
class Orbit:
    """Several symmetric calls that may happen in a state, in the order of their identifiers.

    They are an orbit under the automorphisms of the agent's view and offer in that state.
    """

    place: Place
    calls: tuple[Call, ...]


Orbits: TypeAlias = Sequence[Collection[Orbit]]
"""The orbits with several calls, for each state of a graph."""


def orbits(graph: Graph, wrappers: Wrappers) -> Orbits:
    """Return the orbits of the calls that wrapped agents may make."""
    deployment = graph.deployment
    canonical: dict[Place, Collection[frozenset[Call]]] = {}
    found = []
    for state in graph.states:
        here: list[Orbit] = []
        for role in deployment.agents:
            wrapper = wrappers[role.name]
            if wrapper is None:
                continue
            for decision in wrapper.decide([*decision_contexts(deployment, wrapper, state, role)]):
                place = role.name, decision.canonical
                if place not in canonical:
                    canonical[place] = wrapper.orbits(decision.canonical, decision.selected)
                for orbit in canonical[place]:
                    if len(orbit) > 1:
                        calls = tuple(sorted(call.rename(decision.names) for call in orbit))
                        here.append(Orbit(place, calls))
        found.append(tuple(here))
    return found


# every resolution of ties

Families: TypeAlias = Sequence[Collection[tuple[str, tuple[Call, ...]]]]
"""The calls of which an agent makes at least one, for each state of a graph: several, each with the agent."""


def families(graph: Graph, wrappers: Wrappers, choosers: Choosers) -> Families:
    """Return the families of the choosers that have more than one call, for each state of the graph."""
    tied = orbits(graph, {name: one if name in choosers.tied else None for name, one in wrappers.items()})
    found = []
    for here, acting in zip(tied, graph.actors, strict=True):
        free = (
            (agent, tuple(sorted(call for call, agents in acting.items() if agent in agents)))
            for agent in sorted(choosers.free)
        )
        among_alike = ((orbit.place[0], orbit.calls) for orbit in here)
        found.append([*among_alike, *((agent, calls) for agent, calls in free if len(calls) > 1)])
    return found


class Whatever:
    """Truth for all choices from these families, under the deployment's `fair` sentences.

    Its constraints on actions are not heeded.
    """

    def __init__(self, graph: Graph, restriction: Restriction, families: Families) -> None:
        self._possible, self._sure = _Bound(graph, restriction), _Sure(graph, restriction, families)
        self._possible.dual, self._sure.dual = proxy(self._sure), proxy(self._possible)  # no cycle

    def decides(self, formula: fo.Expanded, *, holds: bool) -> bool:
        """Return True if every resolution makes the sentence true at all initial states, or false at one.

        ``holds`` selects the claim. Every finite run must also be a prefix of a fair one under every
        resolution.
        """
        if self._sure.hidden:
            return False
        return self._sure.is_initial(formula) if holds else not self._possible.is_initial(formula)


class _Bound(Labelling):
    """possible ⟦f⟧ (may), for formulas of the kernel."""

    dual: _Bound

    def __init__(self, graph: Graph, restriction: Restriction) -> None:
        super().__init__(graph, restriction, actions=())

    def is_initial(self, formula: fo.Expanded) -> bool:
        """Return True if every initial state is in the set."""
        initial = (1 << self.graph.initial) - 1
        return self._sat(core(formula), {}) & initial == initial

    def _evaluate(self, formula: fo.Formula, sigma: Mapping[str, Value]) -> int:
        match formula:
            case fo.Not(body) if fo.is_temporal(body):
                return self._not(self.dual._sat(body, sigma))
            case fo.Iff(left, right) if fo.is_temporal(formula):
                dual = self.dual
                neither = self._not(dual._sat(left, sigma) | dual._sat(right, sigma))
                return self._sat(left, sigma) & self._sat(right, sigma) | neither
            case _:
                return super()._evaluate(formula, sigma)


class _Sure(_Bound):
    """sure ⟦f⟧ (must), for formulas of the kernel."""

    def __init__(self, graph: Graph, restriction: Restriction, families: Families) -> None:
        self._choosing = {i: _leading(graph, i, here) for i, here in enumerate(families) if here}
        super().__init__(graph, restriction)

    def _pre(self, states: int) -> int:
        """Return pre_sure(X)."""

        def leads(targets: Collection[int]) -> bool:
            return any(states >> target & 1 for target in targets)

        lost = [i for i, ways in self._choosing.items() if not any(all(map(leads, calls)) for calls in ways)]
        return super()._pre(states) & self._not(self._bits(lost))

    def _reach(self, left: int, right: int) -> int:
        """Return μZ. Y ∪ (X ∩ pre(Z)), with pre of the whole Z in each round.

        pre_sure does not distribute over unions, so pre of the frontier is not enough.
        """
        reached = right
        while more := self._pre(reached) & left & self._not(reached):
            reached |= more
        return reached


def _leading(
    graph: Graph, number: int, families: Collection[tuple[str, tuple[Call, ...]]]
) -> Collection[Sequence[Collection[int]]]:
    """Return the successors by the calls of each family in a state.

    An event is a singleton family, and so is a call that another agent may make as well.
    """
    targets: dict[Call, list[int]] = {}
    for call, target in graph.edges[number]:
        targets.setdefault(call, []).append(target)
    choosing = {(agent, call) for agent, calls in families for call in calls}
    alone = [
        [targets[call]]
        for call, agents in graph.actors[number].items()
        if not agents or any((agent, call) not in choosing for agent in agents)
    ]
    return [*alone, *([targets[call] for call in calls] for _, calls in families)]


# single resolutions


def chosen(graph: Graph, orbits: Orbits, places: Collection[Place], rank: int) -> Graph:
    """Return the graph in which ties at these places are resolved by rank.

    Of each orbit at one of the places only the call with this rank is made, or the last one if there are
    fewer.
    """
    actors, edges = [], []
    for here, acting, out in zip(orbits, graph.actors, graph.edges, strict=True):
        left_out = {
            (orbit.place[0], call)
            for orbit in here
            if orbit.place in places
            for number, call in enumerate(orbit.calls)
            if number != min(rank, len(orbit.calls) - 1)
        }
        left = {call: tuple(a for a in who if (a, call) not in left_out) for call, who in acting.items()}
        actors.append({call: who for call, who in left.items() if who or not acting[call]})
        edges.append(tuple((call, target) for call, target in out if call in actors[-1]))
    order = dict.fromkeys(range(graph.initial))
    queue = deque(order)
    while queue:
        new = dict.fromkeys(target for _, target in edges[queue.popleft()] if target not in order)
        queue += new
        order |= new
    number = {old: i for i, old in enumerate(order)}
    return replace(
        graph,
        states=tuple(graph.states[i] for i in order),
        edges=tuple(tuple((call, number[target]) for call, target in edges[i]) for i in order),
        offered=tuple(graph.offered[i] for i in order),
        actors=tuple(actors[i] for i in order),
    )
