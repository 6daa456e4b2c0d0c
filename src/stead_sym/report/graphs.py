"""Drawings of what was explored: the states, or the decisions of an agent.

A drawing that is too large to read is refused, with a remedy. Facts of every state appear once, above the
states; a node has the facts that distinguish it.
"""

from __future__ import annotations

from stead_sym.analyses.state_graph import StateGraph, state_graph
from stead_sym.errors import InputError, Undecided
from stead_sym.logic.names import check_known
from stead_sym.report.decision_graph import MOST_LOOKED_AT, decision_diagram, decision_graph
from stead_sym.report.diagram import Arc, By, Diagram, Vertex, Words
from stead_sym.report.drawing import Drawing, diagram_svg
from stead_sym.verification.result import Verification, as_verification

MOST_STATES = 100
"""The default maximum number of states that are drawn; a larger drawing is unreadable."""

_MAX_FACTS = 12


def _state_diagram(result: Verification, graph: StateGraph) -> Diagram:
    """Return the states that an engine has found, with their steps, as a diagram."""
    always = frozenset.intersection(*(state.facts for state in graph.states))
    vertices = []
    for number, state in enumerate(graph.states):
        facts = [*map(str, sorted(state.facts - always))]
        lines = [Words(f"state {number + 1}", "head"), *(Words(fact, "fact") for fact in facts[:_MAX_FACTS])]
        if len(facts) > _MAX_FACTS:
            lines.append(Words(f"… and {len(facts) - _MAX_FACTS} more facts", "quiet"))
        vertices.append(
            Vertex(tuple(lines), "\n".join(map(str, state)) or "no facts", initial=number < graph.initial)
        )
    events = {event.name for event in result.deployment.events}
    arcs = [
        Arc(source, target, (label,), _by(label, events))
        for source, steps in enumerate(graph.steps)
        for target, label in steps.items()
    ]
    notes = [f"{len(graph.states)} states, {graph.transitions} transitions"]
    if always:
        notes.append(f"in every state: {', '.join(map(str, sorted(always)))}")
    title = f"states of {result.deployment.name} under {result.agent}{result.deployment.harness}"
    return Diagram(title, tuple(vertices), tuple(arcs), tuple(notes))


def _by(label: str, events: set[str]) -> By:
    return "event" if label.partition("(")[0] in events else "agent"


def graph_of_states(result: Verification, most: int = MOST_STATES) -> Diagram:
    """Return the graph of every reachable state and step; `Undecided` for more than ``most`` states."""
    states = as_verification(result).engine.states
    if states > most:
        raise Undecided(
            f"{states:,} states are reachable, and at most {most:,} are drawn;"
            " draw the decisions (--of decisions), lower the bounds, or raise --max-states, best with"
            " --format dot for a program that filters large graphs"
        )
    return _state_diagram(result, state_graph(result.engine, most))


def graph_of_decisions(result: Verification, agent: str | None = None) -> Diagram:
    """Return the graph of an agent's contexts and selections.

    The agent may be left out if there is only one. Raises `InputError` if it was never queried, or if its
    decisions are too many to be drawn even in groups.
    """
    names = list(as_verification(result).agents)
    if agent is None:
        agent = the_only(names)
    check_known("agent", agent, names)
    result = result.with_contexts(MOST_LOOKED_AT)
    graph = decision_graph(result, agent)
    if isinstance(graph, str):
        raise InputError(f"no decisions are drawn: {graph}; draw the states, or name another --agent")
    return decision_diagram(result, graph)


def the_only(agents: list[str]) -> str:
    """Return the only agent; `InputError` if there are several."""
    if len(agents) > 1:
        raise InputError(f"there are several agents; say whose decisions: --whose {' or '.join(agents)}")
    return agents[0]


def draw_states(result: Verification, most: int = MOST_STATES) -> Drawing:
    """Return the drawing of `graph_of_states`."""
    return diagram_svg(graph_of_states(result, most))


def draw_decisions(result: Verification, agent: str | None = None) -> Drawing:
    """Return the drawing of `graph_of_decisions`."""
    return diagram_svg(graph_of_decisions(result, agent))
