"""Express what agents that are rules select as guards.

A call ω(u) is selected iff it is offered, some rule i for ω matches it, and no rule before i matches a call
that is offered (`deployment.selecting`):

    guard_ω(u) ∧ ⋁_i (⋀_{j<i} ¬(∃w. guard_j(w) ∧ match_j(w)) ∧ match_i(u)),
    match_i(u) = (t_i = u) ∧ [when_i].

With this guard for each tool an agent that selects whatever it is offered selects what the policy does: the
deployment has the same reachable states, and what is shown of it is shown under the policy.

One decision: a tool keeps its guard, as if the agent could select any call of it, where the policy's
choice cannot be followed: its formula is outside of the fragment, or takes more records than are looked at.
Then more can be reached, and what is shown is still true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations_with_replacement

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RuleAgent
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.parts import MOST_RECORDS
from stead_sym.analyses.views.steps import values
from stead_sym.analyses.views.weakening import resting_on_none, weaker
from stead_sym.deployment.claims import can_take_effect
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Rule
from stead_sym.deployment.selecting import Selecting, own_args
from stead_sym.deployment.tool import Tool
from stead_sym.logic.folding import conjoin, disjoin, negate


def followed(deployment: Deployment, wrappers: Wrappers, k: int | None) -> Deployment:
    """Return the deployment with tools guarded by what their agents select, for parts on k values.

    A tool is left unguarded if that takes more records than are looked at; with k None there is no such
    limit.
    """
    needs = Needs(deployment)
    guarded: dict[str, Tool] = {}
    for tool in deployment.tools:
        known = [_selected_by(deployment, wrappers, role, tool) for role in _owners(deployment, tool)]
        if not known or None in known:
            continue
        selected = fo.disjunction(tuple(one for one in known if one is not None))
        resting = weaker(tool, tuple(resting_on_none(needs, tool)))
        tried = replace(resting, guard=fo.And((resting.guard, selected)))
        if k is None or _can_be_followed(needs, tried, k):
            guarded[tool.name] = replace(tool, guard=fo.And((tool.guard, selected)))
    tools = tuple(guarded.get(tool.name, tool) for tool in deployment.tools_and_events)
    return deployment.with_tools(tools)


def exact(deployment: Deployment, wrappers: Wrappers) -> frozenset[str]:
    """Return the tools and events of `followed`, with k None, of which some agent makes each enabled call."""
    names = {event.name for event in deployment.events}
    for tool in deployment.tools:
        owners = _owners(deployment, tool)
        if any(wrappers[role.name] is None for role in owners) or all(_rules(wrappers, r) for r in owners):
            names.add(tool.name)
    return frozenset(names)


def turns(deployment: Deployment, wrappers: Wrappers) -> Iterator[tuple[Tool, ...]]:
    """Yield, for each agent with a fairness constraint, its tools, guarded by what it selects.

    The agents are those that may select anything, and those that are rules; not one that stands for many.
    """
    constrained = {action.name for action in deployment.fair_actions if action.kind == "agent"}
    for role in deployment.agents:
        if constrained.isdisjoint({None, role.name}) or role.each is not None:
            continue
        own = deployment.tools_of(role)
        selected = [_selected_by(deployment, wrappers, role, tool) for tool in own]
        if wrappers[role.name] is None:
            yield own
        elif None not in selected:
            pairs = ((tool, one) for tool, one in zip(own, selected, strict=True) if one is not None)
            yield tuple(replace(tool, guard=fo.And((tool.guard, one))) for tool, one in pairs)


def acting(deployment: Deployment, wrappers: Wrappers) -> Iterator[fo.Formula]:
    """Yield, for each agent that is rules, a formula under which it makes a call that has an effect."""
    for role in deployment.agents:
        agent = _rules(wrappers, role)
        if agent is not None and role.each is None:
            yield _acts(deployment, Selecting(deployment, role), agent.policy.rules)


def shared(deployment: Deployment, wrappers: Wrappers) -> Mapping[tuple[str, str], fo.Formula]:
    """Return for an agent of rules and a tool that others have, too, the formula that it selects a call."""
    found = {}
    for tool in deployment.tools:
        owners = _owners(deployment, tool)
        for role in owners if len(owners) > 1 else ():
            selected = _selected_by(deployment, wrappers, role, tool)
            if selected is not None:
                found[role.name, tool.name] = selected
    return found


def _rules(wrappers: Wrappers, role: AgentRole) -> RuleAgent | None:
    """Return the agent if it is rules about what it is shown; else None."""
    wrapper = wrappers[role.name]
    agent = None if wrapper is None else wrapper.agent
    return agent if wrapper and type(agent) is RuleAgent and agent.constants <= wrapper.rigid else None


def _owners(deployment: Deployment, tool: Tool) -> list[AgentRole]:
    """Return the agents that have a tool."""
    return [role for role in deployment.agents if tool.name in role.tools]


def _selected_by(
    deployment: Deployment, wrappers: Wrappers, role: AgentRole, tool: Tool
) -> fo.Formula | None:
    """Return the formula that an agent of rules selects a call of the tool; None for another agent."""
    agent = _rules(wrappers, role)
    return None if agent is None else _selected(Selecting(deployment, role), agent.policy.rules, tool)


def _can_be_followed(needs: Needs, tool: Tool, k: int) -> bool:
    sorts = [sort.name for sort in needs.schema.sorts if needs.is_open(sort.name)]
    parts = tuple(map(Counter, combinations_with_replacement(sorts, k)))
    try:
        found = (n for effect in tool.effects for n in values(needs, tool, effect, parts))
        return all(number.total() <= MOST_RECORDS for number in found)
    except Outside:
        return False


def _acts(deployment: Deployment, selecting: Selecting, rules: tuple[Rule, ...]) -> fo.Formula:
    """Return the formula that a rule matches an offered call, and each such call has an effect."""
    own = [rule for rule in rules if rule.tool in selecting.role.tools]
    effective = ((rule, _has_an_effect(deployment, deployment.tool(rule.tool))) for rule in own)
    without_effect = (selecting.offered_and_matched(rule, so) for rule, so in effective if so != fo.TRUE)
    return conjoin(
        fo.disjunction(tuple(map(selecting.offered_and_matched, own))), *map(negate, without_effect)
    )


def _has_an_effect(deployment: Deployment, tool: Tool) -> fo.Formula:
    """Return a formula, of the parameters, under which a call has a successor.

    What writes integers that it computes is left out: they may be out of range. So is what chooses a value
    by one that is new, and a constant that is chosen without being active.
    """
    none = {sort.name: () for sort in deployment.schema.sorts}
    effects = [one for one in tool.effects if not (one.is_ensure or one.computed)]
    params = {param.name for param in tool.params}
    taken = [
        f
        for f in (can_take_effect(deployment, one, none) for one in effects)
        if fo.free_variables(f) <= params
    ]
    return fo.TRUE if any(negate(one) in taken for one in taken) else disjoin(*taken)


def _selected(selecting: Selecting, rules: tuple[Rule, ...], tool: Tool) -> fo.Formula:
    """Return the formula that a call of the tool is matched by a rule, and no offered call by a rule before.

    The parameters of the tool are free in it.
    """
    before: list[fo.Formula] = []
    cases: list[fo.Formula] = []
    for rule in rules:
        if rule.tool == tool.name:
            cases.append(fo.conjunction((*before, selecting.matched(rule, own_args(tool)))))
        if rule.tool in selecting.role.tools:
            before.append(fo.Not(selecting.offered_and_matched(rule)))
    return fo.disjunction(tuple(cases))
