"""The view and the offer of one agent as sets of states: tuple by tuple, for vectors, and in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.callers import itself
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.values import Vector, bits_of
from stead_sym.engines.symbolic.explore.policies import Offers
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

Numbers: TypeAlias = tuple[tuple[str, int], ...]
"""The number of shown tuples of each relation, and of offered ones of each tool."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of one relation in the agent's view: the tuples that satisfy one of the ``cuts``.

    A cut is a formula with the names of its free variables, one per position.
    """

    relation: str
    sorts: tuple[str, ...]
    cuts: tuple[tuple[tuple[str, ...], fo.Formula], ...]


class Views:
    """The views and the offers of one agent."""

    def __init__(self, deployment: Deployment, agent: AgentRole, compiler: Compiler, offers: Offers) -> None:
        """Create the views; ``compiler`` has log-coded vectors, to enumerate views and offers."""
        self.compiler = compiler
        self.beside = offers.beside
        """A compiler over one-hot vectors."""
        self.encoding = compiler.encoding
        self.manager = compiler.manager
        self.tools = {name: offers.tools[name] for name in agent.tools}
        self.shown = {shown.relation: shown for shown in _shown(deployment, agent)}
        self._itself = itself(agent)
        self._facts: dict[Fact, Bdd] = {}
        self._tuples: dict[str, Sequence[Bdd]] = {}
        self._few: dict[tuple[str, int], Bdd] = {}
        self._fewest: dict[Numbers, Bdd] = {}

    # Tuple by tuple.

    def fact(self, fact: Fact) -> Bdd:
        """Return the states in which a fact is shown; none if its relation is not shown."""
        if fact.relation not in self.shown:
            return self.manager.false
        if fact not in self._facts:
            self._facts[fact] = self._at(*self._log_coded[fact.relation], fact.args)
        return self._facts[fact]

    def call(self, call: Call) -> Bdd:
        """Return the states in which a call is offered."""
        tool = self.tools[call.tool]
        return self._at(tool.params, tool.offered, call.args)

    def _at(self, vectors: Sequence[Vector], function: Bdd, args: Sequence[Value]) -> Bdd:
        """Return the cofactor of a function by some values.

        The function is over the state bits and log-coded vectors, which are above these.
        """
        code: dict[str, bool] = {}
        for vector, value in zip(vectors, args, strict=True):
            code |= self.encoding.code(vector, value)
        return self.manager.descend(function, code)

    # For vectors.

    @cached_property
    def one_hot(self) -> Mapping[str, tuple[tuple[Vector, ...], Bdd]]:
        """Per relation one-hot vectors for one tuple, and the states that show it."""
        return {name: self._all(shown, self.beside) for name, shown in self.shown.items()}

    @cached_property
    def _log_coded(self) -> Mapping[str, tuple[tuple[Vector, ...], Bdd]]:
        """Per relation log-coded vectors for one tuple, and the states that show it."""
        return {name: self._all(shown, self.compiler) for name, shown in self.shown.items()}

    def _all(self, shown: Shown, compiler: Compiler) -> tuple[tuple[Vector, ...], Bdd]:
        vectors = self.encoding.distinct(shown.sorts, compiler.role)
        valid = map(self.encoding.valid, vectors)
        return vectors, self.manager.conj([self.is_shown(shown, vectors, compiler), *valid])

    def is_shown(self, shown: Shown, terms: Sequence[Vector | Value], compiler: Compiler) -> Bdd:
        """Return the states in which a tuple is shown, given by values and the compiler's vectors."""
        there = self.encoding.relation(shown.relation, tuple(terms))
        return there & self.manager.disj(
            compiler.formula(where, {**self._itself, **dict(zip(names, terms, strict=True))})
            for names, where in shown.cuts
        )

    # Numbers of tuples.

    def numbers(self, facts: Collection[Fact], calls: Collection[Call]) -> Numbers:
        """Return the number of facts of each relation and of calls of each tool.

        A state that shows these facts and offers these calls shows and offers nothing else iff it has no more
        than these numbers (`no_more_than`).
        """
        of_relation = Counter(fact.relation for fact in facts)
        of_tool = Counter(call.tool for call in calls)
        return (
            *((name, of_relation[name]) for name in self.shown),
            *((f"call {name}", of_tool[name]) for name in self.tools),
        )

    def no_more_than(self, numbers: Numbers) -> Bdd:
        """Return the states that show and offer at most these numbers of tuples of each relation and tool."""
        if numbers not in self._fewest:
            self._fewest[numbers] = self.manager.conj(self.at_most(*number) for number in numbers)
        return self._fewest[numbers]

    def at_most(self, name: str, number: int) -> Bdd:
        """Return the states with at most ``number`` tuples of a relation shown, or of a tool offered."""
        if (name, number) not in self._few:
            counted = self._counted(name)
            self._few[name, number] = ~self.manager.at_least(number + 1, counted)
        return self._few[name, number]

    def _counted(self, name: str) -> Sequence[Bdd]:
        """Return, for each tuple of a relation or tool, the states in which it is shown, or offered.

        Those deepest in the order of the variables come first, so that counting adds on top of the previous
        result.
        """
        if name not in self._tuples:
            if name.startswith("call "):
                tool = self.tools[name.removeprefix("call ")]
                vectors, holds = tool.params, tool.offered
            else:
                vectors, holds = self._log_coded[name]
            leaves = [leaf for _, leaf in self.manager.cases(holds, bits_of(vectors))]
            self._tuples[name] = sorted(leaves, key=self.manager.depth, reverse=True)
        return self._tuples[name]


def _shown(deployment: Deployment, agent: AgentRole) -> Iterator[Shown]:
    """Yield the agent's view of each relation; all of it if the agent has no views."""
    for relation in deployment.schema.relations:
        cuts = [
            (tuple(binder.name for binder in line.params), line.where)
            for line in agent.views
            if line.relation == relation.name
        ]
        if not agent.views:
            cuts = [(tuple(str(place) for place in range(relation.arity)), fo.TRUE)]
        if cuts:
            yield Shown(relation.name, relation.sorts, tuple(cuts))
