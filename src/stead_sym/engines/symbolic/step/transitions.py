"""The transition relation of the selected calls: a disjunction of relations, one per tool.

Each relation ranges over the state bits b and the successor's copies b', with frame conditions, so that

    post(S) = (∃ b, s. S ∧ T)[b' := b]      and      pre(X) = ∃ b', s. T ∧ X[b := b'],

where s are selectors of the call that T may range over too.

A tool is one relation and not one per call. If the bits of a record are adjacent and a call writes those of
few records, a diagram only has to encode, from the top down, if the record of the call has been passed, and
the relation is linear in the number of records. That requires selectors that identify the call; without them
the diagram has to encode all the calls that are still possible. So they are quantified in a relation only if
that makes it little larger, and in images otherwise (`Relation.chosen`).

The relations of the tools are not joined to one. That would make the exploration of 64 desks a fifth faster,
but for tools that count records the union explodes (refunds, b = 4 over 9 values: 17 million nodes against
100,000 in four relations).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import Vector, bits_of
from stead_sym.engines.symbolic.step.effects import CompiledTool
from stead_sym.engines.symbolic.step.history import Actors
from stead_sym.support.progress import Pulse

_SINGLE_SELECTORS = 8  # the number of bits of selectors that are quantified one by one
_NODES_RATIO = 1.5  # the maximum growth of a relation by quantifying selectors


@dataclass(frozen=True, slots=True)
class Selected:
    """The selection of one tool.

    ``calls`` are over the state bits and its selectors, (D, call); the ``steps`` that these make are over the
    state bits, their copies and some selectors.
    """

    calls: Bdd
    steps: Bdd


class Transitions(Relation):
    """The transitions D → D' of a deployment by the calls that the agent selects.

    Invariants: ``parts`` are the steps of the tools, one part for each. For a tool ω with the steps E_ω
    (`CompiledTool.steps`) and the selected calls S_ω its part is S_ω ∧ E_ω, over the state bits, their copies
    and the selectors, or some of these are quantified. The object is immutable: `selecting` returns another
    relation.
    """

    def __init__(
        self,
        encoding: Encoding,
        tools: Mapping[str, CompiledTool],
        selected: Mapping[str, Selected],
        report: Pulse,
        actors: Actors,
    ) -> None:
        """Create the relation.

        ``selected`` has an entry for each of the ``tools``; the calls and steps of some identify the agent.
        """
        moving = [(bit, encoding.primed(bit)) for bit in encoding.order]
        selectors = (bits_of(tool.interface.selectors) for tool in tools.values())
        super().__init__(
            encoding.manager,
            (of.steps for of in selected.values()),
            moving,
            report,
            frozenset(chain.from_iterable(selectors)) | actors.bits,
        )
        self.actors = actors
        self._encoding = encoding
        self._tools = tools
        self._selected = selected

    @classmethod
    def empty(
        cls, encoding: Encoding, tools: Mapping[str, CompiledTool], report: Pulse, actors: Actors
    ) -> Transitions:
        """Return the relation of the agent that selects nothing."""
        nothing = encoding.manager.false
        return cls(encoding, tools, dict.fromkeys(tools, Selected(nothing, nothing)), report, actors)

    @property
    def selected(self) -> Mapping[str, Bdd]:
        """Per tool the selected calls, over the state bits and the tool's selectors."""
        return {name: self.actors.by_anybody(of.calls) for name, of in self._selected.items()}

    def steps_by(self, tool: str) -> Bdd:
        """Return the steps of the selected calls of a tool, over state bits, copies and all its selectors."""
        return self.actors.by_anybody(self._selected[tool].calls & self._tools[tool].steps)

    def steps_by_alternative(self, tool: str) -> tuple[Bdd, ...]:
        """Return the steps of `steps_by` for each alternative of the tool."""
        calls, alternatives = self._selected[tool].calls, self._tools[tool].alternatives
        return tuple(self.actors.by_anybody(calls & steps) for steps in alternatives)

    def after(self, tool: str, states: Bdd) -> Bdd:
        """Return post_ω(S) = { D' : D → D' by a selected call of ω, for some D ∈ S }."""
        return self._after(states, self._selected[tool].steps)

    def selecting(self, calls: Mapping[str, Bdd]) -> Transitions:
        """Return the transitions by the calls selected so far and by ``calls``.

        These are per tool a set over the state bits and its selectors. Only the new steps are computed.
        """
        m, selected = self.manager, dict(self._selected)
        for name, more in calls.items():
            tool, known = self._tools[name], selected[name]
            by = self.actors.by_anybody(more & tool.steps) if name in self.actors.tools else more & tool.steps
            steps = _chosen(m, by, tool.interface.selectors)
            selected[name] = Selected(known.calls | more, known.steps | steps)
        return Transitions(self._encoding, self._tools, selected, self._report, self.actors)


def _chosen(manager: Manager, steps: Bdd, selectors: Iterable[Vector]) -> Bdd:
    """Return the steps with as many bits of the selectors quantified as that makes them little larger.

    Bits are quantified from the lowest; before these the bits of numbers, which are on top and would encode
    for each record at once what may be written to it.

    If the selectors identify the call near the top, a diagram without them may have to encode all the calls
    that are still possible: 2^n sets of n records. So the first bits are quantified one by one, and then
    twice as many each time: k bits at once can multiply the nodes by 2^k before their number is looked at.
    """
    vectors = tuple(selectors)
    most = _NODES_RATIO * steps.dag_size
    if numbers := bits_of(vector for vector in vectors if not vector.one_hot):
        fewer = manager.exist(frozenset(numbers), steps)
        steps = fewer if fewer.dag_size <= most else steps
    bits = sorted(steps.support & {*bits_of(vectors)}, key=manager.level, reverse=True)
    number, done = 1, 0
    while done < len(bits):
        fewer = manager.exist(frozenset(bits[done : done + number]), steps)
        if fewer.dag_size > most:
            break
        steps, done = fewer, done + number
        number = 1 if done < _SINGLE_SELECTORS else 2 * number
    return steps
