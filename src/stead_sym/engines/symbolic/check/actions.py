"""Fairness of actions as sets: the enabling states, the releasing states, and the steps of an action.

One decision: a line about a tool is one constraint over the tool's selectors, not one per tuple of arguments,
so that a fixpoint serves all of them. A line about outcomes is one constraint per alternative. A living value
keeps its name from step to step, also with representatives, and a name is reassigned only through a state in
which it is not active. So a run meets a constraint per name iff it meets the constraints per value
(docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from stead_sym.deployment.parts import FairAction
from stead_sym.engines.symbolic.bdd.fixpoint import Along
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.encode.values import FAIR, bits_of
from stead_sym.engines.symbolic.explore.reach import ReachableStates

Unused: TypeAlias = Mapping[str, Bdd]
"""Calls that are not made, per tool over the pairs of a state and an assignment, and the tool's selectors."""


@dataclass(frozen=True, slots=True)
class ActionSets:
    """A fairness constraint on an action.

    ``calls`` are the calls of the action, per tool over the state bits and its selectors; ``agent`` selects
    them, if the constraint is for an agent. ``selectors`` has the bit of the tool's selectors for each bit of
    ``params``; there are none for an agent.

    The other fields are as in `Along`, over the state bits and ``params``, and ``steps`` over the copies of
    the state bits too. ``steps`` returns those that remain if some calls are not made. ``outcome``: the
    constraint is for an alternative of the calls.
    """

    calls: Mapping[str, Bdd]
    agent: str | None
    selectors: Mapping[str, str]
    enabled: Bdd
    released: Bdd
    steps: Callable[[Unused], tuple[Bdd, ...]]
    outcome: bool = False

    @property
    def params(self) -> Bits:
        """The bits of the arguments."""
        return frozenset(self.selectors)


@dataclass(frozen=True)
class ActionSteps:
    """The steps of pairs and the constraints on them (`FairSteps`), some calls being ``unused``."""

    model: ReachableStates
    pairs: Pairs
    actions: Sequence[ActionSets]
    unused: Unused = field(default_factory=dict)

    @cached_property
    def relation(self) -> Relation:
        """The steps (D, ν) → (D', ν') by a call that is used."""
        if not self.unused:
            return self.pairs.relation
        transitions = self.model.transitions
        parts = (
            transitions.steps_by(name) & ~self.unused[name] if name in self.unused else part
            for name, part in zip(self.model.tools, transitions.parts, strict=True)
        )
        return self.pairs.along(parts, transitions.chosen)

    @cached_property
    def along(self) -> tuple[Along, ...]:
        """The constraints on runs of pairs."""
        return tuple(map(self._over, self.actions))

    def _over(self, action: ActionSets) -> Along:
        asking = action.enabled
        if action.outcome:
            [tool] = action.calls
            asking = asking & ~self._over_params(action, self.unused.get(tool, self.model.manager.false))
        steps = self.pairs.along(action.steps(self.unused))
        return Along(action.params, asking, action.released, steps, action.outcome)

    def _over_params(self, action: ActionSets, calls: Bdd) -> Bdd:
        m = self.model.manager
        return m.substitute(calls, {selector: m.var(bit) for bit, selector in action.selectors.items()})

    def without(self, calls: Sequence[Bdd]) -> ActionSteps:
        """Return the steps and constraints without some calls.

        ``calls`` has for each constraint on outcomes a set over its ``params``, and is empty for the others.
        """
        m, unused = self.model.manager, dict(self.unused)
        for action, broken in zip(self.actions, calls, strict=True):
            if broken != m.false:
                [tool] = action.calls
                over = {bit: m.var(selector) for bit, selector in action.selectors.items()}
                unused[tool] = unused.get(tool, m.false) | m.substitute(broken, over)
        return ActionSteps(self.model, self.pairs, self.actions, unused)


def fair_actions(model: ReachableStates, action: FairAction) -> Iterator[ActionSets]:
    """Yield the constraints of a `fair` line.

    There is one per agent for `fair agent`, one per alternative for `fair outcome`, and otherwise one.
    """
    match action.kind:
        case "agent":
            yield from (
                _of_turns(model, agent, action.strong)
                for agent in model.by_agent
                if action.name in (None, agent)
            )
        case "outcome":
            yield from _of_outcomes(model, str(action.name))
        case _:
            yield _of_calls(model, str(action.name), action.strong)


def _of_turns(model: ReachableStates, agent: str, strong: bool) -> ActionSets:
    """Return the constraint for the action that an agent makes a call.

    It is enabled if the agent is offered a call, since it selects one.
    """
    m, calls = model.manager, model.by_agent[agent]
    bits = {name: model.offers.selectors(name) for name in calls}
    enabled = m.disj(m.exist(bits[name], of) for name, of in calls.items())
    actors, tools = model.actors, model.tools

    def steps(unused: Unused) -> tuple[Bdd, ...]:
        return tuple(
            m.and_exist(
                bits[name] | actors.bits,
                actors.made_by(name, agent, of & ~unused.get(name, m.false)),
                tools[name].steps,
            )
            for name, of in calls.items()
        )

    return ActionSets(calls, agent, {}, enabled, m.false if strong else ~enabled, steps)


def _of_calls(model: ReachableStates, name: str, strong: bool) -> ActionSets:
    """Return the constraint for a call of a tool, or an event, per tuple of arguments.

    It is enabled if the call may happen, and is selected by an agent unless it is an event. A strong
    constraint is released if an argument of an unbounded sort is not active.
    """
    m, (standing, calls, absent) = model.manager, _calls(model, name)
    over = {selector: m.var(bit) for bit, selector in standing.items()}
    enabled = m.substitute(calls, over)

    def steps(unused: Unused) -> tuple[Bdd, ...]:
        made = calls & model.transitions.steps_by(name) & ~unused.get(name, m.false)
        return (m.substitute(made, over),)

    return ActionSets({name: calls}, None, standing, enabled, absent if strong else ~enabled, steps)


def _of_outcomes(model: ReachableStates, name: str) -> Iterator[ActionSets]:
    """Yield the constraint for each alternative of a call, per tuple of arguments.

    The alternative is taken infinitely often if the call is made infinitely often where the alternative is
    possible. The constraint is released if an argument of an unbounded sort is not active.
    """
    m, (standing, calls, absent) = model.manager, _calls(model, name)
    over = {selector: m.var(bit) for bit, selector in standing.items()}
    copies = frozenset(copied for _, copied in model.transitions.moving)

    def taken(by: Bdd) -> Callable[[Unused], tuple[Bdd, ...]]:
        return lambda unused: (m.substitute(by & ~unused.get(name, m.false), over),)

    for steps in model.transitions.steps_by_alternative(name):
        by = calls & steps
        possible = m.substitute(m.exist(copies, by), over)
        yield ActionSets({name: calls}, None, standing, possible, absent, taken(by), outcome=True)


def _calls(model: ReachableStates, name: str) -> tuple[Mapping[str, str], Bdd, Bdd]:
    """Return a tool's selector bits by parameter bit, its calls, and where an argument is absent.

    The calls are those that may happen, over the selectors. An argument is absent if its sort is unbounded
    and it is not active in the state; this set is over the parameters.
    """
    m, encoding = model.manager, model.encoding
    selectors = model.tools[name].interface.selectors
    params = encoding.distinct((selector.sort for selector in selectors), FAIR)
    standing = dict(zip(bits_of(params), bits_of(selectors), strict=True))
    calls = m.conj([model.transitions.selected[name], *map(encoding.valid, selectors)])
    absent = m.disj(
        ~encoding.active(vector.sort, vector)
        for vector in params
        if not encoding.schema.is_finite(vector.sort)
    )
    return standing, calls, absent
