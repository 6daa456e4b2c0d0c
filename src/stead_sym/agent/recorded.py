"""Agents of any kind that are recorded: questions out, answers in, a store in front.

The decision: an answer is the calls that somebody gave, whoever that is, and the record has each time that
they were asked. Asked once, an agent may still answer differently the next time, and the verdict would not
tell. So some questions are put twice (`Asking`), both answers are in the record, and two that differ are
found whenever the record is read.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.in_flight import Driver, InFlight, InTurn, in_time
from stead_sym.agent.prompts.plain import Texts
from stead_sym.agent.prompts.prompt import Message
from stead_sym.agent.records.answer import Answer, Offered
from stead_sym.agent.records.digest import digest
from stead_sym.agent.records.known import known
from stead_sym.agent.records.repeated import SAMPLES
from stead_sym.agent.records.said import Given, Samples
from stead_sym.agent.records.store import Store
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, InputError
from stead_sym.progress import Progress
from stead_sym.relational.canonical import FORM_VERSION
from stead_sym.relational.nauty import NAUTY_VERSION

TIMES, EVERY = (6, 4, 3, 3, 2, 2, 2, 2), 16
"""How often an agent is asked about the first contexts that leave a choice; and of the later ones every so
many-th is put twice. Most at the start: there may be few contexts."""
NOTE = 30_000
"""So many characters are kept of what was said beside an answer: it is written into every report."""
_PAUSE, _LONGEST = 0.5, 30.0
"""Seconds before the second try, twice as long before each further one, and no longer than this."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How an agent is asked.

    ``samples`` is how often it is asked about each context that leaves a choice: whatever it answers is
    possible there. Where that
    is once, ``probe`` has it asked again about some contexts (`TIMES`, `EVERY`), and answers that differ are
    reported. Up to ``concurrency`` questions are out at a time. A question gets so many ``tries``, with
    growing pauses, and ``deadline`` seconds for all of them.
    """

    samples: int = 1
    concurrency: int = 1
    tries: int = 1
    deadline: float | None = None
    probe: bool = True

    def __post_init__(self) -> None:
        for name in ("samples", "concurrency", "tries"):
            number = getattr(self, name)
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise InputError(f"{name}={number!r} is no number of at least 1; give one")
        if self.deadline is not None and not 0 < self.deadline < math.inf:
            raise InputError(f"deadline={self.deadline!r} is no number of seconds above 0; give one, or None")


class Again(Exception):
    """A question has failed in a way that may pass. ``error`` is what to raise where there is no other try,
    ``pause`` the seconds to wait before it, where somebody has said so."""

    def __init__(self, error: AgentError, pause: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause


class Respondent(Protocol):
    """Who is asked.

    ``identity`` is whatever determines the answers besides the context; ``versions`` are worth recording but
    do not. ``waits`` says whether `respond` awaits an event loop. ``texts`` write a context down.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> Mapping[str, str]: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def waits(self) -> bool: ...
    @property
    def texts(self) -> Texts: ...

    def shown(self, context: DecisionContext, /) -> Any:
        """What else of a context determines the answer, as JSON data."""
        ...

    async def respond(self, context: DecisionContext, sample: int, /) -> Given:
        """The answer when asked for the time ``sample``, counted from 0; of offered calls only. Raises
        `Again` for what may pass, `AgentError` for what will not."""
        ...

    async def rest(self) -> None:
        """Close what was opened to respond: nothing is asked for now."""
        ...


@dataclass(frozen=True, slots=True)
class _Question:
    """A context to be asked about."""

    context: DecisionContext
    key: str
    prompt: tuple[Message, ...]
    prompt_digest: str
    calls: tuple[Offered, ...]


class RecordedAgent:
    """Whoever answers questions, with a store of the answers in front: a base agent.

    ``store`` None keeps the answers for as long as this object lives; a function opens the store when it is
    first needed. Many threads may select at once; they ask one after another.
    """

    def __init__(
        self,
        respondent: Respondent,
        store: Store | Callable[[], Store] | None = None,
        asking: Asking | None = None,
    ) -> None:
        self.respondent = respondent
        self.asking = Asking() if asking is None else asking
        self._given_store = store
        self._driver: Driver = (
            InFlight(self.asking.concurrency, respondent.rest) if respondent.waits else InTurn()
        )
        self._lock = threading.RLock()
        self._answers: dict[DecisionContext, Answer] = {}
        self._progress: Progress | None = None
        self._queries = self._choices = self._retries = 0

    @property
    def name(self) -> str:
        return self.respondent.name

    @property
    def queries(self) -> int:
        """The number of contexts that the store did not answer."""
        return self._queries

    @property
    def store(self) -> Store | None:
        """The store; None where there is none."""
        if callable(self._given_store):
            self._given_store = self._given_store()
        return self._given_store

    @property
    def identity(self) -> Mapping[str, str]:
        """What determines its answers besides the context, and its name."""
        several = {SAMPLES: str(self.asking.samples)} if self.asking.samples > 1 else {}
        return {"name": self.name, **self.respondent.identity, **several}

    def again(self, store: Store | Callable[[], Store] | None, asking: Asking) -> RecordedAgent:
        """The same respondent, asked in another way; ``store`` None keeps the store."""
        return RecordedAgent(self.respondent, store or self._given_store, asking)

    def report_to(self, progress: Progress | None) -> None:
        """See `base.Reporting`."""
        self._progress = progress

    def answer(self, context: DecisionContext) -> Answer | None:
        """The record of a selection made by this object."""
        return self._answers.get(context)

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """All calls that were answered, from the store where it knows.

        Raises `AgentError` for an answer that is none, and where none comes in time; what was answered until
        then is kept.
        """
        with self._lock:
            new = [c for c in dict.fromkeys(contexts) if c not in self._answers]
            self._ask(self._unknown([self._question(context) for context in new]))
            return [self._answers[context].selected for context in contexts]

    def _question(self, context: DecisionContext) -> _Question:
        texts = self.respondent.texts
        prompt = texts.messages(context)
        calls = tuple(Offered(call, texts.call_text(call)) for call in sorted(context.calls))
        asked = [[list(message) for message in prompt], self.respondent.shown(context)]
        identity = {name: part for name, part in self.identity.items() if name != "name"}
        key = digest(
            {
                "model": identity,
                "canonical": FORM_VERSION,
                "asked": asked,
                "calls": [[*offered.call, offered.text] for offered in calls],
            }
        )
        return _Question(context, key, prompt, digest(asked), calls)

    def _unknown(self, questions: Sequence[_Question]) -> list[_Question]:
        """The questions that the store has no decision of; those that it has are taken over."""
        if self.store is None:
            return [*questions]
        there = known(self.store, {q.key: (q.prompt, q.calls) for q in questions})
        self._answers.update((q.context, there[q.key]) for q in questions if q.key in there)
        return [question for question in questions if question.key not in there]

    def _ask(self, questions: Sequence[_Question]) -> None:
        """Put the questions, in their order. Each is recorded as soon as all its answers are there."""
        times = {question.key: self._times(question) for question in questions}
        jobs = [(question, sample) for question in questions for sample in range(times[question.key])]
        given: dict[str, dict[int, Given]] = {question.key: {} for question in questions}
        answered, self._retries = 0, 0

        def report() -> None:
            if self._progress is not None and jobs:
                retries = {"retries": self._retries} if self._retries else {}
                self._progress(f"asking {self.name}", answers=answered, of=len(jobs), **retries)

        asking = [partial(self._answered, question.context, sample) for question, sample in jobs]
        with closing(self._driver.run(asking, report)) as answers:
            for number, one in answers:
                question, sample = jobs[number]
                answered += 1
                report()
                said = given[question.key]
                said[sample] = one._replace(note=_storable(one.note))
                if len(said) == times[question.key]:
                    self._record(question, Samples(tuple(said[n] for n in sorted(said))))

    def _times(self, question: _Question) -> int:
        """How often to ask: as often as is wanted, or again where that is to show whether it answers the
        same."""
        if len(question.calls) == 1:
            return 1
        if self.asking.samples > 1 or not self.asking.probe:
            return self.asking.samples
        self._choices += 1
        if self._choices <= len(TIMES):
            return TIMES[self._choices - 1]
        return 2 if self._choices % EVERY == 0 else 1

    async def _answered(self, context: DecisionContext, sample: int) -> Given:
        """The answer, after as many tries as there are, within the deadline."""
        limit: AbstractAsyncContextManager[Any] = nullcontext()
        if self.asking.deadline is not None:
            limit = asyncio.timeout(self.asking.deadline)
        last = ""
        try:
            async with limit as clock:
                for number in range(1, self.asking.tries + 1):
                    try:
                        response = self.respondent.respond(context, sample)
                        return await (response if clock is None else in_time(response))
                    except Again as again:
                        last = f"; the last try: {again.error.message}"
                        pause = min(_LONGEST, _PAUSE * 2 ** (number - 1))
                        pause = pause if again.pause is None else again.pause
                        if number == self.asking.tries or self._too_late(clock, pause):
                            raise again.error from again.error.__cause__
                    self._retries += 1
                    await self._driver.pause(pause)
        except TimeoutError as error:
            raise AgentError(
                f"agent {self.name} has not answered within {self.asking.deadline:g} s: {context}{last}"
            ) from error
        raise AssertionError("the last try returns or raises")

    def _too_late(self, clock: asyncio.Timeout | None, pause: float) -> bool:
        """Whether the deadline comes before the end of a pause."""
        if clock is None or (when := clock.when()) is None:
            return False
        return asyncio.get_running_loop().time() + pause >= when

    def _record(self, question: _Question, said: Samples) -> None:
        self._queries += 1
        answer = Answer(
            key=question.key,
            prompt=question.prompt,
            prompt_digest=question.prompt_digest,
            calls=question.calls,
            said=said,
            selected=frozenset(said.counts),
            model=dict(self.identity),
            versions={**self.respondent.versions, "pynauty": NAUTY_VERSION},
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._answers[question.context] = answer if self.store is None else self.store.put(answer)


def _storable(note: str) -> str:
    """The text without what is no character (halves of one that JSON may hold, and no encoding does), cut
    after `NOTE` characters."""
    left = len(note) - NOTE
    kept = note if left <= 0 else f"{note[:NOTE]}\n[cut: {left} more characters]"
    return kept.encode("utf-8", "backslashreplace").decode()
