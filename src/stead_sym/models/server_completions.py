"""Parse a vLLM server's answers to `/v1/completions`.

The decision: for a call that the model reads, an answer has the log-probabilities of every token of its
prompt, some 160 bytes each. Only those of the call's tokens are needed; the others are skipped without
creating objects, which takes a tenth of the time.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stead_sym.models.engine_answers import Sampled
from stead_sym.models.server_answers import json_or_none

NO_COMPLETION = (
    msgspec.DecodeError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
)
"""The exceptions that the functions below raise for an invalid completion."""


class Completion(msgspec.Struct):
    """The answer to one prompt of a message.

    It has its number, the sampled token with the requested log-probabilities, and those of the prompt's
    tokens, not yet parsed.
    """

    index: int = 0
    logprobs: Any = None
    prompt_logprobs: list[msgspec.Raw] | None = None


class _Completions(msgspec.Struct):
    choices: list[Completion]


class _Likely(msgspec.Struct):
    logprob: float


def completion_or_none(content: bytearray) -> Any:
    """Return the `choices` of a body in a dictionary, if it has any; otherwise its data, or None."""
    try:
        return {"choices": msgspec.json.decode(content, type=_Completions).choices}
    except (msgspec.DecodeError, RecursionError):
        data = json_or_none(content)
        return {} if isinstance(data, dict) else data


def sampled_token(completion: Completion) -> Sampled:
    """Return the sampled token."""
    [token], [likely] = completion.logprobs["tokens"], completion.logprobs["top_logprobs"]
    return Sampled(_token(token), {_token(key): float(value) for key, value in likely.items()})


def token_logprobs(place: msgspec.Raw) -> dict[int, float]:
    """Return the reported log-probabilities of tokens at one position of a prompt."""
    likely = msgspec.json.decode(place, type=dict[int, _Likely])
    return {token: one.logprob for token, one in likely.items()}


def _token(text: str) -> int:
    """Return the number in `token_id:17`."""
    kind, _, number = text.partition(":")
    if kind != "token_id":
        raise ValueError(text)
    return int(number)
