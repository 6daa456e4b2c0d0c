"""The reachable states of a restriction, with every hypothesis on them checked on the way.

A sweep takes the states whose successors are still to be taken, checks that each keeps the bounds and
offers only calls with an effect, decides what the agent does in them, and applies the partitions in
turn, each to what the earlier ones found as well (chaining) as far as that is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import exceeded, offer, successors, view
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.errors import BoundExceeded, NoEffect, NothingOffered
from stead_sym.progress import Progress
from stead_sym.relational.instance import Instance
from stead_sym.symbolic.compile import Compiler
from stead_sym.symbolic.contexts import ContextFinder
from stead_sym.symbolic.effects import EffectCompiler
from stead_sym.symbolic.encoding import Encoding, Field
from stead_sym.symbolic.grounding import ground
from stead_sym.symbolic.manager import Backend, Bdd, Manager
from stead_sym.symbolic.transition import Transitions


class ReachableStates:
    """R = Reach of the restriction to U_f under the wrapped agent (None: everything offered).

    ``reached`` and ``initial`` range over the state bits. Raises `BoundExceeded`, `NothingOffered` or
    `NoEffect`, each with a shortest run to the state at fault.
    """

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        wrapper: CanonicalWrapper | None,
        backend: Backend | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.deployment = deployment.core
        self.restriction = restriction
        self.wrapper = wrapper
        self.progress = progress
        self.manager = Manager(backend)
        facts = ground(self.deployment, restriction.values)
        self.encoding = Encoding(
            self.manager,
            deployment.schema,
            restriction.values,
            facts.static,
            (Field.of((fact,)) for fact in facts.dynamic),
            _most_fresh(self.deployment),
        )
        self.compiler = Compiler(self.encoding)
        effects = EffectCompiler(self.deployment, self.compiler)
        self.tools = {tool.name: effects.tool(tool) for tool in self.deployment.tools}
        self.transitions = Transitions(self.encoding, tuple(self.tools.values()))
        interfaces = {name: tool.interface for name, tool in self.tools.items()}
        self.finder = ContextFinder(self.deployment, self.compiler, interfaces, wrapper)
        self.selected = dict.fromkeys(self.tools, self.manager.false)
        self.initial = self.manager.cube(self.encoding.encode(self.deployment.init))
        self.reached = self.initial
        self.sweeps = 0
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
            layer, found = todo, m.false
            for partition in self.transitions:
                new = partition.image(layer) & ~self.reached
                if new != m.false:
                    self.reached = self.reached | new
                    found = found | new
                    layer = layer | (new & self.finder.decided)
            todo = found
            if self.progress is not None:
                self.progress(
                    "reach",
                    sweeps=self.sweeps,
                    states=self.states,
                    contexts=len(self.finder.contexts),
                    nodes=self.manager.nodes,
                )

    def _take(self, selection: Mapping[str, Bdd]) -> None:
        for tool, calls in selection.items():
            self.selected[tool] = self.selected[tool] | calls
            self.transitions.select(tool, calls)

    # hypotheses

    def _check(self, states: Bdd) -> None:
        """Definition 3 on ``states``: bounds, something offered, every offered call with an effect."""
        m = self.manager
        for sort, bound in self.deployment.bounds.items():
            if (over := states & self._more_active(sort, bound)) != m.false:
                raise self._exceeding(self._trace_to(over))
        anything = m.disj(
            m.exist(frozenset(b for v in tool.interface.params for b in v.bits), tool.interface.offered)
            for tool in self.tools.values()
        )
        if (silent := states & ~anything) != m.false:
            raise NothingOffered(
                "a reachable state offers no call; weaken a guard or add a tool that waits",
                self._trace_to(silent),
            )
        for name, tool in self.tools.items():
            interface = tool.interface
            if (dead := states & interface.offered & ~interface.effective) != m.false:
                bits = frozenset(b for v in interface.params for b in v.bits)
                trace = self._trace_to(m.exist(bits, dead))
                call = self._call_without_effect(name, trace.last)
                raise NoEffect(
                    f"the call {call} is offered but has no effect; tighten its guard or add an alternative",
                    trace,
                    interface.tool.span,
                )

    def _check_room(self, states: Bdd) -> None:
        """No selected call inserts more fresh values than U_f has left: it would exceed the bound,
        since an exact U_f has room for b_S more values than a state holds."""
        m = self.manager
        for name, tool in self.tools.items():
            leaving = states & tool.overflow & self.selected[name]
            if not self.restriction.exact or leaving == m.false:
                continue
            bits = frozenset(b for v in tool.interface.params for b in v.bits)
            trace = self._trace_to(m.exist(bits, leaving))
            raise self._exceeding(self._last_step_outside(trace, name))

    def _last_step_outside(self, trace: Trace, name: str) -> Trace:
        """The trace with a call of the tool at its end that leaves U_f and exceeds a bound."""
        for call in sorted(self._calls(trace.last)):
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

    def _call_without_effect(self, name: str, state: Instance) -> Call:
        for call in sorted(offer(self.deployment, state)):
            if call.tool == name and not successors(self.deployment, call, state, self.restriction).exist:
                return call
        raise AssertionError(f"no call of {name} lacks an effect in {state}")

    # runs

    def _trace_to(self, target: Bdd) -> Trace:
        """A shortest run from the initial state to a reached state of ``target``."""
        m = self.manager
        rings = [target & self.reached]
        seen = rings[0]
        while rings[-1] & self.initial == m.false:
            ring = self.transitions.preimage(rings[-1]) & self.reached & ~seen
            seen = seen | ring
            rings.append(ring)
        steps = self.descend(self.deployment.init, rings[:-1])
        return Trace(self.deployment.init, steps)

    def descend(self, state: Instance, rings: Sequence[Bdd]) -> tuple[Step, ...]:
        """A run from ``state`` through the rings, the last one first; each must be in reach of the
        one after it."""
        steps: list[Step] = []
        for ring in reversed(rings):
            steps.append(self.step_into(state, ring))
            state = steps[-1].state
        return tuple(steps)

    def step_into(self, state: Instance, target: Bdd) -> Step:
        """A transition from ``state`` into ``target``, with the call that makes it."""
        after = self.transitions.image(self.singleton(state)) & target
        successor = self.encoding.decode(self.manager.pick(after, self.encoding.state_bits))
        return Step(self._call_between(state, successor), successor)

    def _call_between(self, state: Instance, successor: Instance) -> Call:
        """A selected call that leads from one state to the other, by the semantics of the deployment:
        no step of a trace rests on the diagrams alone."""
        for call in sorted(self._calls(state)):
            if successor in successors(self.deployment, call, state, self.restriction).inside:
                return call
        raise AssertionError(f"no selected call leads from {state} to {successor}")

    def _calls(self, state: Instance) -> frozenset[Call]:
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


def _most_fresh(deployment: Deployment) -> Mapping[str, int]:
    """Per sort the most fresh values that one alternative of an effect draws."""
    most: Counter[str] = Counter()
    for tool in deployment.tools:
        for effect in tool.effects:
            most |= Counter(str(binder.sort) for binder in effect.fresh)
    return most
