"""Breadth-first construction of the reachable part of the restriction M ↾ U_f.

The one decision: the conditions of the definition of a deployment are checked during the search, in every
state. The first violation is an error with a shortest run that leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.agents.selection import Wrapper, selections
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.faults import (
    claim_broken,
    effect_undecided,
    no_effect,
    no_successor_within,
    nothing_offered,
)
from stead_sym.deployment.history import actor_in, actors_told
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.leaps import Questions, left_open, past_a_bound, questions
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import breaks_claim, outcomes, possible, within
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.protocol import Watch
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Progress


@dataclass(frozen=True)
class Graph:
    """The reachable states of the restriction and the transitions between them.

    ``states`` are in breadth-first order; the first ``initial`` of them are the initial ones. ``edges[i]``
    are the pairs (call, target) of state i; ``offered[i]`` are the calls offered and the events enabled
    there. ``actors[i]`` has those of them that may happen, each with the agents that may select it, none for
    an event. ``open_leaps`` are the alternatives, by tool and number, that are taken in some state although
    it is undecided if they exceed a bound, each with the reason.
    """

    deployment: Deployment
    initial: int
    states: tuple[Instance, ...]
    edges: tuple[tuple[tuple[Call, int], ...], ...]
    offered: tuple[frozenset[Call], ...]
    actors: tuple[Mapping[Call, tuple[str, ...]], ...]
    open_leaps: Mapping[tuple[str, int], str] = field(default_factory=dict)

    @cached_property
    def index(self) -> Mapping[Instance, int]:
        """The number of each state."""
        return {state: i for i, state in enumerate(self.states)}

    @cached_property
    def targets(self) -> tuple[tuple[int, ...], ...]:
        """The successors of each state, without repetition."""
        return tuple(tuple(dict.fromkeys(target for _, target in out)) for out in self.edges)

    @property
    def transitions(self) -> int:
        """The number of pairs D → D'; two calls with the same effect are one transition."""
        return sum(map(len, self.targets))

    def step(self, source: int, call: Call, target: int) -> Step:
        """Return the step along an edge, by the first of the agents that may select its call."""
        return _step(self.deployment, call, self.states[target], self.actors[source][call])


def _step(deployment: Deployment, call: Call, after: Instance, actors: tuple[str, ...]) -> Step:
    return step_by(deployment, call, after, actor_in(deployment, call, after, next(iter(actors), None)))


def explore(
    deployment: Deployment,
    wrappers: Mapping[str, Wrapper | None],
    restriction: Restriction,
    progress: Progress | None = None,
    *,
    max_states: int | None = None,
    watch: Watch | None = None,
) -> Graph:
    """Return Reach(M ↾ U_f), by forward enumeration from the initial states.

    ``wrappers`` has the policy of every agent, None for one that selects everything it is offered. Raise
    `NothingOffered`, `NoEffect`, `BoundExceeded` and `KeyBroken` if a reachable state violates the definition
    of a deployment or one of its claims, `NoInitialState` if there is none, `Undecided` beyond
    ``max_states``, and also if a forced restriction is too small to give every state a successor.
    """
    return _Search(deployment, wrappers, restriction, progress, max_states, watch).graph()


@dataclass
class _Search:
    """A breadth-first search; its intermediate results are as in `Graph`."""

    deployment: Deployment
    wrappers: Mapping[str, Wrapper | None]
    restriction: Restriction
    progress: Progress | None
    max_states: int | None
    watch: Watch | None
    initial: int = 0
    states: list[Instance] = field(default_factory=list)
    number: dict[Instance, int] = field(default_factory=dict)
    parents: list[tuple[int, Call] | None] = field(default_factory=list)  # by the first visit
    edges: list[tuple[tuple[Call, int], ...]] = field(default_factory=list)
    offered: list[frozenset[Call]] = field(default_factory=list)
    actors: list[Mapping[Call, tuple[str, ...]]] = field(default_factory=list)
    open_leaps: dict[tuple[str, int], str] = field(default_factory=dict)

    @cached_property
    def questions(self) -> Questions:
        return questions(self.deployment)

    def graph(self) -> Graph:
        most = (
            None if self.max_states is None else self.max_states + 1
        )  # with one more `_add` raises an error
        for state in sorted(initial_states(self.deployment, self.restriction.values, most), key=sorted):
            self._add(state, None)
        self.initial = len(self.states)
        self._show(0)
        while len(self.edges) < len(self.states):
            known = len(self.states)
            self._expand(len(self.edges))
            self._show(known)
            if len(self.edges) % 256 == 1 or len(self.edges) == len(self.states):
                self._report()
        return Graph(
            self.deployment,
            self.initial,
            tuple(self.states),
            tuple(self.edges),
            tuple(self.offered),
            tuple(self.actors),
            self.open_leaps,
        )

    def _show(self, first: int) -> None:
        """Pass the states from a number on to the watch."""
        if self.watch is not None and first < len(self.states):
            new = range(first, len(self.states))

            def reaching(formula: fo.Expanded) -> Trace | None:
                return next((self._trace(n) for n in new if holds(formula, self.states[n], {})), None)

            self.watch(reaching)

    def _report(self) -> None:
        if self.progress is not None:
            contexts = sum(wrapper.contexts for wrapper in self.wrappers.values() if wrapper is not None)
            self.progress("reach", states=len(self.states), contexts=contexts)

    def _add(self, state: Instance, parent: tuple[int, Call] | None) -> None:
        if self.max_states is not None and len(self.states) >= self.max_states:
            raise Undecided(f"more than {self.max_states} states are reachable; raise the limit on states")
        self.number[state] = len(self.states)
        self.states.append(state)
        self.parents.append(parent)

    def _expand(self, source: int) -> None:
        """Compute the steps from a state."""
        state = self.states[source]
        offered = possible(self.deployment, state)
        if not offered:
            raise nothing_offered(self.deployment, self._trace(source))
        actors = selections(self.deployment, self.wrappers, state, offered)
        out: dict[tuple[Call, int], None] = {}
        for call in sorted(offered):
            effective = False
            for after, actor in self._outcomes(call, state, actors.get(call, ())):
                effective = True
                if call not in actors:
                    break  # only the existence of an effect matters
                if after not in self.number:
                    self._check(source, step_by(self.deployment, call, after, actor))
                    if not within(self.restriction, after):
                        continue
                    self._add(after, (source, call))
                out[call, self.number[after]] = None
            if self.questions and (call in actors or not effective):
                effective = self._leaps(source, call, actors, effective)
            if not effective:
                raise no_effect(self.deployment, call, self._trace(source))
        if not out:
            raise no_successor_within(self.restriction, self._trace(source))
        self.edges.append(tuple(out))
        self.offered.append(offered)
        self.actors.append(actors)

    def _outcomes(
        self, call: Call, state: Instance, actors: tuple[str, ...]
    ) -> Iterator[tuple[Instance, str | None]]:
        """Yield the successors by a call, each with the agent that made it if the state records that."""
        for actor in actors_told(self.deployment, call, actors):
            for after in outcomes(self.deployment, call, state, self.restriction, actor):
                yield after, actor

    def _leaps(
        self, source: int, call: Call, actors: Mapping[Call, tuple[str, ...]], effective: bool
    ) -> bool:
        """Return True if the call has an effect, possibly only one that exceeds a bound.

        ``effective`` is True if the call has `outcomes` within the bounds. A selected call must not exceed a
        bound.
        """
        state = self.states[source]
        after = past_a_bound(self.deployment, self.questions, call, state, self.restriction)
        if after is not None and call in actors:
            self._check(source, step_by(self.deployment, call, after, next(iter(actors[call]), None)))
        for key in left_open(self.deployment, self.questions, call, state):
            if not effective:
                raise effect_undecided(call, self.questions[key].open)
            self.open_leaps[key] = self.questions[key].open
        return effective or after is not None

    def _check(self, source: int, step: Step) -> None:
        """Check that the state after a step respects the bounds and the keys."""
        if breaks_claim(self.deployment, step.state):
            run = self._trace(source)
            raise claim_broken(self.deployment, replace(run, steps=(*run.steps, step)))

    def _trace(self, index: int) -> Trace:
        """Return the run to a state along the tree of first visits."""
        steps: list[Step] = []
        while (parent := self.parents[index]) is not None:
            source, call = parent
            steps.append(_step(self.deployment, call, self.states[index], self.actors[source][call]))
            index = source
        return Trace(self.states[index], tuple(reversed(steps)), of_many=self.initial > 1)
