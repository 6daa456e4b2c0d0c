"""Requests to vLLM servers, as token ids; those with the same allowed tokens share a message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

import msgspec

from stead_sym.agents.records.digest import spelled, spelled_tokens
from stead_sym.agents.records.possible import Tokens
from stead_sym.errors import ModelError
from stead_sym.models.asking import Question, Said
from stead_sym.models.backend import Tokenizer, Written
from stead_sym.models.connection import Address, Patience, json_or_none
from stead_sym.models.engine_answers import Question as Sampling
from stead_sym.models.engine_answers import Sampled, checked, questions, read_by
from stead_sym.models.fleet import Fleet
from stead_sym.models.server_cards import are_tokens

_NO_COMPLETION = (
    msgspec.DecodeError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
)
"""The exceptions that parsing an invalid completion raises."""

_QUESTIONS_PER_REQUEST = 16
"""The maximum number of questions in one request."""
_BYTES_PER_TOKEN = 512
"""The maximum size in bytes of the answer about one token; some 170 for short tokens."""
_TOKENS_PER_REQUEST = 20
"""The maximum number of tokens whose log-probabilities a request may ask for, by a server's default."""
_GREEDY = {
    # These override the model's generation_config.json, from which a server takes its defaults.
    "temperature": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


class ServedTokenizer(Tokenizer, Protocol):
    """A tokenizer with an identity and the texts of its tokens."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The identity of the tokenizer."""
        ...

    def spelled(self, token: int, /) -> str:
        """Return the text of a token."""
        ...


class Served(Protocol):
    """A model behind servers, each with at most ``in_flight`` requests at a time."""

    name: str
    model: str
    addresses: tuple[Address, ...]
    tokenizer: ServedTokenizer
    patience: Patience
    in_flight: int


class ServerAsking:
    """The implementation of `asking.Asking` for servers, as a context manager."""

    def __init__(self, server: Served) -> None:
        self._server = server
        self._fleet: Fleet[_Message] = Fleet(
            server.name, server.addresses, server.patience, server.in_flight, _completion_or_none
        )
        self.capacity = max(2 * server.in_flight * len(server.addresses), _QUESTIONS_PER_REQUEST)
        self._sampling: dict[tuple[Tokens, Tokens], list[Sampling]] = defaultdict(list)
        self._reading: dict[int, list[tuple[int, Written]]] = defaultdict(list)
        self._known: dict[int, dict[int, float]] = defaultdict(dict)

    def __enter__(self) -> Self:
        """Start the session."""
        self._fleet.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Cancel pending requests."""
        self._fleet.__exit__(*error)

    @property
    def again(self) -> int:
        """The number of messages that were sent again."""
        return self._fleet.count.again

    def submit(self, number: int, question: Question) -> None:
        """Submit a request; see `asking.Asking`. It is sent with the next call of `answers`."""
        if isinstance(question, Written):
            self._reading[question.tokens[-1]].append((number, question))
            return
        for part in questions([question], _TOKENS_PER_REQUEST):
            asked = part._replace(number=number)
            self._sampling[asked.request.allowed, asked.asked].append(asked)

    def answers(self, waiting: Callable[[], object]) -> list[tuple[int, Said]]:
        """Return received answers; see `asking.Asking`.

        Raise `ModelError` if the servers do not answer, or if an answer is invalid.
        """
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

    def sampled(self, question: Sampling, choice: _Completion) -> Iterator[tuple[int, Said]]:
        """Yield the log-probabilities of a request after all of its parts are answered."""
        name, number, request = self._server.name, question.number, question.request
        try:
            said = _sampled_token(choice)
        except _NO_COMPLETION:
            raise ModelError(
                f"{name}: the answer is no completion with token ids and log-probabilities; use a vLLM server"
            ) from None
        self._known[number] |= checked(name, question, said)
        if len(self._known[number]) == len(request.allowed):
            known = self._known.pop(number)
            yield number, tuple(known[token] for token in request.allowed)

    def written(self, number: int, written: Written, choice: _Completion) -> tuple[int, Said]:
        """Return the comparison of a call with greedy decoding."""
        name, (prompt, tokens) = self._server.name, written
        try:
            read = [_token_logprobs(place) for place in (choice.prompt_logprobs or ())[len(prompt) :]]
            places = [*read, _sampled_token(choice).logprobs]
            if len(places) != len(tokens) or not all(are_tokens(list(place)) for place in places):
                raise ValueError(len(places))
        except _NO_COMPLETION:
            raise ModelError(
                f"{name}: the answer has no log-probabilities of the tokens of the prompt; use a vLLM server"
            ) from None
        return number, read_by(name, written, places, self._server.tokenizer.spelled)

    def choices(self, said: Mapping[str, Any], number: int) -> list[_Completion]:
        """Return the choices of an answer in the order of the prompts, one for each."""
        try:
            by_index = {choice.index: choice for choice in said["choices"]}
            return [by_index[index] for index in range(number)]
        except (KeyError, TypeError, AttributeError):
            raise ModelError(
                f"{self._server.name}: the answer has no completion for each prompt; use a vLLM server"
            ) from None


class _Message(Protocol):
    """The content of a message, which its answer is read with."""

    def read(self, asking: ServerAsking, said: Mapping[str, Any], /) -> Iterator[tuple[int, Said]]:
        """Yield the answers in a response."""
        ...


class _Samplings(list[Sampling]):
    """Sampling steps with the same allowed tokens."""

    def read(self, asking: ServerAsking, said: Mapping[str, Any]) -> Iterator[tuple[int, Said]]:
        """Yield the answers in a response."""
        for question, choice in zip(self, asking.choices(said, len(self)), strict=True):
            yield from asking.sampled(question, choice)


class _Readings(list[tuple[int, Written]]):
    """Calls with the same last token; the model reads the tokens before it."""

    def read(self, asking: ServerAsking, said: Mapping[str, Any]) -> Iterator[tuple[int, Said]]:
        """Yield the answers in a response."""
        for (number, written), choice in zip(self, asking.choices(said, len(self)), strict=True):
            yield asking.written(number, written, choice)


def _reporting(asked: Tokens) -> dict[str, Any]:
    """Return the options for sampling one token with the log-probabilities of these tokens."""
    return {
        "max_tokens": 1,
        "logprobs": len(asked),
        "logprob_token_ids": asked,
        "return_tokens_as_token_ids": True,
    }


class _Completion(msgspec.Struct):
    """The answer to one prompt of a message.

    It has its number, the sampled token with the requested log-probabilities, and those of the prompt's
    tokens, not yet parsed.
    """

    index: int = 0
    logprobs: Any = None
    prompt_logprobs: list[msgspec.Raw] | None = None


class _Completions(msgspec.Struct):
    choices: list[_Completion]


class _Likely(msgspec.Struct):
    logprob: float


def _completion_or_none(content: bytearray) -> Any:
    """Return the `choices` of a body in a dictionary, if it has any; otherwise its data, or None."""
    try:
        return {"choices": msgspec.json.decode(content, type=_Completions).choices}
    except (msgspec.DecodeError, RecursionError):
        data = json_or_none(content)
        return {} if isinstance(data, dict) else data


def _sampled_token(completion: _Completion) -> Sampled:
    """Return the sampled token."""
    [token], [likely] = completion.logprobs["tokens"], completion.logprobs["top_logprobs"]
    return Sampled(_token(token), {_token(key): float(value) for key, value in likely.items()})


def _token_logprobs(place: msgspec.Raw) -> dict[int, float]:
    """Return the reported log-probabilities of tokens at one position of a prompt."""
    likely = msgspec.json.decode(place, type=dict[int, _Likely])
    return {token: one.logprob for token, one in likely.items()}


def _token(text: str) -> int:
    """Return the number in `token_id:17`."""
    kind, _, number = text.partition(":")
    if kind != "token_id":
        raise ValueError(text)
    return int(number)
