"""The reachable states of a restriction, with every hypothesis on them checked on the way.

A sweep takes the states that are not decided yet, checks that each keeps the bounds and offers only
calls with an effect, asks what the agent does in them, and saturates: all that can be reached through
decided states is found, whatever the number of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.semantics import exceeded, offer, outcomes, successors, view
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.errors import BoundExceeded, NoEffect, NothingOffered, Undecided
from stead_sym.logic.syntax import Formula
from stead_sym.progress import Progress, Pulse
from stead_sym.relational.instance import Instance
from stead_sym.symbolic.bdd.fixpoint import shortest
from stead_sym.symbolic.bdd.manager import Bdd, Bits
from stead_sym.symbolic.encode.encoding import bits_of
from stead_sym.symbolic.encode.representatives import Draw
from stead_sym.symbolic.explore.contexts import ContextFinder
from stead_sym.symbolic.plan.planner import Plan
from stead_sym.symbolic.step.transitions import Transitions


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
        manager = self.manager
        self.report = Pulse(progress, {"nodes": lambda: manager.nodes})
        self.transitions = Transitions(self.encoding, tuple(self.tools.values()), self.report)
        interfaces = {name: tool.interface for name, tool in self.tools.items()}
        self.finder = ContextFinder(self.deployment, self.compiler, interfaces, wrapper)
        self.selected = dict.fromkeys(self.tools, self.manager.false)
        self.initial = self.manager.cube(self.encoding.encode(self.deployment.init))
        self.reached = self.initial
        self.sweeps = 0
        self._explore()

    # exploration

    def _explore(self) -> None:
        if self.wrapper is None:
            self._take(self.finder.offers)
        todo, m = self.initial, self.manager
        while todo != m.false:
            self.sweeps += 1
            self._check(todo)
            selected = self._decided(todo)
            self._take(selected)
            self._check_room(todo)
            if not selected and self.sweeps > 1:  # nothing has been added that leads further
                break
            found = self.transitions.reachable(self.reached)
            todo, self.reached = found & ~self.reached, found

    def _decided(self, states: Bdd) -> Mapping[str, Bdd]:
        """What the agent selects in the states that were not decided before."""
        chosen: dict[str, list[Bdd]] = {}
        for selection in self.finder.decide(states):
            self.report("reach", sweeps=self.sweeps, contexts=len(self.finder.contexts))
            for tool, calls in selection.items():
                chosen.setdefault(tool, []).append(calls)
        return {tool: self.manager.disj(calls) for tool, calls in chosen.items()}

    def _take(self, selection: Mapping[str, Bdd]) -> None:
        self.transitions.select(selection)
        for tool, calls in selection.items():
            self.selected[tool] = self.selected[tool] | calls

    # hypotheses

    def _check(self, states: Bdd) -> None:
        """Definition 3 on ``states``: bounds, something offered, every offered call with an effect."""
        m = self.manager
        for over in self._exceeded.values():
            if (there := states & over) != m.false:
                raise self._exceeding(self.trace_to(there))
        for tool in self.tools.values():
            for draw, stuck in tool.stuck.items():
                if states & stuck != m.false:
                    raise NameTaken(draw)
        silent = states
        for name, offers in self.finder.offers.items():
            silent = silent & ~m.and_exist(self._selectors(name), silent, offers)
        if silent != m.false:
            raise NothingOffered(
                "a reachable state offers no call; weaken a guard or add a tool that waits",
                self.trace_to(silent),
                next((tool.span for tool in self.deployment.tools), None),
            )
        for name, calls in self._dead.items():
            if (dead := states & calls) != m.false:
                raise self._without_effect(name, self.trace_to(m.exist(self._params(name), dead)))

    @cached_property
    def _exceeded(self) -> Mapping[str, Bdd]:
        """Per sort the states with more active values outside C than its bound."""
        return {sort: self._more_active(sort, bound) for sort, bound in self.deployment.bounds.items()}

    @cached_property
    def _dead(self) -> Mapping[str, Bdd]:
        """Per tool where its calls are offered without an effect, over the state bits and its parameters."""
        interfaces = ((name, tool.interface) for name, tool in self.tools.items())
        return {name: interface.offered & ~interface.effective for name, interface in interfaces}

    def _selectors(self, name: str) -> Bits:
        return frozenset(bits_of(self.tools[name].interface.selectors))

    def _params(self, name: str) -> Bits:
        return frozenset(bits_of(self.tools[name].interface.params))

    def _check_room(self, states: Bdd) -> None:
        """No selected call inserts more fresh values than U_f has left: it would exceed the bound,
        since an exact U_f has room for b_S more values than a state holds."""
        for name, tool in self.tools.items():
            leaving = states & tool.overflow & self.selected[name]
            if self.restriction.exact and leaving != self.manager.false:
                trace = self.trace_to(self.manager.exist(self._selectors(name), leaving))
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
        reached, bits = self.reached, self.encoding.state_bits
        sets = shortest(self.transitions, self.initial, reached, target & reached, bits)
        assert sets is not None, "every reached state is reached"
        steps: list[Step] = []
        state = self.deployment.init
        for ahead in sets:
            steps.append(self.step_into(state, ahead))
            state = steps[-1].state
        return Trace(self.deployment.init, tuple(steps))

    def step_into(self, state: Instance, target: Bdd) -> Step:
        """A transition from ``state`` into ``target``, with the call that makes it."""
        for after in self.successors(state, target):
            return Step(self.call_between(state, after), after)
        raise AssertionError(f"no transition leads from {state} where it should")

    def successors(self, state: Instance, within: Bdd | None = None) -> Iterator[Instance]:
        """{ D' : D → D' }, or those of a set."""
        found = self.transitions.image(self.singleton(state))
        if within is not None:
            found = found & within
        while found != self.manager.false:
            yield (after := self.encoding.decode(self.manager.pick(found, self.encoding.order)))
            found = found & ~self.singleton(after)

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
            if after in outcomes(self.deployment, call, state, near):
                return call
        raise AssertionError(f"no selected call leads from {state} to {after}")

    def _selected_in(self, state: Instance) -> Iterator[Call]:
        """Π(D, Offer(D)), as the selections of the tools have it."""
        bits, point = self.encoding.state_bits, self.singleton(state)
        for name, selection in self.selected.items():
            here = self.manager.exist(bits, selection & point)
            for args in self.encoding.tuples(here, self.tools[name].interface.selectors):
                yield Call(name, args)

    def calls(self, state: Instance) -> frozenset[Call]:
        """Π(D, Offer(D)): the calls that the agent may make in a state."""
        offered = offer(self.deployment, state)
        return self.wrapper.calls(view(self.deployment, state), offered) if self.wrapper else offered

    def calling(self, tool: str, condition: Formula, *, selected: bool) -> Bdd:
        """{ D ∈ R : (D, u) ⊨ f for some call ω(u) of the tool offered in D }, over the state bits; with
        ``selected`` for one that the agent may make there."""
        calls = self.selected[tool] if selected else self.finder.offers[tool]
        such = self.finder.condition(tool, condition)
        return self.manager.and_exist(self._selectors(tool), self.reached & calls, such)

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
