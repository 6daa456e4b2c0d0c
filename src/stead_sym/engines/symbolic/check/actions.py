"""Fairness of actions as sets: the enabling states, the releasing states, and the steps of an action.

One decision: a line about a tool is one constraint over the tool's selectors, not one per tuple of arguments,
so that a fixpoint serves all of them; a line about outcomes is one per alternative. A living value keeps its
name from step to step, also with representatives, and a name goes to another value only through a state in
which it is not active; so a constraint per name is met on a run just where the constraints per value are
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
    """One constraint. ``calls`` are those that it is about, per tool over the state bits and its selectors;
    ``agent`` selects them, where it is about an agent. The rest is as in `Along`: ``steps`` over the state
    bits, their copies and ``params``, the selectors of the tool, none for an agent; they are those that are
    left without some calls. ``outcome``: it is about an alternative of the calls."""

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
        """(D, ν) → (D', ν'), by a call that is used."""
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
        """The same without some calls, for each constraint on outcomes over its ``params``."""
        m, unused = self.model.manager, dict(self.unused)
        for action, broken in zip(self.actions, calls, strict=True):
            if broken != m.false:
                [tool] = action.calls
                over = {bit: m.var(selector) for bit, selector in action.selectors.items()}
                unused[tool] = unused.get(tool, m.false) | m.substitute(broken, over)
        return ActionSteps(self.model, self.pairs, self.actions, unused)


def fair_actions(model: ReachableStates, action: FairAction) -> Iterator[ActionSets]:
    """The constraints of a line: for `fair agent` one per agent, for `fair outcome` one per alternative."""
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
    """That a call of a tool, or an event, is taken: per tuple of arguments. It is enabled where it may
    happen, selected by an agent if it is a call. A strong constraint is released where a value of an
    unbounded sort among the arguments is not active."""
    m, (standing, calls, absent) = model.manager, _calls(model, name)
    over = {selector: m.var(bit) for bit, selector in standing.items()}
    enabled = m.substitute(calls, over)

    def steps(unused: Unused) -> tuple[Bdd, ...]:
        made = calls & model.transitions.steps_by(name) & ~unused.get(name, m.false)
        return (m.substitute(made, over),)

    return ActionSets({name: calls}, None, standing, enabled, absent if strong else ~enabled, steps)


def _of_outcomes(model: ReachableStates, name: str) -> Iterator[ActionSets]:
    """That each alternative of a call is taken if the call is made where the alternative is possible: per
    tuple of arguments, and released where a value of an unbounded sort among these is not active."""
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
    """The selectors of a tool, by the parameters that stand for them; its calls that may happen, over the
    selectors; and where a value of an unbounded sort is not active, over the parameters."""
    m, encoding = model.manager, model.encoding
    selectors = model.tools[name].interface.selectors
    params = encoding.distinct((selector.sort for selector in selectors), FAIR)
    standing = dict(zip(bits_of(params), bits_of(selectors), strict=True))
    calls = m.conj([model.transitions.selected[name], *map(encoding.valid, selectors)])
    absent = m.disj(
        ~encoding.active(vector.sort, vector)
        for vector in params
        if encoding.schema.sort(vector.sort).values is None
    )
    return standing, calls, absent
