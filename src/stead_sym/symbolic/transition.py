"""The transition relation of the selected calls: a disjunction of relations, one per tool.

Each relation ranges over the state bits b and the successor's copies b', with frame conditions, so that
    post(S) = (∃ b. S ∧ T)[b' := b]      and      pre(X) = ∃ b'. T ∧ X[b := b'].
A tool is one relation and not one per call: as long as an action touches the records that it is about,
"one of them has acted" is one flag on the way down, and the relation is linear in the number of records.

Tools stay apart. One relation for all made desks of 64 a fifth faster; where tools count records their
union explodes (refunds, b = 4 over 9 values: 17 million nodes against 100,000 in four relations).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from stead_sym.progress import Pulse
from stead_sym.symbolic.effects import CompiledTool
from stead_sym.symbolic.encoding import Encoding, bits_of
from stead_sym.symbolic.manager import Bdd, Manager
from stead_sym.symbolic.saturation import Relations, saturated


class Relation:
    """A transition relation over some bits and their copies, as a disjunction of ``parts``.

    Sets of states may range over other bits too, which keep their values.
    """

    def __init__(
        self, manager: Manager, parts: Iterable[Bdd], moving: Sequence[tuple[str, str]], report: Pulse
    ) -> None:
        """``moving``: the pairs (b, b'), each b' right below its b."""
        self.manager = manager
        self.parts: Relations = tuple(parts)
        self.moving = tuple(moving)
        self._report = report
        self._bits = frozenset(b for b, _ in self.moving)
        self._copies = frozenset(copy for _, copy in self.moving)

    @cached_property
    def _prime(self) -> Mapping[str, Bdd]:
        return {b: self.manager.var(copy) for b, copy in self.moving}

    @cached_property
    def _unprime(self) -> Mapping[str, Bdd]:
        return {copy: self.manager.var(b) for b, copy in self.moving}

    def image(self, states: Bdd) -> Bdd:
        """post(S) = { D' : D → D' for some D ∈ S }"""
        m = self.manager
        after = m.disj(m.and_exist(self._bits, states, part) for part in self.parts)
        return m.substitute(after, self._unprime)

    def preimage(self, target: Bdd) -> Bdd:
        """pre(X) = { D : D → D' for some D' ∈ X }"""
        m = self.manager
        after = m.substitute(target, self._prime)
        return m.disj(m.and_exist(self._copies, part, after) for part in self.parts)

    def reachable(self, states: Bdd) -> Bdd:
        """μZ. S ∨ post(Z)"""
        return saturated(self.manager, states, self.parts, self.moving, report=self._report)

    def reaching(self, target: Bdd, through: Bdd) -> Bdd:
        """μZ. X ∨ (S ∧ pre(Z)): where a run through S leads to X."""
        parts = (part & through for part in self.parts)
        return saturated(self.manager, target, parts, self.moving, backward=True, report=self._report)

    def count(self, states: Bdd) -> int:
        """|{ (D, D') : D ∈ states, D → D' }|, each pair once however many parts make it."""
        m, total = self.manager, 0
        for k, part in enumerate(self.parts):
            new = states & part
            for earlier in self.parts[:k]:
                new = new & ~earlier
            total += m.count(new, self._bits | self._copies)
        return total


class Transitions(Relation):
    """The transitions of a deployment. There are none until `select` says what the agent takes."""

    def __init__(self, encoding: Encoding, tools: Sequence[CompiledTool], report: Pulse) -> None:
        moving = [(bit, encoding.primed(bit)) for bit in encoding.order]
        super().__init__(encoding.manager, (), moving, report)
        self._tools = {tool.interface.tool.name: tool for tool in tools}
        self._taken = dict.fromkeys(self._tools, encoding.manager.false)

    def select(self, selection: Mapping[str, Bdd]) -> None:
        """The agent also takes these calls: per tool a set over the state bits and its selectors."""
        m = self.manager
        for name, calls in selection.items():
            tool = self._tools[name]
            bits = frozenset(bits_of(tool.interface.selectors))
            self._taken[name] = self._taken[name] | m.and_exist(bits, calls, tool.steps)
        self.parts = tuple(self._taken.values())
