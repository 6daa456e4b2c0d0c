"""The graph of the reachable states of a verification, from which exports and drawings are made.

One decision: only the engine's initial states and steps are used, state by state. With representatives these
are the states that the symbolic engine chose, so that the counts of an export are those of the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from stead_sym.engines.protocol import Engine
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

MAX_STATES = 20_000
"""The number of states that are exported at most by default. NuSMV takes minutes for more."""


@dataclass(frozen=True)
class StateGraph:
    """The graph (R, R0, →).

    ``states`` are in the order in which they are met; the first ``initial`` of them are the initial ones.
    ``steps[i]`` maps the number of each successor of state i to the label of a step that leads there.
    """

    states: tuple[Instance, ...]
    initial: int
    steps: tuple[Mapping[int, str], ...]

    @property
    def transitions(self) -> int:
        """The number of pairs D → D'."""
        return sum(map(len, self.steps))

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that hold in some state, sorted."""
        return tuple(sorted(frozenset[Fact]().union(*(state.facts for state in self.states))))

    @cached_property
    def active(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of each sort that are active in some state, sorted."""
        return {
            sort: tuple(sorted(frozenset[Value]().union(*(s.active_domain[sort] for s in self.states))))
            for sort in self.states[0].active_domain
        }


def state_graph(engine: Engine, max_states: int = MAX_STATES) -> StateGraph:
    """Return the reachable states that an engine has explored, with their steps.

    Raises `Undecided` if there are more than ``max_states``.
    """
    if engine.states > max_states:
        raise Undecided(
            f"every state would be listed, and there are {engine.states}, more than {max_states};"
            " raise the limit on states, or lower the bounds"
        )
    number = {state: i for i, state in enumerate(sorted(engine.starts(), key=sorted))}
    states = list(number)
    initial = len(states)
    steps: list[dict[int, str]] = []
    for state in states:  # `states` grows in the loop
        out: dict[int, str] = {}
        for step in sorted(engine.steps(state), key=lambda step: sorted(step.state)):
            if step.state not in number:
                number[step.state] = len(states)
                states.append(step.state)
            out[number[step.state]] = step.label
        steps.append(out)
    return StateGraph(tuple(states), initial, tuple(steps))
