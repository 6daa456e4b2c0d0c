"""Python functions and objects as agents, plain or `async`.

The decision: an agent with an identity is recorded in a store under it, and the user decides what the
identity stands for. If the function changes under the same identity, the stored answers remain valid; the
records have the digest of the source, so that a verdict based on both versions is detected.
"""

from __future__ import annotations

import inspect
import platform
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Never, TypeAlias

from stead_sym.agents.base import Agent, DecisionContext, selected_from
from stead_sym.agents.in_flight import in_thread
from stead_sym.agents.prompts.plain import Plain
from stead_sym.agents.recorded import Again, Asking, RecordedAgent
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.said import Given, is_logprob
from stead_sym.agents.records.store import Store, open_store
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, InputError
from stead_sym.support.printable import one_line

Choice: TypeAlias = Call | Collection[Call] | Given
"""The answer of a function: a call, or several alternative ones, or either with a note."""

Decider: TypeAlias = Callable[[DecisionContext], Choice | Awaitable[Choice]]

SOURCE = "source"
"""The name, among the versions of a record, of the digest of the function's source."""
_CONCURRENCY = 16
"""The default number of concurrent queries to an `async` function."""
_MAX_CALLS = 100_000
"""The maximum number of calls in an answer, since a generator may not end."""


class PythonAgent(RecordedAgent):
    """A function as an agent, made by `agent`; it can still be called as the function."""

    def __init__(
        self,
        function: Decider,
        identity: str | None = None,
        store: Store | Callable[[], Store] | None = None,
        asking: Asking | None = None,
    ) -> None:
        """Wrap a function.

        Without an ``identity`` the answers are kept for the lifetime of this object. Raise `InputError` for
        an empty identity.
        """
        if identity is not None and not identity.strip():
            raise InputError("the identity of an agent is empty; give it a name, such as desk-v3")
        self.function = function
        super().__init__(_Function(function, identity, asking or Asking()), store, asking)

    def __call__(self, context: DecisionContext) -> Choice | Awaitable[Choice]:
        """Return the answer of the function, without recording it."""
        return self.function(context)

    def again(self, store: Store | Callable[[], Store] | None, asking: Asking) -> PythonAgent:
        """Return a copy that is queried differently; see `RecordedAgent.again`."""
        identity = self.respondent.identity.get("identity")
        return PythonAgent(self.function, identity, store or self._given_store, asking)


def agent(
    *given: Never,
    identity: str,
    store: Store | str | Path | None = None,
    samples: int = 1,
    concurrency: int | None = None,
    tries: int = 1,
    deadline: float | None = None,
    probe: bool = True,
) -> Callable[[Decider | Agent], PythonAgent]:
    """Make a recorded agent of a function from a decision context to one or several offered calls.

    It may be an `async` function, an object that can be called, or one with a method `select`.

        @st.agent(identity="desk-v3")
        def desk(context): ...

    The answers are kept under ``identity`` in ``store``, by default the user's own: the identity must change
    when the answers do. ``concurrency`` is 16 by default for an `async` function. For a plain one it is 1;
    with more, or with a ``deadline``, it is called in threads. A plain function that exceeds its deadline
    cannot be stopped. ``tries``, ``samples`` and ``probe`` are as in `Asking`.

    Raise `InputError` for an argument out of its range, `TypeError` for an object that is no agent.
    """
    if given or not isinstance(identity, str):
        raise TypeError("an agent is recorded under an identity; write @st.agent(identity=...)")

    def recorded(function: Decider | Agent) -> PythonAgent:
        if isinstance(function, type) or not (callable(function) or isinstance(function, Agent)):
            raise TypeError(f"{function!r} is no agent; give a function of a context, or an object with one")
        decider = function if callable(function) else _One(function)
        default = _CONCURRENCY if _is_async(decider) else 1
        asking = Asking(samples, default if concurrency is None else concurrency, tries, deadline, probe)
        return PythonAgent(decider, identity, _opening(store), asking)

    return recorded


def _opening(store: Store | str | Path | None) -> Store | Callable[[], Store]:
    """Return the store, or a function that opens it on demand."""
    if isinstance(store, Store):
        return store
    return lambda: open_store(None if store is None else str(store))


class _One:
    """An agent that answers in batches, queried one context at a time."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.__name__ = agent.name

    def __call__(self, context: DecisionContext) -> Collection[Call]:
        """Return the selected calls for one context."""
        [selected] = self.agent.select([context])
        return selected


class _Function:
    """A function as a `Respondent`."""

    texts = Plain()

    def __init__(self, function: Decider, identity: str | None, asking: Asking) -> None:
        self._function = function
        self._is_async = _is_async(function)
        self._apart = not self._is_async and (asking.concurrency > 1 or asking.deadline is not None)
        self.waits = self._is_async or self._apart
        self.name = identity or _name(function)
        named = {} if identity is None else {"identity": identity}
        self.identity: Mapping[str, str] = {"engine": "python", **named}
        source = _source(function)
        self.versions: Mapping[str, str] = {
            "python": platform.python_version(),
            **({} if source is None else {SOURCE: digest(source)}),
        }

    def shown(self, context: DecisionContext) -> Any:
        """Return None: only the texts determine the answer."""
        return None

    async def respond(self, context: DecisionContext, sample: int) -> Given:
        """Return the answer of the function; see `recorded.Respondent`."""
        try:
            if self._apart:
                answer = await in_thread(self._called, context)
            else:
                answer = self._called(context)
                if self._is_async and inspect.isawaitable(answer):
                    answer = _listed(await answer)
        except (Exception, SystemExit) as error:  # the user's function may raise anything
            what = one_line(f"{type(error).__name__}: {error}".removesuffix(": "))
            failure = AgentError(f"agent {self.name} raises {what}; mend it: it was asked about {context}")
            failure.__cause__ = error
            raise Again(failure) from error
        if inspect.iscoroutine(answer):
            answer.close()
            raise AgentError(f"agent {self.name} answers with a coroutine; declare it with `async def`")
        note, logprob = "", None
        if isinstance(answer, Given):
            answer, note, logprob = answer
            if not isinstance(note, str) or not (logprob is None or is_logprob(logprob)):
                raise AgentError(
                    f"agent {self.name} answers with the note {one_line(repr(note))} and the log-probability"
                    f" {one_line(repr(logprob))}; give a text, and a number that is at most 0, or None"
                )
        selected = selected_from(self, context, (answer,) if isinstance(answer, Call) else answer)
        return Given(tuple(sorted(selected)), note, logprob)

    def _called(self, context: DecisionContext) -> Any:
        """Return the function's answer for a copy of the context, so that it cannot modify the original."""
        return _listed(self._function(DecisionContext(replace(context.view), context.calls)))

    async def rest(self) -> None:
        """Do nothing: resources of the function are its own."""


def _listed(answer: Any) -> Any:
    """Return an answer with a generator's calls as a list; raise `ValueError` for too many.

    The generator's code runs here.
    """
    if not isinstance(answer, Iterator):
        return answer
    calls = list(islice(answer, _MAX_CALLS + 1))
    if len(calls) > _MAX_CALLS:
        raise ValueError(f"it answers with more than {_MAX_CALLS} calls")
    return calls


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 (for an object, its method may be async)
    )


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _source(function: object) -> str | None:
    """Return the source of a function, of a method, or of an object's class; None if there is none."""
    while isinstance(function, partial | _One):
        function = function.func if isinstance(function, partial) else function.agent
    try:
        if inspect.isfunction(function) or inspect.ismethod(function):
            return inspect.getsource(function)
        return inspect.getsource(type(function))
    except (OSError, TypeError):
        return None
