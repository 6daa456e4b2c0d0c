"""What agents that are rules select, as guards.

A policy without `view` lines is shown all of D. A call ω(u) is selected iff it is offered, some rule i for ω
matches it, and no rule before i matches a call that is offered:

    guard_ω(u) ∧ ⋁_i (match_i(u) ∧ ⋀_{j<i} ¬∃w. guard_j(w) ∧ match_j(w)),    match_i(u) = (t_i = u) ∧ when_i.

With this guard for each tool an agent that selects whatever it is offered selects what the policy does: the
deployment has the same reachable states, and what is shown of it is shown under the policy.

One decision: a tool keeps its guard, as if the agent could select any call of it, where the policy's
choice cannot be followed: there are `view` lines; a quantifier of a `when` ranges over what is shown or
offered, and does not say by a fact that its values are active; or the guard takes more records than are
looked at. Then more can be reached, and what is shown is still true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RuleAgent
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.parts import MOST_RECORDS
from stead_sym.analyses.views.steps import values
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Rule
from stead_sym.deployment.tool import Tool
from stead_sym.deployment.witnesses import is_old
from stead_sym.logic.kernel import core
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    And,
    Binder,
    Count,
    Equal,
    Exists,
    Expanded,
    Formula,
    Not,
    Term,
    Var,
    conjunction,
    disjunction,
    subformulas,
)


def followed(deployment: Deployment, wrappers: Wrappers, k: int) -> Deployment:
    """The deployment whose tools are guarded by what their agents select, as far as that can be followed with
    parts on k values."""
    needs = Needs(deployment)
    guarded: dict[str, Tool] = {}
    for role in deployment.agents:
        wrapper = wrappers[role.name]
        shared = {name for other in deployment.agents if other is not role for name in other.tools}
        if (
            wrapper is not None
            and type(agent := wrapper.agent) is RuleAgent
            and agent.constants <= wrapper.rigid
            and not role.views
            and all(map(_is_about_facts, agent.policy.rules))
        ):
            for name in set(role.tools) - shared:
                tool = deployment.tool(name)
                guard = And((tool.guard, _selected(deployment, role, agent.policy.rules, tool)))
                if _can_be_followed(needs, replace(tool, guard=guard), k):
                    guarded[name] = replace(tool, guard=guard)
    tools = tuple(guarded.get(tool.name, tool) for tool in deployment.tools_and_events)
    return replace(deployment, written=replace(deployment.written, tools=tools), text=None)


def _is_about_facts(rule: Rule) -> bool:
    """Whether each quantifier of the rule's `when` says in a fact that its values are active, so that nothing
    depends on which other values are shown."""
    return all(
        part.binder.declared or is_old(part.body, part.binder.name, frozenset())
        for part in subformulas(core(rule.when))
        if isinstance(part, Exists | Count)
    )


def _can_be_followed(needs: Needs, tool: Tool, k: int) -> bool:
    try:
        return all(values(needs, tool, effect, k) <= MOST_RECORDS for effect in tool.effects)
    except Outside:
        return False


def _selected(deployment: Deployment, role: AgentRole, rules: tuple[Rule, ...], tool: Tool) -> Formula:
    """That a call of the tool, whose parameters are free, is matched by a rule, and no call by one before."""
    own = tuple(Var(param.name) for param in tool.params)
    before: list[Formula] = []
    cases: list[Formula] = []
    for rule in rules:
        if rule.tool == tool.name:
            cases.append(conjunction((_matched(rule, own), *before)))
        if rule.tool in role.tools:
            before.append(Not(_offered_and_matched(deployment, rule)))
    return disjunction(tuple(cases))


def _matched(rule: Rule, args: tuple[Term, ...]) -> Formula:
    """That the arguments fit the rule's pattern and its `when`."""
    first: dict[str, Term] = {}
    equal: list[Formula] = []
    for term, arg in zip(rule.args, args, strict=True):
        known = first.setdefault(term.name, arg) if isinstance(term, Var) else term
        if known is not arg:
            equal.append(Equal(arg, known))
    return conjunction((*equal, substitute(rule.when, first)))


def _offered_and_matched(deployment: Deployment, rule: Rule) -> Expanded:
    """∃w. guard(w) ∧ match(w)."""
    tool = deployment.tool(rule.tool)
    formula: Formula = And((tool.guard, _matched(rule, tuple(Var(param.name) for param in tool.params))))
    for binder in reversed(tuple(_ranges(deployment, tool))):
        formula = Exists(binder, formula)
    return formula


def _ranges(deployment: Deployment, tool: Tool) -> Iterator[Binder]:
    """What the parameters range over, all listed values of a finite sort."""
    for param in tool.params:
        listed = deployment.schema.sort(param.sort).values is not None
        yield Binder(param.name, param.sort, declared=listed)
