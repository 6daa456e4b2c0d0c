"""The transition relation of the selected calls: a disjunction of relations, one per tool.

Each relation ranges over the state bits b and the successor's copies b', with frame conditions, so that
    post(S) = (∃ b. S ∧ T)[b' := b]      and      pre(X) = ∃ b'. T ∧ X[b := b'].
A tool is one relation and not one per call: as long as an action touches the records that it is about,
"one of them has acted" is one flag on the way down, and the relation is linear in the number of records.

Tools stay apart. One relation for all made desks of 64 a fifth faster; where tools count records their
union explodes (refunds, b = 4 over 9 values: 17 million nodes against 100,000 in four relations).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stead_sym.progress import Pulse
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.bdd.relation import Relation
from stead_sym.symbolic.encode.encoding import Encoding
from stead_sym.symbolic.encode.values import bits_of
from stead_sym.symbolic.step.effects import CompiledTool


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
