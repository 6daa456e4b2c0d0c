"""Endless runs of a deployment from one state, fair and within the states that keep a condition.

A few states are visited, and the explicit engine looks for a fair run among them. Steps that are not looked
at are missing there, but no call that a fairness constraint is about is: so what is found is a fair run, and
finding none says nothing.

One decision: the states are those of a walk that is nearly fair itself. It takes the step that has waited
longest, of those first that a constraint asks for. What cannot be undone is soon done, and what is left comes
back. Whenever no constraint asks for a step, the walk has come to rest. From the states since it rested
before, steps are taken that each undo something since then, since handling a further record may end there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.field import Field
from stead_sym.deployment.semantics import breaks_claim, each_call
from stead_sym.deployment.tool import Call, Tool
from stead_sym.deployment.trace import Step
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import Graph
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

CHECKED = (1, 4, 12, 30, 60)
"""The numbers of visited states after which a fair run is searched."""

MOST_TURNS, MOST_VISITED = 64, 100
"""The maximum numbers of steps of the walk, and of states that are visited on it and on ways back."""

MOST_CALLS = 2
"""The maximum number of calls of an unconstrained tool: with each near value, and with any others."""

MOST_OUTCOMES = 4
"""The maximum number of outcomes that are visited of an alternative of a call."""


class Loops:
    """The visited states from a start, numbered."""

    def __init__(
        self,
        field: Field,
        start: Instance,
        keeps: Callable[[Instance], bool],
        near: Mapping[str, Sequence[Value]],
    ) -> None:
        """Start at a state. Every state has to keep ``keeps``; calls are tried with ``near`` values first."""
        self._field, self._keeps, self._near = field, keeps, near
        actions = field.deployment.fair_actions
        self._fair = frozenset(action.name for action in actions if action.kind != "agent")
        agents = frozenset(action.name for action in actions if action.kind == "agent")
        self._fair_agents = frozenset(r.name for r in field.deployment.agents if {None, r.name} & agents)
        self._states = [start]
        self._number = {start: 0}
        self._edges: dict[int, tuple[tuple[Call, int], ...]] = {}
        self._actors: dict[int, dict[Call, tuple[str, ...]]] = {}
        self._taken: dict[Call | str, int] = {}

    def forever(self) -> tuple[tuple[Step, ...], int] | None:
        """Return the steps of an endless run, and the number of those before its loop, if one is found."""
        here: int | None = 0
        rest: int | None = None
        since, acted, checks = list[int](), False, iter(CHECKED)
        due = next(checks)
        for turn in range(MOST_TURNS):
            if here is None or len(self._edges) >= MOST_VISITED:
                break
            if here not in self._edges:
                self._visit(here)
                if len(self._edges) >= due:
                    due = next(checks, MOST_VISITED)
                    if found := self._fair_run():
                        return found
            if any(self._is_asked(call) for call, _ in self._edges[here]):
                acted = True
            elif here != rest:
                if rest is not None and acted and self._back(since, rest) and (found := self._fair_run()):
                    return found
                rest, since, acted = here, [], False
            here = self._ahead(here, turn)
            if here is not None:
                since.append(here)
        return self._fair_run()

    def _back(self, starts: Sequence[int], rest: int) -> bool:
        """Visit states on the way back to a state by steps that each undo something.

        Return True if they lead there.
        """
        facts, led = self._states[rest].facts, False

        def changed(number: int) -> int:
            return len(self._states[number].facts ^ facts)

        for start in starts:
            here, distance = start, changed(start)
            while distance:
                if here not in self._edges:
                    self._visit(here)
                nearest = min((there for _, there in self._edges[here]), key=changed, default=here)
                if changed(nearest) >= distance:
                    break
                here, distance = nearest, changed(nearest)
            led |= not distance
        return led

    def _visit(self, here: int) -> None:
        """Record the steps from a state."""
        deployment, state = self._field.deployment, self._states[here]
        actors: dict[Call, tuple[str, ...]] = {}
        edges: dict[tuple[Call, int], None] = {}
        for tool in () if breaks_claim(deployment, state) else deployment.tools_and_events:
            for call in self._calls(tool, state):
                actors[call] = self._field.callers(call, state)
                for by in range(len(tool.effects)):
                    for after in islice(self._field.after(call, state, by), MOST_OUTCOMES):
                        if self._keeps(after):
                            edges[call, self._numbered(after)] = None
        self._edges[here], self._actors[here] = tuple(edges), actors

    def _numbered(self, state: Instance) -> int:
        if state not in self._number:
            self._number[state] = len(self._states)
            self._states.append(state)
        return self._number[state]

    def _calls(self, tool: Tool, state: Instance) -> Iterator[Call]:
        """Yield all calls of a tool with a constraint, a few of any other."""
        deployment = self._field.deployment
        if tool.name in self._fair:
            yield from each_call(deployment, tool, state, {})
            return
        if not (first := list(islice(each_call(deployment, tool, state, {}), MOST_CALLS))):
            return
        for param in tool.params:
            for value in self._near.get(param.sort, ()):
                yield from islice(each_call(deployment, tool, state, {param.name: value}), MOST_CALLS)
        yield from first

    def _ahead(self, here: int, turn: int) -> int | None:
        """Return the next state of the walk, one that is not visited where it ends, or None."""
        if not self._edges[here]:
            return next((k for k in range(len(self._states)) if k not in self._edges), None)
        call, there = min(self._edges[here], key=self._waiting)
        self._taken.update(dict.fromkeys((*self._asked(call), call.tool), turn))
        return there

    def _waiting(self, edge: tuple[Call, int]) -> tuple[bool, int, int, bool, int]:
        """Return the sort key for the order in which steps are taken."""
        call, there = edge
        asked = [self._taken.get(key, -1) for key in self._asked(call)]
        return not asked, min(asked, default=0), self._taken.get(call.tool, -1), there in self._edges, there

    def _is_asked(self, call: Call) -> bool:
        """Return if a constraint asks for a call."""
        return any(True for _ in self._asked(call))

    def _asked(self, call: Call) -> Iterator[Call | str]:
        """Yield what the constraints that a call meets are about: the call, or its agents."""
        if call.tool in self._fair:
            yield call
        for agent in self._field.roles.get(call.tool, ()):
            if agent in self._fair_agents:
                yield f"\0{agent}"

    def _fair_run(self) -> tuple[tuple[Step, ...], int] | None:
        """Return a fair run through the states that are visited, if there is one."""
        number = {here: k for k, here in enumerate(self._edges)}
        graph = Graph(
            self._field.deployment,
            1,
            tuple(self._states[here] for here in number),
            tuple(
                tuple((call, number[there]) for call, there in edges if there in number)
                for edges in self._edges.values()
            ),
            tuple(frozenset(actors) for actors in self._actors.values()),
            tuple(self._actors.values()),
        )
        found = Labelling(graph, self._field.restriction)
        start = self._states[0]
        return found.forever(fo.TRUE, start) if found.holds(fo.Globally("E", fo.TRUE), start) else None
