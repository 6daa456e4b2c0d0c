"""Fairness of actions on the explicit graph: the calls along each edge, and the fair components.

One decision: a constraint is one per call, per agent, or per call and alternative, with nothing but sets of
states and edges in it; what the sets are is said in `constraints` and nowhere else.

A run is a run of calls: where several lead from one state to the same state, it may have taken any of these.
So a run that cannot take a call again and again, since an alternative of it never comes, may go on along the
same edge by another call (`FairSet.unused`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.deployment.history import actors_told
from stead_sym.deployment.parts import FairAction
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import outcomes
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.explore import Graph

Edge = tuple[int, int, Call]
"""A step from one state to another by a call."""

Made = tuple[int, Call]
"""A call made in a state."""


@dataclass(frozen=True, slots=True)
class ActionConstraint:
    """Where the call ω(u) may happen, or the agent may select something (``enabled``); where a value of u is
    not active although its sort is unbounded (``absent``); the edges by the call, or by a call of the agent.

    Of an alternative k of ω: where ω(u) may happen and k is possible, and the edges by k; ``call`` is ω(u).
    """

    action: FairAction
    enabled: frozenset[int]
    absent: frozenset[int]
    edges: frozenset[Edge]
    call: Call | None = None

    def is_met(self, states: Iterable[int], taken: bool) -> bool:
        """Whether a run that visits just these states again and again meets it, ``taken`` or not again and
        again. Of an alternative: if the run makes the call in each of them that enables it.

        ``taken``: the action is taken infinitely often. Weak: some state does not enable the action, or it is
        taken. Strong: no state enables it, or in some state a value of u is absent, or it is taken.
        """
        if taken:
            return True
        if self.action.strong or self.call is not None:
            return self.enabled.isdisjoint(states) or not self.absent.isdisjoint(states)
        return not self.enabled.issuperset(states)


def constraints(
    graph: Graph, restriction: Restriction, actions: Sequence[FairAction]
) -> tuple[ActionConstraint, ...]:
    """The constraints that the lines stand for: one for each call that may happen somewhere, with each of its
    alternatives where the line is about outcomes, or agent."""
    return tuple(constraint for action in actions for constraint in _of(graph, restriction, action))


def _of(graph: Graph, restriction: Restriction, action: FairAction) -> Iterator[ActionConstraint]:
    if action.kind == "agent":
        for agent in graph.deployment.agents:
            if action.name in (None, agent.name):
                selecting = [
                    {call for call, actors in here.items() if agent.name in actors} for here in graph.actors
                ]
                yield ActionConstraint(
                    action,
                    frozenset(i for i, calls in enumerate(selecting) if calls),
                    frozenset(),
                    frozenset(
                        (i, target, call)
                        for i, calls in enumerate(selecting)
                        for call, target in graph.edges[i]
                        if call in calls
                    ),
                )
        return
    tool = graph.deployment.tool(str(action.name))
    unbounded = [k for k, p in enumerate(tool.params) if graph.deployment.schema.sort(p.sort).values is None]
    happening = {call for here in graph.actors for call in here if call.tool == tool.name}
    for call in sorted(happening):
        values = [(tool.params[k].sort, call.args[k]) for k in unbounded]
        absent = frozenset(
            i
            for i, state in enumerate(graph.states)
            if any(u not in state.active_domain[sort] for sort, u in values)
        )
        if action.kind == "outcome":
            for number in range(len(tool.effects)):
                edges = frozenset(_by_alternative(graph, restriction, call, number))
                yield ActionConstraint(action, frozenset(i for i, _, _ in edges), absent, edges, call)
            continue
        yield ActionConstraint(
            action,
            frozenset(i for i, here in enumerate(graph.actors) if call in here),
            absent,
            frozenset(
                (i, target, call) for i, out in enumerate(graph.edges) for by, target in out if by == call
            ),
        )


def _by_alternative(graph: Graph, restriction: Restriction, call: Call, number: int) -> Iterator[Edge]:
    """The edges by one alternative of a call, where it may happen."""
    for i, (state, here) in enumerate(zip(graph.states, graph.actors, strict=True)):
        if call in here:
            for actor in actors_told(graph.deployment, call, here[call]):
                for after in outcomes(graph.deployment, call, state, restriction, actor, by=number):
                    if (target := graph.index.get(after)) is not None:
                        yield i, target, call


def components(targets: Mapping[int, Sequence[int]]) -> Iterator[frozenset[int]]:
    """The maximal strongly connected sets of states, each with an edge inside (Tarjan 1972, without
    recursion). The states are those that have targets, which may lie elsewhere."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    within: set[int] = set()
    for root in sorted(targets):
        if root in number:
            continue
        todo = [(root, iter(targets[root]))]
        while todo:
            here, ahead = todo[-1]
            if here not in number:
                number[here] = low[here] = len(number)
                stack.append(here)
                within.add(here)
            for target in ahead:
                if target in targets:
                    if target not in number:
                        todo.append((target, iter(targets[target])))
                        break
                    if target in within:
                        low[here] = min(low[here], number[target])
            else:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[here])
                if low[here] == number[here]:
                    found = set[int]()
                    while here not in found:
                        found.add(stack.pop())
                    within -= found
                    if len(found) > 1 or here in targets[here]:
                        yield frozenset(found)


@dataclass(frozen=True, slots=True)
class FairSet:
    """A strongly connected set of states that meets every constraint, if no call is made that is ``unused``
    where it is."""

    states: frozenset[int]
    unused: frozenset[Made] = frozenset()

    def targets(self, graph: Graph, state: int) -> Sequence[int]:
        """The states of the set that a step leads to."""
        if not self.unused:
            return [target for target in graph.targets[state] if target in self.states]
        out = (target for call, target in graph.edges[state] if (state, call) not in self.unused)
        return [target for target in dict.fromkeys(out) if target in self.states]

    def has(self, edge: Edge) -> bool:
        """Whether the edge stays in the set, by a call that is used."""
        source, target, call = edge
        return source in self.states and target in self.states and (source, call) not in self.unused


def fair_sets(
    graph: Graph,
    states: frozenset[int],
    visited: Sequence[frozenset[int]],
    actions: Sequence[ActionConstraint],
) -> Iterator[FairSet]:
    """The maximal strongly connected sets within ``states`` that meet every constraint: a run that visits
    all of the states and used edges of one for ever is fair, and a fair run visits for ever a part of one.
    ``visited`` are the states of each constraint that asks for a state again and again.

    A weak constraint that a component breaks is broken in all of its parts. A strong one may be met in the
    part where the action is not enabled (Emerson and Lei 1987, the emptiness of Streett automata), and one
    on outcomes without the edges by the call where the alternative is possible.
    """
    todo = [FairSet(states)]
    while todo:
        within = todo.pop()
        for component in components({i: within.targets(graph, i) for i in within.states}):
            if any(component.isdisjoint(goal) for goal in visited):
                continue
            here = FairSet(component, within.unused)
            broken = [one for one in actions if not one.is_met(component, any(map(here.has, one.edges)))]
            made = {one: _made(graph, here, one) for one in broken if one.call is not None}
            broken = [one for one in broken if made.get(one, True)]
            if not broken:
                yield here
            elif all(one.action.strong or one.call is not None for one in broken):
                fewer = component.difference(*(one.enabled for one in broken if one.call is None))
                todo.append(FairSet(fewer, within.unused.union(*made.values())))


def _made(graph: Graph, within: FairSet, one: ActionConstraint) -> frozenset[Made]:
    """Where the call of a constraint on outcomes is made although the alternative is possible."""
    return frozenset(
        (i, call)
        for i in one.enabled & within.states
        for call, target in graph.edges[i]
        if call == one.call and within.has((i, target, call))
    )
