"""The decision about a proposed call: allowed, or denied with a reason."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stead_sym.errors import InputError

Reason: TypeAlias = Literal[
    "unknown tool",
    "bad arguments",
    "not offered",
    "not allowed",
    "past a bound",
    "not verified",
    "needs approval",
    "undecided",
]
"""The reason for which a call is denied.

``unknown tool``: the agent has no tool of this name. ``bad arguments``: one is missing, too many, or no value
of its sort. ``not offered``: the tool's guard is not true. ``not allowed``: a gate's line forbids it, or none
permits it. ``past a bound``: the database has more values of a sort than the deployment is verified for.
``not verified``: the verification met no context like the present one, or the agent makes other calls in it.
``needs approval``: the same, and a person may approve the call.
``undecided``: the database or the log cannot be used, or what decides the call depends on a content that no
value of its finite sort stands for.
"""


Outcome: TypeAlias = Literal["done", "failed", "conflict", "unknown"]
"""The outcome of a call that was allowed.

``failed``: its tool has refused it or raised an error. ``conflict``: its transaction conflicts with another
one, and nothing was changed. ``unknown``: no answer came.
"""


_SHOWN = 300  # characters of a name or an argument in a message


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool with its arguments by name, as the system has them."""

    tool: str
    arguments: Mapping[str, object]

    def __str__(self) -> str:
        """Return the call as text, its arguments as JSON, cut if they are long."""
        given = (f"{shown(name)}={shown(json_text(value))}" for name, value in self.arguments.items())
        return f"{shown(self.tool)}({', '.join(given)})"


def shown(text: str) -> str:
    """Return a text as a message has it: cut if it is long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def json_text(argument: object) -> str:
    """Return an argument as JSON, or a text instead of one that JSON cannot have."""
    try:
        return json.dumps(argument, default=str)
    except (TypeError, ValueError, RecursionError):  # such as a number of too many digits, nested too deep
        return json.dumps(f"<{type(argument).__name__} that is no JSON>")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that is proposed; ``approved`` is the name of who has approved it, or None."""

    call: ToolCall
    approved: str | None = None


def proposal(tool: str, arguments: Mapping[str, object] | None, approved: str | None) -> Proposal:
    """Return what is proposed.

    Raise `TypeError` for what is no call, and `InputError` for an approval without a name.
    """
    if not isinstance(tool, str):
        raise TypeError(f"{tool!r} is no name of a tool; give a text")
    if not isinstance(arguments, Mapping | None):
        raise TypeError(f"{arguments!r} are no arguments; give them by name")
    if approved is not None and not (isinstance(approved, str) and approved.strip()):
        raise InputError(
            f"approved must be the name of who has approved the call, got {approved!r}; leave it out if"
            " nobody has"
        )
    return Proposal(ToolCall(tool, {str(name): given for name, given in (arguments or {}).items()}), approved)


@dataclass(frozen=True, slots=True)
class Reading:
    """A guard's reading of the database for a decision: truth values of the formulas that decide.

    ``gates`` has one for each line about the tool: a `permit` line matches the call, a `forbid` line may
    match it. ``within`` has one for each bounded sort: the database keeps the bound. ``possibly`` is there if
    the call was denied and some column may hold what its finite sort does not list: that may be why.
    ``gap`` is why the verification does not cover the call, "" if it does, and None if that was not read.
    """

    guard: bool
    gates: Mapping[str, Sequence[bool]]
    within: Mapping[str, bool]
    possibly: bool | None = None
    gap: str | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may be made. ``by`` are the guard and the lines of gates that let it through.

    ``result`` is what the function returned that carried the call out, if `Guard.call` did. ``entry`` is the
    number of the decision's line in the log, if there is one. ``read`` is what decided.
    """

    call: ToolCall
    by: Sequence[str]
    result: object = None
    entry: int | None = None
    read: Reading | None = field(default=None, repr=False, compare=False)

    @property
    def not_verified(self) -> str:
        """Return why no verdict is about the call, "" if one is or if that was not read."""
        return "" if self.read is None else self.read.gap or ""

    @property
    def allowed(self) -> bool:
        """True."""
        return True


@dataclass(frozen=True, slots=True)
class Denied:
    """The call must not be made.

    ``why`` has the reason in words, and ``gate`` the name of the gate if one denies it. ``instead`` are calls
    that are allowed in the same state.
    """

    call: ToolCall
    reason: Reason
    why: str
    gate: str | None = None
    instead: Sequence[ToolCall] = ()
    read: Reading | None = field(default=None, repr=False, compare=False)

    @property
    def allowed(self) -> bool:
        """False."""
        return False

    @property
    def words(self) -> str:
        """The denial as a message to a model."""
        calls = "; ".join(map(str, self.instead))
        others = f" Allowed now: {calls}." if calls else " No call is known to be allowed now."
        return f"{self.call} was not carried out: {self.why}.{others}"


NeverMet: TypeAlias = Literal["deny", "allow", "ask"]
"""The answer to a call that the verification does not cover: it is denied, allowed, or needs approval."""

Decision: TypeAlias = Allowed | Denied
