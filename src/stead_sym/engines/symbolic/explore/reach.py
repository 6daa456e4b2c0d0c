"""The reachable states of a restriction, with every hypothesis on them checked on the way.

A sweep takes the states that are not decided yet, checks that each keeps the bounds and offers only
calls with an effect, asks what the agent does in them, and saturates: all that can be reached through
decided states is found, whatever the number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RuleAgent, RulesUsed
from stead_sym.agents.selection import selection
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
from stead_sym.deployment.parts import Rule
from stead_sym.deployment.restriction import around
from stead_sym.deployment.semantics import breaks_claim, leads_to, outcomes, possible
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.fixpoint import shortest
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.values import PARAM, Vector, bits_of
from stead_sym.engines.symbolic.explore.contexts import ContextFinder
from stead_sym.engines.symbolic.explore.initial import initial_set
from stead_sym.engines.symbolic.explore.located import Allowance, TooMany
from stead_sym.engines.symbolic.explore.offers import Offers
from stead_sym.engines.symbolic.explore.policies import CompiledPolicy, has_formulas
from stead_sym.engines.symbolic.plan.guess import Broken
from stead_sym.engines.symbolic.plan.planner import Plan
from stead_sym.engines.symbolic.step.history import Actors
from stead_sym.engines.symbolic.step.leaps import Leap
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.logic.syntax import Expanded
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Progress, Pulse

Looking: TypeAlias = "Callable[[ReachableStates, Bdd], None]"
"""What is called as an exploration goes on, with the states that are new, all of them among those reached."""

_LAYERS = 16
"""So many steps from the initial states contexts are looked for in the order in which runs come to them."""

_LAYER = 400
"""So many nodes the states may have that are equally far."""

_WIDE = 64
"""What is selected of a tool, and its steps, may have so many nodes in the product, per pair of levels."""


def explore(
    plan: Plan, wrappers: Wrappers, progress: Progress | None = None, watch: Looking | None = None
) -> ReachableStates | Broken:
    """The reachable states of a plan's restriction under the wrapped agents. Or, where in a reachable state
    a fresh variable cannot have the name that goes with the value of its anchor, since the name is active
    already, the anchors to give up.

    Raises `BoundExceeded`, `KeyBroken`, `ReferenceBroken`, `NothingOffered` or `NoEffect`, each with a
    shortest run to the state at fault, `NoInitialState`, and `Undecided` where a forced restriction is too
    small to give every state a successor.
    """
    states = ReachableStates(plan, wrappers, progress, watch)
    return states.explore() or states


class ReachableStates:
    """R, as far as it has been explored (`explore`).

    Four things grow while it is explored and stay as they are afterwards: ``reached``, the states reached,
    over the state bits like ``initial``, the set of all D0; ``transitions``, the steps of the calls that are
    selected in the states decided so far; ``by_agent``, which calls each agent selects there, per tool over
    the state bits and its selectors; and ``sweeps``, how often undecided states have been taken up.
    """

    def __init__(
        self,
        plan: Plan,
        wrappers: Wrappers,
        progress: Progress | None = None,
        watch: Looking | None = None,
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
        self.report = Pulse(progress, {"nodes": lambda: manager.nodes})
        self.actors = Actors(self.deployment, manager)
        self.transitions = Transitions.empty(self.encoding, self.tools, self.report, self.actors)
        interfaces = {name: tool.interface for name, tool in self.tools.items()}
        self.offers = Offers(self.compiler, interfaces)
        self.finders = tuple(
            ContextFinder(self.deployment, agent, self.compiler, self.offers, wrapper)
            for agent in self.deployment.agents
            if (wrapper := wrappers[agent.name]) is not None
        )
        self.by_agent: dict[str, dict[str, Bdd]] = {
            agent.name: dict.fromkeys(agent.tools, manager.false)
            if self.wrappers[agent.name]
            else {name: self.offers.calls[name] for name in agent.tools}
            for agent in self.deployment.agents
        }
        self._policies = tuple(finder for finder in self.finders if has_formulas(finder.wrapper))
        for finder in self._policies:
            self.by_agent[finder.agent.name] |= self._compiled(finder).selected()
        self.initial = initial_set(plan)
        self.reached = self.initial
        self.sweeps = 0
        self.questions = questions(self.deployment)
        self.open_leaps: dict[tuple[str, int], str] = {}
        self.has_met_contexts = not self._policies
        self._covered = manager.false  # where `_wide` calls are among the transitions

    # exploration

    def explore(self) -> Broken:
        """Find all reachable states; what of the plan's guess turns out broken, nothing if all went well."""
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
            if not selected and self.sweeps > 1:  # nothing has been added that leads further
                break
            found = self.transitions.reachable(
                self.reached, todo, self._is_wrong
            )  # the others were decided before
            todo, self.reached = found & ~self.reached, found
        if not self.restriction.exact:
            self._check_steps()
        for name, number in self.questions:
            self._check_leaps(name, number)
        return Broken()

    @property
    def _by_formula(self) -> Mapping[str, Bdd]:
        """Per tool what is selected without asking anybody: events, and the calls of agents that select all
        that they are offered or follow a policy, but for `_wide`."""
        selected = {event.name: [self.offers.calls[event.name]] for event in self.deployment.events}
        policies = {finder.agent.name for finder in self._policies}
        for agent, own in self.by_agent.items():
            for name, calls in own.items():
                if agent not in policies or name not in self._wide:
                    selected.setdefault(name, []).append(self.actors.made_by(name, agent, calls))
        return {name: self.manager.disj(calls) for name, calls in selected.items()}

    @cached_property
    def _wide(self) -> Mapping[str, Bdd]:
        """Per tool what policies select of it, where the product with its steps may be far larger than both:
        such calls are only made in states like those that were reached (`_expected`)."""
        levels = 1 + 2 * len(self.encoding.state_bits)
        wide: dict[str, Bdd] = {}
        for finder in self._policies:
            for name, calls in self.by_agent[finder.agent.name].items():
                if calls.dag_size * self.tools[name].steps.dag_size > _WIDE * levels**2:
                    by = self.actors.made_by(name, finder.agent.name, calls)
                    wide[name] = wide.get(name, self.manager.false) | by
        return wide

    @property
    def _expected(self) -> Bdd:
        """The states that hold one fact at most of each relation of which every state reached so far does."""
        m = self.manager
        return ~m.disj(two for two in self._several.values() if two & self.reached == m.false)

    @cached_property
    def _several(self) -> Mapping[str, Bdd]:
        """Per relation the states that hold two of its facts or more."""
        facts, atom = self.encoding.dynamic_facts, self.encoding.atom
        return {relation: self.manager.at_least(2, map(atom, of)) for relation, of in facts.items()}

    def _decided(self, states: Bdd) -> Mapping[str, Bdd]:
        """What agents select in the states that were not decided before, but for what is `_by_formula`."""
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
        """A policy selects some call in each of the states in which its agent is offered one. The wrapper
        raises the `AgentError` for a state in which it does not."""
        undecided = self._left_open(finder, states)
        if undecided != self.manager.false:
            context = finder.picked(undecided)
            [decision] = finder.wrapper.decide([context])
            raise AssertionError(f"{finder.wrapper.agent.name} selects {decision.calls} in {context}")

    def _left_open(self, finder: ContextFinder, states: Bdd) -> Bdd:
        """Those of the states in which an agent that follows a policy is offered calls and selects none."""
        m, undecided = self.manager, self.offers.by(finder.tools, states)
        for name, calls in self.by_agent[finder.agent.name].items():
            undecided = undecided & ~m.and_exist(self.offers.selectors(name), states, calls)
        return undecided

    def _is_wrong(self, states: Bdd) -> bool:
        """Whether some of the states break a bound, a key or a reference, or a policy selects nothing there:
        then nothing more is explored."""
        nothing = self.manager.false
        broken = (*self._exceeded.values(), self.encoding.doubled_keys, self.encoding.dangling)
        return any(states & one != nothing for one in broken) or any(
            self._left_open(finder, states) != nothing for finder in self._policies
        )

    def meets_contexts(self, most: int | None) -> bool:
        """Have the wrappers of agents that were not asked, since they follow a policy, meet every context of
        R, False where that takes looking at more than ``most`` bits (`Engine.meets_contexts`)."""
        if any(finder.wrapper.told for finder in self._policies):
            return False  # what it is told of the past is no part of what is looked for
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
        """R in parts: for a reader, the contexts of the first steps come first, while steps cost little."""
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
        """`Engine.is_among_alike`"""
        [finder] = (finder for finder in self.finders if finder.agent.name == agent)
        if self.has_met_contexts or finder not in self._policies:
            return finder.wrapper.is_among_alike
        return any(self._is_twice(name, calls) for name, calls in self.by_agent[agent].items())

    def _is_twice(self, name: str, calls: Bdd) -> bool:
        """Whether two of some calls of a tool, a set over the state bits and its selectors, are of one
        reached state."""
        m, selectors = self.manager, self.tools[name].interface.selectors
        if not selectors:
            return False
        others = list[Vector]()
        for selector in selectors:
            others.append(self.encoding.unused(selector.sort, [*selectors, *others], PARAM))
        bits = zip(bits_of(selectors), bits_of(others), strict=True)
        another = m.substitute(calls, {bit: m.var(other) for bit, other in bits})
        same = m.conj(self.encoding.equal(*pair) for pair in zip(selectors, others, strict=True))
        return m.conj([self.reached, calls, another & ~same]) != m.false

    def _compiled(self, finder: ContextFinder, rules: Sequence[Rule] | None = None) -> CompiledPolicy:
        """Return the policy of an agent that follows one, or one of ``rules``."""
        agent = finder.wrapper.agent
        assert isinstance(agent, RuleAgent), "`has_formulas`"
        return CompiledPolicy(
            self.deployment, finder.agent, agent.policy.rules if rules is None else rules, self.offers
        )

    def rules_used(self, agent: str, rules: Sequence[Rule] | None = None) -> RulesUsed:
        """`Engine.rules_used`"""
        [finder] = (finder for finder in self.finders if finder.agent.name == agent)
        if finder not in self._policies:
            assert isinstance(finder.wrapper.agent, RuleAgent), "another agent has no rules"
            return finder.wrapper.agent.used((context for context, _ in finder.wrapper.decisions), rules)
        matching, deciding, left = set[int](), set[int](), self.reached
        for number, states in self._compiled(finder, rules).matched().items():
            if states & self.reached != self.manager.false:
                matching.add(number)
            if states & left != self.manager.false:
                deciding.add(number)
            left = left & ~states
        return RulesUsed(frozenset(matching), frozenset(deciding))

    # hypotheses

    def _check_bounds(self, states: Bdd) -> None:
        """Definition "C-boundedness" on ``states``, the declared keys, and the references."""
        for over in self._exceeded.values():
            if (there := states & over) != self.manager.false:
                raise bound_exceeded(self.deployment, self.trace_to(there))
        if (doubled := states & self.encoding.doubled_keys) != self.manager.false:
            raise key_broken(self.deployment, self.trace_to(doubled))
        if (dangling := states & self.encoding.dangling) != self.manager.false:
            raise reference_broken(self.deployment, self.trace_to(dangling))

    def _names_taken(self, states: Bdd) -> Broken:
        """The fresh variables that cannot have the name that goes with the value of their anchor, since it is
        active in one of ``states``. With each of them all that the same tool names after the same anchor:
        if only some kept such names, the states would hold all combinations of the two parts' names."""
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
        """Each state of ``states`` offers a call or enables an event, and each of these has an effect. What a
        step breaks is told before what comes after it."""
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
        """Per tool where its calls are offered without an effect, over the state bits and its parameters."""
        interfaces = ((name, tool.interface) for name, tool in self.tools.items())
        return {name: interface.offered & ~interface.effective for name, interface in interfaces}

    def _params(self, name: str) -> Bits:
        return frozenset(bits_of(self.tools[name].interface.params))

    def _check_room(self, states: Bdd) -> None:
        """No selected call or event exceeds a bound, breaks a key, or inserts more fresh values than U_f has
        left: it would exceed the bound too, since an exact U_f has room for b_S more values than a state
        holds. Of several tools it is told of one with a shortest run."""
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
        """Each state has a successor in U_f, as it has in the infinite domain: a restriction whose sizes were
        forced may be too small for that."""
        stuck = self.reached & ~self.transitions.preimage(self.manager.true)
        if stuck != self.manager.false:
            raise no_successor_within(self.restriction, self.trace_to(stuck))

    def _check_leaps(self, name: str, number: int) -> None:
        """No selected call or event leads past a bound by this `ensure` alternative, also not further than
        the values of the encoding show."""
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
                step = Step(call, after, self.selection(run.last)[call])
                raise claim_broken(self.deployment, replace(run, steps=(*run.steps, step)))

    def _with_last_step(self, trace: Trace, name: str) -> Trace:
        """The trace with a call of the tool at its end that exceeds a bound, inside U_f or beyond it, or
        breaks a key."""
        for call, actor in sorted(self.selection(trace.last).items()):
            if call.tool == name:
                for state in outcomes(self.deployment, call, trace.last, self.restriction, actor):
                    if breaks_claim(self.deployment, state):
                        return replace(trace, steps=(*trace.steps, Step(call, state, actor)))
        raise AssertionError(f"no call of {name} exceeds a bound or breaks a key from {trace.last}")

    def _check_effects(self, name: str, run: Trace) -> None:
        """Each call of the tool in the last state of the run has an effect. What the diagrams take for a call
        without one may be one of an `ensure` that only leads so far past a bound that they do not show it:
        where it is selected it exceeds the bound."""
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
                    step = Step(call, after, may[call])
                    raise claim_broken(self.deployment, replace(run, steps=(*run.steps, step)))

    # runs

    def trace_to(self, target: Bdd) -> Trace:
        """A shortest run from an initial state to a reached state of ``target``, a set over the state
        bits."""
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
        """A transition from ``state`` into ``target``, with the call that makes it."""
        for after in self.successors(state, target):
            return self.step_between(state, after)
        raise AssertionError(f"no transition leads from {state} where it should")

    def successors(
        self, state: Instance, within: Bdd | None = None, like: Instance | None = None
    ) -> Iterator[Instance]:
        """{ D' : D → D' }, or those of a set; first those whose codes differ least from that of ``like``."""
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
        """The step by a selected call, or an event, that leads from one state to the other, by the semantics
        of the deployment: no step of a trace rests on the diagrams alone. By one ``among`` these calls, per
        tool a set over the state bits and its selectors, if they are given, and by that ``agent``."""
        near = around(self.deployment, self.restriction, state, after)
        for call in self._calls_in(state, self.transitions.selected if among is None else among):
            if leads_to(self.deployment, call, state, after, near):
                actor = self._actor(state, call) if agent is None else agent
                return Step(call, after, actor_in(self.deployment, call, after, actor))
        raise AssertionError(f"no selected call leads from {state} to {after}")

    def _actor(self, state: Instance, call: Call) -> str | None:
        """Who makes a selected call in a state, as `selection` has it. Only where several agents have the
        tool does that take looking at what each of them selects."""
        if self.deployment.tool(call.tool).event:
            return None
        having = [agent.name for agent in self.deployment.agents if call.tool in agent.tools]
        return having[0] if len(having) == 1 else self.selection(state)[call]

    def _calls_in(self, state: Instance, calls_of: Mapping[str, Bdd]) -> Iterator[Call]:
        """The calls of a state in sets per tool, over the state bits and its selectors; with the selections
        of the tools Π(D, Offer(D))."""
        bits, point = self.encoding.state_bits, self.singleton(state)
        for name, calls in calls_of.items():
            here = self.manager.exist(bits, calls & point)
            for args in self.encoding.tuples(here, self.tools[name].interface.selectors):
                yield Call(name, args)

    def selection(self, state: Instance) -> Mapping[Call, str | None]:
        """Π(D, Offer(D)): what may happen in a state, each call with the agent that may make it."""
        return selection(self.deployment, self.wrappers, state)

    def is_called(self, tool: str, condition: Expanded, *, selected: bool) -> bool:
        """Whether some call ω(u) of the tool with (D, u) ⊨ f is offered in some D ∈ R; with ``selected``
        whether an agent may make one. The states in which one is are not computed: which of many records it
        is about can make their set far larger than the two that it comes from."""
        calls = self.transitions.selected[tool] if selected else self.offers.calls[tool]
        return not self.manager.implies(self.reached & calls, ~self.offers.condition(tool, condition))

    # counts and sets

    def enabled_calls(self, tool: str, guard: Expanded) -> int:
        """|{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard }|, counted over the state bits and the selectors of ω."""
        calls = self.offers.under(tool, guard)
        return self.manager.count(
            self.reached & calls, self.encoding.state_bits | self.offers.selectors(tool)
        )

    @cached_property
    def has_one_initial(self) -> bool:
        """There is one D0."""
        return self.initial_states == 1

    @property
    def initial_states(self) -> int:
        """The number of all D0."""
        return self.manager.count(self.initial, self.encoding.state_bits)

    def singleton(self, state: Instance) -> Bdd:
        """{ D } over the state bits."""
        return self.manager.cube(self.encoding.encode(state))

    def contains(self, states: Bdd, state: Instance) -> bool:
        """D ∈ states, for any instance."""
        return self.encoding.has_code(state) and self.manager.satisfies(states, self.encoding.encode(state))

    @property
    def states(self) -> int:
        """|R|"""
        return self.manager.count(self.reached, self.encoding.state_bits)

    @property
    def pairs(self) -> int:
        """The number of transitions D → D' within R, each pair of states once."""
        return self.transitions.count(self.reached)
