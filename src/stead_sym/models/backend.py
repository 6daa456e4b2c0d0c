"""The interface of a language model backend: requests in, log-probabilities out.

The decision: a backend does not depend on deployments, prompts or stores, and this module on no backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.said import Unforced


class Request(NamedTuple):
    """A request for the next token after ``prompt`` and ``path``, constrained to ``allowed``."""

    prompt: Tokens
    path: Tokens
    allowed: Tokens


class Tokenizer(Protocol):
    """A map from texts to token ids; ``end`` is the token that ends an answer."""

    @property
    def end(self) -> int:
        """The token that ends an answer."""
        ...

    def prompt(self, messages: Sequence[Message], /) -> Tokens:
        """Return the tokens of a chat up to the start of the model's answer."""
        ...

    def text(self, text: str, /) -> Tokens:
        """Return the tokens of a text."""
        ...


class Backend(Protocol):
    """A runtime of a language model.

    ``identity`` is everything that determines its answers besides the prompt: weights, tokenizer, number
    format, but not the location of the model. ``versions`` are recorded but do not determine answers.
    ``window`` is the maximum length of a sequence, and ``together`` the number of decisions to have in
    progress at one time (0: any number).

    `next_logprobs` yields, in any order and each as soon as it is known, the number of a request with the
    log-probabilities of its allowed tokens in their order.
    """

    @property
    def name(self) -> str:
        """The name of the backend and its model."""
        ...

    @property
    def identity(self) -> Mapping[str, str]:
        """Everything that determines the answers besides the prompt."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions to record."""
        ...

    @property
    def window(self) -> int:
        """The maximum length of a sequence."""
        ...

    @property
    def together(self) -> int:
        """The number of decisions to have in progress at one time; 0 for any number."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        ...

    def next_logprobs(self, requests: Sequence[Request], /) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield the number of each request with the log-probabilities of its allowed tokens."""
        ...


class Written(NamedTuple):
    """A selected call after ``prompt``, as tokens with the end token last."""

    prompt: Tokens
    tokens: Tokens


@runtime_checkable
class Unconstrained(Protocol):
    """A backend that can also compare calls with unconstrained greedy decoding."""

    def unforced(self, answers: Sequence[Written], /) -> Iterator[tuple[int, Unforced]]:
        """Yield, for each answer by its number and in any order, the comparison with greedy decoding."""
        ...


def unforced(
    tokens: Tokens, choices: Sequence[int], spelled: Callable[[int], str], logprob: float | None = None
) -> Unforced:
    """Return the comparison of a call with the choices of greedy decoding.

    ``choices[i]`` is the choice after the first i tokens of the call, as long as these agree; ``logprob`` is
    that of the whole call.
    """
    pairs = enumerate(zip(tokens, choices, strict=False))
    agreed = next((i for i, (one, other) in pairs if one != other), min(len(tokens), len(choices)))
    other = choices[agreed] if agreed < min(len(tokens), len(choices)) else None
    return Unforced(agreed, len(tokens), other, "" if other is None else spelled(other), logprob)


def common_length(left: Tokens, right: Tokens) -> int:
    """Return the length of the longest common prefix of two sequences."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(left), len(right)))
