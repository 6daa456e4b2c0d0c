"""The update of the last step and of the past by a step, as diagrams, as defined in `deployment.history`.

One decision: effects do not mention the history. Its update is a function of D, its history, the call and D',
and the steps of a tool are those of its effects conjoined with that function. The formula for the state after
a step is that for the state before it, over the copies of the state bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import Before, Kept, LastStep, SinceThen
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import coded
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.parameters import Parameters
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation


class Actors:
    """The agent that makes a call, for the tools that several agents have and whose agent is recorded.

    It is a number in ``bits``, over which the selected calls of these tools and their steps range as well.
    """

    def __init__(self, deployment: Deployment, manager: Manager) -> None:
        self.manager = manager
        kept = deployment.history.agents.items()
        self.tools = frozenset(tool for tool, agents in kept if len(agents) > 1)
        self._number = {agent.name: k for k, agent in enumerate(deployment.agents)} if self.tools else {}
        self._bits = tuple(f"actor.{k}" for k in range(max(self._number.values(), default=0).bit_length()))
        manager.declare_bottom(bit for bit in self._bits if not manager.has(bit))

    @property
    def bits(self) -> Bits:
        """The bits of the agent's number."""
        return frozenset(self._bits)

    def made_by(self, tool: str, agent: str, calls: Bdd) -> Bdd:
        """Return the calls of a tool, restricted to those that the agent makes."""
        if tool not in self.tools:
            return calls
        return calls & self.manager.point(coded(self._bits, self._number[agent]))

    def by_anybody(self, function: Bdd) -> Bdd:
        """Return the function with the agent quantified."""
        return self.manager.exist(self.bits, function) if self._bits else function


class Histories:
    """The history of one deployment over the bits of an encoding."""

    def __init__(self, deployment: Deployment, compiler: Compiler) -> None:
        self.deployment = deployment
        self.compiler = compiler
        self.encoding: Encoding = compiler.encoding
        self.manager = compiler.manager
        self.actors = Actors(deployment, self.manager)

    def after(self, tool: Tool, params: Parameters, steps: Bdd, *, refused: bool) -> Bdd:
        """Return the steps of a tool by one alternative, in which it is ``refused`` or not, with the history.

        They are over the state bits, their copies and its selectors; the given ``steps`` do not constrain the
        history's bits.
        """
        if not self.deployment.history:
            return steps
        m, encoding = self.manager, self.encoding
        if tool.stays:
            bits = encoding.history_bits
            return steps & m.conj(m.var(bit).equiv(m.var(encoding.primed(bit))) for bit in sorted(bits))
        last = () if tool.writes else self._last(tool, params, refused)
        for function in (*last, *(self._written if tool.writes else self._lasting)):
            steps = steps & function  # one by one: `steps` is sparse
        return steps

    @cached_property
    def initial(self) -> Bdd:
        """The history in a D0, over the state bits."""
        m = self.manager
        return m.conj(
            m.conj([self._counts(kept.relation, fact), self._read(kept.right, kept, fact)]).equiv(
                self._atom(fact)
            )
            if isinstance(kept, SinceThen)
            else ~self._atom(fact)
            for kept, fact in self._facts()
        )

    def _facts(self) -> Iterator[tuple[Kept, Fact]]:
        for kept in self.deployment.history.kept:
            for fact in self.encoding.dynamic_facts[kept.relation.name]:
                yield kept, fact

    def _last(self, tool: Tool, params: Parameters, refused: bool) -> Iterator[Bdd]:
        """Yield the conditions that afterwards the call, and nothing else, is the last step."""
        m, encoding = self.manager, self.encoding
        having = [agent.name for agent in self.deployment.agents if tool.name in agent.tools]
        for kept, fact in self._facts():
            if isinstance(kept, LastStep):
                is_it = m.false
                by = kept.agent is None or kept.agent in having
                if kept.tool == tool.name and kept.refused == refused and by:
                    pairs = zip(kept.places, fact.args, strict=True)
                    is_it = m.conj(encoding.is_value(params.selectors[place], u) for place, u in pairs)
                    if kept.agent is not None:
                        is_it = self.actors.made_by(tool.name, kept.agent, is_it)
                yield self._atom(fact, primed=True).equiv(is_it)

    @cached_property
    def _lasting(self) -> Sequence[Bdd]:
        """The new values of f since g and previously f, a function for each fact.

        Their conjunction can be far larger than that with the steps of a tool.
        """
        return [*self._updates(SinceThen), *self._updates(Before)]

    @cached_property
    def _written(self) -> Sequence[Bdd]:
        """The new values of all facts by a step that writes a call: those of f since g, all others stay."""
        found = self._updates(SinceThen)
        for kept, fact in self._facts():
            if not isinstance(kept, SinceThen):
                found.append(self._atom(fact, primed=True).equiv(self._atom(fact)))
        return found

    def _updates(self, kind: type[SinceThen] | type[Before]) -> list[Bdd]:
        found = list[Bdd]()
        for kept, fact in self._facts():
            if not isinstance(kept, kind):
                continue
            counts = self._counts(kept.relation, fact)
            match kept:
                case SinceThen(left=left, right=right):
                    lasts = self._then(self._read(left, kept, fact)) & self._atom(fact)
                    true = self._then(self._read(right, kept, fact)) | lasts
                case Before(body=body):
                    true = counts & self._read(body, kept, fact)
            found.append(self._atom(fact, primed=True).equiv(self._then(counts) & true))
        return found

    def _atom(self, fact: Fact, primed: bool = False) -> Bdd:
        return self.encoding.atom(fact, primed)

    def _read(self, formula: fo.Formula, kept: SinceThen | Before, fact: Fact) -> Bdd:
        """Return the states in which the formula is true of the values of a fact."""
        return self.compiler.formula(formula, dict(zip(kept.variables, fact.args, strict=True)))

    def _counts(self, relation: Relation, fact: Fact) -> Bdd:
        """Return the states in which the values of a fact are active or constants."""
        constants, encoding = self.deployment.constants, self.encoding
        return self.manager.conj(
            encoding.active(sort, value)
            for sort, value in zip(relation.sorts, fact.args, strict=True)
            if value not in constants[sort]
        )

    def _then(self, states: Bdd) -> Bdd:
        """Return the states' counterpart after the step."""
        return self.manager.substitute(states, self._copies)

    @cached_property
    def _copies(self) -> dict[str, Bdd]:
        return {bit: self.manager.var(self.encoding.primed(bit)) for bit in self.encoding.order}
