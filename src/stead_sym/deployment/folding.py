"""Fold runs for a reader: steps that repeat earlier ones are shown as one line.

One decision: steps repeat if they have the same calls, by the same agents, with the same arguments. An
argument may also differ from one repetition to the next if it is each time a value that the repetition before
has added. So a run that adds new values forever is shown as a repetition too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact

LEAST = 3
"""Steps are folded if they are repeated at least this many times after the first time."""

Changes = tuple[Sequence[Fact], Sequence[Fact]]
"""The facts that a step adds and removes."""


class CallStep(Protocol):
    """A step of a run, of which the call and the agent that makes it are compared."""

    @property
    def call(self) -> Call:
        """The call."""

    @property
    def actor(self) -> str | None:
        """The name of the agent; None for an event."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The steps from number ``first``, counted from 0, to the one before ``last``.

    They repeat the steps just before them ``times`` times. ``changes`` describes what they change, by
    relation.
    """

    first: int
    last: int
    times: int
    calls: str
    changes: tuple[str, ...]

    @property
    def numbers(self) -> str:
        """Return the numbers of the steps, counted from 1."""
        return f"{self.first + 1}-{self.last}"

    @property
    def words(self) -> str:
        """Return a description of the steps."""
        return f"{self.calls}, {self.times} times more"


def folded(
    steps: Sequence[CallStep], changes: Sequence[Changes], loop: int | None = None
) -> list[int | Folded]:
    """Return the numbers of the steps of a run, with a `Folded` in place of steps that repeat those before.

    ``changes`` has what each step changes. Steps before the ``loop`` of a run are not folded together with
    steps in it.
    """
    found: list[int | Folded] = []
    for begin, end in [(0, len(steps))] if loop is None else [(0, loop), (loop, len(steps))]:
        at = begin
        while at < end:
            again = _Folding(steps, changes, at, end).folded()
            if again is None:
                found.append(at)
                at += 1
            else:
                found += [*range(at, again.first), again]
                at = again.last
    return found


@dataclass(frozen=True, slots=True)
class _Folding:
    """The steps from number ``at`` on, before the step ``end``."""

    steps: Sequence[CallStep]
    changes: Sequence[Changes]
    at: int
    end: int

    def folded(self) -> Folded | None:
        """Return the repetition with the smallest period that is repeated often enough to be folded."""
        for period in range(1, (self.end - self.at) // (LEAST + 1) + 1):
            times = 0
            while self._again(self.at + times * period, period):
                times += 1
            if times >= LEAST:
                first, last = self.at + period, self.at + (times + 1) * period
                calls = ", ".join(self._common(self.at + k, last, period) for k in range(period))
                return Folded(first, last, times, calls, tuple(self._changed(first, last)))
        return None

    def _again(self, first: int, period: int) -> bool:
        """Return whether the ``period`` steps from ``first`` on are followed by a repetition of them."""
        if first + 2 * period > self.end:
            return False
        new = {v for k in range(first, first + period) for fact in self.changes[k][0] for v in fact.args}
        return all(
            one.call.tool == other.call.tool
            and one.actor == other.actor
            and all(u == v or v in new for u, v in zip(one.call.args, other.call.args, strict=True))
            for one, other in zip(
                self.steps[first : first + period],
                self.steps[first + period : first + 2 * period],
                strict=True,
            )
        )

    def _common(self, first: int, last: int, period: int) -> str:
        """Return the call of every ``period``-th step, with `_` for an argument that differs."""
        calls = [step.call for step in self.steps[first:last:period]]
        columns = zip(*(call.args for call in calls), strict=True)
        args = ", ".join(values[0] if len(set(values)) == 1 else "_" for values in columns)
        return f"{calls[0].tool}({args})"

    def _changed(self, first: int, last: int) -> Iterator[str]:
        added = Counter(fact.relation for k in range(first, last) for fact in self.changes[k][0])
        removed = Counter(fact.relation for k in range(first, last) for fact in self.changes[k][1])
        yield from (f"+ {number} of {relation}" for relation, number in added.items())
        yield from (f"- {number} of {relation}" for relation, number in removed.items())
