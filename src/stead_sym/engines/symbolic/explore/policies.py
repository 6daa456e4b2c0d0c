"""The selection of a policy of rules as sets of states, without enumeration of contexts.

Rules are formulas over the state (`deployment.selecting`). Let a_i(D, u) mean that rule i, which is `call
ω(t) when f`, matches the call ω(u) in D: ω(u) is offered, t has the value u under some assignment σ, and
(view(D), σ) ⊨ f, where quantifiers range over the values in the view or in offered calls. Then the agent
selects

    S_ω(D, u)  =  ⋁_{i a rule of ω}  a_i(D, u) ∧ ⋀_{j < i} ¬∃v. a_j(D, v).

Law. If the policy mentions no constant outside B, this is Π^can(D, Offer(D)).

Proof. A renaming ρ that fixes B maps shown facts to shown facts, offered calls to offered calls and a match
to a match, since first-order formulas with constants in B are preserved. So R̂(ρ(D, A)) = ρ(R̂(D, A)) for the
rule agent R̂, and in Eq. (wrapper) each ρ⁻¹(R̂(ρ(D, A))) is R̂(D, A), and so is their union. ∎

If some answers are replaced (`agents.revised`), S is replaced in the states that show one of their contexts.

One decision: S is computed within the states that hold at most one fact of each relation for which the plan
has found that. If a record is in hand, a rule then depends on that record only, and not on all sets of
records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from stead_sym.agents.revised import replaced, rules_of
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Rule
from stead_sym.deployment.selecting import Selecting, own_args
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.explore.offers import Offers


def has_formulas(wrapper: CanonicalWrapper) -> bool:
    """Return True if the law above applies to a wrapped agent.

    It does not if an answer is replaced in a context that has facts about the past, since the states that
    show such a context are not computed.
    """
    rules = rules_of(wrapper)
    if rules is None or (wrapper.told and replaced(wrapper)):
        return False
    return rules.constants <= wrapper.rigid


class CompiledPolicy:
    """The policy of one agent, over the state bits and the selectors of its tools.

    It is correct in the states that hold at most one fact of each relation for which the plan has found that.
    """

    def __init__(
        self, deployment: Deployment, role: AgentRole, rules: Sequence[Rule], offers: Offers
    ) -> None:
        self.role = role
        self.rules = rules
        self.manager = offers.beside.manager
        self._deployment = deployment
        self._selecting = Selecting(deployment, role)
        self._offers = offers

    def selected(self) -> Mapping[str, Bdd]:
        """Return S_ω for each tool of the agent."""
        m = self.manager
        selected: dict[str, list[Bdd]] = {name: [] for name in self.role.tools}
        earlier = m.false
        for rule in self._own:
            matching = self._matches(rule) & ~earlier
            selected[rule.tool].append(matching)
            earlier = earlier | m.exist(self._offers.selectors(rule.tool), matching)
        return {name: m.disj(parts) for name, parts in selected.items()}

    def matched(self) -> Mapping[int, Bdd]:
        """Return, by the rule's number, the states in which a rule matches some call, over the state bits."""
        m, selectors = self.manager, self._offers.selectors
        return {
            number: m.exist(selectors(rule.tool), self._matches(rule))
            for number, rule in enumerate(self.rules)
            if rule in self._own
        }

    @property
    def _own(self) -> Sequence[Rule]:
        """The rules for the agent's tools; others match nothing."""
        return [rule for rule in self.rules if rule.tool in self.role.tools]

    def _matches(self, rule: Rule) -> Bdd:
        """Return a_i over the state bits and the selectors of the rule's tool."""
        matched = self._selecting.matched(rule, own_args(self._deployment.tool(rule.tool)))
        asked = self._offers.conjuncts(rule.tool, matched)
        return self.manager.conj([self._within, self._offers.calls[rule.tool], *asked])

    @cached_property
    def _within(self) -> Bdd:
        """The states that hold at most one fact of each `single` relation."""
        m, compiler = self.manager, self._offers.beside
        encoding = compiler.encoding
        facts = (encoding.dynamic_facts[relation] for relation in sorted(compiler.single))
        return ~m.disj(m.at_least(2, map(encoding.atom, some)) for some in facts)
