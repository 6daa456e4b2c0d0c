"""The reachable states of a deployment whose agents do nothing if they can."""

from __future__ import annotations

from copy import copy

from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.engines.symbolic.step.transitions import Transitions


def idling(model: ReachableStates) -> ReachableStates:
    """Return the states that are reachable if agents only make calls without effect.

    A call is without effect if each of its outcomes is the state itself. Events happen as before. A state
    without such a call or an event keeps the steps of the model.
    """
    m, selectors = model.manager, model.offers.selectors
    quiet = {tool.name: _quiet(model, tool.name) for tool in model.deployment.tools}
    selected = {event.name: model.transitions.selected[event.name] for event in model.deployment.events}
    moving = m.disj(m.exist(selectors(name), of) for name, of in (*selected.items(), *quiet.items()))
    by_agent = {
        agent: {name: quiet[name] | (of & ~moving) for name, of in calls.items()}
        for agent, calls in model.by_agent.items()
    }
    for name in quiet:
        of = ((agent, calls[name]) for agent, calls in by_agent.items() if name in calls)
        selected[name] = m.disj(model.actors.made_by(name, agent, calls) for agent, calls in of)
    idle = copy(model)
    idle.by_agent = by_agent
    idle.transitions = Transitions.empty(model.encoding, model.tools, model.report, model.actors).selecting(
        selected
    )
    idle.reached = idle.transitions.reachable(model.initial, model.initial)
    return idle


def _quiet(model: ReachableStates, name: str) -> Bdd:
    """Return the offered calls that lead to no other state, over the state bits and the tool's selectors."""
    m, encoding, tool = model.manager, model.encoding, model.tools[name]
    copies = frozenset(copied for _, copied in model.transitions.moving)
    same = m.conj(m.var(bit).equiv(m.var(copied)) for bit, copied in model.transitions.moving)
    steps = model.actors.by_anybody(tool.steps)
    stays, leaves = m.exist(copies, steps & same), m.exist(copies, steps & ~same)
    offered = model.offers.calls[name] & encoding.care
    return offered & stays & ~leaves & ~tool.exceeding & ~tool.overflow
