"""What runs a language model, as this package sees it: requests in, log-probabilities out.

The decision: a backend knows nothing of deployments, prompts or stores, and nothing here knows any backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.said import Unforced


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


def unforced(
    tokens: Tokens, choices: Sequence[int], spelled: Callable[[int], str], logprob: float | None = None
) -> Unforced:
    """The comparison of a call with what greedy decoding chooses: ``choices[i]`` after the first i tokens of
    the call, as far as these agree; with the ``logprob`` of the whole call."""
    pairs = enumerate(zip(tokens, choices, strict=False))
    agreed = next((i for i, (one, other) in pairs if one != other), min(len(tokens), len(choices)))
    other = choices[agreed] if agreed < min(len(tokens), len(choices)) else None
    return Unforced(agreed, len(tokens), other, "" if other is None else spelled(other), logprob)


def common_length(left: Tokens, right: Tokens) -> int:
    """How many tokens two sequences have in common at their beginning."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(left), len(right)))
