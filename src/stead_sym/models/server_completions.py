"""What a vLLM server answers to `/v1/completions`, read.

The decision: of a call that the model reads, an answer has the log-probabilities of every token of its
prompt, some 160 bytes each. Only those of the call's tokens are wanted; the others are passed over and never
become objects, which takes a tenth of the time.
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
"""What the functions below raise for a completion that is none."""


class Completion(msgspec.Struct):
    """The answer to one prompt of a message: its number, the token that was sampled with the
    log-probabilities that were asked for, and those of the tokens of the prompt, not read yet."""

    index: int = 0
    logprobs: Any = None
    prompt_logprobs: list[msgspec.Raw] | None = None


class _Completions(msgspec.Struct):
    choices: list[Completion]


class _Likely(msgspec.Struct):
    logprob: float


def completion_or_none(content: bytearray) -> Any:
    """The `choices` of a body, in a dictionary, where it has any; otherwise the data that it is, or None."""
    try:
        return {"choices": msgspec.json.decode(content, type=_Completions).choices}
    except (msgspec.DecodeError, RecursionError):
        data = json_or_none(content)
        return {} if isinstance(data, dict) else data


def sampled_token(completion: Completion) -> Sampled:
    """The token that was sampled."""
    [token], [likely] = completion.logprobs["tokens"], completion.logprobs["top_logprobs"]
    return Sampled(_token(token), {_token(key): float(value) for key, value in likely.items()})


def token_logprobs(place: msgspec.Raw) -> dict[int, float]:
    """The log-probabilities of the tokens that are reported at one place of a prompt."""
    likely = msgspec.json.decode(place, type=dict[int, _Likely])
    return {token: one.logprob for token, one in likely.items()}


def _token(text: str) -> int:
    """The number in `token_id:17`."""
    kind, _, number = text.partition(":")
    if kind != "token_id":
        raise ValueError(text)
    return int(number)
