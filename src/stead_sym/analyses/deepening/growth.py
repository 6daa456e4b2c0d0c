"""Pumping loops: a loop of calls along which a sort gains values, with the facts that it leaves behind.

One decision: the loop is shown by a run that repeats it at least twice and gains the same number of values
each time. That is no proof that the sort grows for ever, which is undecidable; it shows the author the cause.
Every state from which the run continues is within the bounds that were explored, so that no agent gets a new
query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from stead_sym.agents.roles import Wrappers
from stead_sym.agents.selection import selection
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import exceeded, leads_to, outcomes
from stead_sym.deployment.tool import Tool
from stead_sym.deployment.trace import Step, Trace
from stead_sym.relational.instance import Instance
from stead_sym.verification.findings.ranges import deleting

_MAX_OUTCOMES = 2_000
"""The number of outcomes that are tried to repeat a loop that the run itself has only once."""
_MAX_LOOP_CALLS = 12
"""The length, in calls, of the longest such loop."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A loop along which the number of values of a sort outside C increases.

    ``run`` repeats the loop ``rounds`` times after its first ``enters`` steps, with ``length`` steps each
    time; each round gains ``gained`` values. ``sources`` are the numbers of values that a round adds, by tool
    or event. ``left`` are the numbers of facts that a round leaves behind, by relation with a column of the
    sort. ``removers`` are the tools and events of the deployment that delete from such a relation.
    """

    sort: str
    run: Trace
    enters: int
    length: int
    rounds: int
    gained: int
    sources: Mapping[str, int]
    left: Mapping[str, int]
    removers: Mapping[str, tuple[str, ...]]

    @property
    def loop(self) -> tuple[str, ...]:
        """The tools and events of one round."""
        steps = self.run.steps[self.enters : self.enters + self.length]
        return tuple(step.call.tool for step in steps)

    def __str__(self) -> str:
        """Return the loop, its gain and its cause as a sentence."""
        brought = " and ".join(f"{tool} brings in {number}" for tool, number in self.sources.items())
        loop = ", ".join(self.loop)
        facts = " and ".join(f"{number} of {name}" for name, number in self.left.items())
        why = "; ".join(self._unremoved(name) for name in self.left)
        return (
            f"{self.sort} grows by {self.gained} along {loop}: {brought}, and each round leaves facts behind,"
            f" {facts}; {why}"
        )

    def _unremoved(self, relation: str) -> str:
        removing = self.removers[relation]
        if not removing:
            return f"nothing deletes from {relation}"
        there = [name for name in removing if name in self.loop]
        if there:
            delete = "deletes" if len(there) == 1 else "delete"
            return f"{' and '.join(there)} {delete} from {relation}, but less than comes in"
        return f"{' and '.join(removing)} would delete from {relation}, but nothing forces it"


def growth(deployment: Deployment, wrappers: Wrappers, run: Trace, sort: str) -> Growth | None:
    """Return the loop along which a sort grows on a run past its bound, or None if none is found.

    It is the shortest of the loops that the run itself repeats, if there are any, and otherwise the shortest
    that can be repeated once more. The run is replayed.
    """
    sizes = [_size(deployment, state, sort) for state in run.states]
    search = _Search(deployment, wrappers, sort)
    shown_loop = _repeated(run, sizes) or search.prolonged(run, sizes)
    if shown_loop is None:
        return None
    shown, enters, length, rounds = shown_loop
    search.check(shown)
    states = shown.states[enters : enters + length + 1]
    sources: Counter[str] = Counter()
    for (before, after), step in zip(pairwise(states), shown.steps[enters:], strict=False):
        new = after.active_domain[sort] - before.active_domain[sort]
        sources[step.call.tool] += len(new)
    behind = {
        relation.name: more
        for relation in deployment.schema.relations
        if sort in relation.sorts
        and (more := len(states[-1].tuples(relation.name)) - len(states[0].tuples(relation.name))) > 0
    }
    removers = {
        name: tuple(tool.name for tool in deployment.tools_and_events if _deletes(tool, name))
        for name in behind
    }
    gained = _size(deployment, states[-1], sort) - _size(deployment, states[0], sort)
    brought = {tool: number for tool, number in sources.items() if number}
    return Growth(sort, shown, enters, length, rounds, gained, brought, behind, removers)


_Loop = tuple[Trace, int, int, int]
"""A run with the number of steps before its loop, the length of the loop, and its repetitions."""


def _repeated(run: Trace, sizes: Sequence[int]) -> _Loop | None:
    """Return the shortest loop that the run has twice or more, with the same gain each time.

    Of several, it is the one with the most repetitions.
    """
    calls = [(step.actor, step.call.tool) for step in run.steps]
    for length in range(1, len(calls) // 2 + 1):
        best: _Loop | None = None
        for first in range(len(calls) - 2 * length + 1):
            rounds = _rounds(calls, sizes, first, length)
            if rounds >= 2 and (best is None or rounds > best[3]):
                best = replace(run, steps=run.steps[: first + rounds * length]), first, length, rounds
        if best is not None:
            return best
    return None


def _rounds(calls: Sequence[tuple[str | None, str]], sizes: Sequence[int], first: int, length: int) -> int:
    """Return how often the run repeats the loop that begins after ``first`` steps."""
    loop = calls[first : first + length]
    gained = sizes[first + length] - sizes[first]
    rounds, at = 0, first
    while gained > 0 and calls[at : at + length] == loop and sizes[at + length] - sizes[at] == gained:
        rounds, at = rounds + 1, at + length
        if at + length > len(calls):
            break
    return rounds


class _Search:
    """A search for steps by the semantics alone, within the bounds of the deployment."""

    def __init__(self, deployment: Deployment, wrappers: Wrappers, sort: str) -> None:
        self._deployment = deployment
        self._wrappers = wrappers
        self._sort = sort
        self._restriction = normal_restriction(deployment)
        self._left = _MAX_OUTCOMES

    def prolonged(self, run: Trace, sizes: Sequence[int]) -> _Loop | None:
        """Return the shortest loop of the run that can be repeated once more, with the same gain."""
        for length in range(1, min(_MAX_LOOP_CALLS, len(run.steps)) + 1):
            for first in range(len(run.steps) - length + 1):
                gained = sizes[first + length] - sizes[first]
                if gained <= 0:
                    continue
                loop = run.steps[first : first + length]
                start = run.states[first + length]
                wanted = sizes[first + length] + gained
                again = next(self._along([step.call.tool for step in loop], start, wanted), None)
                if again is not None:
                    steps = (*run.steps[: first + length], *again)
                    return replace(run, steps=steps), first, length, 2
        return None

    def _along(self, tools: Sequence[str], state: Instance, wanted: int) -> Iterator[tuple[Step, ...]]:
        """Yield runs by calls of these tools in turn, to a state with this many values."""
        if not tools:
            if _size(self._deployment, state, self._sort) == wanted:
                yield ()
            return
        if exceeded(self._deployment, state) is not None:
            return
        near = around(self._deployment, self._restriction, state)
        for call, actor in sorted(selection(self._deployment, self._wrappers, state).items()):
            if call.tool != tools[0]:
                continue
            for after in outcomes(self._deployment, call, state, near):
                self._left -= 1
                if self._left < 0:
                    return
                for rest in self._along(tools[1:], after, wanted):
                    yield (step_by(self._deployment, call, after, actor), *rest)

    def check(self, run: Trace) -> None:
        """Check that each step of the run is one by the semantics, of a call that may be made."""
        for before, step in zip(run.states, run.steps, strict=False):
            near = around(self._deployment, self._restriction, before, step.state)
            may = selection(self._deployment, self._wrappers, before)
            real = step.call in may and leads_to(self._deployment, step.call, before, step.state, near)
            assert real, f"{step.label} does not lead from {before} to {step.state}"


def _size(deployment: Deployment, state: Instance, sort: str) -> int:
    return len(deployment.outside(sort, state.active_domain[sort]))


def _deletes(tool: Tool, relation: str) -> bool:
    """Return True if some effect of the tool deletes facts of the relation; an `ensure` may."""
    return any(effect.is_ensure or relation in deleting(effect) for effect in tool.effects)
