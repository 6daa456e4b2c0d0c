"""Many decisions of a language model: from the store, or queried with bounded concurrency.

The decision: one loop prepares contexts while the model answers others, and stores answers while more are
pending. The log-probabilities at a node are stored before they are used, and a decision when it is finished.
A context claimed by another worker on the same store is deferred, and taken over if that worker abandons it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count, islice
from typing import NamedTuple

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.possible import Branching, Rule
from stead_sym.agents.records.said import Decoding, Unforced
from stead_sym.agents.records.store import Store, known, of_another_question
from stead_sym.models.asking import Asking, InBatches, Question, Said, Streaming
from stead_sym.models.backend import Backend, Request, Unconstrained, Written
from stead_sym.models.walk import Draft, Walk, Walks
from stead_sym.relational.nauty import NAUTY_VERSION

_TOGETHER = 128  # the number of contexts that are looked up in the store at a time
_POLL = 0.05  # the first interval between checks of other workers' contexts, in seconds
_LONGEST = 1.0  # the longest such interval


class State(NamedTuple):
    """The progress of a `select`.

    ``decided`` is the number of decided contexts, ``of`` that of all contexts, ``again`` that of messages
    that had to be sent again, and ``elsewhere`` that of contexts in progress in another worker.
    """

    decided: int
    of: int
    again: int
    elsewhere: int


class _Deferred(NamedTuple):
    """A context in progress in another worker, with the keys of the decision and of the claim."""

    context: DecisionContext
    key: str
    question: str


class Pipeline:
    """The decisions of one call of `ModelAgent.select`; ``queries`` and ``requests`` count as there."""

    def __init__(self, backend: Backend, prompt: Prompt, store: Store, rule: Rule, *, weigh: bool) -> None:
        self._backend = backend
        self._store = store
        self._rule = rule
        self._weigh = weigh and isinstance(backend, Unconstrained)
        self._walks = Walks(backend, prompt, rule)
        self._numbers = count()
        self._open: dict[int, tuple[Walk, Request | None]] = {}
        self._in_progress: dict[str, Walk] = {}  # by their claims
        self._deferred: deque[_Deferred] = deque()
        self._finished: list[tuple[Walk, Unforced | None]] = []
        self._asking: Asking | None = None
        self._model = {"name": backend.name, **backend.identity}
        self._versions = {**backend.versions, "pynauty": NAUTY_VERSION}
        self.queries = 0
        self.requests = 0

    def decided(
        self, contexts: Sequence[DecisionContext], listener: Callable[[State], object] | None = None
    ) -> Iterator[tuple[DecisionContext, Answer]]:
        """Yield every context with its decision, each when it is in the store."""
        done = 0
        with ExitStack() as stack:
            self._claims = stack.enter_context(self._store.claims())
            self._stack = stack

            def waiting() -> None:
                if listener is not None:
                    again = 0 if self._asking is None else self._asking.again
                    listener(State(done, len(contexts), again, len(self._deferred)))

            for found in self._found(iter(contexts), waiting):
                done += 1
                yield found

    def _found(
        self, coming: Iterator[DecisionContext], waiting: Callable[[], object]
    ) -> Iterator[tuple[DecisionContext, Answer]]:
        pause, looked = _POLL, time.monotonic()
        while True:
            yield from self._store_finished()
            while (room := self._room()) and (chunk := list(islice(coming, room))):
                yield from self._begin(chunk)
            if self._finished:
                continue  # storing these makes room
            if self._deferred and (not self._open or time.monotonic() > looked + pause):
                ready = self._free_again()
                yield from self._begin(ready)
                looked = time.monotonic()
                pause = _POLL if ready else min(2 * pause, _LONGEST)
                if not ready and not self._open:
                    waiting()
                    time.sleep(pause)
            elif self._asking is not None and self._open:
                self._take_in(self._asking.answers(waiting))
            else:
                return

    def _room(self) -> int:
        """Return the number of contexts to process next."""
        if self._backend.together:  # a group is decided completely before the next one starts
            return 0 if self._in_progress else self._backend.together
        capacity = _TOGETHER if self._asking is None else self._asking.capacity
        room = capacity - len(self._in_progress)
        return min(_TOGETHER, room) if room >= min(_TOGETHER, capacity) // 2 else 0

    def _begin(self, contexts: Iterable[DecisionContext]) -> Iterator[tuple[DecisionContext, Answer]]:
        """Look contexts up in the store, and start queries for those that this worker has claimed."""
        drafts = [self._walks.draft(context) for context in contexts]
        keys = self._store.get_questions(draft.key for draft in drafts)
        found = self._store.get_many(keys.values())
        new = []
        for draft in drafts:
            answer = found.get(keys.get(draft.key, ""))
            if answer is None:
                new.append(draft)
            else:
                self._check(draft, answer)
                yield draft.context, answer
        walks = []
        for walk, answer in self._looked_up([self._walks.begin(draft) for draft in new]):
            if answer is not None:
                yield walk.draft.context, answer
            else:
                walks.append(walk)
        taken = self._claims.take({walk.keys.question for walk in walks} - self._in_progress.keys())
        mine = []
        for walk in walks:
            if walk.keys.question in taken:
                taken.discard(walk.keys.question)
                mine.append(walk)
            else:
                deferred = _Deferred(walk.draft.context, walk.keys.decision, walk.keys.question)
                self._deferred.append(deferred)
        begun = []
        for walk, answer in self._looked_up(mine):  # the previous claimant may have just finished
            if answer is not None:
                self._claims.finish([walk.keys.question])
                yield walk.draft.context, answer
            else:
                self._in_progress[walk.keys.question] = walk
                begun.append(walk)
        self._advance(begun)

    def _looked_up(self, walks: Sequence[Walk]) -> Iterator[tuple[Walk, Answer | None]]:
        """Yield each walk with its decision in the store, or None."""
        there = known(self._store, {walk.keys.decision: (walk.draft.messages, walk.calls) for walk in walks})
        for walk in walks:
            yield walk, there.get(walk.keys.decision)

    def _check(self, draft: Draft, answer: Answer) -> None:
        """Raise `StoreError` if the decision for a draft's key has other texts."""
        said = [(offered.call, offered.text) for offered in answer.calls]
        asked = [(call, self._walks.text(call)) for call in draft.calls]
        if (answer.prompt, said) != (draft.messages, asked):
            raise of_another_question(self._store, answer)

    def _free_again(self) -> list[DecisionContext]:
        """Return the contexts that another worker has decided or abandoned meanwhile."""
        part = [self._deferred.popleft() for _ in range(min(2 * _TOGETHER, len(self._deferred)))]
        known = self._store.get_many([deferred.key for deferred in part])
        wanted = {d.question for d in part if d.key not in known} - self._in_progress.keys()
        taken = self._claims.take(wanted)
        self._deferred.extend(d for d in part if d.key not in known and d.question not in taken)
        return [d.context for d in part if d.key in known or d.question in taken]

    def _advance(self, walks: Iterable[Walk]) -> None:
        """Pass known nodes from the store to walks, and query the rest."""
        walks = list(walks)
        while walks:
            nodes = {
                walk.keys.node(path, allowed): (walk, Request(walk.prompt, path, allowed))
                for walk in walks
                for path, allowed in walk.decoder.open
                if path not in walk.sent
            }
            known = self._store.get_nodes(nodes)
            for key, logprobs in known.items():
                walk, request = nodes[key]
                walk.decoder.tell(request.path, logprobs)
            for key, (walk, request) in nodes.items():
                if key not in known:
                    walk.sent[request.path] = key
                    self._submit(walk, request, request)
            for walk in walks:
                if not walk.decoder.open:
                    self._end(walk)
            told = dict.fromkeys(nodes[key][0] for key in known)
            walks = [walk for walk in told if walk.decoder.open]

    def _end(self, walk: Walk) -> None:
        """Finish a walk whose nodes are all known: compare the greedy choice, if that is requested."""
        best = walk.decoder.best
        if self._weigh and best is not None:
            self._submit(walk, None, Written(walk.prompt, walk.calls[best].tokens))
        else:
            self._finished.append((walk, None))

    def _submit(self, walk: Walk, request: Request | None, question: Question) -> None:
        if self._asking is None:
            backend = self._backend
            asking = backend.asking() if isinstance(backend, Streaming) else InBatches(backend)
            self._asking = self._stack.enter_context(asking)
        number = next(self._numbers)
        self._open[number] = walk, request
        self._asking.submit(number, question)

    def _take_in(self, answers: Iterable[tuple[int, Said]]) -> None:
        """Store answers of the model, then use them."""
        nodes: dict[str, Sequence[float]] = {}
        told: list[tuple[Walk, Branching]] = []
        try:
            for number, said in answers:
                walk, request = self._open.pop(number)
                if request is None:
                    assert isinstance(said, Unforced)
                    self._finished.append((walk, said))
                    continue
                assert not isinstance(said, Unforced)
                self.requests += 1
                _, path, allowed = request
                branching = Branching(path, allowed, tuple(map(float, said)))  # raises for an invalid answer
                nodes[walk.sent[path]] = branching.logprobs
                told.append((walk, branching))
        finally:
            if nodes:
                self._store.put_nodes(nodes)
        for walk, branching in told:
            walk.asked = True
            walk.decoder.take(branching)
        self._advance(dict.fromkeys(walk for walk, _ in told))

    def _store_finished(self) -> Iterator[tuple[DecisionContext, Answer]]:
        finished, self._finished = self._finished, []
        if not finished:
            return
        kept = self._store.put_many([self._answer(walk, weighed) for walk, weighed in finished])
        self._store.put_questions({walk.draft.key: walk.keys.decision for walk, _ in finished})
        for (walk, _), answer in zip(finished, kept, strict=True):
            # If every token is forced, no node is queried; the context still counts as queried.
            self.queries += walk.asked or not walk.decoder.branchings
            del self._in_progress[walk.keys.question]
            yield walk.draft.context, answer
        self._claims.finish(walk.keys.question for walk, _ in finished)

    def _answer(self, walk: Walk, weighed: Unforced | None) -> Answer:
        return Answer(
            key=walk.keys.decision,
            prompt=walk.draft.messages,
            prompt_digest=walk.keys.prompt_digest,
            calls=walk.calls,
            said=Decoding(walk.decoder.branchings, self._rule, weighed),
            selected=frozenset(walk.calls[number].call for number in walk.decoder.selected),
            model=self._model,
            versions=self._versions,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )
