"""Breadth-first construction of the reachable part of the restriction M ↾ U_f.

The one decision: the conditions of the definition of a deployment are checked on the way, in every
state, and the first breach is an error with a shortest run that leads there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import exceeded, offer, outcomes, view, within
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.errors import BoundExceeded, NoEffect, NothingOffered, Undecided
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

    ``states`` stand in breadth-first order, D0 first. ``edges[i]`` are the pairs (call, target) of state
    i, ``parents[i]`` the state and call by which a shortest run first reaches i (None for D0);
    ``offered[i]`` and ``selected[i]`` are the calls offered there and those of them that the agent may make.
    """

    deployment: Deployment
    restriction: Restriction
    states: tuple[Instance, ...]
    edges: tuple[tuple[tuple[Call, int], ...], ...]
    parents: tuple[tuple[int, Call] | None, ...]
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

    def trace_to(self, index: int) -> Trace:
        """A shortest run from D0 to the state."""
        return _trace(self.states, self.parents, index)


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
    parents: list[tuple[int, Call] | None] = [None]
    offers: list[frozenset[Call]] = []
    selections: list[frozenset[Call]] = []
    while len(edges) < len(states):
        source = len(edges)
        state = states[source]
        offered = offer(deployment, state)
        if not offered:
            raise _nothing_offered(deployment, _trace(states, parents, source))
        selected = offered if wrapper is None else wrapper.calls(view(deployment, state), offered)
        out: dict[tuple[Call, int], None] = {}
        for call in sorted(offered):
            effective = False
            for after in outcomes(deployment, call, state, restriction):
                effective = True
                if call not in selected:
                    break  # that the call has an effect is all there is to know
                if after not in number:
                    sort = exceeded(deployment, after)
                    if sort is not None:
                        run = _trace(states, parents, source)
                        raise _bound_exceeded(deployment, sort, call, after, run)
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
                raise _no_effect(deployment, call, _trace(states, parents, source))
        if not out:
            sizes = ", ".join(f"{sort}={size}" for sort, size in restriction.sizes.items())
            raise Undecided(
                f"the domain ({sizes}) holds no successor of a reachable state,"
                " though the deployment has one; take larger sizes"
            )
        edges.append(tuple(out))
        offers.append(offered)
        selections.append(selected)
        if progress is not None and source % 256 == 0:
            progress("reach", states=len(states), contexts=0 if wrapper is None else wrapper.contexts)
    if progress is not None:
        progress("reach", states=len(states), contexts=0 if wrapper is None else wrapper.contexts)
    return Graph(
        deployment,
        restriction,
        tuple(states),
        tuple(edges),
        tuple(parents),
        tuple(offers),
        tuple(selections),
    )


def _trace(states: Sequence[Instance], parents: Sequence[tuple[int, Call] | None], index: int) -> Trace:
    """The run from D0 to a state along the tree of first visits."""
    steps: list[Step] = []
    while (parent := parents[index]) is not None:
        source, call = parent
        steps.append(Step(call, states[index]))
        index = source
    return Trace(states[0], tuple(reversed(steps)))


def _nothing_offered(deployment: Deployment, run: Trace) -> NothingOffered:
    first = deployment.tools[0].span if deployment.tools else None
    return NothingOffered(
        f"no call is offered in {run.last}, reached after {len(run.steps)} steps;"
        " weaken a guard, or add a tool that changes nothing for states where all work is done",
        Trace(run.start, run.steps, claim="no call is offered"),
        first,
    )


def _no_effect(deployment: Deployment, call: Call, run: Trace) -> NoEffect:
    return NoEffect(
        f"{call} is offered in {run.last}, reached after {len(run.steps)} steps, but has no successor;"
        " strengthen its guard, or let one of its effects apply",
        Trace(run.start, run.steps, claim=f"{call} is offered and has no successor"),
        deployment.tool(call.tool).span,
    )


def _bound_exceeded(
    deployment: Deployment, sort: str, call: Call, after: Instance, run: Trace
) -> BoundExceeded:
    bound = deployment.bounds.get(sort, 0)
    active = len(after.active_domain[sort].difference(deployment.constants[sort]))
    values = "value" if active == 1 else "values"
    are = "is" if active == 1 else "are"
    message = (
        f"{active} {values} of sort {sort} {are} active outside C after {call}, but `bound {sort} {bound}`"
        f" claims at most {bound}; raise the bound, or strengthen the guards that let more in"
    )
    span = deployment.bound_spans.get(sort) or deployment.tool(call.tool).span
    claim = f"{active} {values} of sort {sort} {are} active outside C"
    return BoundExceeded(message, Trace(run.start, (*run.steps, Step(call, after)), claim=claim), span)
