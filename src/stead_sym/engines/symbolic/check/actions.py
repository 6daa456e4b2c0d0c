"""Fairness of actions as sets: the enabling states, the releasing states, and the steps of an action.

One decision: a line about a tool is one constraint over the tool's selectors, not one per tuple of arguments,
so that a fixpoint serves all of them. A living value keeps its name from step to step, also with
representatives, and a name is reassigned only through a state in which it is not active. So a run meets a
constraint per name iff it meets the constraints per value (docs/theory.md).
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
    """A fairness constraint on an action.

    ``calls`` are the calls of the action, per tool over the state bits and its selectors; ``agent`` selects
    them, if the constraint is for an agent. The other fields are as in `Along`: ``steps`` over the state
    bits, their copies and ``params``, the selectors of the tool, none for an agent.
    """

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
        """Return the constraint on runs of pairs of a state and an assignment."""
        return Along(self.params, self.enabled, self.released, pairs.along(self.steps))


def fair_actions(model: ReachableStates, action: FairAction) -> tuple[ActionSets, ...]:
    """Return the constraints of a `fair` line: one per agent for `fair agent`, otherwise one."""
    if action.kind != "agent":
        return (_of_calls(model, str(action.name), action.strong),)
    agents = (agent for agent in model.by_agent if action.name in (None, agent))
    return tuple(_of_turns(model, agent, action.strong) for agent in agents)


def _of_turns(model: ReachableStates, agent: str, strong: bool) -> ActionSets:
    """Return the constraint for the action that an agent makes a call.

    It is enabled if the agent is offered a call, since it selects one.
    """
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
    """Return the constraint for a call of a tool, or an event, per tuple of arguments.

    It is enabled if the call may happen, and is selected by an agent unless it is an event. A strong
    constraint is released if an argument of an unbounded sort is not active.
    """
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
