"""Compute the reachable states of a restriction, and check every hypothesis on them during the search.

A sweep takes the undecided states, checks that each respects the bounds and offers only calls with an effect,
queries the agent about them, and saturates: it adds all states that are reachable through decided states, in
any number of steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.agents.revised import replaced, rules_of
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RuleAgent, RulesUsed
from stead_sym.agents.selection import selection
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.faults import (
    bound_exceeded,
    claim_broken,
    effect_undecided,
    key_broken,
    no_effect,
    no_successor_within,
    nothing_offered,
    reference_broken,
)
from stead_sym.deployment.history import actor_in
from stead_sym.deployment.leaps import left_open, past_a_bound, questions
from stead_sym.deployment.parts import AgentRole, Rule
from stead_sym.deployment.restriction import around
from stead_sym.deployment.semantics import breaks_claim, leads_to, outcomes, possible
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.fixpoint import shortest
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.bdd.saturation import Limited
from stead_sym.engines.symbolic.encode.values import bits_of
from stead_sym.engines.symbolic.explore.contexts import ContextFinder, TooLarge
from stead_sym.engines.symbolic.explore.initial import initial_set
from stead_sym.engines.symbolic.explore.located import Allowance, TooMany
from stead_sym.engines.symbolic.explore.policies import CompiledPolicy, Offers, has_formulas
from stead_sym.engines.symbolic.plan.guess import Broken
from stead_sym.engines.symbolic.plan.planner import Plan
from stead_sym.engines.symbolic.step.history import Actors
from stead_sym.engines.symbolic.step.leaps import Leap
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Progress

Looking: TypeAlias = "Callable[[ReachableStates, Bdd], None]"
"""A callback of an exploration, with the new states, all of them among the reached ones."""

_LAYERS = 16
"""The maximum number of steps for which contexts are enumerated in the order of their distance."""

_LAYER = 400
"""The maximum number of nodes of a set of equally distant states in this enumeration."""

_CONTEXTS_ASKED = 16
"""The maximum number of contexts of a compiled policy that are searched for symmetric calls."""

_WIDE = 64
"""The maximum product of the nodes of a tool's selection and of its steps, per pair of levels.

Selections beyond it are `_wide`.
"""


def explore(
    plan: Plan,
    wrappers: Wrappers,
    progress: Progress | None = None,
    watch: Looking | None = None,
    most_reports: float = math.inf,
) -> ReachableStates | Broken:
    """Return the reachable states of a plan's restriction under the wrapped agents, or the anchors to drop.

    An anchor is dropped if in a reachable state a fresh variable cannot have the name that goes with the
    anchor's value, because the name is already active.

    Raise `BoundExceeded`, `KeyBroken`, `ReferenceBroken`, `NothingOffered` or `NoEffect`, each with a
    shortest run to the violating state, `NoInitialState`, and `Undecided` if a forced restriction is too
    small to give every state a successor, or there are more than ``most_reports`` of the progress.
    """
    states = ReachableStates(plan, wrappers, progress, watch, most_reports)
    return states.explore() or states


class ReachableStates:
    """R, or the part of it explored so far (`explore`).

    Four attributes grow during the exploration and are constant afterwards. ``reached`` are the reached
    states, over the state bits like ``initial``, the set of all D0. ``transitions`` are the steps of the
    calls that are selected in the states decided so far. ``by_agent`` has the calls that each agent selects
    there, per tool over the state bits and its selectors. ``sweeps`` is the number of sweeps.
    """

    def __init__(
        self,
        plan: Plan,
        wrappers: Wrappers,
        progress: Progress | None = None,
        watch: Looking | None = None,
        most_reports: float = math.inf,
    ) -> None:
        self.plan = plan
        self.deployment = plan.deployment
        self.restriction = plan.restriction
        self.wrappers = wrappers
        self.watch = watch
        self.encoding = plan.encoding
        self.compiler = plan.compiler
        self.manager = plan.encoding.manager
        self.tools = plan.tools
        manager = self.manager
        self.report = Limited(progress, {"nodes": lambda: manager.nodes}, most_reports)
        self.actors = Actors(self.deployment, manager)
        self.transitions = Transitions.empty(self.encoding, self.tools, self.report, self.actors)
        interfaces = {name: tool.interface for name, tool in self.tools.items()}
        self.offers = Offers(self.compiler, interfaces)
        self.finders = tuple(
            ContextFinder(self.deployment, one, self.compiler, self.offers, wrapper)
            for agent in self.deployment.agents
            if (wrapper := wrappers[agent.name]) is not None
            for one in self._one_by_one(agent)
        )
        self.by_agent: dict[str, dict[str, Bdd]] = {
            agent.name: dict.fromkeys(agent.tools, manager.false)
            if self.wrappers[agent.name]
            else {name: self.offers.calls[name] for name in agent.tools}
            for agent in self.deployment.agents
        }
        self._policies = tuple(finder for finder in self.finders if self._select_by_rules(finder))
        self.initial = initial_set(plan)
        self.reached = self.initial
        self.sweeps = 0
        self.questions = questions(self.deployment)
        self.open_leaps: dict[tuple[str, int], str] = {}
        self.has_met_contexts = not self._policies
        self._covered = manager.false  # the states whose `_wide` calls are among the transitions

    def _one_by_one(self, agent: AgentRole) -> Sequence[AgentRole]:
        """Return the agent, or each of those that it stands for: one per value of its sort in U_f."""
        if agent.each is None:
            return (agent,)
        return [replace(agent, me=value) for value in self.encoding.values[agent.each]]

    def finders_of(self, agent: str) -> Sequence[ContextFinder]:
        """Return the finders of the agents with this name, which may be many."""
        return [finder for finder in self.finders if finder.agent.name == agent]

    def _select_by_rules(self, finder: ContextFinder) -> bool:
        """Compile the policy of an agent that follows one; return False for any other agent."""
        if not has_formulas(finder.wrapper):
            return False
        selected = self._compiled(finder).selected()
        try:
            selected = finder.replaced(selected, replaced(finder.wrapper))
        except TooLarge:
            return False
        own = self.by_agent[finder.agent.name]
        own.update({name: own[name] | calls for name, calls in selected.items()})
        return True

    # Exploration.

    def explore(self) -> Broken:
        """Compute all reachable states; return the violated assumptions of the plan, if any."""
        self.transitions = self.transitions.selecting(self._by_formula)
        todo, m = self.initial, self.manager
        while todo != m.false:
            self.sweeps += 1
            self._check_bounds(todo)
            if broken := self._names_taken(todo):
                return broken
            self._check_offers(todo)
            if self.watch is not None:
                self.watch(self, todo)
            selected = self._decided(todo)
            self.transitions = self.transitions.selecting(selected)
            self._check_room(todo)
            if not selected and self.sweeps > 1:  # no new transitions
                break
            found = self.transitions.reachable(
                self.reached, todo, self._is_wrong
            )  # the other states were decided before
            todo, self.reached = found & ~self.reached, found
        if not self.restriction.exact:
            self._check_steps()
        for name, number in self.questions:
            self._check_leaps(name, number)
        return Broken()

    @property
    def _by_formula(self) -> Mapping[str, Bdd]:
        """Per tool the calls that are selected without a query.

        These are events, and the calls of agents that select everything or follow a policy, without `_wide`.
        """
        selected = {event.name: [self.offers.calls[event.name]] for event in self.deployment.events}
        policies = {finder.agent.name for finder in self._policies}
        for agent, own in self.by_agent.items():
            for name, calls in own.items():
                if agent not in policies or name not in self._wide:
                    selected.setdefault(name, []).append(self.actors.made_by(name, agent, calls))
        return {name: self.manager.disj(calls) for name, calls in selected.items()}

    @cached_property
    def _wide(self) -> Mapping[str, Bdd]:
        """Per tool the policies' selection, if its product with the steps may be far larger than both.

        Such calls are only made in states like the reached ones (`_expected`).
        """
        levels = 1 + 2 * len(self.encoding.state_bits)
        wide: dict[str, Bdd] = {}
        for agent in dict.fromkeys(finder.agent.name for finder in self._policies):
            for name, calls in self.by_agent[agent].items():
                if calls.dag_size * self.tools[name].steps.dag_size > _WIDE * levels**2:
                    by = self.actors.made_by(name, agent, calls)
                    wide[name] = wide.get(name, self.manager.false) | by
        return wide

    @property
    def _expected(self) -> Bdd:
        """The states that hold at most one fact of each relation for which every reached state does."""
        m = self.manager
        return ~m.disj(two for two in self._several.values() if two & self.reached == m.false)

    @cached_property
    def _several(self) -> Mapping[str, Bdd]:
        """Per relation the states that hold two of its facts or more."""
        facts, atom = self.encoding.dynamic_facts, self.encoding.atom
        return {relation: self.manager.at_least(2, map(atom, of)) for relation, of in facts.items()}

    def _decided(self, states: Bdd) -> Mapping[str, Bdd]:
        """Return the agents' selection in states that were not decided before, without `_by_formula`."""
        chosen: dict[str, list[Bdd]] = {}
        if self._wide and states & ~self._covered != self.manager.false:
            self._covered = self._expected
            chosen = {name: [calls & self._covered] for name, calls in self._wide.items()}
        for finder in self.finders:
            if finder in self._policies:
                self._check_selects(finder, states)
                continue
            for selected in finder.decide(states):
                contexts = sum(len(other.contexts) for other in self.finders)
                self.report("reach", sweeps=self.sweeps, contexts=contexts)
                own = self.by_agent[finder.agent.name]
                for tool, calls in selected.items():
                    chosen.setdefault(tool, []).append(self.actors.made_by(tool, finder.agent.name, calls))
                    own[tool] = own[tool] | calls
        return {tool: self.manager.disj(calls) for tool, calls in chosen.items()}

    def _check_selects(self, finder: ContextFinder, states: Bdd) -> None:
        """Check that a policy selects some call in each of the states in which its agent is offered one.

        The wrapper raises `AgentError` for a state in which it does not.
        """
        undecided = self._left_open(finder, states)
        if undecided != self.manager.false:
            context = finder.picked(undecided)
            [decision] = finder.wrapper.decide([context])
            raise AssertionError(f"{finder.wrapper.agent.name} selects {decision.calls} in {context}")

    def _left_open(self, finder: ContextFinder, states: Bdd) -> Bdd:
        """Return the states in which an agent that follows a policy is offered calls and selects none."""
        m, undecided = self.manager, finder.offers.by(finder.tools, states)
        for name, calls in finder.own(self.by_agent[finder.agent.name]).items():
            undecided = undecided & ~m.and_exist(self.offers.selectors(name), states, calls)
        return undecided

    def _is_wrong(self, states: Bdd) -> bool:
        """Return True if a state violates a bound, a key or a reference, or a policy selects nothing there.

        The exploration stops then.
        """
        nothing = self.manager.false
        broken = (*self._exceeded.values(), self.encoding.doubled_keys, self.encoding.dangling)
        return any(states & one != nothing for one in broken) or any(
            self._left_open(finder, states) != nothing for finder in self._policies
        )

    def meets_contexts(self, most: int | None) -> bool:
        """Enumerate the contexts of R for agents with policies, which were not queried.

        Returns False if that takes more than ``most`` bits (`Engine.meets_contexts`).
        """
        if any(finder.wrapper.told for finder in self._policies):
            return False  # the enumeration does not cover facts about the past
        bits = len(self.encoding.state_bits)
        allowance = Allowance(None if most is None else most // max(bits, 1))
        try:
            for states in self._by_distance():
                for finder in self._policies:
                    for _ in finder.decide(states, allowance):
                        self.report("contexts", contexts=sum(len(other.contexts) for other in self.finders))
        except TooMany:
            return False
        self.has_met_contexts = True
        return True

    def _by_distance(self) -> Iterator[Bdd]:
        """Yield R in parts, by the number of steps while that is cheap, so that near states come first."""
        layer = seen = self.initial
        for _ in range(_LAYERS):
            if layer.dag_size > _LAYER:
                break
            yield layer
            layer = self.transitions.image(layer) & ~seen
            seen = seen | layer
            if layer == self.manager.false:
                return
        yield self.reached

    def is_among_alike(self, agent: str) -> bool:
        """Return the result of `Engine.is_among_alike`."""
        return any(self._is_among_alike(finder) for finder in self.finders_of(agent))

    def _is_among_alike(self, finder: ContextFinder) -> bool:
        if self.has_met(finder):
            return finder.wrapper.is_among_alike
        m, calls_of = self.manager, finder.own(self.by_agent[finder.agent.name])
        left = m.disj(self._with_two_alike(finder, name, calls) for name, calls in calls_of.items())
        for _ in range(_CONTEXTS_ASKED):
            if left == m.false:
                return False
            context = finder.picked(left)
            if finder.is_among_alike(context):
                return True
            left = left & ~finder.showing(context, left)
        return left != m.false

    def has_met(self, finder: ContextFinder) -> bool:
        """Return True if the wrapper of an agent has met every context of R."""
        return self.has_met_contexts or finder not in self._policies

    def _with_two_alike(self, finder: ContextFinder, name: str, calls: Bdd) -> Bdd:
        """Return the reached states with two calls of a tool that are ≈; no others are symmetric.

        ``calls`` is a set over the state bits and the selectors of the tool.
        """
        m, (alike, others) = self.manager, finder.classes(name)
        another = m.substitute(calls, {bit: m.var(other) for bit, other in others.items()})
        same = m.conj(m.var(bit).equiv(m.var(other)) for bit, other in others.items())
        bits = frozenset([*others, *others.values()])
        return m.exist(bits, m.conj([self.reached, calls, another, alike & ~same]))

    def _compiled(self, finder: ContextFinder, rules: Sequence[Rule] | None = None) -> CompiledPolicy:
        """Return the policy of an agent that follows one, or one of ``rules``."""
        agent = rules_of(finder.wrapper)
        assert agent is not None, "`has_formulas`"
        return CompiledPolicy(
            self.deployment, finder.agent, agent.policy.rules if rules is None else rules, finder.offers
        )

    def rules_used(self, agent: str, rules: Sequence[Rule] | None = None) -> RulesUsed:
        """Return the result of `Engine.rules_used`."""
        matching, deciding = set[int](), set[int]()
        for finder in self.finders_of(agent):
            if finder not in self._policies:
                assert isinstance(finder.wrapper.agent, RuleAgent), "another agent has no rules"
                return finder.wrapper.agent.used((context for context, _ in finder.wrapper.decisions), rules)
            left = self.reached
            for number, states in self._compiled(finder, rules).matched().items():
                if states & self.reached != self.manager.false:
                    matching.add(number)
                if states & left != self.manager.false:
                    deciding.add(number)
                left = left & ~states
        return RulesUsed(frozenset(matching), frozenset(deciding))

    # Hypotheses.

    def _check_bounds(self, states: Bdd) -> None:
        """Check Definition "C-boundedness" on ``states``, the declared keys, and the references."""
        for over in self._exceeded.values():
            if (there := states & over) != self.manager.false:
                raise bound_exceeded(self.deployment, self.trace_to(there))
        if (doubled := states & self.encoding.doubled_keys) != self.manager.false:
            raise key_broken(self.deployment, self.trace_to(doubled))
        if (dangling := states & self.encoding.dangling) != self.manager.false:
            raise reference_broken(self.deployment, self.trace_to(dangling))

    def _names_taken(self, states: Bdd) -> Broken:
        """Return the fresh variables whose anchored name is active in one of ``states``.

        Each of them comes with all that the same tool names after the same anchor: if only some kept such
        names, the states would hold all combinations of the two parts' names.
        """
        anchors = self.plan.naming.anchors
        taken = {
            (draw[0], anchors[draw])
            for tool in self.tools.values()
            for draw, stuck in tool.stuck.items()
            if states & stuck != self.manager.false
        }
        return Broken(
            anchors=frozenset((d, anchor.name) for d, anchor in anchors.items() if (d[0], anchor) in taken)
        )

    def _check_offers(self, states: Bdd) -> None:
        """Check that each state offers a call or enables an event, and that each of these has an effect.

        A violation by a step is reported before one in the state after it.
        """
        m = self.manager
        silent = states & ~self.offers.by(self.tools, states)
        if silent != m.false:
            self._check_room(states)
            raise nothing_offered(self.deployment, self.trace_to(silent))
        for name, calls in self._dead.items():
            dead = m.exist(self._params(name), states & calls)
            if dead != m.false:
                self._check_room(states)
            while dead != m.false:
                run = self.trace_to(dead)
                self._check_effects(name, run)
                dead = dead & ~self.singleton(run.last)

    @cached_property
    def _exceeded(self) -> Mapping[str, Bdd]:
        """Per sort the states with more active values outside C than its bound."""
        outside, values = self.deployment.outside, self.restriction.values
        bounds = self.deployment.bounds.items()
        return {s: self.encoding.more_active(bound, outside(s, values[s])) for s, bound in bounds}

    @cached_property
    def _dead(self) -> Mapping[str, Bdd]:
        """Per tool the states, with its parameters, in which its calls are offered without an effect."""
        interfaces = ((name, tool.interface) for name, tool in self.tools.items())
        return {name: interface.offered & ~interface.effective for name, interface in interfaces}

    def _params(self, name: str) -> Bits:
        return frozenset(bits_of(self.tools[name].interface.params))

    def _check_room(self, states: Bdd) -> None:
        """Check that no selected call or event exceeds a bound, violates a key, or overflows U_f.

        Inserting more fresh values than U_f has left would exceed the bound too, since an exact U_f has room
        for b_S more values than a state holds. Among several tools one with a shortest run is reported.
        """
        runs: list[tuple[Trace, str]] = []
        for name, tool in self.tools.items():
            over = tool.exceeding | tool.overflow if self.restriction.exact else tool.exceeding
            leaving = states & over & self.transitions.selected[name]
            if leaving != self.manager.false:
                there = self.manager.exist(self.offers.selectors(name), leaving)
                runs.append((self.trace_to(there), name))
        if runs:
            trace, name = min(runs, key=lambda run: len(run[0].steps))
            raise claim_broken(self.deployment, self._with_last_step(trace, name))

    def _check_steps(self) -> None:
        """Check that each state has a successor in U_f, as it has in the infinite domain.

        A restriction with forced sizes may be too small for that.
        """
        stuck = self.reached & ~self.transitions.preimage(self.manager.true)
        if stuck != self.manager.false:
            raise no_successor_within(self.restriction, self.trace_to(stuck))

    def _check_leaps(self, name: str, number: int) -> None:
        """Check that no selected call or event exceeds a bound by this `ensure` alternative.

        The check also covers steps further than the values of the encoding show.
        """
        m, tool, about = self.manager, self.tools[name].interface, self.questions[name, number]
        effect = tool.tool.effects[number]
        taken = self.reached & self.transitions.selected[name] & self.offers.condition(name, effect.when)
        if about.open:
            if taken != m.false:
                self.open_leaps[name, number] = about.open
            return
        leap = Leap(self.deployment, self.restriction, self.encoding, effect, about)
        self.report("reach", **{f"names asked of {name}": sum(about.names.values())})
        for args in self.encoding.tuples(m.exist(self.encoding.state_bits, taken), tool.selectors):
            chosen = (self.encoding.is_value(s, u) for s, u in zip(tool.selectors, args, strict=True))
            here = m.exist(self.offers.selectors(name), m.conj([taken, *chosen]))
            pairs = leap.beyond(here, dict(zip((p.name for p in tool.tool.params), args, strict=True)))
            if pairs != m.false:
                run, call = self.trace_to(m.exist(leap.bits, pairs)), Call(name, args)
                after = leap.some(pairs, run.last)
                assert leads_to(self.deployment, call, run.last, after, self.restriction), (
                    f"{call} leads to {after}"
                )
                step = step_by(self.deployment, call, after, self.selection(run.last)[call])
                raise claim_broken(self.deployment, replace(run, steps=(*run.steps, step)))

    def _with_last_step(self, trace: Trace, name: str) -> Trace:
        """Return the trace with a last call of the tool that exceeds a bound or violates a key.

        The call may lead inside U_f or beyond it.
        """
        for call, actor in sorted(self.selection(trace.last).items()):
            if call.tool == name:
                for state in outcomes(self.deployment, call, trace.last, self.restriction, actor):
                    if breaks_claim(self.deployment, state):
                        last = step_by(self.deployment, call, state, actor)
                        return replace(trace, steps=(*trace.steps, last))
        raise AssertionError(f"no call of {name} exceeds a bound or breaks a key from {trace.last}")

    def _check_effects(self, name: str, run: Trace) -> None:
        """Check that each call of the tool in the last state of the run has an effect.

        A call that has no effect in the diagrams may be one of an `ensure` that exceeds a bound by more than
        they show; if it is selected, it exceeds the bound.
        """
        for call in sorted(possible(self.deployment, run.last)):
            if call.tool == name:
                after = next(outcomes(self.deployment, call, run.last, self.restriction), None)
                if after is None:
                    after = past_a_bound(self.deployment, self.questions, call, run.last, self.restriction)
                if after is None:
                    for key in left_open(self.deployment, self.questions, call, run.last):
                        raise effect_undecided(call, self.questions[key].open)
                    raise no_effect(self.deployment, call, run)
                may = self.selection(run.last)
                if call in may and breaks_claim(self.deployment, after):
                    step = step_by(self.deployment, call, after, may[call])
                    raise claim_broken(self.deployment, replace(run, steps=(*run.steps, step)))

    # Runs.

    def trace_to(self, target: Bdd) -> Trace:
        """Return a shortest run from an initial state to a reached state of ``target``.

        ``target`` is a set over the state bits.
        """
        assert self.encoding.are_states(target)
        reached, bits = self.reached, self.encoding.state_bits
        sets = shortest(
            self.transitions, self.initial, reached, target & reached, bits, small=not self.has_one_initial
        )
        assert sets is not None, "every reached state is reached"
        steps: list[Step] = []
        start = state = self.encoding.decode(self.manager.pick(sets[0], self.encoding.order))
        for ahead in sets[1:]:
            steps.append(self.step_into(state, ahead))
            state = steps[-1].state
        return Trace(start, tuple(steps), of_many=not self.has_one_initial)

    def step_into(self, state: Instance, target: Bdd) -> Step:
        """Return a transition from ``state`` into ``target``, with its call."""
        for after in self.successors(state, target):
            return self.step_between(state, after)
        raise AssertionError(f"no transition leads from {state} where it should")

    def successors(
        self, state: Instance, within: Bdd | None = None, like: Instance | None = None
    ) -> Iterator[Instance]:
        """Yield { D' : D → D' }, or those in a set, those whose codes differ least from ``like`` first."""
        found = self.transitions.image(self.singleton(state))
        if within is not None:
            found = found & within
        code = self.encoding.encode(like) if like is not None else None
        while found != self.manager.false:
            m, order = self.manager, self.encoding.order
            chosen = m.pick(found, order) if code is None else m.nearest(found, code)
            yield (after := self.encoding.decode(chosen))
            found = found & ~self.singleton(after)

    def step_between(
        self,
        state: Instance,
        after: Instance,
        among: Mapping[str, Bdd] | None = None,
        agent: str | None = None,
    ) -> Step:
        """Return a step by a selected call, or an event, from one state to the other.

        The step is computed by the semantics of the deployment: no step of a trace relies on the diagrams
        alone. If ``among`` is given, per tool a set over the state bits and its selectors, the call is one of
        these; if ``agent`` is given, it makes the call.
        """
        near = around(self.deployment, self.restriction, state, after)
        for call in self._calls_in(state, self.transitions.selected if among is None else among):
            if leads_to(self.deployment, call, state, after, near):
                actor = self._actor(state, call) if agent is None else agent
                return step_by(self.deployment, call, after, actor_in(self.deployment, call, after, actor))
        raise AssertionError(f"no selected call leads from {state} to {after}")

    def _actor(self, state: Instance, call: Call) -> str | None:
        """Return the agent that makes a selected call in a state, as `selection` has it.

        The agents' selections are compared only if several agents have the tool.
        """
        if self.deployment.tool(call.tool).event:
            return None
        having = [agent.name for agent in self.deployment.agents if call.tool in agent.tools]
        return having[0] if len(having) == 1 else self.selection(state)[call]

    def _calls_in(self, state: Instance, calls_of: Mapping[str, Bdd]) -> Iterator[Call]:
        """Yield the calls of a state in sets per tool, over the state bits and its selectors.

        With the selections of the tools these are Π(D, Offer(D)).
        """
        bits, point = self.encoding.state_bits, self.singleton(state)
        for name, calls in calls_of.items():
            here = self.manager.exist(bits, calls & point)
            for args in self.encoding.tuples(here, self.tools[name].interface.selectors):
                yield Call(name, args)

    def selection(self, state: Instance) -> Mapping[Call, str | None]:
        """Return Π(D, Offer(D)): the calls that may happen in a state, each with its agent."""
        return selection(self.deployment, self.wrappers, state)

    def is_called(self, tool: str, condition: fo.Expanded, *, selected: bool) -> bool:
        """Return True if some call ω(u) of the tool with (D, u) ⊨ f is offered in some D ∈ R.

        With ``selected`` an agent must be able to make it. The set of these states is not computed: the
        choice among many records can make it far larger than the two sets that it is the intersection of.
        """
        calls = self.transitions.selected[tool] if selected else self.offers.calls[tool]
        return not self.manager.implies(self.reached & calls, ~self.offers.condition(tool, condition))

    # Counts and sets.

    def enabled_calls(self, tool: str, guard: fo.Expanded) -> int:
        """Return |{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard }|, counted over state bits and selectors of ω."""
        calls = self.offers.under(tool, guard)
        return self.manager.count(
            self.reached & calls, self.encoding.state_bits | self.offers.selectors(tool)
        )

    @cached_property
    def has_one_initial(self) -> bool:
        """True if there is a single D0."""
        return self.initial_states == 1

    @property
    def initial_states(self) -> int:
        """The number of all D0."""
        return self.manager.count(self.initial, self.encoding.state_bits)

    def singleton(self, state: Instance) -> Bdd:
        """Return { D } over the state bits."""
        return self.manager.cube(self.encoding.encode(state))

    def contains(self, states: Bdd, state: Instance) -> bool:
        """Return True if D ∈ states, for any instance."""
        return self.encoding.has_code(state) and self.manager.satisfies(states, self.encoding.encode(state))

    @property
    def states(self) -> int:
        """The number of reached states, |R|."""
        return self.manager.count(self.reached, self.encoding.state_bits)

    @property
    def databases(self) -> int:
        """The number of databases of the reached states, without the record of the past."""
        told = self.encoding.history_bits
        return self.manager.count(self.manager.exist(told, self.reached), self.encoding.state_bits - told)

    @property
    def pairs(self) -> int:
        """The number of transitions D → D' within R, each pair of states once."""
        return self.transitions.count(self.reached)
