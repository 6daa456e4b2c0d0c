"""Runs of a deployment: what evidence for a verdict, and for an error, is shown as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Step:
    """One transition D → D' by ``call``; ``state`` is D'."""

    call: Call
    state: Instance


@dataclass(frozen=True, slots=True)
class Trace:
    """A finite run from ``start``, or a lasso.

    With ``loop = k`` the state after the last step is the state after the first k steps
    (k = 0: the start), so that the steps from k on repeat for ever. ``bindings`` are the values
    that quantifiers took on the way; ``claim`` says what the last state, or the loop, shows.
    """

    start: Instance
    steps: tuple[Step, ...] = ()
    loop: int | None = None
    bindings: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    claim: str = ""

    @property
    def states(self) -> tuple[Instance, ...]:
        """The start and the state after each step."""
        return (self.start, *(step.state for step in self.steps))

    @property
    def last(self) -> Instance:
        return self.steps[-1].state if self.steps else self.start

    def changes(self, index: int) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        """The facts that step ``index`` added and removed, each sorted."""
        before, after = self.states[index].facts, self.states[index + 1].facts
        return tuple(sorted(after - before)), tuple(sorted(before - after))
