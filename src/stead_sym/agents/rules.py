"""White-box agents: the `policy` items of a deployment as base agents.

The decision: a rule agent is an agent like any other. It sees the decision context only, so `when` is
evaluated on the view, and its quantifiers range over the values in the context.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Policy, Rule
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import AgentError
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.relational.schema import Value, tells_history


@dataclass(frozen=True, slots=True)
class RulesUsed:
    """The rules of a policy, by number from 0, that match a call somewhere, and the deciding ones.

    A rule decides if it is the first to match in some context.
    """

    matching: frozenset[int]
    deciding: frozenset[int]


@dataclass(frozen=True)
class RuleAgent:
    """The agent of a `policy`: the first rule that matches some offered call selects all its matches.

    Rule `call w(t) when f` matches w(u) if t has the value u under some assignment σ, and (view, σ) ⊨ f.
    ``policy`` is expanded, as those of a `Deployment` are (`TypeError` otherwise); ``tools`` give the sorts
    of the calls' arguments.

    A rule agent is C-equivariant for the C of its ``constants``: wrapped with these as ``known``, its
    selections do not change (Theorem "Enforcement and preservation"). Otherwise it never sees those that are
    not rigid, since the wrapper renames them.
    """

    policy: Policy
    tools: tuple[Tool, ...]

    def __post_init__(self) -> None:
        """Check that every formula is expanded."""
        _ = self.constants  # checks every formula, and raises for one that is not expanded

    @classmethod
    def of(cls, deployment: Deployment, policy: str, role: AgentRole | None = None) -> RuleAgent:
        """Return the agent of the named policy, in the given role, by default that of the only agent.

        Raise `DeclarationError` if there is no such policy.
        """
        return cls(deployment.policy(policy, role), deployment.tools)

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self.policy.name

    @cached_property
    def constants(self) -> frozenset[Value]:
        """The values that the policy mentions by name."""
        return self.policy.constants

    @cached_property
    def told(self) -> frozenset[str]:
        """The relations of the history that the rules read."""
        read = (part for rule in self.policy.rules for part in fo.subformulas(rule.when))
        return frozenset(p.relation for p in read if isinstance(p, fo.Atom) and tells_history(p.relation))

    @property
    def tells_of_steps(self) -> bool:
        """True if the rules depend on the past, recorded or not."""
        return bool(self.told) or any(fo.tells_of_steps(rule.when) for rule in self.policy.rules)

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """Return the matches of the first matching rule; raise `AgentError` if no rule matches."""
        return [self._select(context) for context in contexts]

    def _select(self, context: DecisionContext) -> frozenset[Call]:
        for rule in self.policy.rules:
            if matches := self.matches(rule, context):
                return matches
        raise AgentError(
            f"policy {self.name} selects nothing for {context};"
            " add a rule that matches, or a tool to wait with",
            self.policy.span,
        )

    def matches(self, rule: Rule, context: DecisionContext) -> frozenset[Call]:
        """Return the offered calls that a rule of the policy matches."""
        active = self._shown(context)
        listed = {sort: self._listed(context, sort, active[sort]) for sort in self._ranging}
        return frozenset(
            call
            for call in context.calls
            if (sigma := match_rule(rule, call)) is not None
            and holds(rule.when, context.view, sigma, active=active, listed=listed)
        )

    def used(self, contexts: Iterable[DecisionContext], rules: Sequence[Rule] | None = None) -> RulesUsed:
        """Return which of the ``rules`` match, and which decide, in some of these contexts.

        By default they are those of the policy.
        """
        rules = self.policy.rules if rules is None else rules
        matching: set[int] = set()
        deciding: set[int] = set()
        for context in contexts:
            here = [k for k, rule in enumerate(rules) if self.matches(rule, context)]
            matching.update(here)
            deciding.update(here[:1])
        return RulesUsed(frozenset(matching), frozenset(deciding))

    @cached_property
    def _ranging(self) -> frozenset[str]:
        """The finite sorts over all values of which the rules quantify."""
        read = (part for rule in self.policy.rules for part in fo.subformulas(rule.when))
        binders = (part.binder for part in read if isinstance(part, fo.Quantified | fo.Each))
        return frozenset(binder.sort for binder in binders if binder.declared)

    def _listed(self, context: DecisionContext, sort: str, shown: Set[Value]) -> Sequence[Value]:
        """Return the values of a finite sort under their names in the context, which the wrapper may rename.

        The names of those that it does not show do not matter, but for how many they are.
        """
        values = context.view.schema.sort(sort).values or ()
        named = [value for value in values if value in self.constants]
        return list(dict.fromkeys((*sorted(shown), *named, *values)))[: len(values)]

    @cached_property
    def _signatures(self) -> Mapping[str, tuple[str, ...]]:
        return {tool.name: tuple(param.sort for param in tool.params) for tool in self.tools}

    def _shown(self, context: DecisionContext) -> Mapping[str, Set[Value]]:
        """Return the values in the context, per sort: those of the view and of the offered calls."""
        active = {sort: set(values) for sort, values in context.view.active_domain.items()}
        for call in context.calls:
            for sort, value in zip(self._signatures[call.tool], call.args, strict=True):
                active[sort].add(value)
        return active


def match_rule(rule: Rule, call: Call) -> dict[str, Value] | None:
    """Return the values of the rule's variables under which its pattern is ``call``.

    Return None if there are none.
    """
    if rule.tool != call.tool or len(rule.args) != len(call.args):
        return None
    sigma: dict[str, Value] = {}
    for term, value in zip(rule.args, call.args, strict=True):
        wanted = sigma.setdefault(term.name, value) if isinstance(term, fo.Var) else value_of(term, sigma)
        if wanted != value:
            return None
    return sigma
