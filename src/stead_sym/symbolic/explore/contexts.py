"""The agent in the transition relation: decision contexts found lazily, one query for each.

For a context K with names n1, …, nk the relation match_K(D, x1, …, xk) says that x is an
injective naming under which the agent's view of D and its offered calls are exactly K. As x
ranges over *all* isomorphisms from K, the calls
    { ω(x[u]) : ω(u) selected in K, match_K(D, x) }
are those of Eq. (wrapper), symmetric contexts included, without any automorphism being computed.
States are picked once per context, never once per state.

match_K is built over all states, reachable or not: one query decides all states that show K, whatever they
hold besides that the agent is not shown. Names are one-hot vectors, each bit beside the record it may name,
so that the size of match_K is linear in the number of records. Where the agent is shown so much that
match_K is too large (it holds the orbit of K, all that renamings make of it), it is built anew for the
undecided states only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.tool import Call
from stead_sym.logic.syntax import TRUE, Formula
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.encode.values import Vector, bits_of
from stead_sym.symbolic.explore.neighbourhoods import Key, Neighbourhoods, Shape, Site
from stead_sym.symbolic.explore.offers import Offers
from stead_sym.symbolic.explore.places import Places
from stead_sym.symbolic.step.formulas import Compiler

_LIMIT = 1000  # nodes per bit of match_K over all states, past which it is cut down to those at hand


_Numbers: TypeAlias = tuple[tuple[str, int], ...]
"""How many tuples of each relation are shown, and of each tool offered."""


class _TooLarge(Exception):
    """match_K over all states has more than `_LIMIT` nodes per bit."""


@dataclass(frozen=True, slots=True)
class _Met:
    """A context K with a vector for each of its names, match_K, and the states in which K is shown: all
    of them, or those at hand where the match is ``bounded`` to these."""

    context: DecisionContext
    naming: Mapping[Value, Vector]
    match: Bdd
    states: Bdd
    bounded: bool


@dataclass(frozen=True, slots=True)
class _Located:
    """A context that is shown at the places of a shape, with the ``numbers`` of its tuples and the sites at
    which it was met, each with χ_I there."""

    shape: Shape
    key: Key
    numbers: _Numbers
    sites: Sequence[tuple[Site, Bdd]]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the agent is shown of one relation: the tuples that satisfy one of the ``cuts``, each a
    formula with the names of its free variables, one per place."""

    relation: str
    sorts: tuple[str, ...]
    cuts: tuple[tuple[tuple[str, ...], Formula], ...]


class ContextFinder:
    """Decides the calls of one agent for whole sets of states."""

    def __init__(
        self,
        deployment: Deployment,
        agent: AgentRole,
        compiler: Compiler,
        offers: Offers,
        wrapper: CanonicalWrapper,
    ) -> None:
        self.deployment = deployment
        self.agent = agent
        self.compiler = compiler  # with log-coded vectors, to go through what is shown and offered
        self.encoding = compiler.encoding
        self._beside = offers.beside  # with one-hot vectors
        self.manager = compiler.manager
        self.tools = {name: offers.tools[name] for name in agent.tools}
        self.wrapper = wrapper
        self.rigid = wrapper.rigid
        self.decided = self.manager.false
        self._offers = offers
        self.contexts: dict[DecisionContext, frozenset[Call]] = {}
        self._bounded: list[tuple[DecisionContext, Set[Call]]] = []  # known for the states met so far only
        self._shown = tuple(_shown(deployment, agent))
        self._tuples: dict[str, Sequence[Bdd]] = {}
        self._few: dict[tuple[str, int], Bdd] = {}
        self._fewest: dict[_Numbers, Bdd] = {}
        self._facts_shown: dict[Fact, Bdd] = {}
        self._places = Places(self.encoding, self.rigid, self._fact_shown)
        self._neighbourhoods = Neighbourhoods(
            self.encoding,
            self.rigid,
            [tool.tool for tool in self.tools.values()],
            [shown.relation for shown in self._shown],
            self._fact_shown,
            self._call_offered,
        )
        self._shapes: dict[Instance, Shape | None] = {}

    @cached_property
    def _shows(self) -> Mapping[str, tuple[tuple[Vector, ...], Bdd]]:
        """Per relation vectors for one tuple beside the records, and where it is shown."""
        return {shown.relation: self._all(shown, self._beside) for shown in self._shown}

    def decide(self, states: Bdd) -> Iterator[Mapping[str, Bdd]]:
        """Decide every state of ``states``: what the agent selects, as relations over the state
        bits and each tool's selectors, one mapping per context met. Where it is offered nothing it selects
        nothing.

        The contexts are found first, and what is new of them is put to the agent at once.
        """
        assert self.encoding.are_states(states)
        undecided = self._offers.by(self.tools, states & ~self.decided)
        for context, calls in self._bounded:
            if undecided != self.manager.false:
                met = self._meet(context, undecided)
                undecided = undecided & ~met.states
                yield self._settle(met, calls)
        located, found = self._search(undecided)
        new = {(at.shape, at.key): at for at in located if at.key not in at.shape.selected}
        contexts = [*(met.context for met in found), *map(self._seen, new.values())]
        decisions = self.wrapper.decide(contexts) if contexts else []
        for decision in decisions:
            self.contexts[decision.canonical] = decision.selected
        for at, decision in zip(new.values(), decisions[len(found) :], strict=True):
            names = {value: name for name, value in at.sites[0][0].place.of.items()}
            at.shape.selected[at.key] = frozenset(call.rename(names) for call in decision.calls)
        if located:
            yield self._settle_located(located)
        for met, decision in zip(found, decisions, strict=False):
            calls = frozenset(call.rename(decision.names) for call in decision.selected)
            if met.bounded:
                self._bounded.append((met.context, calls))
            yield self._settle(met, calls)

    def _search(self, undecided: Bdd) -> tuple[Sequence[_Located], Sequence[_Met]]:
        """The contexts that the undecided states show. First those at the places of shapes: the known ones,
        and those that turn up in the states that are left. Then, one by one, all others."""
        m, found = self.manager, list[_Met]()
        sites = dict[_Numbers, dict[tuple[Shape, Key], list[tuple[Site, Bdd]]]]()

        def look(shape: Shape) -> None:
            for site, near in shape.near(undecided):
                for key, condition in site.classes(m, near):
                    alike = sites.setdefault(self._numbers_of(key), {})
                    alike.setdefault((shape, key), []).append((site, condition))

        known = list(filter(None, self._shapes.values()))
        for one in known:
            look(one)
        left = undecided & ~m.disj(shape.shown for shape in known)
        while left != m.false:
            context = self.context(m.pick(left, self.encoding.order))
            shape = self._shape(context)
            if shape is None or shape in known:
                found.append(self._met(context, left))
                left = left & ~found[-1].states
            else:
                known.append(shape)
                look(shape)
                left = left & ~shape.shown
        located = list(self._located(undecided, sites))
        left = undecided & ~m.disj([self._shown_at(located), *(met.states for met in found)])
        while left != m.false:
            found.append(self._met(self.context(m.pick(left, self.encoding.order)), left))
            left = left & ~found[-1].states
        return located, found

    def showing(self, context: DecisionContext, among: Bdd) -> Bdd:
        """The states of ``among`` that show a context, or one that a renaming makes of it."""
        try:
            return among & self._meet(context, None).states
        except _TooLarge:
            return self._meet(context, among).states

    def context(self, state: Mapping[str, bool]) -> DecisionContext:
        """What the agent is shown and offered in one state, given as bits."""
        m, facts, calls = self.manager, list[Fact](), list[Call]()
        here, bits = m.cube(state), self.encoding.state_bits
        for relation, (vectors, there) in self._shows.items():
            tuples = self.encoding.tuples(m.exist(bits, there & here), vectors)
            facts += (Fact(relation, args) for args in tuples)
        for name in self.tools:
            offered = m.exist(bits, self._offers.calls[name] & here)
            tuples = self.encoding.tuples(offered, self.tools[name].selectors)
            calls += (Call(name, args) for args in tuples)
        return DecisionContext(Instance(self.deployment.schema, frozenset(facts)), frozenset(calls))

    def _fact_shown(self, fact: Fact) -> Bdd:
        """The states in which a fact is shown."""
        if fact not in self._facts_shown:
            vectors, there = self._tuples_shown[fact.relation]
            self._facts_shown[fact] = self._at(there, vectors, fact.args)
        return self._facts_shown[fact]

    def _call_offered(self, call: Call) -> Bdd:
        """The states in which a call is offered."""
        tool = self.tools[call.tool]
        return self._at(tool.offered, tool.params, call.args)

    def _at(self, function: Bdd, vectors: Sequence[Vector], args: Sequence[Value]) -> Bdd:
        """A function over the state bits and log-coded vectors, which stand above these, for some values."""
        code: dict[str, bool] = {}
        for vector, value in zip(vectors, args, strict=True):
            code |= self.encoding.code(vector, value)
        return self.manager.descend(function, code)

    @cached_property
    def _tuples_shown(self) -> Mapping[str, tuple[tuple[Vector, ...], Bdd]]:
        """Per relation log-coded vectors for one tuple, and where it is shown."""
        return {shown.relation: self._all(shown, self.compiler) for shown in self._shown}

    def _shape(self, context: DecisionContext) -> Shape | None:
        """The shape of a context's static part, if all its names stand in facts of static relations, and the
        diagrams are right everywhere and not on a care set only."""
        encoding = self.encoding
        static = {fact for fact in context.view.facts if not encoding.dynamic_facts[fact.relation]}
        named = {value for fact in static for value in fact.args}
        items = [*(fact.args for fact in context.view.facts), *(call.args for call in context.calls)]
        names = {value for args in items for value in args} - self.rigid
        if encoding.care != self.manager.true or not names or not names <= named:
            return None
        pattern = canonical_form(Instance(encoding.schema, frozenset(static)), self.rigid).instance
        if pattern not in self._shapes:
            places = self._places.of(pattern)
            self._shapes[pattern] = None if places is None else self._neighbourhoods.shape(pattern, places)
        return self._shapes[pattern]

    def _located(
        self,
        undecided: Bdd,
        sites: Mapping[_Numbers, Mapping[tuple[Shape, Key], Sequence[tuple[Site, Bdd]]]],
    ) -> Iterator[_Located]:
        """Those of the contexts met at places that some undecided state shows: there may be others that show
        or offer more than the items of a place."""
        m = self.manager
        for numbers, alike in sites.items():
            few = self._no_more_than(numbers)
            every = self._joined(condition for at in alike.values() for _, condition in at)
            plain = m.implies(undecided & every, few)
            for (shape, key), at in alike.items():
                if plain or undecided & few & self._joined(there for _, there in at) != m.false:
                    yield _Located(shape, key, numbers, at)

    def _shown_at(self, located: Iterable[_Located]) -> Bdd:
        """The states that show one of these contexts."""
        return self._where((at.numbers, condition) for at in located for _, condition in at.sites)

    def _where(self, cases: Iterable[tuple[_Numbers, Bdd]]) -> Bdd:
        """⋁ of the cases, in each of which no more is shown and offered than so many tuples."""
        alike: dict[_Numbers, list[Bdd]] = {}
        for numbers, condition in cases:
            alike.setdefault(numbers, []).append(condition)
        return self.manager.disj(self._joined(own) & self._no_more_than(of) for of, own in alike.items())

    def _joined(self, conditions: Iterable[Bdd]) -> Bdd:
        """⋁ of the conditions, neighbours first."""
        return self.manager.disj(sorted(conditions, key=self.manager.depth))

    def _seen(self, at: _Located) -> DecisionContext:
        """A located context as it is shown at one of its sites."""
        of = at.sites[0][0].place.of
        view = Instance(self.deployment.schema, frozenset(fact.rename(of) for fact in at.key.facts))
        return DecisionContext(view, frozenset(call.rename(of) for call in at.key.calls))

    def _settle_located(self, located: Sequence[_Located]) -> Mapping[str, Bdd]:
        """`_settle` for located contexts: ⋁_h χ_I ∧ selectors = h(call), where no more is shown than I."""
        m, encoding = self.manager, self.encoding
        self.decided = self.decided | self._shown_at(located)
        chosen: dict[str, list[tuple[_Numbers, Bdd]]] = {}
        for at in located:
            for call in sorted(at.shape.selected[at.key]):
                for site, condition in at.sites:
                    named = zip(self.tools[call.tool].selectors, call.rename(site.place.of).args, strict=True)
                    case = m.conj([condition, *(encoding.is_value(v, u) for v, u in named)])
                    chosen.setdefault(call.tool, []).append((at.numbers, case))
        return {
            name: m.conj([self._where(cases), *map(encoding.valid, self.tools[name].selectors)])
            for name, cases in chosen.items()
        }

    def _numbers_of(self, key: Key) -> _Numbers:
        """`_numbers` for a located context."""
        number = Counter(
            [*(fact.relation for fact in key.facts), *(f"call {call.tool}" for call in key.calls)]
        )
        names = [*(shown.relation for shown in self._shown), *(f"call {name}" for name in self.tools)]
        return tuple((name, number[name]) for name in names)

    def _no_more_than(self, numbers: _Numbers) -> Bdd:
        """The states that show and offer no more than so many tuples of each relation and tool."""
        if numbers not in self._fewest:
            self._fewest[numbers] = self.manager.conj(self._at_most(*number) for number in numbers)
        return self._fewest[numbers]

    def _met(self, context: DecisionContext, undecided: Bdd) -> _Met:
        """The states that show a context, of all or of those at hand where they are too many to tell."""
        try:
            return self._meet(context, None)
        except _TooLarge:
            return self._meet(context, undecided)

    def _meet(self, context: DecisionContext, among: Bdd | None) -> _Met:
        """The states of ``among``, or all (None), that show this context. Raises `_TooLarge` where all are
        meant and they are too many to tell."""
        naming = self._naming(context)
        match = self._match(among, context, naming)
        states = self.manager.exist(frozenset(bits_of(naming.values())), match)
        return _Met(context, naming, match, states, among is not None)

    def _settle(self, met: _Met, calls: Iterable[Call]) -> Mapping[str, Bdd]:
        """Note that the states are decided, and return what the agent selects in them: these calls, given
        under the names of the context, as sets over the state bits and each tool's selectors."""
        m, encoding = self.manager, self.encoding
        self.decided = self.decided | met.states
        names = frozenset(bits_of(met.naming.values()))
        selection: dict[str, Bdd] = {}
        for call in sorted(calls):
            pairs = zip(self.tools[call.tool].selectors, self._terms(call.args, met.naming), strict=True)
            chosen = m.conj(
                encoding.equal(selector, term) & encoding.valid(selector) for selector, term in pairs
            )
            taken = m.exist(names, met.match & chosen)
            selection[call.tool] = selection.get(call.tool, m.false) | taken
        return selection

    def _naming(self, context: DecisionContext) -> Mapping[Value, Vector]:
        """A vector for each name of the context that is not rigid."""
        sorts: dict[Value, str] = {}
        for sort, values in context.view.active_domain.items():
            sorts.update(dict.fromkeys(values, sort))
        for call in context.calls:
            tool = self.tools[call.tool].tool
            for binder, value in zip(tool.params, call.args, strict=True):
                sorts[value] = binder.sort
        names = [value for value in sorted(sorts) if value not in self.rigid]
        vectors = self.encoding.distinct((sorts[name] for name in names), "name")
        return dict(zip(names, vectors, strict=True))

    def _match(self, among: Bdd | None, context: DecisionContext, naming: Mapping[Value, Vector]) -> Bdd:
        """match_K over ``among``, or all states: x names exactly what D shows and offers."""
        matching = self.encoding.care if among is None else among
        few = (self._at_most(name, number) for name, number in self._numbers(context))
        for condition in chain(self._present(context, naming), few):
            matching = matching & condition
            if matching == self.manager.false:
                break
            if among is None and matching.dag_size > _LIMIT * (1 + len(self.encoding.state_bits)):
                raise _TooLarge
        return matching

    def _present(self, context: DecisionContext, naming: Mapping[Value, Vector]) -> Iterator[Bdd]:
        """What K shows is shown, what it offers is offered, and the names differ and are no rigid values.

        In an order in which each fact or call shares names with the ones before it, where there is such a
        one: a conjunction over two names that no fact or call links so far ranges over all pairs of records.
        """
        left = [
            (self._terms(args, naming), shown)
            for shown in self._shown
            for args in sorted(context.view.tuples(shown.relation))
        ] + [(self._terms(call.args, naming), call.tool) for call in sorted(context.calls)]
        placed: list[Vector] = []

        def unlinked(item: tuple[Sequence[Vector | Value], _Shown | str]) -> tuple[bool, int]:
            """First what has a name that was placed before, then what has the fewest new names."""
            names = {term for term in item[0] if isinstance(term, Vector)}
            return bool(names) and names.isdisjoint(placed), len(names.difference(placed))

        while left:
            terms, said = item = min(left, key=unlinked)
            left.remove(item)
            conditions = []
            for vector in dict.fromkeys(term for term in terms if isinstance(term, Vector)):
                if vector not in placed:
                    conditions.append(self._is_name(vector, placed))
                    placed.append(vector)
            if isinstance(said, str):
                conditions.append(self._beside.offered(self.tools[said].tool, terms))
            else:
                conditions.append(self._is_shown(said, terms, self._beside))
            yield self.manager.conj(conditions)

    def _is_name(self, vector: Vector, others: Iterable[Vector]) -> Bdd:
        """The vector has a value that is not rigid and that none of the others has."""
        encoding, constants = self.encoding, self.deployment.constants[vector.sort]
        rigid = self.rigid.intersection(constants)
        return self.manager.conj(
            [
                encoding.valid(vector),
                *(~encoding.is_value(vector, constant) for constant in sorted(rigid)),
                *(~encoding.equal(vector, other) for other in others if other.sort == vector.sort),
            ]
        )

    def _numbers(self, context: DecisionContext) -> Iterator[tuple[str, int]]:
        """Per relation and tool how many tuples K has. `_present` asks for as many different tuples, since
        the names differ: a state shows and offers nothing else exactly where it has no more than these."""
        for shown in self._shown:
            yield shown.relation, len(context.view.tuples(shown.relation))
        for name in self.tools:
            yield f"call {name}", sum(1 for call in context.calls if call.tool == name)

    def _at_most(self, name: str, number: int) -> Bdd:
        """The states in which at most ``number`` tuples of a relation are shown, or of a tool offered."""
        if (name, number) not in self._few:
            counted = self._counted(name)
            self._few[name, number] = ~self.manager.at_least(number + 1, counted)
        return self._few[name, number]

    def _counted(self, name: str) -> Sequence[Bdd]:
        """For each tuple of a relation or tool the states in which it is shown, or offered; those deepest in
        the order of the variables first, so that counting adds to the top of what it has so far."""
        if name not in self._tuples:
            if name.startswith("call "):
                tool = self.tools[name.removeprefix("call ")]
                vectors, holds = tool.params, tool.offered
            else:
                vectors, holds = self._tuples_shown[name]
            leaves = [leaf for _, leaf in self.manager.cases(holds, bits_of(vectors))]
            self._tuples[name] = sorted(leaves, key=self.manager.depth, reverse=True)
        return self._tuples[name]

    def _all(self, shown: _Shown, compiler: Compiler) -> tuple[tuple[Vector, ...], Bdd]:
        """Vectors for one tuple of a relation, and where it is shown."""
        vectors = self.encoding.distinct(shown.sorts, compiler.role)
        valid = map(self.encoding.valid, vectors)
        return vectors, self.manager.conj([self._is_shown(shown, vectors, compiler), *valid])

    def _is_shown(self, shown: _Shown, terms: Sequence[Vector | Value], compiler: Compiler) -> Bdd:
        there = self.encoding.relation(shown.relation, tuple(terms))
        return there & self.manager.disj(
            compiler.formula(where, dict(zip(names, terms, strict=True))) for names, where in shown.cuts
        )

    def _terms(self, args: Iterable[Value], naming: Mapping[Value, Vector]) -> tuple[Vector | Value, ...]:
        return tuple(naming.get(value, value) for value in args)


def _shown(deployment: Deployment, agent: AgentRole) -> Iterator[_Shown]:
    """What the agent is shown of each relation: all of it where it has no views."""
    for relation in deployment.schema.relations:
        cuts = [
            (tuple(binder.name for binder in line.params), line.where)
            for line in agent.views
            if line.relation == relation.name
        ]
        if not agent.views:
            cuts = [(tuple(str(place) for place in range(relation.arity)), TRUE)]
        if cuts:
            yield _Shown(relation.name, relation.sorts, tuple(cuts))
