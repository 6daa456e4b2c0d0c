"""The result of a comparison: the differences, and what was run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Instance

Kind: TypeAlias = Literal["refused", "not refused", "other result", "value not listed", "no order"]
"""The kind of a difference: the system refuses a call that the deployment offers, or changes something though
the deployment does not offer the call; it ends in another state; it writes a value that the file lacks; two
calls at the same time end as in no order of the two."""


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """A call that ran from its begin to its end before a step of another.

    Steps are statements and commits, numbered from 1; ``step`` is the text of the one that came after it.
    """

    call: Call
    before_step: int
    step: str


@dataclass(frozen=True, slots=True)
class Walk:
    """Calls one after the other from an initial state, without loading the database between them."""

    start: Instance
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A call on which deployment and system differ.

    ``expected`` are the states that the deployment leads to, only ``before`` if it does not offer the call;
    ``found`` is where the system ends, None if that cannot be read. ``said`` is what the system says.
    With a ``walk`` the call is its last.
    """

    kind: Kind
    call: Call
    before: Instance
    expected: tuple[Instance, ...]
    found: Instance | None
    said: str | None = None
    meanwhile: Meanwhile | None = None
    walk: Walk | None = None

    @property
    def title(self) -> str:
        """Return the call, or all calls."""
        if self.walk is not None and len(self.walk.calls) > 1:
            return f"{', '.join(map(str, self.walk.calls[:-1]))}, and then {self.call}"
        if self.meanwhile is None:
            return str(self.call)
        return f"{self.call} and, at the same time, {self.meanwhile.call}"


@dataclass(frozen=True, slots=True)
class Exercised:
    """The numbers of calls of a tool: of those that the deployment offers, and of the others.

    ``untaken`` are the numbers of the alternatives, from 1, that no call of the system ended in.
    ``literals`` is the number of literals of the guard, and ``never`` has those that were true in no call,
    or false in no call, with that truth value. ``raised`` is the number of calls that did what the
    deployment says and raised an error all the same. ``beyond`` are the tables of no relation, and the
    columns that none has, which calls changed.
    """

    offered: int
    not_offered: int
    untaken: tuple[int, ...]
    literals: int = 0
    never: tuple[tuple[str, bool], ...] = ()
    raised: int = 0
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conformance:
    """The result of a comparison.

    ``unloaded`` are the reasons that the database gave for refusing states, each with the first such state.
    ``unbound`` are the tools and events that the binding does not run. ``complete`` says that every
    reachable state was loaded, up to isomorphism. ``digest`` is that of the deployment. ``interleaved`` is
    the number of runs of one call amid another, None if this was not asked for; ``alone`` are the tools that
    no call could run amid, since they have one step only or use connections of their own. ``walks`` is the
    number of walks, and ``walked`` that of their calls.
    """

    states: int
    tools: Mapping[str, Exercised]
    differences: tuple[Difference, ...]
    unloaded: Mapping[str, Instance]
    unbound: tuple[str, ...]
    complete: bool
    digest: str
    interleaved: int | None = None
    alone: tuple[str, ...] = ()
    walks: int | None = None
    walked: int = 0

    @property
    def calls(self) -> int:
        """Return the number of calls that were made."""
        return sum(one.offered + one.not_offered for one in self.tools.values())

    @property
    def agrees(self) -> bool:
        """Return True if no difference was found, and every state could be loaded."""
        return not self.differences and not self.unloaded
