"""The quotient of the reachable states by the contexts of one agent: sizes, and tools between groups.

One decision: match_K is rebuilt for each context, and not kept from the exploration: verdicts should not use
memory for data that only a report needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stead_sym.agents.base import DecisionContext
from stead_sym.engines.protocol import Quotient
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.explore.reach import ReachableStates


def quotient(model: ReachableStates, agent: str, groups: Sequence[Collection[DecisionContext]]) -> Quotient:
    """Return the quotient of R as in `Engine.quotient`, computed on sets.

    With G_i the states of group i,

        i →ω j  iff  post_ω(G_i) ∩ G_j ≠ ∅.
    """
    m, reached = model.manager, model.reached
    [finder] = (finder for finder in model.finders if finder.agent.name == agent)
    parts: list[Bdd] = []
    for group in groups:
        shown = m.false
        for context in sorted(group, key=str):
            shown = shown | finder.showing(context, reached & ~shown)
        parts.append(shown)
    parts.append(reached & ~model.offers.by(finder.tools, reached))
    moves: set[tuple[int, str, int]] = set()
    for source, states in enumerate(parts):
        for tool in model.tools if states != m.false else ():
            after = model.transitions.after(tool, states)
            if after != m.false:
                moves.update((source, tool, i) for i, part in enumerate(parts) if after & part != m.false)
    return Quotient(
        sizes=tuple(m.count(part, model.encoding.state_bits) for part in parts),
        initial=frozenset(i for i, part in enumerate(parts) if part & model.initial != m.false),
        moves=frozenset(moves),
    )
