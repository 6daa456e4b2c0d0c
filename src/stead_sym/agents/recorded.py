"""Agents of any kind with records: queries, answers, and a store.

The decision: an answer is the calls that the agent returned, and the record has every repetition of the
query. An agent that is queried only once might answer differently the next time, and the verdict would not
show it. So some queries are repeated (`Asking`), all answers are in the record, and differing ones are
detected whenever the record is read.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.in_flight import Driver, InFlight, InTurn, in_time
from stead_sym.agents.prompts.plain import Texts
from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.answer import Answer, Offered
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.said import SAMPLES, Given, Samples
from stead_sym.agents.records.store import Store, known
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, InputError, at_least_one
from stead_sym.relational.canonical import FORM_VERSION
from stead_sym.relational.nauty import NAUTY_VERSION
from stead_sym.support.progress import Progress

if TYPE_CHECKING:
    from stead_sym.agents.records.claims import Claims

TIMES, EVERY = (6, 4, 3, 3, 2, 2, 2, 2), 16
"""The numbers of queries about the first contexts with a choice, and the interval of repetitions later.

Of the later contexts every `EVERY`-th is queried twice. Repetitions are most frequent at the start, since
there may be few contexts.
"""
_MIN_CLAIMED = 4
"""The minimum number of queries that are claimed at a time; it is small, so that workers share them."""
_POLL, _LONGEST_POLL = 0.05, 1.0
"""The first and the longest interval between checks of other workers' queries, in seconds."""
NOTE = 30_000
"""The maximum length of a note that is kept; it is written into every report."""
_PAUSE, _LONGEST = 0.5, 30.0
"""The pause before the second try and its maximum, in seconds; it doubles before each further try."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The parameters of queries to an agent.

    ``samples`` is the number of queries about each context with a choice: every answer is possible there. If
    it is 1, ``probe`` repeats the query for some contexts (`TIMES`, `EVERY`), and differing answers are
    reported. At most ``concurrency`` queries are pending at a time. A query gets this number of ``tries``,
    with growing pauses, and ``deadline`` seconds for all of them. Raises `InputError` for a number out of
    range.
    """

    samples: int = 1
    concurrency: int = 1
    tries: int = 1
    deadline: float | None = None
    probe: bool = True

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("samples", "concurrency", "tries"):
            at_least_one(name, getattr(self, name))
        if self.deadline is not None and not 0 < self.deadline < math.inf:
            raise InputError(f"deadline must be a number of seconds above 0, or None, got {self.deadline!r}")


class Again(Exception):
    """The query failed and may be retried.

    ``error`` is raised if there is no further try, ``pause`` is the demanded pause before it in seconds, if
    any.
    """

    def __init__(self, error: AgentError, pause: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause


class Respondent(Protocol):
    """The recipient of queries.

    ``identity`` is everything that determines the answers besides the context; ``versions`` are recorded but
    do not. ``waits`` is True if `respond` needs an event loop. ``texts`` represent contexts as text.
    """

    @property
    def name(self) -> str:
        """The name of the respondent."""
        ...

    @property
    def identity(self) -> Mapping[str, str]:
        """Everything that determines the answers besides the context."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions to record."""
        ...

    @property
    def waits(self) -> bool:
        """True if `respond` needs an event loop."""
        ...

    @property
    def texts(self) -> Texts:
        """The representation of contexts as text."""
        ...

    def shown(self, context: DecisionContext, /) -> Any:
        """Return other parts of a context that determine the answer, as JSON data."""
        ...

    async def respond(self, context: DecisionContext, sample: int, /) -> Given:
        """Return the answer to the repetition ``sample``, counted from 0, with offered calls only.

        Raise `Again` for a failure that may be temporary, `AgentError` for any other.
        """
        ...

    async def rest(self) -> None:
        """Close what was opened to respond: no query is pending."""
        ...


@dataclass(frozen=True, slots=True)
class _Question:
    """A context to query, with its texts."""

    context: DecisionContext
    key: str
    prompt: tuple[Message, ...]
    prompt_digest: str
    calls: tuple[Offered, ...]


class _Job(NamedTuple):
    """The repetition ``number`` of a query, counted from 0."""

    question: _Question
    number: int


class RecordedAgent:
    """A base agent: a respondent with a store of its answers.

    ``store`` None keeps the answers for the lifetime of this object; a function opens the store on first use.
    It is thread-safe: concurrent selections are serialized.
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
        self._queries = self._choices = self._retries = self._runs = 0
        self._done = self._coming = 0
        self._claims: Claims | None = None
        self._due: list[_Job] = []  # queries to be repeated
        self._heard: dict[str, dict[int, Given]] = {}  # answers to unfinished queries
        self._borrowed: list[_Question] = []  # queries that are answered by another worker's answers so far
        self._unfinished: dict[str, int] = {}  # the number of repetitions, for this run's queries
        self._provisional: set[str] = set()  # keys of incomplete answers
        self._random = random.Random(0)

    @property
    def name(self) -> str:
        """The name of the respondent."""
        return self.respondent.name

    @property
    def queries(self) -> int:
        """The number of contexts that were not answered from the store."""
        return self._queries

    @property
    def store(self) -> Store | None:
        """The store; None if there is none."""
        if callable(self._given_store):
            self._given_store = self._given_store()
        return self._given_store

    @property
    def identity(self) -> Mapping[str, str]:
        """Everything that determines its answers besides the context, and its name."""
        several = {SAMPLES: str(self.asking.samples)} if self.asking.samples > 1 else {}
        return {"name": self.name, **self.respondent.identity, **several}

    def again(self, store: Store | Callable[[], Store] | None, asking: Asking) -> RecordedAgent:
        """Return the same respondent, queried differently; ``store`` None keeps the store."""
        return RecordedAgent(self.respondent, store or self._given_store, asking)

    def report_to(self, progress: Progress | None) -> None:
        """Report progress to a callback; see `base.Reporting`."""
        self._progress = progress

    def answer(self, context: DecisionContext) -> Answer | None:
        """Return the record of a selection made by this object."""
        return self._answers.get(context)

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """Return all calls that were answered, from the store if it has them.

        Raise `AgentError` for an invalid answer, and if none arrives in time; earlier answers are kept.
        Queries in progress in another worker on the same store are awaited.
        """
        with self._lock, nullcontext() if self._runs else self.spreading():
            return self._selected(contexts)

    @contextmanager
    def spreading(self) -> Iterator[None]:
        """Open a run: queries are repeated among later ones, and at the end; see `base.Spreading`.

        After an exception there are no further queries.
        """
        with self._lock:
            self._runs += 1
        try:
            yield
            with self._lock:
                self._done = self._coming = self._retries = 0
                due, self._due = self._due, []
                self._random.shuffle(due)
                self._put(due)
                self._unknown(self._borrowed)
        finally:
            with self._lock:
                self._runs -= 1
                if not self._runs:
                    claims, self._claims = self._claims, None
                    self._due, self._borrowed = [], []
                    self._unfinished.clear()
                    if claims is not None:
                        claims.__exit__(*sys.exc_info())

    def _selected(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        questions = [self._question(context) for context in dict.fromkeys(contexts) if self._is_new(context)]
        if questions:
            self._decide(questions)
        return [self._answers[context].selected for context in contexts]

    def _is_new(self, context: DecisionContext) -> bool:
        """Return True if there is no answer, or only one of a run that ended before it was complete."""
        answer = self._answers.get(context)
        return answer is None or (answer.key in self._provisional and answer.key not in self._unfinished)

    def _decide(self, questions: Sequence[_Question]) -> None:
        """Answer all of the queries; those in progress in other workers come last."""
        size = len(questions) if self.store is None else max(_MIN_CLAIMED, 4 * self.asking.concurrency)
        elsewhere: list[_Question] = []
        self._done = self._retries = 0
        for start in range(0, len(questions), size):
            self._coming = max(0, len(questions) - start - size)
            elsewhere += self._begin(questions[start : start + size])
        pause, others = _POLL, len(elsewhere)
        while elsewhere:
            if self._progress is not None:
                self._progress(f"asking {self.name}", **{"left to others": len(elsewhere), "of": others})
            time.sleep(pause)
            left = self._begin(elsewhere)
            pause = _POLL if len(left) < len(elsewhere) else min(2 * pause, _LONGEST_POLL)
            elsewhere = left

    def _begin(self, questions: Sequence[_Question]) -> list[_Question]:
        """Answer queries from the store, and send those that no other worker has claimed.

        Returns the queries in progress in other workers.
        """
        unknown = self._unknown(questions)
        if not unknown:
            return []
        free = {question.key for question in unknown if question.key not in self._unfinished}
        if self.store is not None:
            if self._claims is None:
                self._claims = self.store.claims().__enter__()
            free = self._claims.take(free)
            # The previous claimant may have just finished.
            unknown = self._unknown(unknown)
            self._claims.finish(free - {question.key for question in unknown})
        self._hear(unknown)
        first: list[_Job] = []
        others: list[_Question] = []
        for question in unknown:
            if question.key not in free or question.key in self._unfinished:
                others.append(question)
                continue
            times = self._unfinished[question.key] = self._times(question)
            heard = self._heard.get(question.key, {})
            jobs = [_Job(question, number) for number in range(times) if number not in heard]
            first += [job for job in jobs if job.number < self.asking.samples]
            self._due += [job for job in jobs if job.number >= self.asking.samples]
            self._conclude(question)
        self._put(self._mixed(sorted(first, key=lambda job: job.number)))
        for question in others:
            self._conclude(question)  # if there are enough answers; the claimant completes it
        self._borrowed += [question for question in others if question.context in self._answers]
        return [question for question in others if question.context not in self._answers]

    def _hear(self, questions: Iterable[_Question]) -> None:
        """Read single answers from the store, of runs that ended early or are in progress."""
        if self.store is None:
            return
        most = max(self.asking.samples, *TIMES)
        keys = {_heard_key(q.key, n): (q.key, n) for q in questions if len(q.calls) > 1 for n in range(most)}
        for key, given in self.store.get_heard(keys).items():
            question, number = keys[key]
            self._heard.setdefault(question, {})[number] = given

    def _mixed(self, first: list[_Job]) -> list[_Job]:
        """Return the new queries, with repeated ones inserted at random positions."""
        earlier = [job for job in self._due if job.question.context in self._answers]
        again = self._random.sample(earlier, min(len(earlier), -(-len(first) // EVERY)))
        self._due = [job for job in self._due if job not in again]
        for job in again:
            first.insert(self._random.randint(0, len(first)), job)
        return first

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
        """Return the queries without a decision in the store; take over the decisions of the others."""
        if self.store is None:
            return [*questions]
        there = known(self.store, {q.key: (q.prompt, q.calls) for q in questions})
        self._answers.update((q.context, there[q.key]) for q in questions if q.key in there)
        return [question for question in questions if question.key not in there]

    def _put(self, jobs: Sequence[_Job]) -> None:
        """Send queries in this order; each answer is stored before it is used."""
        answered = 0

        def report() -> None:
            if self._progress is not None and jobs:
                retries = {"retries": self._retries} if self._retries else {}
                done, of = self._done + answered, self._done + len(jobs) + self._coming
                self._progress(f"asking {self.name}", answers=done, of=of, **retries)

        asking = [partial(self._answered, job.question.context, job.number) for job in jobs]
        with closing(self._driver.run(asking, report)) as answers:
            for place, given in answers:
                answered += 1
                report()
                question, number = jobs[place]
                given = given._replace(note=_storable(given.note))
                self._heard.setdefault(question.key, {})[number] = given
                if self.store is not None and self._unfinished[question.key] > 1:
                    self.store.put_heard(_heard_key(question.key, number), given)
                self._conclude(question)
        self._done += answered

    def _conclude(self, question: _Question) -> None:
        """Make a decision from the answers to a query if there are enough; record it if there are all."""
        heard = self._heard.get(question.key, {})
        if len(heard.keys() & range(self.asking.samples)) < self.asking.samples and len(question.calls) > 1:
            return
        if not heard:
            return
        said = Samples(tuple(heard[number] for number in sorted(heard)))
        answer = self._answer(question, said)
        if len(heard) >= self._unfinished.get(question.key, math.inf):
            self._queries += question.key not in self._provisional
            self._answers[question.context] = answer if self.store is None else self.store.put(answer)
            self._provisional.discard(question.key)
            del self._unfinished[question.key], self._heard[question.key]
            if self._claims is not None:
                self._claims.finish([question.key])
        elif question.context not in self._answers:
            self._answers[question.context] = answer
            self._queries += question.key in self._unfinished
            self._provisional.add(question.key)

    def _times(self, question: _Question) -> int:
        """Return the number of repetitions of a query: the number of samples.

        With one sample and ``probe``, some queries are repeated (`TIMES`, `EVERY`), to check that the agent
        gives the same answer.
        """
        if len(question.calls) == 1:
            return 1
        if self.asking.samples > 1 or not self.asking.probe:
            return self.asking.samples
        self._choices += 1
        if self._choices <= len(TIMES):
            return TIMES[self._choices - 1]
        return 2 if self._choices % EVERY == 0 else 1

    async def _answered(self, context: DecisionContext, sample: int) -> Given:
        """Return the answer, after at most the allowed number of tries, within the deadline."""
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
        """Return True if the deadline comes before the end of a pause."""
        if clock is None or (when := clock.when()) is None:
            return False
        return asyncio.get_running_loop().time() + pause >= when

    def _answer(self, question: _Question, said: Samples) -> Answer:
        return Answer(
            key=question.key,
            prompt=question.prompt,
            prompt_digest=question.prompt_digest,
            calls=question.calls,
            said=said,
            selected=frozenset(said.counts if self.asking.samples > 1 else said.answers[0].calls),
            model=dict(self.identity),
            versions={**self.respondent.versions, "pynauty": NAUTY_VERSION},
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )


def _heard_key(question: str, number: int) -> str:
    """Return the store's key of one of several answers to a query."""
    return digest({"heard": question, "number": number})


def _storable(note: str) -> str:
    """Return the text with invalid characters escaped, cut after `NOTE` characters.

    JSON may have unpaired surrogates, which no encoding has.
    """
    left = len(note) - NOTE
    kept = note if left <= 0 else f"{note[:NOTE]}\n[cut: {left} more characters]"
    return kept.encode("utf-8", "backslashreplace").decode()
