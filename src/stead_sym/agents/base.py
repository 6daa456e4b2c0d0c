"""Decision contexts and base agents.

A base agent is the policy Π of Definition "Stateful Tool-Enabled Agentic Deployment".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError
from stead_sym.relational.instance import Instance
from stead_sym.support.html import Displayed, table
from stead_sym.support.printable import one_line
from stead_sym.support.progress import Progress


@dataclass(frozen=True, slots=True)
class DecisionContext(Displayed):
    """A pair (D, A): the agent's view of the state, and the calls it is offered."""

    view: Instance
    calls: frozenset[Call]

    def __str__(self) -> str:
        """Return the view and the offered calls as text."""
        offered = ", ".join(map(str, sorted(self.calls)))
        return f"{self.view} offering {offered}"

    def _repr_html_(self) -> str:
        rows = [(call,) for call in sorted(self.calls)]
        return self.view._repr_html_() + table("", ("offered",), rows)


@runtime_checkable
class Agent(Protocol):
    """A base agent Π̂: for each decision context a nonempty subset of the offered calls.

    Contexts come in batches, so that a model can process many at once; the answers are in the order of the
    contexts. The wrapper queries once per canonical context.
    """

    @property
    def name(self) -> str:
        """The name of the agent."""
        ...

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        """Return the selected calls for each context."""
        ...


@runtime_checkable
class Counting(Protocol):
    """An agent that counts its own decisions, excluding answers from a store."""

    @property
    def queries(self) -> int:
        """The number of contexts that the agent has decided itself."""
        ...


@runtime_checkable
class Spreading(Protocol):
    """An agent that is queried several times about some contexts, at arbitrary times of a run."""

    def spreading(self) -> AbstractContextManager[None]:
        """Return a context manager for one run; at its end all repeated queries of the run are done."""
        ...


@runtime_checkable
class Reporting(Protocol):
    """An agent that reports its progress while it is queried."""

    def report_to(self, progress: Progress | None) -> None:
        """Report to this callback from now on; None for no reports."""
        ...


class Named(Protocol):
    """An object that an error message can name."""

    @property
    def name(self) -> str:
        """The name for messages."""
        ...


def calls_of(agent: Named, answer: object) -> frozenset[Call]:
    """Return the calls in an agent's answer to one context; raise `AgentError` for any other answer."""
    if isinstance(answer, Iterable) and not isinstance(answer, str | Call):
        answer = tuple(answer)
        if all(map(_is_call, answer)):
            return frozenset(answer)
    raise AgentError(
        f"agent {agent.name} answers {one_line(repr(answer))}, which is no collection of calls;"
        " return calls of the context"
    )


def selected_from(agent: Named, context: DecisionContext, answer: object) -> frozenset[Call]:
    """Return the calls in an answer to ``context``.

    Raise `AgentError` if there is none, or if one is not offered.
    """
    selected = calls_of(agent, answer)
    if not selected:
        raise AgentError(
            f"agent {agent.name} selects nothing for {context}; return at least one offered call"
        )
    if not selected <= context.calls:
        stray = one_line(", ".join(sorted(map(str, selected - context.calls))))
        raise AgentError(f"agent {agent.name} selects {stray} for {context}; return offered calls only")
    return selected


def _is_call(item: object) -> bool:
    """Return True for a call with a tuple of strings."""
    return (
        isinstance(item, Call)
        and isinstance(item.args, tuple)
        and all(isinstance(value, str) for value in item.args)
    )


@dataclass(frozen=True, slots=True)
class FunctionAgent:
    """An agent from a Python function that returns one or several calls for a decision context."""

    function: Callable[[DecisionContext], Call | Collection[Call]]

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", "function")

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        """Return the calls that the function selects for each context."""
        answers = map(self.function, contexts)
        return [calls_of(self, (answer,) if isinstance(answer, Call) else answer) for answer in answers]


@dataclass(frozen=True, slots=True)
class Everything:
    """The agent that selects all offered calls, so that its behaviour includes that of any agent."""

    name: str = "any"

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        """Return all offered calls of each context."""
        return [context.calls for context in contexts]
