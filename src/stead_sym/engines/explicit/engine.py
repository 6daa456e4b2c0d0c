"""The explicit engine: the reference, state by state, directly from the paper's definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.rules import RuleAgent, RulesUsed
from stead_sym.agents.selection import decision_contexts
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import FairAction, Rule
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import calls_of, outcomes
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.choices import Whatever, families
from stead_sym.engines.explicit.explore import Graph, explore
from stead_sym.engines.protocol import Choosers, Hidden, Quotient, Shown, Watch
from stead_sym.evidence.build import explain
from stead_sym.evidence.tree import Evidence
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress

_MAX_INITIAL_STATES = 100
"""The maximum number of initial states among which the one with the shortest run is chosen as evidence."""


class ExplicitEngine:
    """The explicit implementation of `Engine`; it explores on construction."""

    name = "explicit"

    def __init__(
        self,
        deployment: Deployment,
        wrappers: Mapping[str, CanonicalWrapper | None],
        restriction: Restriction,
        progress: Progress | None = None,
        *,
        max_states: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._wrappers = {name: wrapper and wrapper.again() for name, wrapper in wrappers.items()}
        self._asked = wrappers
        self._graph = explore(deployment, wrappers, restriction, progress, max_states=max_states, watch=watch)
        self.restriction = restriction
        self._labelling = Labelling(self._graph, restriction)
        self._whatever: dict[Choosers, Whatever] = {}

    @property
    def graph(self) -> Graph:
        """The reachable states and the transitions between them."""
        return self._graph

    @property
    def states(self) -> int:
        """The number of reachable states, |R|."""
        return len(self._graph.states)

    @cached_property
    def databases(self) -> int:
        """The number of databases in R, without the record of the past."""
        return len({state.database for state in self._graph.states})

    @property
    def initial(self) -> int:
        """The number of initial states."""
        return self._graph.initial

    @property
    def transitions(self) -> int:
        """The number of pairs D → D' in R."""
        return self._graph.transitions

    @cached_property
    def most_active(self) -> Mapping[str, int]:
        """Return max { |(ad(D) ∖ C) ∩ U_S| : D ∈ R } per unbounded sort S."""
        deployment, states = self._graph.deployment, self._graph.states
        return {
            sort: max(len(deployment.outside(sort, state.active_domain[sort])) for state in states)
            for sort in deployment.bounds
        }

    @property
    def open_leaps(self) -> Mapping[tuple[str, int], str]:
        """The `ensure` alternatives for which it is undecided if they exceed a bound."""
        return self._graph.open_leaps

    @property
    def statistics(self) -> Mapping[str, int]:
        """The cost of the verification: the number of edges, one per call."""
        return {"edges": sum(map(len, self._graph.edges))}

    def holds(self, formula: fo.Expanded) -> bool:
        """Return True if M ↾ U_f ⊨ f, at every initial state."""
        return self._labelling.holds_initially(formula)

    def whatever_chosen(self, formula: fo.Expanded, choosers: Choosers, *, holds: bool) -> bool:
        """Return True if the sentence holds, or fails, for all choices of the choosers.

        It is not shown if a formula asks which of several agents makes a call.
        """
        if any(len(agents) > 1 for agents in self._graph.deployment.history.agents.values()):
            return False
        if choosers not in self._whatever:
            found = families(self._graph, self._wrappers, choosers)
            self._whatever[choosers] = Whatever(self._graph, self.restriction, found)
        return self._whatever[choosers].decides(formula, holds=holds)

    def meets_contexts(self, most: int | None) -> bool:
        """Return True: the exploration queries the agents in every state."""
        return True

    def is_among_alike(self, agent: str) -> bool:
        """Return True if several symmetric calls may happen in some state of R."""
        wrapper = self._asked[agent]
        return wrapper is not None and wrapper.is_among_alike

    def rules_used(self, agent: str, rules: Sequence[Rule] | None = None) -> RulesUsed:
        """Return which rules of an agent's policy, or which of ``rules``, match and decide in states of R."""
        wrapper = self._asked[agent]
        assert wrapper is not None, "an agent that may do anything has no rules"
        assert isinstance(wrapper.agent, RuleAgent), "another agent has no rules"
        return wrapper.agent.used((context for context, _ in wrapper.decisions), rules)

    def under(
        self, fair: Sequence[fo.Expanded], actions: Sequence[FairAction], *, idle: bool = False
    ) -> ExplicitConstrained:
        """Return the same states with other fairness constraints; ``idle``: with agents that do nothing."""
        graph = _idling(self._graph, self.restriction) if idle else self._graph
        return ExplicitConstrained(Labelling(graph, self.restriction, fair, actions))

    @cached_property
    def hidden(self) -> Hidden | None:
        """The states from which no fair run starts; None if there are none."""
        return ExplicitConstrained(self._labelling).hidden

    @cached_property
    def completed(self) -> ExplicitConstrained:
        """The same states, where a run that enters a state without fair runs counts as well."""
        return ExplicitConstrained(self._labelling).completed

    def satisfying(self, formula: fo.Expanded, assignment: Mapping[str, Value]) -> ExplicitStateSet:
        """Return { D ∈ R : (D, σ) ⊨ f }."""
        return ExplicitStateSet(self._labelling.satisfying(formula, assignment))

    def is_called(self, tool: str, condition: fo.Expanded, *, selected: bool) -> bool:
        """Return True if some call ω(u) with (D, u) ⊨ f is offered, or selected, in some D ∈ R."""
        return self._labelling.is_called(tool, condition, selected=selected)

    def enabled_calls(self, tool: str, guard: fo.Expanded) -> int:
        """Return |{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard }|, counted state by state."""
        deployment = self._graph.deployment
        guarded = replace(deployment.tool(tool), guard=guard)
        return sum(len(calls_of(deployment, guarded, state)) for state in self._graph.states)

    def starts(self) -> Iterator[Instance]:
        """Yield the initial states."""
        return iter(self._graph.states[: self._graph.initial])

    def steps(self, state: Instance) -> Iterator[Step]:
        """Yield one step to each D' with D → D'."""
        source = self._graph.index[state]
        first = {target: call for call, target in reversed(self._graph.edges[source])}
        for target, call in first.items():
            yield self._graph.step(source, call, target)

    def quotient(self, agent: str, groups: Sequence[Collection[DecisionContext]]) -> Quotient:
        """Return the quotient of the reachable states by the agent's contexts, from a query in each state."""
        graph, role = self._graph, self._graph.deployment.agent(agent)
        wrapper = self._wrappers[agent]
        assert wrapper is not None, f"{agent} is never shown a context"
        number = {context: i for i, group in enumerate(groups) for context in group}
        part: list[int] = []
        for state in graph.states:
            shown = [*decision_contexts(graph.deployment, wrapper, state, role)]
            part.append(number[wrapper.decide(shown)[0].canonical] if shown else len(groups))
        return Quotient(
            sizes=tuple(part.count(i) for i in range(len(groups) + 1)),
            initial=frozenset(part[: graph.initial]),
            moves=frozenset(
                (part[source], call.tool, part[target])
                for source, out in enumerate(graph.edges)
                for call, target in out
            ),
        )

    def evidence(self, formula: fo.Expanded, holds: bool) -> Evidence:
        """Return evidence that the sentence holds, or fails, at an initial state."""
        return ExplicitConstrained(self._labelling).evidence(formula, holds)


@dataclass(frozen=True, slots=True)
class ExplicitConstrained:
    """The reachable states with other fairness constraints than the deployment's."""

    labelling: Labelling

    @property
    def is_fair_everywhere(self) -> bool:
        """True if a run that meets the constraints starts in every reachable state."""
        return not self.labelling.hidden

    @property
    def hidden(self) -> Hidden | None:
        """The states from which no run starts that meets the constraints; None if there are none."""
        hidden = self.labelling.hidden
        return Hidden(len(hidden), self.labelling.run_to(hidden[0])) if hidden else None

    @property
    def completed(self) -> ExplicitConstrained:
        """The same states, where a run that enters a state without fair runs counts as well."""
        return ExplicitConstrained(self.labelling.completion())

    def holds(self, formula: fo.Expanded) -> bool:
        """Return True if M ↾ U_f ⊨ f at every initial state, over the runs that meet the constraints."""
        return self.labelling.holds_initially(formula)

    def evidence(self, formula: fo.Expanded, holds: bool) -> Evidence:
        """Return evidence that the sentence holds, or fails, at an initial state.

        Initial states where a fair run starts are preferred, and among several the one with the shortest run.
        """
        labelling, many = self.labelling, self.labelling.graph.initial > 1
        shown = formula if holds else fo.Not(formula)
        starts = labelling.initially(fo.And((fo.Globally("E", fo.TRUE), shown))) or labelling.initially(shown)
        found = (
            Evidence(explain(labelling, formula, start, holds), many, labelling.completed)
            for start in starts[:_MAX_INITIAL_STATES]
        )
        return min(found, key=lambda evidence: len(evidence.trace.steps))


@dataclass(frozen=True, slots=True)
class ExplicitStateSet(Shown):
    """A set of reachable states, listed explicitly."""

    states: frozenset[Instance]

    def __bool__(self) -> bool:
        """Return True if the set is not empty."""
        return bool(self.states)

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.states)

    def __contains__(self, state: object) -> bool:
        """Return True if the state is a member."""
        return state in self.states

    def sample(self, number: int) -> tuple[Instance, ...]:
        """Return up to ``number`` different members."""
        return tuple(sorted(self.states, key=lambda state: sorted(state.facts))[:number])

    def __repr__(self) -> str:
        """Return the number of states as text."""
        return f"<{self.count} states>"


def _idling(graph: Graph, restriction: Restriction) -> Graph:
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
