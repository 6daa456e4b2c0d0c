"""Fairness of actions on the explicit graph: the calls along each edge, and the fair components.

A fair component is a strongly connected set of states in which a run can stay for ever and be fair. One
decision: a constraint is for a single call or agent, and consists of sets of states and edges only. These
sets are defined in `constraints` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stead_sym.deployment.parts import FairAction
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.explore import Graph

Edge = tuple[int, int, Call]
"""A step from one state to another by a call."""


@dataclass(frozen=True, slots=True)
class ActionConstraint:
    """A fairness constraint for one call ω(u), or for one agent.

    ``enabled`` are the states where the call may happen, or the agent may select some call. ``absent`` are
    the states where a value of u is not active although its sort is unbounded. ``edges`` are the edges by the
    call, or by a call of the agent.
    """

    action: FairAction
    enabled: frozenset[int]
    absent: frozenset[int]
    edges: frozenset[Edge]

    def is_met(self, states: Iterable[int], taken: bool) -> bool:
        """Return True if a run that visits exactly these states infinitely often meets the constraint.

        ``taken``: the action is taken infinitely often. Weak: some state does not enable the action, or it is
        taken. Strong: no state enables it, or in some state a value of u is absent, or it is taken.
        """
        if taken:
            return True
        if self.action.strong:
            return self.enabled.isdisjoint(states) or not self.absent.isdisjoint(states)
        return not self.enabled.issuperset(states)


def constraints(graph: Graph, actions: Sequence[FairAction]) -> tuple[ActionConstraint, ...]:
    """Return the constraints of the `fair` lines: one for each call that may happen somewhere, or agent."""
    return tuple(constraint for action in actions for constraint in _of(graph, action))


def _of(graph: Graph, action: FairAction) -> Iterator[ActionConstraint]:
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
        yield ActionConstraint(
            action,
            frozenset(i for i, here in enumerate(graph.actors) if call in here),
            frozenset(
                i
                for i, state in enumerate(graph.states)
                if any(u not in state.active_domain[sort] for sort, u in values)
            ),
            frozenset(
                (i, target, call) for i, out in enumerate(graph.edges) for by, target in out if by == call
            ),
        )


def components(graph: Graph, states: frozenset[int]) -> Iterator[frozenset[int]]:
    """Yield the maximal strongly connected sets of states with an inner edge (Tarjan 1972, iterative)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    within: set[int] = set()
    for root in sorted(states):
        if root in number:
            continue
        todo = [(root, iter(graph.targets[root]))]
        while todo:
            here, ahead = todo[-1]
            if here not in number:
                number[here] = low[here] = len(number)
                stack.append(here)
                within.add(here)
            for target in ahead:
                if target in states:
                    if target not in number:
                        todo.append((target, iter(graph.targets[target])))
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
                    if len(found) > 1 or here in graph.targets[here]:
                        yield frozenset(found)


def fair_sets(
    graph: Graph,
    states: frozenset[int],
    visited: Sequence[frozenset[int]],
    actions: Sequence[ActionConstraint],
) -> Iterator[frozenset[int]]:
    """Yield the maximal strongly connected sets within ``states`` that meet every constraint.

    A run that visits all states and edges of such a set infinitely often is fair, and the states that a fair
    run visits infinitely often are a subset of one. ``visited`` are the states of each constraint that
    requires a state infinitely often.

    A weak constraint that a component violates is violated in all of its subsets. A strong one may be met in
    the subset where the action is not enabled (Emerson and Lei 1987, the emptiness of Streett automata).
    """
    todo = [states]
    while todo:
        for component in components(graph, todo.pop()):
            if any(component.isdisjoint(goal) for goal in visited):
                continue
            broken = [
                one
                for one in actions
                if not one.is_met(component, any(s in component and t in component for s, t, _ in one.edges))
            ]
            if not broken:
                yield component
            elif all(one.action.strong for one in broken):
                todo.append(component.difference(*(one.enabled for one in broken)))
