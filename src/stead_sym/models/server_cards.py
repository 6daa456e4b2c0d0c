"""Read the descriptions of models from vLLM servers, and locate their tokenizers."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import Any, TypeGuard

from stead_sym.agents.records.digest import spelled
from stead_sym.errors import ModelError
from stead_sym.models.connection import EXTRA, Address, Patience, Talk, Temporary
from stead_sym.models.tokenizer import ChatTokenizer

_START_SECONDS = 60.0
"""The time in seconds for a server to describe its models."""


_RETRY_SECONDS = 0.5  # the pause before the retry of such a request, in seconds


class FirstWords:
    """Requests for metadata: with few tries, so that a wrong address is reported soon."""

    def __init__(self, talk: Talk, patience: Patience) -> None:
        self._talk = talk
        self._seconds = min(_START_SECONDS, patience.request)
        self._tries = min(patience.tries, 2)

    def ask(
        self, address: Address, path: str, body: object = None, *, optional: bool = False
    ) -> dict[str, Any]:
        """Return the answer to a request; see `Talk.ask`."""
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


def card_of(first_words: FirstWords, address: Address, model: str) -> dict[str, Any]:
    """Return a server's description of a model; raise `ModelError` if it has none of that name."""
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
    if not all(map(_is_text, texts)) or not (window is None or are_tokens([window])):
        raise ModelError(
            f"{address.url}/v1/models: what it says of {model} is of another kind than it should be; name the"
            " address of a vLLM server"
        )
    return {"root": root, "max_model_len": window, "version": version}


def _is_text(said: object) -> bool:
    """Return True if the value is a string that can be stored: JSON may have unpaired surrogates."""
    return isinstance(said, str) and not re.search("[\ud800-\udfff]", said)


def are_tokens(said: object) -> TypeGuard[list[int]]:
    """Return True if the value is a list of token numbers."""
    return isinstance(said, list) and all(type(one) is int and 0 <= one < 1 << 31 for one in said)


def own_tokenizer(served: str, names: Sequence[str]) -> ChatTokenizer:
    """Return the tokenizer of the model, from the first source that has it."""
    os.environ.setdefault(
        "TRANSFORMERS_NO_ADVISORY_WARNINGS", "1"
    )  # about a missing torch, which is not needed: no model runs here
    reasons: list[str] = []
    for name in dict.fromkeys(names):
        try:
            return ChatTokenizer.load(name, None, EXTRA)
        except ModelError as error:
            reasons.append(error.message)
    raise ModelError(f"{served} is served, but its tokenizer is not here: {reasons[0]}")
