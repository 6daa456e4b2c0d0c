"""The calls that are offered, and those that a policy of rules selects, as sets of states.

Both are over the state bits and the selectors of a tool, without enumeration of contexts.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.agents.revised import replaced, rules_of
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.callers import called_by, self_place
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Rule
from stead_sym.deployment.selecting import Selecting, own_args
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.values import PARAM, Vector, bits_of
from stead_sym.engines.symbolic.step.effects import ToolInterface
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.relational.schema import Value


class Offers:
    """The offers of some tools and events."""

    def __init__(self, compiler: Compiler, tools: Mapping[str, ToolInterface]) -> None:
        self.tools = tools
        self.beside = Compiler(compiler.encoding, PARAM, compiler.single)
        """A compiler over one-hot vectors, which are next to the records, like selectors."""

    def of(self, role: AgentRole) -> Offers:
        """Return the offers of one agent, which may be one of many."""
        if role.me is None:
            return self
        return Offers(self.beside, {name: self._called_by(role, role.me, name) for name in role.tools})

    def _called_by(self, role: AgentRole, me: Value, name: str) -> ToolInterface:
        interface = self.tools[name]
        own = self.beside.encoding.is_value(interface.params[self_place(interface.tool)], me)
        return replace(interface, tool=called_by(role, interface.tool), offered=interface.offered & own)

    @cached_property
    def calls(self) -> Mapping[str, Bdd]:
        """Per tool the states in which its calls are offered: the selection of an unrestricted agent."""
        return {name: self.under(name, tool.tool.guard) for name, tool in self.tools.items()}

    def under(self, name: str, guard: fo.Formula) -> Bdd:
        """Return the states in which a tool's calls would be offered under another guard.

        They are over the state bits and its selectors.
        """
        tool, valid = self.tools[name], self.beside.encoding.valid
        guarded = replace(tool.tool, guard=guard)
        return self.beside.manager.conj(
            [self.beside.offered(guarded, tool.selectors), *map(valid, tool.selectors)]
        )

    def selectors(self, name: str) -> Bits:
        """Return the bits of a tool's selectors."""
        return frozenset(bits_of(self.tools[name].selectors))

    def by(self, names: Iterable[str], states: Bdd) -> Bdd:
        """Return the states, of a set over the state bits, in which some call of these tools is offered."""
        m = self.beside.manager
        silent = states
        for name in names:
            silent = silent & ~m.and_exist(self.selectors(name), silent, self.calls[name])
        return states & ~silent

    def condition(self, name: str, formula: fo.Formula) -> Bdd:
        """Return ⟦f⟧ over the state bits and a tool's selectors, for a first-order f over its parameters."""
        return self.beside.formula(formula, self._scope(name))

    def conjuncts(self, name: str, formula: fo.Formula) -> Iterator[Bdd]:
        """Yield sets whose intersection is `condition`."""
        return self.beside.conjuncts(formula, self._scope(name))

    def _scope(self, name: str) -> Mapping[str, Vector]:
        """Return the selectors of a tool, by the names of its parameters."""
        tool = self.tools[name]
        return dict(zip((param.name for param in tool.tool.params), tool.selectors, strict=True))


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
