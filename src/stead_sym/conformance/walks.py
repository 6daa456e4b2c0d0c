"""Walks: calls one after the other in the system, without loading its database between them.

The comparison of single calls loads each state. It does not see what a tool keeps outside of the relations,
in a column that none has or in its process, and reads again in a later call. A walk does.

One decision: the state of the system is what the model goes on from, if the model can lead there. So nothing
has to be renamed, and the names of new identifiers are those of the system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from stead_sym.conformance.binding import Binding
from stead_sym.conformance.found import Difference, Kind, Walk
from stead_sym.conformance.system import CannotLoad, System, Unlisted
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Derivation, Restriction
from stead_sym.deployment.semantics import breaks_claim, calls_of, databases, is_possible
from stead_sym.deployment.tool import Call
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress

LENGTH = 12
"""The number of calls of a walk."""
_NOT_OFFERED = 0.2
"""The share of the calls that are drawn from all, not from those offered."""


@dataclass(frozen=True, slots=True)
class Walked:
    """The numbers of walks and of their calls, and the shortest walk that ends in a difference, if any."""

    walks: int
    calls: int
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Walker:
    """A system that walks from initial states, in step with the deployment."""

    deployment: Deployment
    binding: Binding
    system: System
    begins: Sequence[Instance]
    """The initial states, smallest first."""

    def walk(
        self, number: int, *, length: int = LENGTH, seed: int = 0, progress: Progress | None = None
    ) -> Walked:
        """Return the outcome of some walks; the shortest that differs is made as short as can be."""
        random = Random(seed)
        calls, shortest = 0, None
        for made in range(number):
            if progress is not None:
                progress("walking", walks=made, calls=calls)
            walk, difference = self._drawn(random, length)
            calls += len(walk.calls)
            if difference is None:
                continue
            found = self._shortened(walk, difference)
            length = min(length, max(1, len(found.walk.calls if found.walk else ())))
            if shortest is None or _size(found) < _size(shortest):
                shortest = found
        return Walked(number, calls, shortest)

    def _drawn(self, random: Random, length: int) -> tuple[Walk, Difference | None]:
        """Make a random walk; return it with the difference in which it ends, if it does."""
        start = random.choice(self.begins)
        if not self._begin(start):
            return Walk(start, ()), None
        state, made = start, list[Call]()
        for _ in range(length):
            call = self._call(random, state)
            if call is None:
                break
            made.append(call)
            after = self._step(state, call)
            if isinstance(after, Difference):
                return Walk(start, tuple(made)), after
            state = after
        return Walk(start, tuple(made)), None

    def _begin(self, start: Instance) -> bool:
        try:
            self.system.load(start)
        except CannotLoad:  # which the comparison of the states reports
            return False
        return True

    def _call(self, random: Random, state: Instance) -> Call | None:
        """Return a call that keeps the claims of the deployment, None if there is none."""
        tools = [tool for tool in self.deployment.tools_and_events if tool.name in self.binding.tools]
        offered = [call for tool in tools for call in sorted(calls_of(self.deployment, tool, state))]
        others = [call for call in self._every(state) if call not in set(offered)]
        random.shuffle(offered)
        if others and (not offered or random.random() < _NOT_OFFERED):
            return random.choice(others)
        return next((call for call in offered if self._is_kept(state, call)), None)

    def _is_kept(self, state: Instance, call: Call) -> bool:
        """Return True if no successor has more values than the bounds allow."""
        return not any(breaks_claim(self.deployment, end) for end in self._ends(state, call))

    def _ends(self, state: Instance, call: Call) -> list[Instance]:
        return list(databases(self.deployment, call, state, small_restriction(self.deployment, state)))

    def _every(self, state: Instance) -> Iterator[Call]:
        """Yield all calls with values that are there."""
        for tool in self.deployment.tools_and_events:
            if tool.name in self.binding.tools:
                ranges: list[Sequence[Value]] = [
                    self.deployment.schema.sort(param.sort).values or sorted(state.active_domain[param.sort])
                    for param in tool.params
                ]
                yield from (Call(tool.name, args) for args in product(*ranges))

    def _step(self, state: Instance, call: Call) -> Instance | Difference:
        """Make a call in the system; return where it leads, or a difference."""
        offered = is_possible(self.deployment, call, state)
        expected = tuple(self._ends(state, call)) if offered else (state,)
        said = self.system.run(call)
        try:
            found = self.system.state()
        except Unlisted as error:
            return Difference("value not listed", call, state, expected, None, str(error))
        fixed = self.deployment.all_constants.union(call.args, *state.active_domain.values())
        if found in expected or any(isomorphic(found, end, fixed) for end in expected):
            return found
        if not offered:
            return Difference("not refused", call, state, expected, found, said)
        kind: Kind = "refused" if said is not None and found == state else "other result"
        return Difference(kind, call, state, expected, found, said)

    def replayed(self, walk: Walk) -> Difference | None:
        """Make the calls of a walk again, and return the first difference."""
        if not self._begin(walk.start):
            return None
        state = walk.start
        for number, call in enumerate(walk.calls, 1):
            after = self._step(state, call)
            if isinstance(after, Difference):
                return replace(after, walk=Walk(walk.start, walk.calls[:number]))
            state = after
        return None

    def _shortened(self, walk: Walk, difference: Difference) -> Difference:
        """Return the difference of a walk without calls that it does not need, from a smallest state.

        A walk that does not differ when it is made again stays as it is.
        """
        best = replace(difference, walk=walk)
        again = self.replayed(walk)
        if again is None:
            return best
        best = again
        shorter: Difference | None = again
        while shorter is not None:
            best, shorter = shorter, next(filter(None, map(self.replayed, _shorter(shorter))), None)
        assert best.walk is not None, "it was replayed"
        for start in self.begins:
            if len(start) >= len(best.walk.start):
                break
            smaller = self.replayed(Walk(start, best.walk.calls))
            if (
                smaller is not None
                and smaller.walk is not None
                and len(smaller.walk.calls) <= len(best.walk.calls)
            ):
                return smaller
        return best


def _shorter(difference: Difference) -> Iterator[Walk]:
    """Yield the walk of a difference without one of its calls."""
    walk = difference.walk
    assert walk is not None, "it was replayed"
    for number in range(len(walk.calls)):
        yield Walk(walk.start, walk.calls[:number] + walk.calls[number + 1 :])


def _size(difference: Difference) -> tuple[int, int]:
    """Return what shorter walks are compared by."""
    walk = difference.walk
    return (0, 0) if walk is None else (len(walk.calls), len(walk.start))


def small_restriction(deployment: Deployment, state: Instance | None = None) -> Restriction:
    """Return a restriction to constants and the values of a state; beyond it are those that are fresh."""
    active = {} if state is None else state.active_domain
    values = {
        sort.name: sort.values
        or (*dict.fromkeys([*deployment.constants[sort.name], *sorted(active.get(sort.name, ()))]),)
        for sort in deployment.schema.sorts
    }
    return Restriction(
        values,
        {
            sort.name: Derivation(sort.name, 0, 0, 0, None, sort.values is not None, len(values[sort.name]))
            for sort in deployment.schema.sorts
        },
    )
