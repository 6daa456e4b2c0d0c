"""The state space as a drawing: every reachable state with its facts, every step with its actor.

One decision: facts of every state appear once, above the drawing; a node has the facts that distinguish it.
"""

from __future__ import annotations

from stead_sym.analyses.state_graph import StateGraph
from stead_sym.report.diagram import Arc, By, Diagram, Vertex, Words
from stead_sym.verification.result import Verification

MOST_STATES = 100
"""The default maximum number of states that are drawn; a larger drawing is unreadable."""

_MAX_FACTS = 12


def state_diagram(result: Verification, graph: StateGraph) -> Diagram:
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
