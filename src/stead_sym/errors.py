"""The exception tree of the package, and the exit status that each branch has on the command line.

    SteadError
    ├── InputError            2  the input is wrong: one line with the place and the repair
    │   ├── ParseError           the text is not in the language
    │   ├── DeclarationError     a name is missing, doubled, or of the wrong sort or arity
    │   ├── RestrictionError     a domain is too small for the theorem, or not a domain
    │   ├── NoInitialState       `initially any` admits no database
    │   ├── AgentError           an agent selects nothing, or what was not offered
    │   │   └── ModelError           a language model cannot be loaded or queried, or renders two calls alike
    │   ├── StoreError           a store of decisions is corrupt, contradicts itself, or lacks a context
    │   └── DefinitionError      a reachable state violates the definition of a deployment; has the run to it
    │       ├── BoundExceeded        more values active than `bound` claims
    │       ├── ValueOutOfRange      an integer in a column whose sort does not have it
    │       ├── KeyBroken            two facts with the same declared key
    │       ├── ReferenceBroken      a value without the row that `references` or `total` claims
    │       ├── NothingOffered       the state offers no call and enables no event
    │       └── NoEffect             an offered call, or an enabled event, has no successor
    └── Undecided             3  a limit was reached, or a hypothesis is not established: `unknown`
        ├── CanonicalLimit       no canonical form of a context was found within its limit
        └── NotVerified          in production: a decision that the verification does not cover

Anything else that escapes is a bug of this package: it keeps its stack trace, and the status is 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stead_sym.support.printable import printable

if TYPE_CHECKING:
    from stead_sym.deployment.tool import Call
    from stead_sym.deployment.trace import Trace

SIGNALLED = "the process was ended by signal"
"""The words for a process that a signal has ended, in the report of a verification."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source text: ``source`` is a file name, ``line`` and ``column`` count from 1."""

    source: str
    line: int
    column: int

    def __str__(self) -> str:
        """Return the place as `file:line:column`."""
        return f"{self.source}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """An item of a source text: ``span`` is its place, if known, and takes no part in equality."""

    span: Span | None = field(default=None, compare=False, repr=False)


class SteadError(Exception):
    """Root of every error that this package raises on purpose.

    ``str(error)`` is one line, in which unprintable characters are escaped: it may quote any file.
    """

    exit_status = 2

    def __str__(self) -> str:
        """Return the message in one line, with unprintable characters escaped."""
        return printable(super().__str__())


class InputError(SteadError):
    """The input is wrong.

    ``str(error)`` is ``file:line:column: what; what to do``; ``message`` is the part after the place,
    unescaped.
    """

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message if span is None else f"{span}: {message}")
        self.message = message
        self.span = span

    @property
    def remedy(self) -> str:
        """The remedy, if the message has one."""
        return self.message.partition("; ")[2]


def at_least_one(name: str, value: object) -> int:
    """Return the value if it is an integer of at least 1; raise `InputError` otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be an integer of at least 1, got {value!r}")
    return value


class ParseError(InputError):
    """The text is not in the deployment language."""


class DeclarationError(InputError):
    """A name is unknown, declared twice, or used with the wrong sort or arity."""


class RestrictionError(InputError):
    """A domain size is below what the theorem "Exact finite verification" requires, or is no size."""


class NoInitialState(InputError):
    """No instance satisfies the condition of `initially any`, the bounds and the keys."""


class AgentError(InputError):
    """An agent returned no call, or a call that was not offered."""


class ModelError(AgentError):
    """A language model is not available, or cannot be queried for a decision."""


class StoreError(InputError):
    """A store of decisions is corrupt, contradicts itself, or lacks a decision."""


class DefinitionError(InputError):
    """A reachable state violates the definition of a deployment.

    ``trace`` leads to it, ``claim`` is the name of what it violates (`deployment.claims`).
    """

    def __init__(self, message: str, trace: Trace, claim: str, span: Span | None = None) -> None:
        super().__init__(message, span)
        self.trace = trace
        self.claim = claim


class BoundExceeded(DefinitionError):
    """A reachable state has more active values outside C than `bound` claims."""


class ValueOutOfRange(DefinitionError):
    """An effect of a step that is taken writes an integer that the column's sort does not have."""


class KeyBroken(DefinitionError):
    """A reachable state holds two facts that agree on the columns of a declared key."""


class ReferenceBroken(DefinitionError):
    """A reachable state has a value in a column that is not where `references` or `total` claims it."""


class NothingOffered(DefinitionError):
    """A reachable state offers no call and enables no event."""


class NoEffect(DefinitionError):
    """A call offered, or an event enabled, in a reachable state has no successor: ``call``."""

    def __init__(self, message: str, trace: Trace, claim: str, span: Span | None, call: Call) -> None:
        super().__init__(message, trace, claim, span)
        self.call = call


class Undecided(SteadError):
    """A limit was reached or a hypothesis is not established: the answer is `unknown`."""

    exit_status = 3


class CanonicalLimit(Undecided):
    """A context has no canonical form within the limit, so that isomorphism with others is undecided."""
