"""A language model as a base agent: prompts in, decoding inside the offered calls, a store in front.

The decision: all contexts of a batch go out together, level by level: one request per open branching node.
What the model says at a node is stored the moment it arrives. A backend turns requests into
log-probabilities and knows nothing of deployments; this module knows nothing of any backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, Protocol, runtime_checkable

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.prompts.prompt import Message, Prompt
from stead_sym.agent.records.answer import Answer, Offered
from stead_sym.agent.records.digest import digest
from stead_sym.agent.records.possible import Branching, Greedy, Rule, Tokens, rule_data
from stead_sym.agent.records.said import Decoding, Unforced
from stead_sym.agent.records.store import Store
from stead_sym.agent.records.trie import Decoder, Trie
from stead_sym.deployment.tool import Call
from stead_sym.errors import ModelError, StoreError
from stead_sym.relational.canonical import FORM_VERSION
from stead_sym.relational.graph import NAUTY_VERSION


class Request(NamedTuple):
    """What a backend is asked: the next token after ``prompt`` and ``path``, which must be in ``allowed``."""

    prompt: Tokens
    path: Tokens
    allowed: Tokens


class Tokenizer(Protocol):
    """Texts to token ids. ``end`` is the token that ends an answer."""

    @property
    def end(self) -> int: ...
    def prompt(self, messages: Sequence[Message], /) -> Tokens: ...
    def text(self, text: str, /) -> Tokens: ...


class Backend(Protocol):
    """Something that runs a language model.

    ``identity`` is whatever determines its answers besides the prompt: weights, tokenizer, number format; not
    where the model lies.
    ``versions`` are worth recording but do not. ``window`` is the longest sequence that the model takes, and
    ``together`` the number of decisions to have in progress at one time (0: any number).

    `next_logprobs` yields, in any order and each as soon as it is known, the number of a request with the
    log-probabilities of its allowed tokens in their order.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> Mapping[str, str]: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def window(self) -> int: ...
    @property
    def together(self) -> int: ...
    @property
    def tokenizer(self) -> Tokenizer: ...
    def next_logprobs(self, requests: Sequence[Request], /) -> Iterator[tuple[int, Sequence[float]]]: ...


class Written(NamedTuple):
    """A call that was selected after ``prompt``, as tokens with the end token last."""

    prompt: Tokens
    tokens: Tokens


@runtime_checkable
class Unconstrained(Protocol):
    """A backend that can also tell what greedy decoding would write if nothing constrained it."""

    def unforced(self, answers: Sequence[Written], /) -> Iterator[tuple[int, Unforced]]:
        """For each answer, by its number and in any order, how far the model writes it by itself."""
        ...


def unforced(tokens: Tokens, choices: Sequence[int], spelled: Callable[[int], str]) -> Unforced:
    """The comparison of a call with what greedy decoding chooses: ``choices[i]`` after the first i tokens of
    the call, as far as these agree."""
    pairs = enumerate(zip(tokens, choices, strict=False))
    agreed = next((i for i, (one, other) in pairs if one != other), min(len(tokens), len(choices)))
    other = choices[agreed] if agreed < min(len(tokens), len(choices)) else None
    return Unforced(agreed, len(tokens), other, "" if other is None else spelled(other))


@dataclass
class _Walk:
    """A decision in progress."""

    context: DecisionContext
    key: str
    messages: tuple[Message, ...]
    prompt: Tokens
    calls: tuple[Offered, ...]
    decoder: Decoder
    asked: bool = False


class ModelAgent:
    """A language model behind a prompt, with a store of its decisions in front: a base agent.

    ``rule`` says which calls are possible: the greedy choice by default, so that every context has one
    selected call. With ``weigh`` the model is also asked, once per decision, what it would write if nothing
    constrained it, where the backend can tell (`Unconstrained`); nothing is selected by that.
    """

    def __init__(
        self,
        backend: Backend,
        prompt: Prompt,
        store: Store | None = None,
        rule: Rule | None = None,
        *,
        weigh: bool = True,
    ) -> None:
        self.backend = backend
        self.prompt = prompt
        self.store = Store() if store is None else store
        self.rule = Greedy() if rule is None else rule
        self.weigh = weigh
        self._queries = 0
        self._requests = 0
        self._answers: dict[DecisionContext, Answer] = {}

    @property
    def name(self) -> str:
        return self.backend.name

    @property
    def queries(self) -> int:
        """The number of contexts that the store did not answer."""
        return self._queries

    @property
    def requests(self) -> int:
        """The number of branching nodes that the model was asked about."""
        return self._requests

    def answer(self, context: DecisionContext) -> Answer | None:
        """The record of a selection made by this object."""
        return self._answers.get(context)

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """The calls that the rule makes possible, from the store where it knows.

        Raises `ModelError` for calls that the tokenizer does not tell apart and for a context that is
        longer than the model's window (then nothing of the batch is asked), `StoreError` for a store that
        is not sound, and whatever the backend raises. What was answered before an error is in the store.
        """
        walks = [self._walk(context) for context in dict.fromkeys(contexts) if context not in self._answers]
        for walk in walks:
            self._fits(walk)
        size = self.backend.together or max(len(walks), 1)
        for start in range(0, len(walks), size):
            self._run(walks[start : start + size])
        return [self._answers[context].selected for context in contexts]

    def _walk(self, context: DecisionContext) -> _Walk:
        tokenizer = self.backend.tokenizer
        messages = self.prompt.messages(context)
        prompt = tokenizer.prompt(messages)
        calls = tuple(self._offered(call) for call in sorted(context.calls))
        key = digest(
            {
                "model": dict(self.backend.identity),
                "canonical": FORM_VERSION,
                "prompt": prompt,
                "calls": [[offered.text, offered.tokens] for offered in calls],
                **rule_data(self.rule),
            }
        )
        return _Walk(context, key, messages, prompt, calls, Decoder(self._trie(calls), self.rule))

    def _offered(self, call: Call) -> Offered:
        text = self.prompt.call_text(call)
        return Offered(call, text, (*self.backend.tokenizer.text(text), self.backend.tokenizer.end))

    def _trie(self, calls: Sequence[Offered]) -> Trie:
        owner: dict[Tokens, Offered] = {}
        for offered in calls:
            other = owner.setdefault(offered.tokens, offered)
            if other is not offered:
                raise ModelError(
                    f"the tokenizer of {self.name} maps the calls {other.call} and {offered.call} to the "
                    "same tokens; "
                    "spell them differently"
                )
        return Trie([offered.tokens for offered in calls])

    def _fits(self, walk: _Walk) -> None:
        longest = len(walk.prompt) + max(len(offered.tokens) for offered in walk.calls)
        if longest > self.backend.window:
            raise ModelError(
                f"a context of {longest} tokens is longer than the window of {self.name}, "
                f"{self.backend.window}; "
                "shorten the prompt, or show less with `view`"
            )

    def _run(self, walks: Sequence[_Walk]) -> None:
        """Decide every walk; each is stored when it is finished."""
        unfinished = [walk for walk in walks if not self._known(walk)]
        while unfinished:
            requests: list[Request] = []
            owners: list[_Walk] = []
            for walk in unfinished:
                for path, allowed in self._to_ask(walk):
                    requests.append(Request(walk.prompt, path, allowed))
                    owners.append(walk)
            for number, logprobs in self._ask(requests):
                owners[number].asked = True
                owners[number].decoder.tell(requests[number].path, logprobs)
            finished = [walk for walk in unfinished if not walk.decoder.open]
            weighed = dict(self._unforced(finished))
            for number, walk in enumerate(finished):
                self._finish(walk, weighed.get(number))
            unfinished = [walk for walk in unfinished if walk.decoder.open]

    def _known(self, walk: _Walk) -> bool:
        """Whether the store has the decision; then it is taken over."""
        answer = self.store.get(walk.key)
        if answer is None:
            return False
        if (answer.prompt, answer.calls) != (walk.messages, walk.calls):
            raise StoreError(
                f"{self.store.name}: decision {answer.key[:12]} has other calls, or another prompt, than what"
                " its key was made of; use another store"
            )
        self._answers[walk.context] = answer
        return True

    def _to_ask(self, walk: _Walk) -> Iterable[tuple[Tokens, Tokens]]:
        """The open nodes of a walk once all that the store knows of is told."""
        while told := [
            (path, logprobs)
            for path, allowed in walk.decoder.open
            if (logprobs := self.store.get_node(self._node_key(walk.prompt, path, allowed))) is not None
        ]:
            for path, logprobs in told:
                walk.decoder.tell(path, logprobs)
        return walk.decoder.open

    def _ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """The backend's answers, each stored before it is used."""
        if not requests:
            return
        missing = set(range(len(requests)))
        for number, logprobs in self.backend.next_logprobs(requests):
            self._requests += 1
            _, path, allowed = requests[number]
            said = Branching(path, allowed, tuple(map(float, logprobs)))  # raises where it is no answer
            self.store.put_node(self._node_key(*requests[number]), said.logprobs)
            missing.discard(number)
            yield number, logprobs
        if missing:
            raise ModelError(
                f"{self.name} left {len(missing)} of {len(requests)} requests unanswered; ask again"
            )

    def _node_key(self, prompt: Tokens, path: Tokens, allowed: Tokens) -> str:
        return digest([dict(self.backend.identity), prompt, path, allowed])

    def _unforced(self, walks: Sequence[_Walk]) -> Iterable[tuple[int, Unforced]]:
        """How far the model writes each walk's greedy choice by itself, where that is asked and known."""
        if not walks or not self.weigh or not isinstance(self.backend, Unconstrained):
            return ()
        best = [(walk, walk.decoder.best) for walk in walks]
        return self.backend.unforced(
            [Written(walk.prompt, walk.calls[number].tokens) for walk, number in best if number is not None]
        )

    def _finish(self, walk: _Walk, weighed: Unforced | None) -> None:
        # Where every token is forced no node is asked about; the context still counts as put to the model.
        self._queries += walk.asked or not walk.decoder.branchings
        answer = Answer(
            key=walk.key,
            prompt=walk.messages,
            prompt_digest=digest(walk.prompt),
            calls=walk.calls,
            said=Decoding(walk.decoder.branchings, self.rule, weighed),
            selected=frozenset(walk.calls[number].call for number in walk.decoder.selected),
            model={"name": self.name, **self.backend.identity},
            versions={**self.backend.versions, "pynauty": NAUTY_VERSION},
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._answers[walk.context] = self.store.put(answer)
