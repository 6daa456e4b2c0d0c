"""The selections of an agent, from its decision table.

For an entry K with the values k1, …, km outside B, and a vector x_i for each of them, let

    χ_K(D, x)  iff  D ∈ R; x is injective on each sort, into values outside B;
                    each fact of K is shown in D and each call of K is offered there, under x;
                    D shows no more facts of any relation, and offers no more calls of any tool, than K has.

So x is an isomorphism from K to what D shows and offers, because the facts and calls of K remain distinct
under x. The agent selects  { ω(x(u)) : ω(u) selected in K, χ_K(D, x) },  the union over all isomorphisms,
which is Eq. (wrapper): no canonical form and no automorphism is needed. Obligations: every state of R in
which the agent is offered something matches an entry, and none matches two.

For a policy of the deployment the table is no evidence by itself: its answers are recomputed from the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.formulas import Formulas
from stead_sym.certificate.checker.grounding import Grounding
from stead_sym.certificate.checker.space import Leaf, Vector
from stead_sym.certificate.document import AgentTable, Entry
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.callers import itself
from stead_sym.deployment.parts import AgentRole, Policy
from stead_sym.deployment.selecting import Selecting, own_args
from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

NAME = "@"
"""The kind of the vectors for the names of a context."""


def known_values(grounding: Grounding, role: AgentRole, table: AgentTable) -> frozenset[Value]:
    """Return B: the rigid values, and the values that the agent knows by name, which must be constants.

    For a policy, the latter are the constants that it mentions.
    """
    rigid = grounding.deployment.schema.rigid
    if table.policy is not None:
        return rigid | grounding.deployment.policy(table.policy, role).constants
    constants = grounding.deployment.sort_of_constant
    for value, sort in table.known.items():
        if value not in rigid and constants.get(value) != sort:
            raise CertificateRejected(f"{value} is no constant of the sort {sort}", _place(role))
    return rigid | table.known.keys()


def _place(role: AgentRole) -> str:
    return f"decisions of {role.name}" if role.name else "decisions"


def by_rules(
    grounding: Grounding, role: AgentRole, policy: Policy, offered: Mapping[Call, Bdd]
) -> Mapping[Call, Bdd]:
    """Return where a policy selects each call, by its rules as formulas over the state.

    The first rule that matches some offered call decides (`deployment.selecting`). This is for policies that
    read the history, which have no table. Obligation: some rule matches wherever something is offered.
    """
    m, formulas, reading = grounding.space.manager, grounding.formulas, Selecting(grounding.deployment, role)
    result = dict.fromkeys(offered, m.false)
    left = grounding.reached & m.disj(offered.values())
    for rule in policy.rules:
        tool = grounding.deployment.tool(rule.tool)
        condition, matched = reading.matched(rule, own_args(tool)), m.false
        for call, where in offered.items():
            if call.tool == rule.tool:
                scope = tool.given(call)
                there = left & where & formulas(condition, scope)
                result[call] = result[call] | there
                matched = matched | there
        left = left & ~matched
    grounding.ledger.empty(left, f"policy {policy.name} selects something", _place(role))
    return result


@dataclass(frozen=True, slots=True)
class _Item:
    """A fact that K shows, or a call that it offers: the arguments, and all ground tuples of the kind."""

    args: tuple[Value, ...]
    sorts: tuple[str, ...]
    leaves: Sequence[Leaf]


class Decisions:
    """The decisions of one agent, which may be one of many."""

    def __init__(
        self,
        grounding: Grounding,
        role: AgentRole,
        rigid: Set[Value],
        offered: Mapping[Call, Bdd],
    ) -> None:
        """Prepare the ground facts and calls.

        ``offered`` are the calls of the agent's tools that some state of R offers.
        """
        self.grounding = grounding
        self.role = role
        self.rigid = rigid
        self.offered = offered
        self.space = grounding.space
        self.manager = grounding.space.manager
        self.deployment = grounding.deployment
        self.place = _place(role)
        self._shown = dict(self._views(grounding.formulas))
        self._calls: dict[str, list[Leaf]] = {name: [] for name in role.tools}
        for call, where in offered.items():
            self._calls[call.tool].append((call.args, grounding.reached & where))
        self._few: dict[tuple[str, int], Bdd] = {}
        self._items_there: dict[tuple[object, ...], Bdd] = {}

    def _views(self, formulas: Formulas) -> Iterator[tuple[str, list[Leaf]]]:
        """Yield, per relation in the agent's view, the ground tuples, each with where it is shown."""
        for relation in self.deployment.schema.relations:
            lines = [line for line in self.role.views if line.relation == relation.name]
            if self.role.views and not lines:
                continue
            leaves: list[Leaf] = []
            for fact in self.grounding.facts.of(relation.name):
                shown = self.manager.true if not self.role.views else self.manager.false
                for line in lines:
                    values = {p.name: u for p, u in zip(line.params, fact.args, strict=True)}
                    scope = {**itself(self.role), **values}
                    shown = shown | formulas(line.where, scope)
                shown = shown & self.grounding.facts.holding[fact]
                shown = shown & self.grounding.reached
                if shown != self.manager.false:
                    leaves.append((fact.args, shown))
            yield relation.name, leaves

    def selected(self, entries: Sequence[Entry], policy: Policy | None) -> Mapping[Call, Bdd]:
        """Return where each call is selected.

        Raise `CertificateRejected` if the table is not a valid decision table for R.
        """
        m, ledger = self.manager, self.grounding.ledger
        result = dict.fromkeys(self.offered, m.false)
        covered = m.false
        for number, entry in enumerate(entries, 1):
            place = f"{self.place}, context {number}"
            self._check(entry, place)
            if policy is not None:
                answer = self._answer(policy, entry)
                ledger.true(set(entry.selected) == answer, f"policy {policy.name} selects this", place)
            naming = self._naming(entry, place)
            match = self._match(entry, naming)
            if match == m.false:
                continue
            bits = frozenset(bit for vector in naming.values() for bit in vector.bits.values())
            states = m.exist(bits, match)
            ledger.empty(states & covered, "no state shows two contexts of the table", place)
            covered = covered | states
            for call in entry.selected:
                for chosen, where in self._instances(call, naming, match, bits):
                    result[chosen] = result[chosen] | where
        anything = m.disj(self.offered.values())
        reached = self.grounding.reached
        ledger.empty(reached & anything & ~covered, "the table has what is shown here", self.place)
        return result

    def _check(self, entry: Entry, place: str) -> None:
        """Check that the entry is a decision context with an answer."""
        schema, tools = self.deployment.schema, self.role.tools
        ledger = self.grounding.ledger
        ledger.true(all(fact.relation in self._shown for fact in entry.shown), "only what is shown", place)
        ledger.true(
            all(
                call.tool in tools and len(call.args) == len(self.deployment.tool(call.tool).params)
                for call in entry.offered
            ),
            "only calls of the agent",
            place,
        )
        ledger.true(
            all(len(fact.args) == schema.relation(fact.relation).arity for fact in entry.shown),
            "facts have as many values as their relations",
            place,
        )
        apart = len(set(entry.shown)) == len(entry.shown) and len(set(entry.offered)) == len(entry.offered)
        ledger.true(apart, "no fact or call is listed twice", place)
        chosen = set(entry.selected)
        ledger.true(bool(chosen) and chosen <= set(entry.offered), "some offered calls are selected", place)

    def _answer(self, policy: Policy, entry: Entry) -> set[Call]:
        """Return the selection of the first rule that matches an offered call.

        Quantifiers range over the values that are shown or offered.
        """
        view = Instance(self.deployment.schema, frozenset(entry.shown))
        active = {sort: set(values) for sort, values in view.active_domain.items()}
        for call in entry.offered:
            for param, value in zip(self.deployment.tool(call.tool).params, call.args, strict=True):
                active[param.sort].add(value)
        for rule in policy.rules:
            selected: set[Call] = set()
            for call in entry.offered:
                if call.tool != rule.tool:
                    continue
                sigma: dict[str, Value] = {}
                fits = all(
                    (sigma.setdefault(term.name, value) if isinstance(term, fo.Var) else value_of(term, {}))
                    == value
                    for term, value in zip(rule.args, call.args, strict=True)
                )
                if fits and holds(rule.when, view, sigma, active=active):
                    selected.add(call)
            if selected:
                return selected
        return set()

    # matches

    def _naming(self, entry: Entry, place: str) -> Mapping[Value, Vector]:
        """Return a vector for each value of K outside B."""
        sorts: dict[Value, str] = {}
        for item in self._items(entry):
            for sort, value in zip(item.sorts, item.args, strict=True):
                if value not in self.rigid:
                    self.grounding.ledger.true(
                        sorts.setdefault(value, sort) == sort, f"{value} is of one sort", place
                    )
        count: dict[str, int] = {}
        naming: dict[Value, Vector] = {}
        for value, sort in sorted(sorts.items()):
            naming[value] = self.space.vector(sort, count.setdefault(sort, 0), NAME)
            count[sort] += 1
        return naming

    def _items(self, entry: Entry) -> list[_Item]:
        schema, deployment = self.deployment.schema, self.deployment
        return [
            _Item(fact.args, schema.relation(fact.relation).sorts, self._shown[fact.relation])
            for fact in sorted(entry.shown)
        ] + [
            _Item(call.args, tuple(p.sort for p in deployment.tool(call.tool).params), self._calls[call.tool])
            for call in sorted(entry.offered)
        ]

    def _match(self, entry: Entry, naming: Mapping[Value, Vector]) -> Bdd:
        """Return χ_K over the states of R and the vectors of the names."""
        m = self.manager
        match = self.grounding.reached
        for relation, leaves in self._shown.items():
            match = match & self._at_most(relation, leaves, sum(f.relation == relation for f in entry.shown))
        for tool, leaves in self._calls.items():
            match = match & self._at_most(f"call {tool}", leaves, sum(c.tool == tool for c in entry.offered))
        left, placed = self._items(entry), list[Value]()
        while left and match != m.false:

            def unlinked(item: _Item) -> tuple[bool, int]:
                names = {value for value in item.args if value in naming}
                return bool(names) and names.isdisjoint(placed), len(names.difference(placed))

            item = min(left, key=unlinked)
            left.remove(item)
            conditions = [self._there(item, naming)]
            for value in dict.fromkeys(item.args):
                if value in naming and value not in placed:
                    conditions += (
                        self._differ(naming[value], naming[other])
                        for other in placed
                        if naming[other].sort == naming[value].sort
                    )
                    placed.append(value)
            match = match & m.conj(conditions)
        return match

    def _there(self, item: _Item, naming: Mapping[Value, Vector]) -> Bdd:
        """Return where the item is shown, or offered, under the values of its vectors."""
        terms = tuple(naming.get(value, value) for value in item.args)
        key = (id(item.leaves), *terms)
        if key in self._items_there:
            return self._items_there[key]
        leaves = [
            (args, where)
            for args, where in item.leaves
            if all(
                own == value if value in self.rigid else own not in self.rigid
                for own, value in zip(args, item.args, strict=True)
            )
        ]
        self._items_there[key] = self.space.choice(terms, leaves)
        return self._items_there[key]

    def _differ(self, left: Vector, right: Vector) -> Bdd:
        m = self.manager
        return m.conj(~(m.var(bit) & m.var(right.bits[value])) for value, bit in left.bits.items())

    def _at_most(self, name: str, leaves: Sequence[Leaf], number: int) -> Bdd:
        """Return where at most ``number`` of the tuples hold."""
        if (name, number) not in self._few:
            deepest = sorted((leaf for _, leaf in leaves), key=self.manager.depth, reverse=True)
            self._few[name, number] = ~self.manager.at_least(number + 1, deepest)
        return self._few[name, number]

    def _instances(
        self, call: Call, naming: Mapping[Value, Vector], match: Bdd, bits: frozenset[str]
    ) -> Iterator[tuple[Call, Bdd]]:
        """Yield the calls that a selected one denotes, each with where it does."""
        vectors = [naming[value] for value in call.args if value in naming]
        own = frozenset(bit for vector in vectors for bit in vector.bits.values())
        there = self.manager.exist(bits - own, match)
        for other in self.offered:
            if other.tool == call.tool:
                code: dict[str, bool] = {}
                fits = True
                for name, value in zip(call.args, other.args, strict=True):
                    if name in naming:
                        more = self.space.code(naming[name], value)
                        fits = fits and all(code.get(bit, of) == of for bit, of in more.items())
                        code.update(more)
                    else:
                        fits = fits and name == value
                if fits:
                    yield other, self.manager.cofactor(there, code)
