"""What a policy of rules selects, as sets of states: no context is looked for.

A rule agent is given by formulas over its view (`agents.rules`). Let a_i(D, u) say that rule i, which is
`call ω(t) when f`, matches the call ω(u) in D: ω(u) is offered, t takes the value u under some assignment σ,
and (view(D), σ) ⊨ f, where quantifiers range over the values that are shown or stand in offered calls. Then
the agent selects

    S_ω(D, u)  =  ⋁_{i a rule of ω}  a_i(D, u) ∧ ⋀_{j < i} ¬∃v. a_j(D, v).

Law. Where the policy mentions no constant outside B, this is Π^can(D, Offer(D)).

Proof. A renaming ρ that fixes B takes shown facts to shown facts, offered calls to offered calls and a match
to a match, since first-order formulas with constants in B are preserved. So R̂(ρ(D, A)) = ρ(R̂(D, A)) for the
rule agent R̂, and in Eq. (wrapper) each ρ⁻¹(R̂(ρ(D, A))) is R̂(D, A), which is what the union is. ∎

One decision: S is computed within the states that hold one fact at most of the relations of which the plan
has found that. Where a record is in hand, a rule then speaks of that record, and not of all sets of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.parts import Rule
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.values import Vector, bits_of
from stead_sym.engines.symbolic.explore.offers import Offers
from stead_sym.engines.symbolic.explore.views import Views
from stead_sym.engines.symbolic.step.formulas import Compiler, denoted
from stead_sym.logic.activity import implies_active
from stead_sym.logic.kernel import Core
from stead_sym.logic.syntax import Binder, Var
from stead_sym.relational.schema import Value


def has_formulas(wrapper: CanonicalWrapper) -> bool:
    """Whether the law above applies to a wrapped agent."""
    return isinstance(wrapper.agent, RuleAgent) and wrapper.agent.constants <= wrapper.rigid


def selected_by(rules: RuleAgent, views: Views, offers: Offers) -> Mapping[str, Bdd]:
    """S_ω for each tool of the agent, over the state bits and the tool's selectors; right in the states that
    hold one fact at most of each relation of which the plan has found that."""
    return _Policy(views, offers).selected(rules.policy.rules)


def matched_by(rules: RuleAgent, views: Views, offers: Offers) -> Sequence[Bdd]:
    """The states in which each rule matches some call, over the state bits, in the order of the rules."""
    policy, m = _Policy(views, offers), views.manager
    return [m.exist(offers.selectors(rule.tool), policy.matches(rule)) for rule in rules.policy.rules]


class _Policy:
    """The rules of one agent, compiled over one-hot vectors."""

    def __init__(self, views: Views, offers: Offers) -> None:
        self.manager = views.manager
        self.encoding = views.encoding
        self.tools = views.tools
        self.offers = offers
        self.reader = _ViewReader(views, offers)

    def selected(self, rules: Sequence[Rule]) -> Mapping[str, Bdd]:
        m = self.manager
        selected: dict[str, list[Bdd]] = {name: [] for name in self.tools}
        earlier = m.false
        for rule in rules:
            matching = self.matches(rule) & ~earlier
            selected.setdefault(rule.tool, []).append(matching)
            earlier = earlier | m.exist(self.offers.selectors(rule.tool), matching)
        return {name: m.disj(parts) for name, parts in selected.items() if name in self.tools}

    def matches(self, rule: Rule) -> Bdd:
        """a_i over the state bits and the selectors of the rule's tool; empty for a tool of another agent."""
        if rule.tool not in self.tools:
            return self.manager.false
        return self.manager.conj([self._within, self.offers.calls[rule.tool], *self._pattern(rule)])

    @cached_property
    def _within(self) -> Bdd:
        """The states that hold one fact at most of the relations that are `single`."""
        m, encoding = self.manager, self.encoding
        facts = (encoding.dynamic_facts[relation] for relation in sorted(self.reader.single))
        return ~m.disj(m.at_least(2, map(encoding.atom, some)) for some in facts)

    def _pattern(self, rule: Rule) -> Iterator[Bdd]:
        """What the rule asks of the call's arguments, and its condition."""
        scope: dict[str, Vector | Value] = {}
        for term, selector in zip(rule.args, self.tools[rule.tool].selectors, strict=True):
            if not isinstance(term, Var):
                yield self.encoding.is_value(selector, str(denoted(term, scope)))
            elif term.name in scope:
                yield self.encoding.equal(scope[term.name], selector)
            else:
                scope[term.name] = selector
        yield from self.reader.conjuncts(rule.when, scope)


class _ViewReader(Compiler):
    """Reads formulas in what an agent is shown: an atom is true of a tuple that is shown, and quantifiers
    range over the values that are shown or stand in offered calls."""

    def __init__(self, views: Views, offers: Offers) -> None:
        super().__init__(views.encoding, offers.beside.role, offers.beside.single)
        self._views = views
        self._beside = offers.beside
        self._active: dict[Vector, Bdd] = {}

    def atom(self, relation: str, terms: tuple[Vector | Value, ...], primed: bool) -> Bdd:
        """Where the tuple is shown."""
        if relation not in self._views.shown:
            return self.manager.false
        return self._views.is_shown(self._views.shown[relation], terms, self._beside)

    def ranging(self, binder: Binder, vector: Vector, body: Core, *, joint: bool = False) -> Bdd:
        """As in `Compiler`, with the values that are shown or stand in offered calls for ad(D)."""
        if implies_active(body, binder.name):
            return self.manager.true
        if binder.declared:
            return self.encoding.valid(vector)
        if vector not in self._active:
            self._active[vector] = self.manager.disj(self._occurring(vector))
        return self._active[vector]

    def _occurring(self, vector: Vector) -> Iterator[Bdd]:
        """Where the value of a vector stands in a shown fact, or in an offered call: one set for each place
        of each relation and each tool."""
        for shown in self._views.shown.values():
            for terms in self._beside_others(vector, shown.sorts):
                yield self._somewhere(vector, terms, self._views.is_shown(shown, terms, self._beside))
        for tool in self._views.tools.values():
            for terms in self._beside_others(vector, [param.sort for param in tool.tool.params]):
                yield self._somewhere(vector, terms, self._beside.offered(tool.tool, terms))

    def _beside_others(self, vector: Vector, sorts: Sequence[str]) -> Iterator[tuple[Vector, ...]]:
        """Vectors for a tuple of these sorts, once for each place of the vector's own sort with the vector
        there."""
        for place, sort in enumerate(sorts):
            if sort == vector.sort:
                terms: list[Vector] = []
                for k, other in enumerate(sorts):
                    used = [vector, *terms]
                    terms.append(vector if k == place else self.encoding.unused(other, used, self.role))
                yield tuple(terms)

    def _somewhere(self, vector: Vector, terms: Sequence[Vector], there: Bdd) -> Bdd:
        """∃ the other vectors. there"""
        others = [term for term in terms if term is not vector]
        valid = self.manager.conj([self.encoding.valid(vector), *map(self.encoding.valid, others)])
        return self.manager.and_exist(frozenset(bits_of(others)), there, valid)
