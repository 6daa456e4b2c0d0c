"""Fairness of actions as sets: where a call may happen, where it is released from its constraint, along which
steps it is taken.

One decision: a line about a tool is one constraint over the tool's selectors, not one per tuple of arguments,
so that a fixpoint serves all of them. A living value keeps its name from step to step, also with
representatives, and a name goes to another value only through a state in which it is not active; so a
constraint per name is met on a run just where the constraints per value are (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stead_sym.deployment.parts import FairAction
from stead_sym.engines.symbolic.bdd.fixpoint import Along
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.encode.values import FAIR, bits_of
from stead_sym.engines.symbolic.explore.reach import ReachableStates


@dataclass(frozen=True, slots=True)
class ActionSets:
    """One constraint. ``calls`` are those that it is about, per tool over the state bits and its selectors;
    ``agent`` selects them, where it is about an agent. The rest is as in `Along`: ``steps`` over the state
    bits, their copies and ``params``, the selectors of the tool, none for an agent."""

    calls: Mapping[str, Bdd]
    agent: str | None
    selectors: Mapping[str, str]
    enabled: Bdd
    released: Bdd
    steps: tuple[Bdd, ...]

    @property
    def params(self) -> Bits:
        """The bits of the arguments."""
        return frozenset(self.selectors)

    def over(self, pairs: Pairs) -> Along:
        """The constraint on runs of pairs of a state and an assignment."""
        return Along(self.params, self.enabled, self.released, pairs.along(self.steps))


def fair_actions(model: ReachableStates, action: FairAction) -> tuple[ActionSets, ...]:
    """The constraints of a line: for `fair agent` one per agent."""
    if action.kind != "agent":
        return (_of_calls(model, str(action.name), action.strong),)
    agents = (agent for agent in model.by_agent if action.name in (None, agent))
    return tuple(_of_turns(model, agent, action.strong) for agent in agents)


def _of_turns(model: ReachableStates, agent: str, strong: bool) -> ActionSets:
    """The action that an agent makes a call. It is enabled where a call is offered: the agent selects one."""
    m, calls = model.manager, model.by_agent[agent]
    bits = {name: model.offers.selectors(name) for name in calls}
    enabled = m.disj(m.exist(bits[name], of) for name, of in calls.items())
    actors, tools = model.actors, model.tools
    steps = tuple(
        m.and_exist(bits[name] | actors.bits, actors.made_by(name, agent, of), tools[name].steps)
        for name, of in calls.items()
    )
    return ActionSets(calls, agent, {}, enabled, m.false if strong else ~enabled, steps)


def _of_calls(model: ReachableStates, name: str, strong: bool) -> ActionSets:
    """That a call of a tool, or an event, is taken: per tuple of arguments. It is enabled where it may
    happen, selected by an agent if it is a call. A strong constraint is released where a value of an
    unbounded sort among the arguments is not active."""
    m, encoding, tool = model.manager, model.encoding, model.tools[name]
    selectors = tool.interface.selectors
    params = encoding.distinct((selector.sort for selector in selectors), FAIR)
    standing = dict(zip(bits_of(selectors), bits_of(params), strict=True))
    over_params = {selector: m.var(bit) for selector, bit in standing.items()}
    calls = m.conj([model.transitions.selected[name], *map(encoding.valid, selectors)])
    enabled = m.substitute(calls, over_params)
    absent = m.disj(
        ~encoding.active(vector.sort, vector)
        for vector in params
        if encoding.schema.sort(vector.sort).values is None
    )
    return ActionSets(
        {name: calls},
        None,
        {bit: selector for selector, bit in standing.items()},
        enabled,
        absent if strong else ~enabled,
        (m.substitute(calls & model.transitions.steps_by(name), over_params),),
    )
