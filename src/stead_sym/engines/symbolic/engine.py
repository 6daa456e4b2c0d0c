"""The symbolic engine: the restriction's reachable states and every satisfying set as diagrams."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RulesUsed
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import FairAction, Rule
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.protocol import Choosers, Hidden, Quotient, Shown, Watch
from stead_sym.engines.symbolic.bdd.manager import Backend, Bdd, at_work
from stead_sym.engines.symbolic.check.choices import Whatever
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.check.witness import Witness
from stead_sym.engines.symbolic.explore.idle import idling
from stead_sym.engines.symbolic.explore.quotient import quotient
from stead_sym.engines.symbolic.explore.reach import Looking, ReachableStates, explore
from stead_sym.engines.symbolic.plan.guess import Broken, first_guess
from stead_sym.engines.symbolic.plan.planner import Plan, Task, plan
from stead_sym.evidence.build import explain
from stead_sym.evidence.tree import Evidence
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress, Pulse


class SymbolicEngine:
    """The symbolic implementation of `Engine`; it explores on construction.

    Formulas are resolved and expanded. Public methods here and of `SymbolicStateSet` that operate on diagrams
    are decorated with `at_work`.
    """

    name = "symbolic"

    @at_work()
    def __init__(
        self,
        deployment: Deployment,
        wrappers: Wrappers,
        restriction: Restriction,
        progress: Progress | None = None,
        *,
        literal: bool = True,
        backend: Backend | None = None,
        watch: Watch | None = None,
        like: SymbolicEngine | None = None,
        most_reports: float = math.inf,
    ) -> None:
        """Explore the deployment.

        ``literal``: ``restriction`` is the theorem's domain; otherwise fresh values have representatives in
        it (`encode.representatives`). The plan of ``like``, an engine of the same thread, is reused if it is
        for the same task; a plan does not depend on the agents. Raise `Undecided`, now or when states are
        looked for, after ``most_reports`` of the progress, one for 4,096 sets of saturation.
        """
        task = Task(deployment, restriction, literal, backend)
        guess = first_guess(deployment, literal)
        known = like.plan if like is not None and like.plan.task == task else None
        while True:
            planned, known = known or plan(task, guess, Pulse(progress)), None
            self._after_planning = planned.encoding.manager.nodes, planned.encoding.manager.steps
            explored = explore(planned, wrappers, progress, watch and _looking(watch), most_reports)
            if not isinstance(explored, Broken):
                break
            guess = planned.guess.without(explored)
        self._model = explored
        self._checker = Checker(self._model, deployment.fair, deployment.fair_actions)
        self._deployed = SymbolicConstrained(self._checker)
        self._whatever: dict[Choosers, Whatever] = {}

    @property
    def checker(self) -> Checker:
        """The satisfying sets, as diagrams."""
        return self._checker

    @property
    def plan(self) -> Plan:
        """The plan that was explored."""
        return self._model.plan

    @property
    def restriction(self) -> Restriction:
        """The domain that was explored."""
        return self._model.restriction

    @cached_property
    @at_work()
    def initial(self) -> int:
        """The number of initial states; with representatives one or a few of each isomorphism class."""
        return self._model.initial_states

    @cached_property
    @at_work()
    def states(self) -> int:
        """The number of reachable states, |R|."""
        return self._model.states

    @cached_property
    @at_work()
    def databases(self) -> int:
        """The number of databases in R, without the record of the past."""
        return self._model.databases

    @cached_property
    @at_work()
    def transitions(self) -> int:
        """The number of pairs D → D' in R."""
        return self._model.pairs

    @cached_property
    @at_work()
    def most_active(self) -> Mapping[str, int]:
        """Return max { |(ad(D) ∖ C) ∩ U_S| : D ∈ R } per unbounded sort S.

        No reached state exceeds the bound, so larger numbers are not tested.
        """
        model, outside = self._model, self._model.deployment.outside
        return {
            sort: model.encoding.most_active(
                model.reached, outside(sort, self.restriction.values[sort]), bound
            )
            for sort, bound in model.deployment.bounds.items()
        }

    @property
    def open_leaps(self) -> Mapping[tuple[str, int], str]:
        """The `ensure` alternatives for which it is undecided if they exceed a bound."""
        return self._model.open_leaps

    @property
    @at_work()
    def statistics(self) -> Mapping[str, int]:
        """Counts that describe the cost of the verification.

        These are BDD variables and nodes, the actions in the transition relation, sweeps, the places in the
        data at which contexts were searched, and, if the backend counts them, the steps of all operations on
        diagrams, and those of the last plan.
        """
        manager, (planned_nodes, planned_steps) = self._model.manager, self._after_planning
        steps = {} if manager.steps is None else {"planned_steps": planned_steps or 0, "steps": manager.steps}
        return {
            "planned_nodes": planned_nodes,
            **steps,
            "bits": len(self._model.encoding.state_bits),
            "variables": manager.variables,
            "nodes": manager.nodes,
            "reached_nodes": self._model.reached.dag_size,
            "actions": sum(tool.actions for tool in self._model.tools.values()),
            "sweeps": self._model.sweeps,
            "places": sum(finder.places for finder in self._model.finders),
        }

    @at_work()
    def holds(self, formula: fo.Formula) -> bool:
        """Return True if M ↾ U_f ⊨ f, at every initial state."""
        return self._checker.holds_initially(formula)

    @at_work()
    def whatever_chosen(self, formula: fo.Formula, choosers: Choosers, *, holds: bool) -> bool:
        """Return True if the sentence holds, or fails, for all choices of the choosers.

        It is not shown if a formula asks which of several agents makes a call.
        """
        if self._model.actors.tools:  # a choice would also choose the agent that makes a call
            return False
        if choosers not in self._whatever:
            self._whatever[choosers] = Whatever(self._model, choosers)
        return self._whatever[choosers].decides(formula, holds=holds)

    @at_work()
    def meets_contexts(self, most: int | None) -> bool:
        """Return True if the wrappers have decided every context of R, after an enumeration for policies."""
        return self._model.has_met_contexts or self._model.meets_contexts(most)

    @at_work()
    def is_among_alike(self, agent: str) -> bool:
        """Return True if several symmetric calls may happen in some D ∈ R, in the known contexts."""
        return self._model.is_among_alike(agent)

    @at_work()
    def rules_used(self, agent: str, rules: Sequence[Rule] | None = None) -> RulesUsed:
        """Return the rules of an agent's policy that match, and those that decide, in some D ∈ R."""
        return self._model.rules_used(agent, rules)

    @at_work()
    def under(
        self, fair: Sequence[fo.Formula], actions: Sequence[FairAction], *, idle: bool = False
    ) -> SymbolicConstrained:
        """Return the same states with other fairness constraints; ``idle``: with agents that do nothing."""
        return SymbolicConstrained(Checker(self._idle if idle else self._model, fair, actions))

    @cached_property
    def _idle(self) -> ReachableStates:
        return idling(self._model)

    @cached_property
    @at_work()
    def hidden(self) -> Hidden | None:
        """The states from which no fair run starts; None if there are none."""
        return self._deployed.hidden

    @cached_property
    @at_work()
    def completed(self) -> SymbolicConstrained:
        """The same states, where a run that enters a state without fair runs counts as well."""
        return self._deployed.completed

    @at_work()
    def satisfying(self, formula: fo.Formula, assignment: Mapping[str, Value]) -> SymbolicStateSet:
        """Return { D ∈ R : (D, σ) ⊨ f }."""
        return SymbolicStateSet(self._model, self._deployed.witness.states(formula, assignment))

    @at_work()
    def is_called(self, tool: str, condition: fo.Formula, *, selected: bool) -> bool:
        """Return True if some call ω(u) with (D, u) ⊨ f is offered, or selected, in some D ∈ R."""
        return self._model.is_called(tool, condition, selected=selected)

    @at_work()
    def enabled_calls(self, tool: str, guard: fo.Formula) -> int:
        """Return |{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard }|."""
        return self._model.enabled_calls(tool, guard)

    def starts(self) -> Iterator[Instance]:
        """Yield the initial states; with representatives some of each isomorphism class."""
        return iter(SymbolicStateSet(self._model, self._model.initial).sample(self.initial))

    @at_work()
    def steps(self, state: Instance) -> Iterator[Step]:
        """Yield one step to each D' with D → D'."""
        model = self._model
        return iter([model.step_between(state, after) for after in model.successors(state)])

    @at_work()
    def quotient(self, agent: str, groups: Sequence[Collection[DecisionContext]]) -> Quotient:
        """Return the quotient of the reachable states by the contexts of an agent."""
        return quotient(self._model, agent, groups)

    @at_work()
    def evidence(self, formula: fo.Formula, holds: bool) -> Evidence:
        """Return evidence that the sentence holds, or fails, at an initial state in which it does."""
        return self._deployed.evidence(formula, holds)


def _looking(watch: Watch) -> Looking:
    """Return a callback that passes new states to the watch.

    Formulas are evaluated within the states reached so far, as the checker does for specifications, since
    over all states their diagrams can be exponentially larger.
    """

    def look(model: ReachableStates, new: Bdd) -> None:
        checker = Checker(model)

        def reaching(formula: fo.Formula) -> Trace | None:
            there = new & checker.formula(formula, {})
            return None if there == model.manager.false else model.trace_to(there)

        watch(reaching)

    return look


class SymbolicConstrained:
    """The reachable states under fairness constraints, the deployment's or others."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.witness = Witness(checker)

    @property
    @at_work()
    def is_fair_everywhere(self) -> bool:
        """True if a run that meets the constraints starts in every reachable state."""
        return self._checker.hidden == self._checker.manager.false

    @property
    @at_work()
    def hidden(self) -> Hidden | None:
        """The states from which no run starts that meets the constraints; None if there are none."""
        model, hidden = self._checker.model, self._checker.hidden
        if hidden == model.manager.false:
            return None
        return Hidden(model.manager.count(hidden, model.encoding.state_bits), self.witness.run_into(hidden))

    @property
    @at_work()
    def completed(self) -> SymbolicConstrained:
        """The same states, where a run that enters a state without fair runs counts as well."""
        return SymbolicConstrained(self._checker.completion())

    @at_work()
    def holds(self, formula: fo.Formula) -> bool:
        """Return True if M ↾ U_f ⊨ f at every initial state, over the runs that meet the constraints."""
        return self._checker.holds_initially(formula)

    @at_work()
    def evidence(self, formula: fo.Formula, holds: bool) -> Evidence:
        """Return evidence that the sentence holds, or fails, at an initial state in which it does.

        Initial states where a fair run starts are preferred.
        """
        start = self._start(formula, holds)
        self.witness.enter(start)
        root = explain(self.witness, formula, start, holds)
        return Evidence(root, not self._checker.model.has_one_initial, self._checker.completed)

    def _start(self, formula: fo.Formula, holds: bool) -> Instance:
        """Return an initial state in which the sentence holds, or fails.

        If a run to some state is evidence, it is the start of a shortest such run.
        """
        checker, model = self._checker, self._checker.model
        sat, fairly = checker.sat, checker.fairly
        if model.has_one_initial:
            return model.encoding.decode(model.manager.pick(model.initial, model.encoding.order))
        match formula:
            case fo.Globally("A", body) if not holds:
                return model.trace_to(fairly(sat(fo.Not(body), {}))).start
            case fo.Future("E", body) if holds:
                return model.trace_to(fairly(sat(body, {}))).start
            case _:
                starts = checker.initially(formula if holds else fo.Not(formula))
                if (fair := fairly(starts)) != model.manager.false:
                    starts = fair
                empty = dict.fromkeys(model.encoding.order, False)
                return model.encoding.decode(model.manager.nearest(starts, empty))


class SymbolicStateSet(Shown):
    """A set of reachable states as a diagram over the state bits."""

    def __init__(self, model: ReachableStates, states: Bdd) -> None:
        assert model.encoding.are_states(states)
        self._model = model
        self._states = states

    @at_work()
    def __bool__(self) -> bool:
        """Return True if the set is not empty."""
        return self._states != self._model.manager.false

    @property
    @at_work()
    def count(self) -> int:
        """The exact number of states."""
        return self._model.manager.count(self._states, self._model.encoding.state_bits)

    @at_work()
    def __contains__(self, state: Instance) -> bool:
        """Return True if the state is a member."""
        return self._model.contains(self._states, state)

    @at_work()
    def sample(self, number: int) -> tuple[Instance, ...]:
        """Return up to ``number`` different members."""
        m, left = self._model.manager, self._states
        members: list[Instance] = []
        while left != m.false and len(members) < number:
            state = self._model.encoding.decode(m.pick(left, self._model.encoding.order))
            members.append(state)
            left = left & ~self._model.singleton(state)
        return tuple(members)

    def __repr__(self) -> str:
        """Return the number of states as text."""
        return f"<{self.count} states>"
