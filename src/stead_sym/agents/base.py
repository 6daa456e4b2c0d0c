"""Decision contexts, and what a base agent is: the policy Π of Definition "Stateful Tool-Enabled Agentic
Deployment"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from stead_sym.agents.wording import one_line
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError
from stead_sym.relational.instance import Instance
from stead_sym.support.html import Displayed, table
from stead_sym.support.progress import Progress


@dataclass(frozen=True, slots=True)
class DecisionContext(Displayed):
    """A pair (D, A): what the agent is shown of the state, and the calls it is offered."""

    view: Instance
    calls: frozenset[Call]

    def __str__(self) -> str:
        offered = ", ".join(map(str, sorted(self.calls)))
        return f"{self.view} offering {offered}"

    def _repr_html_(self) -> str:
        rows = [(call,) for call in sorted(self.calls)]
        return self.view._repr_html_() + table("", ("offered",), rows)


@runtime_checkable
class Agent(Protocol):
    """A base agent Π̂: for each decision context a nonempty subset of the offered calls.

    Contexts come in batches, so that a model can answer many at once; the answers stand in the
    order of the questions. The wrapper asks once per canonical context.
    """

    @property
    def name(self) -> str: ...

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]: ...


@runtime_checkable
class Counting(Protocol):
    """An agent that knows how many contexts it really decided, where a store answers for some."""

    @property
    def queries(self) -> int: ...


@runtime_checkable
class Spreading(Protocol):
    """An agent that is asked some questions several times, and may be so at any time of a run."""

    def spreading(self) -> AbstractContextManager[None]:
        """The questions that are asked inside count as one run. At its end all repetitions that the run needs
        have been asked."""
        ...


@runtime_checkable
class Reporting(Protocol):
    """An agent that says how far it is while it is asked."""

    def report_to(self, progress: Progress | None) -> None:
        """Report to this listener from now on, or to nobody."""
        ...


class Named(Protocol):
    """Whoever an error can be about."""

    @property
    def name(self) -> str: ...


def calls_of(agent: Named, answer: object) -> frozenset[Call]:
    """The calls that an agent's answer to one context consists of; `AgentError` for any other answer."""
    if isinstance(answer, Iterable) and not isinstance(answer, str | Call):
        answer = tuple(answer)
        if all(map(_is_call, answer)):
            return frozenset(answer)
    raise AgentError(
        f"agent {agent.name} answers {one_line(repr(answer))}, which is no collection of calls;"
        " return calls of the context"
    )


def selected_from(agent: Named, context: DecisionContext, answer: object) -> frozenset[Call]:
    """The calls that an answer to ``context`` consists of; `AgentError` where there is none, or one that is
    not offered."""
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
    """A call with a tuple of values, which are texts."""
    return (
        isinstance(item, Call)
        and isinstance(item.args, tuple)
        and all(isinstance(value, str) for value in item.args)
    )


@dataclass(frozen=True, slots=True)
class FunctionAgent:
    """An agent from a Python function that picks a call, or several, from a decision context."""

    function: Callable[[DecisionContext], Call | Collection[Call]]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "function")

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        answers = map(self.function, contexts)
        return [calls_of(self, (answer,) if isinstance(answer, Call) else answer) for answer in answers]


@dataclass(frozen=True, slots=True)
class Everything:
    """The agent that selects everything offered, so that whatever any agent could do is possible."""

    name: str = "any"

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        return [context.calls for context in contexts]
