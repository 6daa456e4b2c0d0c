"""The graph of a deployment whose agents do nothing if they can."""

from __future__ import annotations

from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import outcomes
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.explore import Graph


def idling(graph: Graph, restriction: Restriction) -> Graph:
    """Return the subgraph that is reachable if agents only make calls without effect.

    A call is without effect if each of its outcomes is the state itself. Events happen as before. A state
    without such a call or an event keeps the steps of the graph.
    """
    actors, edges = list[dict[Call, tuple[str, ...]]](), list[tuple[tuple[Call, int], ...]]()
    for i, state in enumerate(graph.states):
        quiet = {
            call
            for call in graph.offered[i]
            if not graph.deployment.tool(call.tool).event
            and set(outcomes(graph.deployment, call, state, restriction)) == {state}
        }
        own = {agent.name: {c for c in quiet if c.tool in agent.tools} for agent in graph.deployment.agents}
        may = {call: who for call, who in graph.actors[i].items() if not who}
        for name, calls in own.items():
            may.update({call: (*may.get(call, ()), name) for call in calls})
        may = may or dict(graph.actors[i])
        actors.append(may)
        loops = ((call, i) for call in sorted(quiet))
        edges.append(tuple(dict.fromkeys((*(e for e in graph.edges[i] if e[0] in may), *loops))))
    reached = dict.fromkeys(range(graph.initial))
    todo = list(reached)
    for i in todo:  # the list grows during the loop
        todo += [target for _, target in edges[i] if target not in reached]
        reached |= dict.fromkeys(target for _, target in edges[i])
    todo = list(dict.fromkeys(todo))
    number = {i: k for k, i in enumerate(todo)}
    return Graph(
        graph.deployment,
        graph.initial,
        tuple(graph.states[i] for i in todo),
        tuple(tuple((call, number[target]) for call, target in edges[i]) for i in todo),
        tuple(graph.offered[i] for i in todo),
        tuple(actors[i] for i in todo),
    )
