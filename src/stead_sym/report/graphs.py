"""Drawings of what was explored: the states, or the decisions of an agent. One that nobody could read is
refused, with what to do instead."""

from __future__ import annotations

from stead_sym.analyses.state_graph import state_graph
from stead_sym.errors import InputError, Undecided
from stead_sym.logic.names import check_known
from stead_sym.report.decision_graph import MOST_LOOKED_AT, decision_diagram, decision_graph
from stead_sym.report.diagram import Diagram
from stead_sym.report.drawing import Drawing, diagram_svg
from stead_sym.report.state_diagram import MOST_STATES, state_diagram
from stead_sym.verification.result import Verification, as_verification


def graph_of_states(result: Verification, most: int = MOST_STATES) -> Diagram:
    """Every reachable state and every step. Raises `Undecided` for more than ``most`` states."""
    states = as_verification(result).engine.states
    if states > most:
        raise Undecided(
            f"{states:,} states are reachable, and at most {most:,} are drawn;"
            " draw the decisions (--of decisions), lower the bounds, or raise --max-states, best with"
            " --format dot for a program that filters large graphs"
        )
    return state_diagram(result, state_graph(result.engine, most))


def graph_of_decisions(result: Verification, agent: str | None = None) -> Diagram:
    """What an agent is shown and selects; it may be left out where there is one only. Raises `InputError`
    where it was asked nothing, and where its decisions are too many to be drawn even together."""
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
    """The agent, where there is one; `InputError` where it has to be said which."""
    if len(agents) > 1:
        raise InputError(f"there are several agents; say whose decisions: --whose {' or '.join(agents)}")
    return agents[0]


def draw_states(result: Verification, most: int = MOST_STATES) -> Drawing:
    """The drawing of `graph_of_states`."""
    return diagram_svg(graph_of_states(result, most))


def draw_decisions(result: Verification, agent: str | None = None) -> Drawing:
    """The drawing of `graph_of_decisions`."""
    return diagram_svg(graph_of_decisions(result, agent))
