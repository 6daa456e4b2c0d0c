"""The agent in the transition relation: decision contexts found lazily, one query for each.

For a canonical context K with names n1, …, nk the relation match_K(D, x1, …, xk) says that x is an
injective naming under which the agent's view of D and its offered calls are exactly K. As x
ranges over *all* isomorphisms from K, the calls
    { ω(x[u]) : ω(u) selected in K, match_K(D, x) }
are those of Eq. (wrapper), symmetric contexts included, without any automorphism being computed.
States are picked once per context, never once per state.

match_K is built over all states, reachable or not, so that whatever else the state holds is decided
with it: background records cost nothing. Where the agent is shown so much that this relation explodes
(the orbit of a whole state under renaming), it is built anew for the states at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.wrapper import CanonicalWrapper, Decision
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.logic.syntax import TRUE, Formula
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.symbolic.compile import Compiler
from stead_sym.symbolic.effects import ToolInterface
from stead_sym.symbolic.encoding import Vector, bits_of
from stead_sym.symbolic.manager import Bdd

_LIMIT = 100_000  # nodes of match_K over all states, past which it is cut down to the states at hand


class _TooLarge(Exception):
    """match_K over all states has more than `_LIMIT` nodes."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the agent is shown of one relation: the tuples that satisfy one of the ``cuts``, each a
    formula with the names of its free variables, one per place."""

    relation: str
    sorts: tuple[str, ...]
    cuts: tuple[tuple[tuple[str, ...], Formula], ...]


class ContextFinder:
    """Decides the calls of whole sets of states.

    ``wrapper`` None stands for the agent that selects everything offered; no context is formed.
    """

    def __init__(
        self,
        deployment: Deployment,
        compiler: Compiler,
        tools: Mapping[str, ToolInterface],
        wrapper: CanonicalWrapper | None,
    ) -> None:
        self.deployment = deployment
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager
        self.tools = tools
        self.wrapper = wrapper
        self.rigid = wrapper.rigid if wrapper is not None else frozenset()
        self.decided = self.manager.false if wrapper else self.manager.true
        self.contexts: dict[DecisionContext, frozenset[Call]] = {}
        self._bounded: list[DecisionContext] = []  # known for the states met so far only
        self._shown = tuple(_shown(deployment))
        self._tuples: dict[str, Sequence[Bdd]] = {}
        self._few: dict[tuple[str, int], Bdd] = {}

    def everything(self) -> Mapping[str, Bdd]:
        """The selection of the agent that takes whatever is offered."""
        return {name: tool.offered for name, tool in self.tools.items()}

    def decide(self, states: Bdd) -> Iterator[Mapping[str, Bdd]]:
        """Decide every state of ``states``: what the agent selects, as relations over the state
        bits and each tool's parameters, one mapping per context met. Each state must offer a call."""
        undecided = states & ~self.decided
        for context in self._bounded:
            if undecided != self.manager.false:
                undecided, selection = self._settle(undecided, undecided, context)
                yield selection
        while undecided != self.manager.false:
            decision = self._ask(undecided)
            self.contexts[decision.canonical] = decision.selected
            try:
                undecided, selection = self._settle(undecided, self.manager.true, decision.canonical)
            except _TooLarge:
                self._bounded.append(decision.canonical)
                undecided, selection = self._settle(undecided, undecided, decision.canonical)
            yield selection

    def _ask(self, undecided: Bdd) -> Decision:
        """The decision in the context of one undecided state."""
        assert self.wrapper is not None
        state = self.manager.pick(undecided, self.encoding.order)
        return self.wrapper.decide([self.context(state)])[0]

    def context(self, state: Mapping[str, bool]) -> DecisionContext:
        """What the agent is shown and offered in one state, given as bits."""
        facts: list[Fact] = []
        for shown in self._shown:
            vectors = self._beside(shown.sorts)
            there = self.manager.cofactor(self._is_shown(shown, vectors), state)
            facts += (Fact(shown.relation, args) for args in self.encoding.tuples(there, vectors))
        calls = frozenset(
            Call(name, args)
            for name, tool in self.tools.items()
            for args in self.encoding.tuples(self.manager.cofactor(tool.offered, state), tool.params)
        )
        return DecisionContext(Instance(self.deployment.schema, frozenset(facts)), calls)

    def _settle(self, undecided: Bdd, among: Bdd, context: DecisionContext) -> tuple[Bdd, Mapping[str, Bdd]]:
        """Decide the states of ``among`` that show this context: what is left undecided, and the
        selection. Raises `_TooLarge` where all states are meant and they are too many to tell."""
        naming = self._naming(context)
        match = self._match(among, context, naming)
        names = frozenset(bits_of(naming.values()))
        here = self.manager.exist(names, match)
        self.decided = self.decided | here
        selection: dict[str, Bdd] = {}
        if here != self.manager.false:
            for call in self.contexts[context]:
                params = self.tools[call.tool].params
                chosen = self._equals(params, self._terms(call.args, naming))
                taken = self.manager.and_exist(names, match, chosen)
                selection[call.tool] = selection.get(call.tool, self.manager.false) | taken
        return undecided & ~here, selection

    def _naming(self, context: DecisionContext) -> Mapping[Value, Vector]:
        """A vector for each name of the context that is not rigid."""
        sorts: dict[Value, str] = {}
        for sort, values in context.view.active_domain.items():
            sorts.update(dict.fromkeys(values, sort))
        for call in context.calls:
            tool = self.tools[call.tool].tool
            for binder, value in zip(tool.params, call.args, strict=True):
                sorts[value] = str(binder.sort)
        naming: dict[Value, Vector] = {}
        taken: dict[str, int] = {}
        for value, sort in sorted(sorts.items()):
            if value not in self.rigid:
                naming[value] = self.encoding.vector("name", sort, taken.get(sort, 0))
                taken[sort] = taken.get(sort, 0) + 1
        return naming

    def _match(self, states: Bdd, context: DecisionContext, naming: Mapping[Value, Vector]) -> Bdd:
        """match_K over ``states``: D ∈ states and x names exactly what D shows and offers."""
        matching = states
        everywhere = states == self.manager.true
        for condition in self._present(context, naming):
            matching = matching & condition
            if matching == self.manager.false:
                return matching
            if everywhere and matching.dag_size > _LIMIT:
                raise _TooLarge
        for name, number in self._numbers(context):
            matching = matching & self._at_most(name, number)
            if everywhere and matching.dag_size > _LIMIT:
                raise _TooLarge
        return matching

    def _present(self, context: DecisionContext, naming: Mapping[Value, Vector]) -> Iterator[Bdd]:
        """What K shows is shown, the names differ and are no rigid values, what K offers is offered."""
        for shown in self._shown:
            for args in sorted(context.view.tuples(shown.relation)):
                yield self._is_shown(shown, self._terms(args, naming))
        for vector, other in combinations(sorted(naming.values(), key=lambda v: v.bits), 2):
            if vector.sort == other.sort:
                yield ~self.encoding.equal(vector, other)
        for vector in naming.values():
            for constant in self.rigid.intersection(self.deployment.constants[vector.sort]):
                yield ~self.encoding.is_value(vector, constant)
        for call in sorted(context.calls):
            yield self._is_offered(call.tool, self._terms(call.args, naming))

    def _numbers(self, context: DecisionContext) -> Iterator[tuple[str, int]]:
        """Per relation and tool how many tuples K has. The tuples that `_present` asks for differ, as
        the names do: so K is all there is exactly where there are no more than these."""
        for shown in self._shown:
            yield shown.relation, len(context.view.tuples(shown.relation))
        for name in self.tools:
            yield f"call {name}", sum(1 for call in context.calls if call.tool == name)

    def _at_most(self, name: str, number: int) -> Bdd:
        """The states in which at most ``number`` tuples of a relation are shown, or of a tool offered."""
        if (name, number) not in self._few:
            counted = self._counted(name)
            self._few[name, number] = ~self.compiler.at_least(number + 1, counted)
        return self._few[name, number]

    def _counted(self, name: str) -> Sequence[Bdd]:
        """Per tuple where it is shown, or offered; the deepest in the order first, so that counting
        adds to the top of what it has."""
        if name not in self._tuples:
            if name.startswith("call "):
                tool = self.tools[name.removeprefix("call ")]
                vectors, holds = tool.params, tool.offered
            else:
                shown = next(shown for shown in self._shown if shown.relation == name)
                vectors = self._beside(shown.sorts)
                holds = self._is_shown(shown, vectors)
            leaves = [leaf for _, leaf in self.manager.cases(holds, bits_of(vectors))]
            self._tuples[name] = sorted(leaves, key=self.manager.depth, reverse=True)
        return self._tuples[name]

    def _is_shown(self, shown: _Shown, terms: Sequence[Vector | Value]) -> Bdd:
        there = self.encoding.relation(shown.relation, tuple(terms))
        return there & self.manager.disj(
            self.compiler.formula(where, dict(zip(names, terms, strict=True))) for names, where in shown.cuts
        )

    def _is_offered(self, name: str, terms: Sequence[Vector | Value]) -> Bdd:
        """offered(terms): the tool's interface with other terms for its parameters."""
        tool = self.tools[name]
        bits = frozenset(bits_of(tool.params))
        return self.manager.and_exist(bits, tool.offered, self._equals(tool.params, terms))

    def _beside(self, sorts: Iterable[str]) -> tuple[Vector, ...]:
        """Vectors for one tuple more, distinct from one another."""
        taken: dict[str, int] = {}
        vectors = []
        for sort in sorts:
            vectors.append(self.encoding.vector("var", sort, taken.get(sort, 0)))
            taken[sort] = taken.get(sort, 0) + 1
        return tuple(vectors)

    def _terms(self, args: Iterable[Value], naming: Mapping[Value, Vector]) -> tuple[Vector | Value, ...]:
        return tuple(naming.get(value, value) for value in args)

    def _equals(self, vectors: Sequence[Vector], terms: Sequence[Vector | Value]) -> Bdd:
        pairs = zip(vectors, terms, strict=True)
        return self.manager.conj(self.encoding.equal(vector, term) for vector, term in pairs)


def _shown(deployment: Deployment) -> Iterator[_Shown]:
    """What the agent is shown of each relation: all of it where the deployment has no views."""
    for relation in deployment.schema.relations:
        cuts = [
            (tuple(binder.name for binder in line.params), line.where)
            for line in deployment.views
            if line.relation == relation.name
        ]
        if not deployment.views:
            cuts = [(tuple(str(place) for place in range(relation.arity)), TRUE)]
        if cuts:
            yield _Shown(relation.name, relation.sorts, tuple(cuts))
