"""What an inference engine says when it samples one token, checked, and put together to log-probabilities.

The decision: an engine gets the constraint, and its answer is checked against it. It samples one token
greedily among those allowed and reports the log-probabilities of the ones asked about. A token that is not
allowed, or not the likeliest, shows that the engine decodes in another way than it was told to; its decisions
would be those of another policy, so that this is an error.

The log-probabilities are those of the engine, from before the constraint where it can be told so: log-softmax
over the whole vocabulary. An engine that reports them from after it (`processed_logprobs` of vLLM) has a
constant added at each node; choices and margins, being differences, are the same.

What a model would write by itself is told by an engine that *reads* the selected call after its prompt: at
each of the call's tokens it reports the log-probability of that token and of the likeliest one. That tells
where greedy decoding writes something else first, and the probability of the whole call.
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
    """The token sampled, and the log-probabilities reported, of that one and of those asked about."""

    token: int
    logprobs: Mapping[int, float]


def questions(requests: Sequence[Request], most: int) -> list[Question]:
    """The requests as sampling steps, each of which asks about at most so many of the allowed tokens."""
    return [
        Question(number, request, request.allowed[start : start + most])
        for number, request in enumerate(requests)
        for start in range(0, len(request.allowed), most)
    ]


def gathered(
    name: str, answers: Generator[tuple[Question, Sampled], None, None]
) -> Iterator[tuple[int, tuple[float, ...]]]:
    """`Backend.next_logprobs` from answers in any order: each request when its last question is answered.

    Raises `ModelError` for an answer of ``name`` that is not one to the question; then no other is asked for.
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
    """The log-probabilities of the tokens asked about."""
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
    """How far a model writes a call by itself, and the log-probability of the call: ``places[i]`` has the
    log-probabilities of the call's token i and of the likeliest token there. Of equally likely ones greedy
    decoding takes the one with the lowest number.

    Raises `ModelError` where a place does not have that of the call's token, or has more than a probability.
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
