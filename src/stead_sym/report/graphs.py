"""The graphs of what was explored, the states or the decisions of an agent, and their drawings.

The nodes of the decision graph are the canonical decision contexts that the agent met, each with the number
of reachable states that show it. An edge means that a step leads from some state of one node to some state of
another. All numbers are the engine's, on the whole state space. One decision: if there are too many contexts
for a reader, contexts with the same offered tools and the same selected tools are one node, and the graph
states this.

A drawing that is too large to read is refused, with a remedy. Facts of every state appear once, above the
states; a node has the facts that distinguish it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.agents.base import DecisionContext
from stead_sym.analyses.state_graph import StateGraph, state_graph
from stead_sym.deployment.tool import Call
from stead_sym.engines.protocol import Quotient
from stead_sym.errors import InputError, Undecided
from stead_sym.logic.names import check_known
from stead_sym.report.diagram import Arc, By, Diagram, Vertex, Words
from stead_sym.report.drawing import Drawing, diagram_svg
from stead_sym.support.printable import plural
from stead_sym.verification.result import AgentRun, Verification, as_verification

MOST_NODES = 40
"""The maximum number of nodes that are drawn."""

NOT_COUNTED = "since they are many and a policy needs none; `stead-sym verify --contexts` counts them"
"""The reason why the contexts of a policy are missing."""

MOST_LOOKED_AT = 250_000
"""The maximum number of bits examined for the contexts of a policy (`Engine.meets_contexts`)."""

MOST_CONTEXTS = 400
"""The maximum number of contexts for which a graph is computed."""

_MAX_DIAGRAM_NODES = (
    200_000  # nodes of the diagram of the reachable states; beyond it images may take too long
)
_MAX_CALLS, _MAX_FACTS = 6, 8

MOST_STATES = 100
"""The default maximum number of states that are drawn; a larger drawing is unreadable."""

_MAX_STATE_FACTS = 12


@dataclass(frozen=True, slots=True)
class DecisionGraph:
    """The decision graph of one agent.

    ``groups`` are the contexts of each node, by their numbers in the agent's decisions. ``quotient`` has one
    more group: the states in which the agent is offered nothing.
    """

    agent: str
    run: AgentRun
    groups: tuple[tuple[int, ...], ...]
    quotient: Quotient

    @property
    def is_summary(self) -> bool:
        """True if some node stands for several contexts."""
        return any(len(group) > 1 for group in self.groups)

    def successors(self, group: int) -> Mapping[int, tuple[str, ...]]:
        """Return the nodes to which some step from a node leads, each with the tools of such steps.

        Events count as tools.
        """
        found: dict[int, list[str]] = {}
        for source, tool, target in sorted(self.quotient.moves):
            if source == group:
                found.setdefault(target, []).append(tool)
        return {target: tuple(tools) for target, tools in sorted(found.items())}


def decision_graph(result: Verification, agent: str) -> DecisionGraph | str:
    """Return the decision graph of an agent of a verification, or in words why there is none."""
    run = result.agents[agent]
    if run.is_any:
        return "nobody is asked: whatever is offered may happen"
    if run.contexts is None:
        return f"the contexts were not counted, {NOT_COUNTED}"
    if not run.decisions:
        return "the agent is never offered anything"
    if len(run.decisions) > MOST_CONTEXTS:
        return f"there are {len(run.decisions):,} contexts, and more than {MOST_CONTEXTS} are not drawn"
    if (each := result.deployment.agent(agent).each) is not None:
        return f"there is one agent for each {each}, and a state shows each of them a context"
    if result.broken is not None:
        return f"`{result.broken.claim}` is broken, so that not all states are known"
    if result.statistics.get("reached_nodes", 0) > _MAX_DIAGRAM_NODES:
        return "the diagram of the reachable states is too large for the numbers of states by context"
    contexts = [context for context, _ in run.decisions]
    groups = _groups(run, MOST_NODES)
    if len(groups) > MOST_NODES:
        return (
            f"agents select among {len(groups)} sets of tools, and more than {MOST_NODES} nodes are not drawn"
        )
    parted = [[contexts[number] for number in group] for group in groups]
    return DecisionGraph(agent, run, groups, result.engine.quotient(agent, parted))


def _groups(run: AgentRun, most: int) -> tuple[tuple[int, ...], ...]:
    """Return the contexts in at most ``most`` groups, if possible.

    The groups are the first of these that are few enough: each context on its own, by the tools offered and
    selected, or by those selected.
    """
    finer: Sequence[Callable[[int, DecisionContext, frozenset[Call]], object]] = (
        lambda number, context, selected: number,
        lambda number, context, selected: (_tools(context.calls), _tools(selected)),
        lambda number, context, selected: _tools(selected),
    )
    groups: dict[object, list[int]] = {}
    for key in finer:
        groups = {}
        for number, (context, selected) in enumerate(run.decisions):
            groups.setdefault(key(number, context, selected), []).append(number)
        if len(groups) <= most:
            break
    return tuple(map(tuple, groups.values()))


def _tools(calls: Iterable[Call]) -> tuple[str, ...]:
    return tuple(sorted({call.tool for call in calls}))


# as a diagram


def decision_diagram(
    result: Verification, graph: DecisionGraph, link: Callable[[int], str] = lambda number: ""
) -> Diagram:
    """Return the graph as a diagram; ``link`` returns the link target of a decision, given its number."""
    always = frozenset[str]()
    if len(graph.groups) > 1 and not graph.is_summary:
        always = frozenset.intersection(
            *(frozenset(map(str, context.view)) for context, _ in graph.run.decisions)
        )
    vertices = [_vertex(graph, k, always, link) for k in range(len(graph.groups))]
    idle = len(graph.groups)
    if graph.quotient.sizes[idle]:
        lines = (Words(f"nothing offered · {_states(graph.quotient.sizes[idle])}", "head"),)
        vertices.append(Vertex(lines, initial=idle in graph.quotient.initial))
    who = f" of {graph.agent}" if graph.agent else ""
    under = f"{graph.run.agent}{result.deployment.harness}"
    title = f"decision graph{who}, {result.deployment.name} under {under}"
    notes = [f"Shown in every context: {', '.join(sorted(always))}"] if always else []
    if graph.is_summary:
        notes.append(f"{len(graph.run.decisions)} contexts, those with the same tools together")
    return Diagram(title, tuple(vertices), tuple(_arcs(result, graph)), tuple(notes))


def _states(number: int) -> str:
    if number >= 10**12:
        return f"{float(number):.2e} states".replace("e+", "e")
    return plural(number, "state")


def _vertex(graph: DecisionGraph, k: int, always: frozenset[str], link: Callable[[int], str]) -> Vertex:
    group, size = graph.groups[k], graph.quotient.sizes[k]
    first = group[0]
    context, selected = graph.run.decisions[first]
    initial = k in graph.quotient.initial
    if len(group) > 1:
        head = f"{len(group)} contexts · {_states(size)}"
        chosen, other = _tools(selected), sorted({*_tools(context.calls)} - {*_tools(selected)})
        lines = [*(Words(f"▸ {tool}", "selected") for tool in chosen)]
        lines += [Words(f"  {tool}", "offered") for tool in other]
        return Vertex((Words(head, "head"), *lines), head, link(first), initial)
    head = f"context {first + 1} · {_states(size)}"
    facts = [str(fact) for fact in context.view if str(fact) not in always]
    others = sorted(context.calls - selected)
    lines = [Words(fact, "fact") for fact in facts[:_MAX_FACTS]]
    if len(facts) > _MAX_FACTS:
        lines.append(Words(f"… and {len(facts) - _MAX_FACTS} more facts", "quiet"))
    lines += [Words(f"▸ {call}", "selected") for call in sorted(selected)[:_MAX_CALLS]]
    room = max(_MAX_CALLS - len(selected), 1)
    lines += [Words(f"  {call}", "offered") for call in others[:room]]
    if len(others) > room:
        lines.append(Words(f"  … and {len(others) - room} more offered", "quiet"))
    full = "\n".join([head, *map(str, context.view), *(f"selects {call}" for call in sorted(selected))])
    return Vertex((Words(head, "head"), *lines), full, link(first), initial)


def _arcs(result: Verification, graph: DecisionGraph) -> Iterable[Arc]:
    """Yield an edge for all steps of one kind between two nodes.

    The edge from a node that selects one call needs no label for it, since the node shows the call.
    """
    for source in range(len(graph.groups) + 1):
        for target, tools in graph.successors(source).items():
            by: dict[By, list[str]] = {}
            for tool in tools:
                kind, words = _words(result, graph, source, tool)
                by.setdefault(kind, []).append(words)
            for kind, labels in by.items():
                yield Arc(source, target, tuple(word for word in labels if word), kind)


def _words(result: Verification, graph: DecisionGraph, source: int, tool: str) -> tuple[By, str]:
    """Return who makes the steps of a tool that lead from a node, and the label of the edge for them."""
    if result.deployment.tool(tool).event:
        return "event", tool
    if source < len(graph.groups):
        chosen = [graph.run.decisions[number][1] for number in graph.groups[source]]
        mine = sorted({call for selected in chosen for call in selected if call.tool == tool})
        if mine:
            alone = all(len(_tools(selected)) == 1 for selected in chosen) and len(graph.groups[source]) == 1
            return "agent", "" if alone else tool if len(mine) > 1 else str(mine[0])
    return "other", tool


def _state_diagram(result: Verification, graph: StateGraph) -> Diagram:
    """Return the states that an engine has found, with their steps, as a diagram."""
    always = frozenset.intersection(*(state.facts for state in graph.states))
    vertices = []
    for number, state in enumerate(graph.states):
        facts = [*map(str, sorted(state.facts - always))]
        lines = [
            Words(f"state {number + 1}", "head"),
            *(Words(fact, "fact") for fact in facts[:_MAX_STATE_FACTS]),
        ]
        if len(facts) > _MAX_STATE_FACTS:
            lines.append(Words(f"… and {len(facts) - _MAX_STATE_FACTS} more facts", "quiet"))
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
