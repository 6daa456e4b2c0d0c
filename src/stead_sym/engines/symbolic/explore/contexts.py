"""The agent in the transition relation: decision contexts enumerated lazily, with one query for each.

For a context K with names n1, …, nk the relation match_K(D, x1, …, xk) holds iff x is an injective naming
under which the agent's view of D and its offered calls are exactly K. As x ranges over *all* isomorphisms
from K, the calls

    { ω(x[u]) : ω(u) selected in K, match_K(D, x) }

are those of Eq. (wrapper), symmetric contexts included, without computing any automorphism. One state is
picked per context, and states are never enumerated.

match_K is built over all states, reachable or not: one query decides all states that show K, whatever they
hold outside the agent's view. Names are one-hot vectors, each bit next to the record that it may name, so the
size of match_K is linear in the number of records. If the view is so large that match_K is too large (it
holds the orbit of K under all renamings), it is built for the undecided states only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.selection import decision_contexts
from stead_sym.agents.wrapper import CanonicalWrapper, NotAsked
from stead_sym.deployment.callers import self_place
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.values import PARAM, Vector, bits_of
from stead_sym.engines.symbolic.explore.located import Allowance, Locator
from stead_sym.engines.symbolic.explore.policies import Offers
from stead_sym.engines.symbolic.explore.views import Shown, Views
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.errors import CanonicalLimit
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_LIMIT = 1000  # nodes per bit; a larger match_K over all states is restricted to the undecided ones


class TooLarge(Exception):
    """An error: match_K over all states has more than `_LIMIT` nodes per bit."""


@dataclass(frozen=True, slots=True)
class _Met:
    """A context K with a vector for each of its names, match_K, and the states in which K is shown.

    These are all such states, or those among the undecided ones if the match is ``bounded`` to them.
    """

    context: DecisionContext
    naming: Mapping[Value, Vector]
    match: Bdd
    states: Bdd
    bounded: bool


class ContextFinder:
    """The decisions of one agent, which may be one of many, for whole sets of states."""

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
        self.compiler = compiler  # with log-coded vectors, to enumerate views and offers
        self.encoding = compiler.encoding
        offers = offers.of(agent)
        self._beside = offers.beside  # with one-hot vectors
        self.manager = compiler.manager
        self.tools = {name: offers.tools[name] for name in agent.tools}
        self.wrapper = wrapper
        self.rigid = wrapper.rigid
        self.decided = self.manager.false
        self.offers = offers
        self.contexts: dict[DecisionContext, frozenset[Call]] = {}
        self._matched: set[DecisionContext] = set()  # the contexts that are shown at no place
        self._bounded: list[tuple[DecisionContext, Set[Call]]] = []  # decided for the states so far only
        self._views = Views(deployment, agent, compiler, offers)
        self._locator = Locator(self._views, wrapper)

    def decide(self, states: Bdd, allowance: Allowance | None = None) -> Iterator[Mapping[str, Bdd]]:
        """Decide every state of ``states``, and yield the selected calls, one mapping per context.

        Calls are relations over the state bits and each tool's selectors. If the agent is offered nothing, it
        selects nothing.

        The contexts are enumerated first, and the agent is queried about all new ones at once. Raise
        `TooMany` if there are more contexts, and places that may show one, than the ``allowance``.
        """
        allowance = allowance or Allowance()
        assert self.encoding.are_states(states)
        undecided = self.offers.by(self.tools, states & ~self.decided)
        for context, calls in self._bounded:
            if undecided != self.manager.false:
                met = self._meet(context, undecided)
                undecided = undecided & ~met.states
                yield self._settle(met, calls)
        search, found = self._locator.search(undecided, allowance), list[_Met]()
        left = undecided & ~search.shown
        while left != self.manager.false:
            allowance.spend()
            context = self.picked(left)
            if search.add(context):
                left = left & ~search.shown
            else:
                found.append(self._met(context, left))
                left = left & ~found[-1].states
        located = tuple(search.located())
        at_sites = self.manager.disj(alike.shown for alike in located)
        left = undecided & ~at_sites
        left = left & ~self.manager.disj(met.states for met in found)
        while left != self.manager.false:  # more is shown than the items of a place
            allowance.spend()
            found.append(self._met(self.picked(left), left))
            left = left & ~found[-1].states
        new = self._locator.new(located)
        contexts = [*(met.context for met in found), *(one.context for one in new)]
        decisions = self.wrapper.decide(contexts) if contexts else []
        for decision in decisions:
            self.contexts[decision.canonical] = decision.selected
        for one, decision in zip(new, decisions[len(found) :], strict=True):
            self._locator.decided(one, decision)
        if located:
            self.decided = self.decided | at_sites
            yield self._locator.selection(located)
        for met, decision in zip(found, decisions, strict=False):
            self._matched.add(decision.canonical)
            calls = frozenset(call.rename(decision.names) for call in decision.selected)
            if met.bounded:
                self._bounded.append((met.context, calls))
            yield self._settle(met, calls)

    def own(self, calls: Mapping[str, Bdd]) -> Mapping[str, Bdd]:
        """Return the calls that the agent makes itself, of those that all with its name make.

        They are given per tool, over the state bits and its selectors.
        """
        me = self.agent.me
        if me is None:
            return calls
        selves = {name: tool.selectors[self_place(tool.tool)] for name, tool in self.tools.items()}
        return {name: of & self.encoding.is_value(selves[name], me) for name, of in calls.items()}

    @property
    def places(self) -> int:
        """The number of places in the data at which contexts were searched."""
        return self._locator.places

    def picked(self, states: Bdd) -> DecisionContext:
        """Return the context of the agent in one of the states."""
        return self.context(self.manager.pick(states, self.encoding.order))

    def is_among_alike(self, context: DecisionContext) -> bool:
        """Return True if several symmetric calls may happen in the context.

        Return True also if the wrapper exceeds its limit (`CanonicalLimit`). The wrapper counts neither the
        context as met nor the query as made.
        """
        wrapper = self.wrapper.without_memory()
        try:
            wrapper.decide([context])
            return wrapper.is_among_alike
        except CanonicalLimit:
            return True

    def classes(self, name: str) -> tuple[Bdd, Mapping[str, str]]:
        """Return the relation u ≈ v for calls of a tool, and the bit of v for each bit of a selector.

        The relation is over the state bits, the tool's selectors for u, and other bits for v. Two calls are ≈
        if they have the same values of rigid sorts, and their other values are in the same positions of what
        is shown, beside the same values of rigid sorts. Both conditions are necessary for an automorphism
        that takes one call to the other.
        """
        selectors, others = self.tools[name].selectors, list[Vector]()
        for selector in selectors:
            others.append(self.encoding.unused(selector.sort, [*selectors, *others], PARAM))
        same = (
            self.encoding.equal(*pair) if self._is_rigid(pair[0]) else self._stand_alike(*pair)
            for pair in zip(selectors, others, strict=True)
        )
        return self.manager.conj(same), dict(zip(bits_of(selectors), bits_of(others), strict=True))

    def _is_rigid(self, vector: Vector) -> bool:
        return self.deployment.schema.sort(vector.sort).rigid

    def _stand_alike(self, one: Vector, other: Vector) -> Bdd:
        """Return the states that show two values in the same positions, beside the same rigid values."""
        m, encoding, same = self.manager, self.encoding, list[Bdd]()
        for shown in self._views.shown.values():
            for place in (k for k, sort in enumerate(shown.sorts) if sort == one.sort):
                beside = list[Vector]()
                for sort in (*shown.sorts[:place], *shown.sorts[place + 1 :]):
                    beside.append(encoding.unused(sort, [one, other, *beside], PARAM))
                rigid = frozenset(bits_of(vector for vector in beside if self._is_rigid(vector)))
                stands = [
                    m.exist(
                        frozenset(bits_of(beside)) - rigid,
                        m.conj(
                            [
                                self._views.is_shown(
                                    shown, [*beside[:place], vector, *beside[place:]], self._beside
                                ),
                                *map(encoding.valid, beside),
                            ]
                        ),
                    )
                    for vector in (one, other)
                ]
                same.append(~m.exist(rigid, ~stands[0].equiv(stands[1])))
        return m.conj(same)

    def showing(self, context: DecisionContext, among: Bdd) -> Bdd:
        """Return the states of ``among`` that show a context up to renaming."""
        try:
            return among & self._meet(context, None).states
        except TooLarge:
            return self._meet(context, among).states

    def context(self, state: Mapping[str, bool]) -> DecisionContext:
        """Return the context of the agent in one state, given as bits."""
        m, facts, calls = self.manager, list[Fact](), list[Call]()
        here, bits = m.cube(state), self.encoding.state_bits
        for relation, (vectors, there) in self._views.one_hot.items():
            tuples = self.encoding.tuples(m.exist(bits, there & here), vectors)
            facts += (Fact(relation, args) for args in tuples)
        for name in self.tools:
            offered = m.exist(bits, self.offers.calls[name] & here)
            tuples = self.encoding.tuples(offered, self.tools[name].selectors)
            calls += (Call(name, args) for args in tuples)
        if self.wrapper.told:
            instance = self.encoding.decode(state)
            [context] = decision_contexts(self.deployment, self.wrapper, instance, self.agent)
            return context
        return DecisionContext(Instance(self.deployment.schema, frozenset(facts)), frozenset(calls))

    def _met(self, context: DecisionContext, undecided: Bdd) -> _Met:
        """Return the states that show a context, among all or, if they are too many, the undecided ones."""
        try:
            return self._meet(context, None)
        except TooLarge:
            return self._meet(context, undecided)

    def _meet(self, context: DecisionContext, among: Bdd | None) -> _Met:
        """Return the states of ``among``, or all (None), that show this context.

        Raise `TooLarge` if all are meant and the relation is too large.
        """
        naming = self._naming(context)
        match = self._match(among, context, naming)
        states = self.manager.exist(frozenset(bits_of(naming.values())), match)
        return _Met(context, naming, match, states, among is not None)

    def _settle(self, met: _Met, calls: Iterable[Call]) -> Mapping[str, Bdd]:
        """Mark the states as decided, and return the calls that the agent selects in them.

        ``calls`` are under the names of the context; the result has sets over the state bits and each tool's
        selectors.
        """
        self.decided = self.decided | met.states
        return self._selection(met, calls)

    def _selection(self, met: _Met, calls: Iterable[Call]) -> Mapping[str, Bdd]:
        selection: dict[str, Bdd] = {}
        for call in sorted(calls):
            selection[call.tool] = selection.get(call.tool, self.manager.false) | self._made(met, call)
        return selection

    def replaced(
        self, selected: Mapping[str, Bdd], answers: Mapping[DecisionContext, Collection[Call]]
    ) -> Mapping[str, Bdd]:
        """Return a selection, over the state bits and each tool's selectors, with other ``answers``.

        They are given by canonical context, and replace the selection in all states that show it. Raise
        `TooLarge` if the relation for one of them is too large.
        """
        for context, calls in answers.items():
            met = self._meet(context, None)
            made = self._selection(met, calls)
            selected = {
                name: (calls & ~met.states) | made.get(name, self.manager.false)
                for name, calls in selected.items()
            }
        return selected

    def _made(self, met: _Met, call: Call) -> Bdd:
        """Return { (D, ω(x[u])) : match_K(D, x) } for a call ω(u) of K."""
        pairs = zip(self.tools[call.tool].selectors, self._terms(call.args, met.naming), strict=True)
        chosen = self.manager.conj(self.encoding.equal_valid(term, selector) for selector, term in pairs)
        return self.manager.and_exist(frozenset(bits_of(met.naming.values())), met.match, chosen)

    def families(
        self, families: Iterable[tuple[str, Mapping[DecisionContext, Collection[Call]]]], states: Bdd
    ) -> Iterator[tuple[str, Bdd]]:
        """Yield families of orbits, each with their tool, over these states and its selectors.

        The states must be decided. A family has an orbit for some of the canonical contexts.
        """
        located = tuple(self._locator.search(states, Allowance()).located())
        memory = self.wrapper.from_memory()
        for one in self._locator.new(located):  # decided otherwise, or shown in none of the states
            with suppress(NotAsked):
                self._locator.decided(one, *memory.decide([one.context]))
        for tool, orbits in families:
            made = [self._locator.orbits(located, orbits).get(tool, self.manager.false)]
            for context, orbit in orbits.items():
                if context in self._matched:
                    made.append(self._made(self._meet(context, states), min(orbit)))
            yield tool, self.manager.disj(made)

    def _naming(self, context: DecisionContext) -> Mapping[Value, Vector]:
        """Return a vector for each name of the context that is not rigid."""
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
        """Return match_K over ``among``, or all states: x names exactly the view and the offer of D."""
        matching = self.encoding.care if among is None else among
        numbers = self._views.numbers(context.view.facts, context.calls)
        few = (self._views.at_most(name, number) for name, number in numbers)
        for condition in chain(self._present(context, naming), few):
            matching = matching & condition
            if matching == self.manager.false:
                break
            if among is None and matching.dag_size > _LIMIT * (1 + len(self.encoding.state_bits)):
                raise TooLarge
        return matching

    def _present(self, context: DecisionContext, naming: Mapping[Value, Vector]) -> Iterator[Bdd]:
        """Yield conditions: K's facts are shown, its calls offered, and its names distinct and not rigid.

        Each fact or call follows one that shares names with it, if possible: a conjunction over two names
        that nothing links so far ranges over all pairs of records.
        """
        left = [
            (self._terms(args, naming), shown)
            for shown in self._views.shown.values()
            for args in sorted(context.view.tuples(shown.relation))
        ] + [(self._terms(call.args, naming), call.tool) for call in sorted(context.calls)]
        placed: list[Vector] = []

        def unlinked(item: tuple[Sequence[Vector | Value], Shown | str]) -> tuple[bool, int]:
            """Return the priority of an item: linked to an earlier one first, then fewest new names."""
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
                conditions.append(self._views.is_shown(said, terms, self._beside))
            yield self.manager.conj(conditions)

    def _is_name(self, vector: Vector, others: Iterable[Vector]) -> Bdd:
        """Return the condition that the vector has a value that is not rigid and not one of the others'."""
        encoding, constants = self.encoding, self.deployment.constants[vector.sort]
        rigid = self.rigid.intersection(constants)
        return self.manager.conj(
            [
                encoding.valid(vector),
                *(~encoding.is_value(vector, constant) for constant in sorted(rigid)),
                *(~encoding.equal(vector, other) for other in others if other.sort == vector.sort),
            ]
        )

    def _terms(self, args: Iterable[Value], naming: Mapping[Value, Vector]) -> tuple[Vector | Value, ...]:
        return tuple(naming.get(value, value) for value in args)
