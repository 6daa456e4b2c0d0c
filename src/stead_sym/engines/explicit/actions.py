"""Fairness of actions on the explicit graph: the calls along each edge, and the fair components.

A fair component is a strongly connected set of states in which a run can stay for ever and be fair. One
decision: a constraint is for a single agent, a single call, or a single alternative of a call, and consists
of sets of states and edges only. These sets are defined in `constraints` alone.

A run is a sequence of calls. If several calls lead from one state to the same state, a run along that edge
may have made any of them. Suppose that a run cannot make a call infinitely often, since an alternative of the
call never occurs. It may then continue along the same edge by another call (`FairSet.unused`).
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
    """A fairness constraint for one agent, for one call ω(u), or for one alternative k of a call ω(u).

    ``enabled`` are the states where the agent may select some call, where ω(u) may happen, or where ω(u) may
    happen and k is possible. ``absent`` are the states where a value of u is not active although its sort is
    unbounded. ``edges`` are the edges by a call of the agent, by ω(u), or by k. ``call`` is ω(u) if the
    constraint is for an alternative, and None otherwise.
    """

    action: FairAction
    enabled: frozenset[int]
    absent: frozenset[int]
    edges: frozenset[Edge]
    call: Call | None = None

    def is_met(self, states: Iterable[int], taken: bool) -> bool:
        """Return True if a run that visits exactly these states infinitely often meets the constraint.

        ``taken``: the action is taken infinitely often. Weak: some state does not enable the action, or it is
        taken. Strong: no state enables it, or in some state a value of u is absent, or it is taken. For an
        alternative the strong condition applies: the run is assumed to make the call infinitely often in each
        of these states that enables it.
        """
        if taken:
            return True
        if self.action.strong or self.call is not None:
            return self.enabled.isdisjoint(states) or not self.absent.isdisjoint(states)
        return not self.enabled.issuperset(states)


def constraints(
    graph: Graph, restriction: Restriction, actions: Sequence[FairAction]
) -> tuple[ActionConstraint, ...]:
    """Return the constraints of the `fair` lines.

    There is one for each agent, or for each call that may happen somewhere. A line about outcomes has one for
    each alternative of each such call.
    """
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
    unbounded = [k for k, p in enumerate(tool.params) if not graph.deployment.schema.is_finite(p.sort)]
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
    """Yield the edges by one alternative of a call, from the states where the call may happen."""
    for i, (state, here) in enumerate(zip(graph.states, graph.actors, strict=True)):
        if call in here:
            for actor in actors_told(graph.deployment, call, here[call]):
                for after in outcomes(graph.deployment, call, state, restriction, actor, by=number):
                    if (target := graph.index.get(after)) is not None:
                        yield i, target, call


def components(targets: Mapping[int, Sequence[int]]) -> Iterator[frozenset[int]]:
    """Yield the maximal strongly connected sets of states with an inner edge (Tarjan 1972, iterative).

    The states are the keys of ``targets``. A target may be another state, which is ignored.
    """
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
    """A strongly connected set of states that meets every constraint if no ``unused`` call is made.

    ``unused`` are pairs of a state and a call that is not made in it.
    """

    states: frozenset[int]
    unused: frozenset[Made] = frozenset()

    def targets(self, graph: Graph, state: int) -> Sequence[int]:
        """Return the states of the set to which a used call leads from ``state``."""
        if not self.unused:
            return [target for target in graph.targets[state] if target in self.states]
        out = (target for call, target in graph.edges[state] if (state, call) not in self.unused)
        return [target for target in dict.fromkeys(out) if target in self.states]

    def has(self, edge: Edge) -> bool:
        """Return True if the edge stays in the set, by a call that is used."""
        source, target, call = edge
        return source in self.states and target in self.states and (source, call) not in self.unused


def fair_sets(
    graph: Graph,
    states: frozenset[int],
    visited: Sequence[frozenset[int]],
    actions: Sequence[ActionConstraint],
) -> Iterator[FairSet]:
    """Yield the maximal strongly connected sets within ``states`` that meet every constraint.

    A run that visits all states and used edges of such a set infinitely often is fair, and the states that a
    fair run visits infinitely often are a subset of one. ``visited`` are the states of each constraint that
    requires a state infinitely often.

    A weak constraint that a component violates is violated in all of its subsets. A strong one may be met in
    the subset where the action is not enabled (Emerson and Lei 1987, the emptiness of Streett automata). A
    constraint on outcomes may be met without the edges by the call from states where the alternative is
    possible.
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
    """Return the pairs of a state and the call that violate a constraint on outcomes.

    In these states of the set the alternative is possible, and the call is made.
    """
    return frozenset(
        (i, call)
        for i in one.enabled & within.states
        for call, target in graph.edges[i]
        if call == one.call and within.has((i, target, call))
    )
