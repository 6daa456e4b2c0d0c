"""Check the answers of an inference engine that samples one token, and collect log-probabilities.

The decision: an engine gets the constraint, and its answer is checked against it. It samples one token
greedily among the allowed ones and reports the log-probabilities of the requested ones. If a token is not
allowed, or not the likeliest, the engine does not decode as configured; its decisions would be those of
another policy, so this is an error.

The log-probabilities are the engine's, if possible from before the constraint: log-softmax over the whole
vocabulary. An engine that reports them from after it (`processed_logprobs` of vLLM) adds a constant at each
node; choices and margins, being differences, are the same.

The unconstrained output is compared by an engine that *reads* the selected call after its prompt: at each of
the call's tokens it reports the log-probability of that token and of the likeliest one. This gives the first
token at which greedy decoding differs, and the probability of the whole call.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from stead_sym.agents.records.possible import SLACK, Tokens
from stead_sym.agents.records.said import Unforced
from stead_sym.errors import ModelError
from stead_sym.models.backend import Request, Written, unforced


class Question(NamedTuple):
    """A sampling step: the next token of request ``number``, and the log-probabilities of ``asked``."""

    number: int
    request: Request
    asked: Tokens

    @property
    def tokens(self) -> Tokens:
        """The sequence whose next token is sampled."""
        return (*self.request.prompt, *self.request.path)


class Sampled(NamedTuple):
    """The sampled token, and the reported log-probabilities of it and of the requested ones."""

    token: int
    logprobs: Mapping[int, float]


def questions(requests: Sequence[Request], most: int) -> list[Question]:
    """Return the requests as sampling steps, each for at most ``most`` of the allowed tokens."""
    return [
        Question(number, request, request.allowed[start : start + most])
        for number, request in enumerate(requests)
        for start in range(0, len(request.allowed), most)
    ]


def gathered(
    name: str, answers: Generator[tuple[Question, Sampled], None, None]
) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Yield `Backend.next_logprobs` from answers in any order: each request after its last answer.

    Raise `ModelError` for an invalid answer of ``name``; then the other answers are not requested.
    """
    known: defaultdict[int, dict[int, float]] = defaultdict(dict)
    with closing(answers):
        for question, sampled in answers:
            number, request, _ = question
            known[number] |= checked(name, question, sampled)
            if len(known[number]) == len(request.allowed):
                logprobs = known.pop(number)
                yield number, tuple(logprobs[token] for token in request.allowed)


def checked(name: str, question: Question, sampled: Sampled) -> dict[int, float]:
    """Return the log-probabilities of the requested tokens; raise `ModelError` for an invalid answer."""
    token, logprobs = sampled
    if token not in question.request.allowed:
        raise ModelError(
            f"{name} ignores allowed_token_ids: it sampled token {token}, allowed were "
            f"{_few(question.request.allowed)}; use a vLLM server, or hf:MODEL"
        )
    if missing := [asked for asked in question.asked if asked not in logprobs]:
        raise ModelError(
            f"{name} gives no log-probabilities of the allowed tokens {_few(missing)}; use a vLLM that knows "
            "logprob_token_ids"
        )
    asked = {token: logprobs[token] for token in question.asked}
    if max(asked.values()) > SLACK:
        raise ModelError(
            f"{name} reports logits for log-probabilities; start it with --logprobs-mode raw_logprobs"
        )
    if token not in logprobs or max(asked.values()) > logprobs[token] + SLACK:
        raise ModelError(
            f"{name} does not decode greedily: it sampled token {token}, another allowed one is likelier; "
            "switch off what changes its sampling"
        )
    return asked


def read_by(
    name: str, written: Written, places: Sequence[Mapping[int, float]], spelled: Callable[[int], str]
) -> Unforced:
    """Return the comparison of a call with greedy decoding, and the log-probability of the call.

    ``places[i]`` has the log-probabilities of the call's token i and of the likeliest token there. Of equally
    likely ones greedy decoding takes the one with the lowest number.

    Raise `ModelError` if a place lacks that of the call's token, or has one above 0.
    """
    for token, likely in zip(written.tokens, places, strict=True):
        if token not in likely or not all(value <= SLACK for value in likely.values()):
            raise ModelError(
                f"{name} gives no log-probabilities of the tokens of a prompt; use a vLLM server that knows "
                "prompt_logprobs, with --logprobs-mode raw_logprobs"
            )
    choices = [max(likely, key=lambda token: (likely[token], -token)) for likely in places]
    logprob = math.fsum(likely[token] for token, likely in zip(written.tokens, places, strict=True))
    return unforced(written.tokens, choices, spelled, logprob)


def _few(tokens: Sequence[int]) -> str:
    shown = ", ".join(map(str, tokens[:5]))
    return shown if len(tokens) <= 5 else f"{shown}, …"
