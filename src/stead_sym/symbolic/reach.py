"""The reachable states of a restriction, with every hypothesis on them checked on the way.

A sweep takes the states whose successors are still to be taken, checks that each keeps the bounds and
offers only calls with an effect, decides what the agent does in them, and applies the partitions in
turn, each to what the earlier ones found as well (chaining) as far as that is decided.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.semantics import exceeded, offer, successors, view
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.errors import BoundExceeded, NoEffect, NothingOffered, Undecided
from stead_sym.progress import Progress
from stead_sym.relational.instance import Instance
from stead_sym.symbolic.contexts import ContextFinder
from stead_sym.symbolic.encoding import bits_of
from stead_sym.symbolic.manager import Bdd, Bits
from stead_sym.symbolic.naming import Draw
from stead_sym.symbolic.plan import Plan
from stead_sym.symbolic.transition import Transitions


class NameTaken(Exception):
    """A reachable state finds the name taken that a fresh variable's anchor gives it: the plan has to
    be made anew without that anchor."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.draw = draw


class ReachableStates:
    """R = Reach of the restriction under the wrapped agent (None: everything offered).

    ``reached`` and ``initial`` range over the state bits. Raises `BoundExceeded`, `NothingOffered` or
    `NoEffect`, each with a shortest run to the state at fault, and `NameTaken`.
    """

    def __init__(
        self, plan: Plan, wrapper: CanonicalWrapper | None, progress: Progress | None = None
    ) -> None:
        self.plan = plan
        self.deployment = plan.deployment
        self.restriction = plan.restriction
        self.wrapper = wrapper
        self.encoding = plan.encoding
        self.compiler = plan.compiler
        self.manager = plan.encoding.manager
        self.tools = plan.tools
        self.transitions = Transitions(self.encoding, tuple(self.tools.values()), plan.order.cluster)
        interfaces = {name: tool.interface for name, tool in self.tools.items()}
        self.finder = ContextFinder(self.deployment, self.compiler, interfaces, wrapper)
        self.selected = dict.fromkeys(self.tools, self.manager.false)
        self.initial = self.manager.cube(self.encoding.encode(self.deployment.init))
        self.reached = self.initial
        self.sweeps = 0
        self._progress = progress
        self._reported = time.monotonic()
        self._explore()

    # exploration

    def _explore(self) -> None:
        m = self.manager
        if self.wrapper is None:
            self._take(self.finder.everything())
        todo = self.initial
        while todo != m.false:
            self.sweeps += 1
            self._check(todo)
            for selection in self.finder.decide(todo):
                self._take(selection)
            self._check_room(todo)
            todo = self._sweep(todo)

    def _sweep(self, layer: Bdd) -> Bdd:
        """Apply every group of partitions, each until it adds nothing; the new states."""
        m, found = self.manager, self.manager.false
        for group in self.transitions.groups:
            grown = True
            while grown:
                grown = False
                for partition in group:
                    new = partition.image(layer) & ~self.reached
                    if new != m.false:
                        self.reached = self.reached | new
                        found = found | new
                        decided = new & self.finder.decided
                        layer = layer | decided
                        grown = grown or decided != m.false
                self.report("reach", sweeps=self.sweeps, contexts=len(self.finder.contexts))
        return found

    def _take(self, selection: Mapping[str, Bdd]) -> None:
        for tool, calls in selection.items():
            self.selected[tool] = self.selected[tool] | calls
            self.transitions.select(tool, calls)

    def report(self, phase: str, **counts: int) -> None:
        """Tell the listener how things stand, at most every quarter of a second: the number of
        nodes alone takes a pass over the variables."""
        if self._progress is not None and time.monotonic() - self._reported > 0.25:
            self._reported = time.monotonic()
            self._progress(phase, nodes=self.manager.nodes, **counts)

    # hypotheses

    def _check(self, states: Bdd) -> None:
        """Definition 3 on ``states``: bounds, something offered, every offered call with an effect."""
        m = self.manager
        for sort, bound in self.deployment.bounds.items():
            if (over := states & self._more_active(sort, bound)) != m.false:
                raise self._exceeding(self.trace_to(over))
        for tool in self.tools.values():
            for draw, stuck in tool.stuck.items():
                if states & stuck != m.false:
                    raise NameTaken(draw)
        anything = m.disj(
            m.exist(self._params(name), tool.interface.offered) for name, tool in self.tools.items()
        )
        if (silent := states & ~anything) != m.false:
            raise NothingOffered(
                "a reachable state offers no call; weaken a guard or add a tool that waits",
                self.trace_to(silent),
                next((tool.span for tool in self.deployment.tools), None),
            )
        for name, tool in self.tools.items():
            interface = tool.interface
            if (dead := states & interface.offered & ~interface.effective) != m.false:
                trace = self.trace_to(m.exist(self._params(name), dead))
                raise self._without_effect(name, trace)

    def _params(self, name: str) -> Bits:
        return frozenset(bits_of(self.tools[name].interface.params))

    def _check_room(self, states: Bdd) -> None:
        """No selected call inserts more fresh values than U_f has left: it would exceed the bound,
        since an exact U_f has room for b_S more values than a state holds."""
        for name, tool in self.tools.items():
            leaving = states & tool.overflow & self.selected[name]
            if self.restriction.exact and leaving != self.manager.false:
                trace = self.trace_to(self.manager.exist(self._params(name), leaving))
                raise self._exceeding(self._last_step_outside(trace, name))

    def _last_step_outside(self, trace: Trace, name: str) -> Trace:
        """The trace with a call of the tool at its end that leaves U_f and exceeds a bound."""
        for call in sorted(self.calls(trace.last)):
            if call.tool == name:
                for state in successors(self.deployment, call, trace.last, self.restriction).outside:
                    if exceeded(self.deployment, state) is not None:
                        return replace(trace, steps=(*trace.steps, Step(call, state)))
        raise AssertionError(f"no call of {name} exceeds a bound from {trace.last}")

    def _exceeding(self, trace: Trace) -> BoundExceeded:
        """The error for a run whose last state exceeds a bound."""
        sort = exceeded(self.deployment, trace.last)
        assert sort is not None
        active = len(trace.last.active_domain[sort].difference(self.deployment.constants[sort]))
        return BoundExceeded(
            f"{active} values of sort {sort} are active outside C, but the bound is "
            f"{self.deployment.bounds[sort]}; write `bound {sort} {active}` or more, or tighten a guard",
            trace,
            self.deployment.bound_spans.get(sort),
        )

    def _more_active(self, sort: str, bound: int) -> Bdd:
        """The states with more than ``bound`` active values of the sort outside C."""
        others = [v for v in self.restriction.values[sort] if v not in self.deployment.constants[sort]]
        active = [self.encoding.active(sort, value) for value in others]
        return self.compiler.at_least(bound + 1, active)

    def _without_effect(self, name: str, trace: Trace) -> NoEffect | Undecided:
        """The error for a run to a state that offers a call of the tool without a successor."""
        for call in sorted(offer(self.deployment, trace.last)):
            if (
                call.tool == name
                and not successors(self.deployment, call, trace.last, self.restriction).exist
            ):
                return NoEffect(
                    f"the call {call} is offered but has no effect; tighten its guard or add an alternative",
                    trace,
                    self.deployment.tool(name).span,
                )
        raise AssertionError(f"every offered call of {name} has an effect in {trace.last}")

    # runs

    def trace_to(self, target: Bdd) -> Trace:
        """A shortest run from the initial state to a reached state of ``target``."""
        rings = [target & self.reached]
        seen = rings[0]
        while rings[-1] & self.initial == self.manager.false:
            ring = self.transitions.preimage(rings[-1]) & self.reached & ~seen
            seen = seen | ring
            rings.append(ring)
        return Trace(self.deployment.init, self.descend(self.deployment.init, rings[:-1]))

    def descend(self, state: Instance, rings: Sequence[Bdd]) -> tuple[Step, ...]:
        """A run from ``state`` through the rings, the last one first."""
        steps: list[Step] = []
        for ring in reversed(rings):
            steps.append(self.step_into(state, ring))
            state = steps[-1].state
        return tuple(steps)

    def step_into(self, state: Instance, target: Bdd) -> Step:
        """A transition from ``state`` into ``target``, with the call that makes it."""
        for after in self.successors(state):
            if self.contains(target, after):
                return Step(self.call_between(state, after), after)
        raise AssertionError(f"no transition leads from {state} where it should")

    def successors(self, state: Instance) -> Iterator[Instance]:
        """{ D' : D → D' }, a state possibly more than once."""
        bits = self.encoding.encode(state)
        for partition in self.transitions.functional:
            after = partition.successor(bits)
            if after is not None:
                yield self.encoding.decode(after)
        for relational in self.transitions.relational:
            found = relational.image(self.manager.cube(bits))
            while found != self.manager.false:
                yield (after_state := self.encoding.decode(self.manager.pick(found, self.encoding.order)))
                found = found & ~self.singleton(after_state)

    def call_between(self, state: Instance, after: Instance) -> Call:
        """A selected call that leads from one state to the other, by the semantics of the deployment:
        no step of a trace rests on the diagrams alone."""
        seen = {sort: values | after.active_domain[sort] for sort, values in state.active_domain.items()}
        near = self.restriction.extended(
            {
                sort: tuple(v for v in values if v in seen[sort] or v in self.deployment.constants[sort])
                for sort, values in self.restriction.values.items()
            }
        )
        for call in self._selected_in(state):
            if after in successors(self.deployment, call, state, near).inside:
                return call
        raise AssertionError(f"no selected call leads from {state} to {after}")

    def _selected_in(self, state: Instance) -> Iterator[Call]:
        """Π(D, Offer(D)), as the selections of the tools have it."""
        bits = self.encoding.encode(state)
        for name, selection in self.selected.items():
            here = self.manager.cofactor(selection, bits)
            for args in self.encoding.tuples(here, self.tools[name].interface.params):
                yield Call(name, args)

    def calls(self, state: Instance) -> frozenset[Call]:
        """Π(D, Offer(D)): the calls that the agent may make in a state."""
        offered = offer(self.deployment, state)
        return self.wrapper.calls(view(self.deployment, state), offered) if self.wrapper else offered

    # counts and sets

    def singleton(self, state: Instance) -> Bdd:
        """{ D } over the state bits."""
        return self.manager.cube(self.encoding.encode(state))

    def contains(self, states: Bdd, state: Instance) -> bool:
        """D ∈ states."""
        return self.manager.satisfies(states, self.encoding.encode(state))

    @property
    def states(self) -> int:
        """|R|"""
        return self.manager.count(self.reached, self.encoding.state_bits)

    @property
    def pairs(self) -> int:
        """The number of transitions D → D' within R, each pair of states once."""
        return self.transitions.count(self.reached)
