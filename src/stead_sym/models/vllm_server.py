"""Models behind vLLM servers, as a backend.

The decision: token ids and not text go over the wire, and what is asked with one set of allowed tokens goes
together in one message; the server batches all of them. What the server does not know is refused by
`engine_answers`, since it drops parameters it does not know without a word.

A server does not show its weights. What identifies a model here is the name it is served under, where the
server has it from, and its tokenizer: whoever serves other weights under the same two names needs another
store of decisions. Several servers of one word have to agree in all that they show.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeGuard

from stead_sym.agents.records.digest import spelled, spelled_tokens
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.said import Unforced
from stead_sym.agents.wording import without_credentials
from stead_sym.errors import ModelError
from stead_sym.models.addresses import Address
from stead_sym.models.asking import Question, Said
from stead_sym.models.backend import Request, Tokenizer, Written
from stead_sym.models.connection import EXTRA, Patience, Talk, Temporary
from stead_sym.models.engine_answers import Question as Sampling
from stead_sym.models.engine_answers import checked, questions, read_by
from stead_sym.models.fleet import Fleet
from stead_sym.models.server_completions import (
    NO_COMPLETION,
    Completion,
    completion_or_none,
    sampled_token,
    token_logprobs,
)
from stead_sym.models.tokenizer import ChatTokenizer

IN_FLIGHT = 256
"""The most questions that are with one server at a time."""
_QUESTIONS_PER_REQUEST = 16
"""The most questions in one request."""
_BYTES_PER_TOKEN = 512
"""The most bytes of an answer about one token; some 170 where tokens are short."""
_START_SECONDS = 60.0
"""Seconds that a server has to say what it serves."""
_TOKENS_PER_REQUEST = 20
"""So many tokens a server lets one request ask log-probabilities of, unless it was started otherwise."""
_GREEDY = {
    # What the model's own generation_config.json, which a server takes its defaults from, might say instead.
    "temperature": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
_SPOKEN = 'The tokens of {"name": "a_tool", "arguments": {"id": "TASK_12"}}, as asked: [1, 2, 30]?\n'
_RETRY_SECONDS = 0.5  # seconds before such a request is made a second time


class ServedTokenizer(Tokenizer, Protocol):
    """A tokenizer that knows what identifies it, and how a token is spelled."""

    @property
    def identity(self) -> Mapping[str, str]: ...
    def spelled(self, token: int, /) -> str: ...


class VllmServer:
    """A language model behind the OpenAI-compatible interface of vLLM, on one server or several. Build it
    with `load`."""

    together = 0

    def __init__(
        self,
        addresses: Sequence[Address],
        model: str,
        card: Mapping[str, Any],
        tokenizer: ServedTokenizer,
        patience: Patience,
        in_flight: int,
    ) -> None:
        """``model`` is the name it is served under, ``card`` what the servers say of it."""
        self.addresses = tuple(addresses)
        self.model = model
        self.patience = patience
        self.in_flight = in_flight
        self.name = _name(addresses, model)
        self.window = int(card.get("max_model_len") or 1 << 30)
        self.tokenizer = tokenizer
        root = str(card.get("root") or model)
        self.identity: Mapping[str, str] = {
            "engine": "vllm server",
            "model": model,
            "root": without_credentials(root),
            **tokenizer.identity,
        }
        self.versions: Mapping[str, str] = {"vllm": str(card.get("version", "unknown"))}

    @classmethod
    def load(
        cls,
        address: str,
        *,
        tries: int | None = None,
        in_flight: int = IN_FLIGHT,
        tokenizer: str | ServedTokenizer | None = None,
        patience: Patience | None = None,
    ) -> VllmServer:
        """The model of ``address``, which is `http://HOST:PORT#MODEL` or the same with https, or several of
        these with commas between them: servers that serve the same model.

        At most ``in_flight`` questions are with a server at a time. ``patience`` says how long an answer is
        waited for, and ``tries`` how often a server may fail. The tokenizer is taken from where the server
        has it, or from the folder or the name that ``tokenizer`` is. The environment variable VLLM_API_KEY
        has the key of a server that wants one. Raises `ModelError` where there is no such server or model,
        where the servers differ, and where the tokenizer or the libraries are not there.
        """
        patience = patience or Patience()
        if tries is not None:
            patience = Patience(patience.request, patience.whole, patience.connect, patience.pause, tries)
        words = [part.partition("#") for part in re.split(r",(?=https?://)", address)]
        addresses = [Address.of(url) for url, _, _ in words]
        models = [model for _, _, model in words]
        first = addresses[0]
        if len(set(models)) > 1:
            raise ModelError(
                f"servers of the models {' and '.join(models)}; write those of one model together"
            )
        with Talk(first.url, patience.connect) as talk:
            first_words = _FirstWords(talk, patience)
            cards = [_card(first_words, one, models[0]) for one in addresses]
            for other, card in zip(addresses, cards, strict=True):
                differing = [name for name, value in cards[0].items() if card[name] != value]
                if differing:
                    raise ModelError(
                        f"{other.url} and {first.url} serve different models: their {differing[0]} is "
                        f"{card[differing[0]]} and {cards[0][differing[0]]}; leave one out"
                    )
            found = tokenizer
            if found is None or isinstance(found, str):
                root = str(cards[0]["root"] or models[0])
                found = _own_tokenizer(_name(addresses, models[0]), [found] if found else [root, models[0]])
            for one in addresses:
                theirs = first_words.ask(
                    one,
                    "/tokenize",
                    {"model": models[0], "prompt": _SPOKEN, "add_special_tokens": False},
                    optional=True,
                ).get("tokens")
                if theirs is not None and theirs != [*found.text(_SPOKEN)]:
                    raise ModelError(
                        f"the tokenizer of {_name([one], models[0])} is another than the one that is here; "
                        "put that of the served model there, or name it"
                    )
        return cls(addresses, models[0], cards[0], found, patience, in_flight)

    def asking(self) -> ServerAsking:
        """See `asking.Streaming`."""
        return ServerAsking(self)

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """See `backend.Backend`."""
        for number, said in self._all(requests):
            assert not isinstance(said, Unforced)
            yield number, said

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """See `backend.Unconstrained`."""
        for number, said in self._all(answers):
            assert isinstance(said, Unforced)
            yield number, said

    def _all(self, questions: Sequence[Question]) -> Iterator[tuple[int, Said]]:
        with self.asking() as asking:
            for number, question in enumerate(questions):
                asking.submit(number, question)
            left = len(questions)
            while left:
                for answer in asking.answers(lambda: None):
                    left -= 1
                    yield answer


class ServerAsking:
    """`asking.Asking` of servers, as a context manager."""

    def __init__(self, server: VllmServer) -> None:
        self._server = server
        self._fleet: Fleet[_Message] = Fleet(
            server.name, server.addresses, server.patience, server.in_flight, completion_or_none
        )
        self.capacity = max(2 * server.in_flight * len(server.addresses), _QUESTIONS_PER_REQUEST)
        self._sampling: dict[tuple[Tokens, Tokens], list[Sampling]] = defaultdict(list)
        self._reading: dict[int, list[tuple[int, Written]]] = defaultdict(list)
        self._known: dict[int, dict[int, float]] = defaultdict(dict)

    def __enter__(self) -> Self:
        self._fleet.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fleet.__exit__(kind, error, trace)

    @property
    def again(self) -> int:
        """The number of messages that were sent again."""
        return self._fleet.count.again

    def submit(self, number: int, question: Question) -> None:
        """See `asking.Asking`; it is sent with the next call of `answers`."""
        if isinstance(question, Written):
            self._reading[question.tokens[-1]].append((number, question))
            return
        for part in questions([question], _TOKENS_PER_REQUEST):
            asked = part._replace(number=number)
            self._sampling[asked.request.allowed, asked.asked].append(asked)

    def answers(self, waiting: Callable[[], object]) -> list[tuple[int, Said]]:
        """See `asking.Asking`. Raises `ModelError` where the servers do not answer, or otherwise than they
        should."""
        self._send()
        found: list[tuple[int, Said]] = []
        while not found:
            for message, said in self._fleet.answers(waiting):
                found.extend(message.read(self, said))
        return found

    def _send(self) -> None:
        pending = sum(map(len, self._sampling.values())) + sum(map(len, self._reading.values()))
        share = -(-pending // (4 * len(self._server.addresses)))
        size = max(1, min(_QUESTIONS_PER_REQUEST, share, self._fleet.limit))
        for (allowed, asked), all_asked in self._sampling.items():
            options = {"allowed_token_ids": allowed, **_reporting(asked)}
            for start in range(0, len(all_asked), size):
                some = all_asked[start : start + size]
                self._post(
                    _Samplings(some), [(one.request.prompt, one.request.path) for one in some], options
                )
        for last, all_written in self._reading.items():
            options = {"prompt_logprobs": 1, **_reporting((last,))}
            for start in range(0, len(all_written), size):
                calls = all_written[start : start + size]
                prompts = [(one.prompt, one.tokens[:-1]) for _, one in calls]
                said = _BYTES_PER_TOKEN * sum(len(prompt) + len(path) for prompt, path in prompts)
                self._post(_Readings(calls), prompts, options, said)
        self._sampling.clear()
        self._reading.clear()

    def _post(
        self,
        message: _Message,
        prompts: Sequence[tuple[Tokens, Tokens]],
        options: Mapping[str, Any],
        said: int | None = None,
    ) -> None:
        rest = spelled({"model": self._server.model, **_GREEDY, **options})
        spelt = ",".join(
            f"{spelled_tokens(prompt)[:-1]},{spelled(path)[1:]}" if path else spelled_tokens(prompt)
            for prompt, path in prompts
        )
        body = f'{rest[:-1]},"prompt":[{spelt}]}}'.encode()
        self._fleet.submit(message, "/v1/completions", body, len(prompts), said)

    def sampled(self, question: Sampling, choice: Completion) -> Iterator[tuple[int, Said]]:
        """The log-probabilities of a request once all of its parts are answered."""
        name, number, request = self._server.name, question.number, question.request
        try:
            said = sampled_token(choice)
        except NO_COMPLETION:
            raise ModelError(
                f"{name}: the answer is no completion with token ids and log-probabilities; use a vLLM server"
            ) from None
        self._known[number] |= checked(name, question, said)
        if len(self._known[number]) == len(request.allowed):
            known = self._known.pop(number)
            yield number, tuple(known[token] for token in request.allowed)

    def written(self, number: int, written: Written, choice: Completion) -> tuple[int, Said]:
        """How far the model writes a call by itself."""
        name, (prompt, tokens) = self._server.name, written
        try:
            read = [token_logprobs(place) for place in (choice.prompt_logprobs or ())[len(prompt) :]]
            places = [*read, sampled_token(choice).logprobs]
            if len(places) != len(tokens) or not all(_are_tokens(list(place)) for place in places):
                raise ValueError(len(places))
        except NO_COMPLETION:
            raise ModelError(
                f"{name}: the answer has no log-probabilities of the tokens of the prompt; use a vLLM server"
            ) from None
        return number, read_by(name, written, places, self._server.tokenizer.spelled)

    def choices(self, said: Mapping[str, Any], number: int) -> list[Completion]:
        """The choices of an answer in the order of the prompts, one for each."""
        try:
            by_index = {choice.index: choice for choice in said["choices"]}
            return [by_index[index] for index in range(number)]
        except (KeyError, TypeError, AttributeError):
            raise ModelError(
                f"{self._server.name}: the answer has no completion for each prompt; use a vLLM server"
            ) from None


class _Message(Protocol):
    """What a message asked, so that its answer can be read."""

    def read(self, asking: ServerAsking, said: Mapping[str, Any], /) -> Iterator[tuple[int, Said]]: ...


class _Samplings(list[Sampling]):
    """Sampling steps with the same allowed tokens."""

    def read(self, asking: ServerAsking, said: Mapping[str, Any]) -> Iterator[tuple[int, Said]]:
        for question, choice in zip(self, asking.choices(said, len(self)), strict=True):
            yield from asking.sampled(question, choice)


class _Readings(list[tuple[int, Written]]):
    """Calls with the same last token, which the model reads but for that one."""

    def read(self, asking: ServerAsking, said: Mapping[str, Any]) -> Iterator[tuple[int, Said]]:
        for (number, written), choice in zip(self, asking.choices(said, len(self)), strict=True):
            yield asking.written(number, written, choice)


class _FirstWords:
    """Requests before the questions: with few tries, so that a wrong address is soon reported."""

    def __init__(self, talk: Talk, patience: Patience) -> None:
        self._talk = talk
        self._seconds = min(_START_SECONDS, patience.request)
        self._tries = min(patience.tries, 2)

    def ask(
        self, address: Address, path: str, body: object = None, *, optional: bool = False
    ) -> dict[str, Any]:
        """See `Talk.ask`."""
        text = None if body is None else spelled(body).encode()
        for left in reversed(range(self._tries)):
            try:
                return self._talk.wait(
                    self._talk.ask(address, path, text, seconds=self._seconds, optional=optional)
                )
            except Temporary as none:
                if not left or none.late:
                    raise none.error from None
                time.sleep(_RETRY_SECONDS)
        raise AssertionError("no try")


def _name(addresses: Sequence[Address], model: str) -> str:
    return "vllm:" + ",".join(f"{address.url}#{model}" for address in addresses)


def _card(first_words: _FirstWords, address: Address, model: str) -> dict[str, Any]:
    """What a server says of a model. Raises `ModelError` where it has none of that name."""
    try:
        said = first_words.ask(address, "/v1/models")["data"]
        served = {str(card["id"]): dict(card) for card in said}
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            f"{address.url}/v1/models: the answer is no list of models; name the address of a vLLM server"
        ) from None
    if model not in served:
        wrong = f"has no model {model}" if model else "serves models by name"
        there = " or ".join(f"vllm:{address.url}#{name}" for name in served)
        raise ModelError(f"{address.url} {wrong}; write {there}")
    version = first_words.ask(address, "/version", optional=True).get("version", "unknown")
    card = served[model]
    root, window = card.get("root"), card.get("max_model_len")
    texts = (one for one in (root, version) if one is not None)
    if not all(map(_is_text, texts)) or not (window is None or _are_tokens([window])):
        raise ModelError(
            f"{address.url}/v1/models: what it says of {model} is of another kind than it should be; name the"
            " address of a vLLM server"
        )
    return {"root": root, "max_model_len": window, "version": version}


def _is_text(said: object) -> bool:
    """Whether a server's word is one that can be kept: JSON may hold halves of characters."""
    return isinstance(said, str) and not re.search("[\ud800-\udfff]", said)


def _are_tokens(said: object) -> TypeGuard[list[int]]:
    return isinstance(said, list) and all(type(one) is int and 0 <= one < 1 << 31 for one in said)


def _own_tokenizer(served: str, names: Sequence[str]) -> ChatTokenizer:
    """The tokenizer of the model, from the first place that has it."""
    os.environ.setdefault(
        "TRANSFORMERS_NO_ADVISORY_WARNINGS", "1"
    )  # of a missing torch, which is not needed: no model runs here
    reasons: list[str] = []
    for name in dict.fromkeys(names):
        try:
            return ChatTokenizer.load(name, None, EXTRA)
        except ModelError as error:
            reasons.append(error.message)
    raise ModelError(f"{served} is served, but its tokenizer is not here: {reasons[0]}")


def _reporting(asked: Tokens) -> dict[str, Any]:
    """What asks for one token and the log-probabilities of so many, by their numbers."""
    return {
        "max_tokens": 1,
        "logprobs": len(asked),
        "logprob_token_ids": asked,
        "return_tokens_as_token_ids": True,
    }
