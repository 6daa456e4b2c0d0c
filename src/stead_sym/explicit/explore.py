"""Breadth-first construction of the reachable part of the restriction M ↾ U_f.

The one decision: the conditions of the definition of a deployment are checked on the way, in every
state, and the first breach is an error with a shortest run that leads there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.faults import bound_exceeded, no_effect, no_successor_within, nothing_offered
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import exceeded, offer, outcomes, view, within
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.errors import Undecided
from stead_sym.progress import Progress
from stead_sym.relational.instance import Instance


class Wrapper(Protocol):
    """The policy Π as the engine needs it: from what is shown and offered, the calls it may select.

    ``contexts`` counts the canonical decision contexts met so far.
    """

    @property
    def contexts(self) -> int: ...

    def calls(self, view: Instance, offered: frozenset[Call]) -> frozenset[Call]: ...


@dataclass(frozen=True)
class Graph:
    """The reachable states of the restriction and the transitions between them.

    ``states`` stand in breadth-first order, D0 first. ``edges[i]`` are the pairs (call, target) of state i,
    ``offered[i]`` and ``selected[i]`` the calls offered there and those of them that the agent may make.
    """

    deployment: Deployment
    states: tuple[Instance, ...]
    edges: tuple[tuple[tuple[Call, int], ...], ...]
    offered: tuple[frozenset[Call], ...]
    selected: tuple[frozenset[Call], ...]

    @cached_property
    def index(self) -> Mapping[Instance, int]:
        """The number of each state."""
        return {state: i for i, state in enumerate(self.states)}

    @cached_property
    def targets(self) -> tuple[tuple[int, ...], ...]:
        """The successors of each state, each once."""
        return tuple(tuple(dict.fromkeys(target for _, target in out)) for out in self.edges)

    @property
    def transitions(self) -> int:
        """The number of pairs D → D'; two calls with the same effect are one transition."""
        return sum(map(len, self.targets))


def explore(
    deployment: Deployment,
    wrapper: Wrapper | None,
    restriction: Restriction,
    progress: Progress | None = None,
    *,
    max_states: int | None = None,
) -> Graph:
    """Reach(M ↾ U_f) by forward enumeration from D0; ``wrapper=None`` selects everything offered.

    Raises `NothingOffered`, `NoEffect` and `BoundExceeded` where a reachable state breaks the definition of a
    deployment or the claimed bounds, `Undecided` past ``max_states``, and where a forced restriction is
    too small to give every state a successor.
    """
    states = [deployment.init]
    number = {deployment.init: 0}
    edges: list[tuple[tuple[Call, int], ...]] = []
    parents: list[tuple[int, Call] | None] = [None]  # by which a shortest run first reaches the state
    offers: list[frozenset[Call]] = []
    selections: list[frozenset[Call]] = []
    while len(edges) < len(states):
        source = len(edges)
        state = states[source]
        offered = offer(deployment, state)
        if not offered:
            raise nothing_offered(deployment, _trace(states, parents, source))
        selected = offered if wrapper is None else wrapper.calls(view(deployment, state), offered)
        out: dict[tuple[Call, int], None] = {}
        for call in sorted(offered):
            effective = False
            for after in outcomes(deployment, call, state, restriction):
                effective = True
                if call not in selected:
                    break  # that the call has an effect is all there is to know
                if after not in number:
                    if exceeded(deployment, after) is not None:
                        run = _trace(states, parents, source)
                        raise bound_exceeded(deployment, replace(run, steps=(*run.steps, Step(call, after))))
                    if not within(restriction, after):
                        continue
                    if max_states is not None and len(states) >= max_states:
                        raise Undecided(
                            f"more than {max_states} states are reachable; raise the limit on states"
                        )
                    number[after] = len(states)
                    states.append(after)
                    parents.append((source, call))
                out[call, number[after]] = None
            if not effective:
                raise no_effect(deployment, call, _trace(states, parents, source))
        if not out:
            raise no_successor_within(restriction, _trace(states, parents, source))
        edges.append(tuple(out))
        offers.append(offered)
        selections.append(selected)
        if progress is not None and source % 256 == 0:
            progress("reach", states=len(states), contexts=0 if wrapper is None else wrapper.contexts)
    if progress is not None:
        progress("reach", states=len(states), contexts=0 if wrapper is None else wrapper.contexts)
    return Graph(deployment, tuple(states), tuple(edges), tuple(offers), tuple(selections))


def _trace(states: Sequence[Instance], parents: Sequence[tuple[int, Call] | None], index: int) -> Trace:
    """The run from D0 to a state along the tree of first visits."""
    steps: list[Step] = []
    while (parent := parents[index]) is not None:
        source, call = parent
        steps.append(Step(call, states[index]))
        index = source
    return Trace(states[0], tuple(reversed(steps)))
