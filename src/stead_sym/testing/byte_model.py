"""A language model without libraries: its tokens are bytes, its log-probabilities come from a hash.

The decision: it has all properties of a model that this package depends on (it is a function of the token
sequence, with a tokenizer, a window and an identity). So code that is tested with it runs with a real one.
"""

from __future__ import annotations

import hashlib
import math
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.said import Unforced
from stead_sym.models.backend import Request, Written, unforced


class ByteTokenizer:
    """A tokenizer to UTF-8 bytes; 256 ends an answer, 257 opens a system message, 258 a user message."""

    end = 256

    def prompt(self, messages: Sequence[Message]) -> Tokens:
        """Return the tokens of the messages in order, each after its opening token."""
        return tuple(t for m in messages for t in (257 if m.role == "system" else 258, *self.text(m.content)))

    def text(self, text: str) -> Tokens:
        """Return the bytes of a text."""
        return tuple(text.encode())


ALL = tuple(range(259))
"""The whole vocabulary."""


class ByteModel:
    """A model whose log-probabilities are a hash (SHAKE-256) of seed, prompt and path, like random weights.

    ``pause`` is the number of seconds that a request takes; ``seen`` is called with every request when it is
    answered.
    """

    together = 0

    def __init__(
        self,
        seed: int = 0,
        *,
        window: int = 1 << 20,
        pause: float = 0.0,
        seen: Callable[[Request], object] | None = None,
    ) -> None:
        self.name = f"bytes:{seed}"
        self.identity: Mapping[str, str] = {"bytes": str(seed)}
        self.versions: Mapping[str, str] = {}
        self.window = window
        self.tokenizer = ByteTokenizer()
        self._seed = seed
        self._pause = pause
        self._seen = seen

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield the answers to the requests; see `backend.Backend`."""
        for number, request in enumerate(requests):
            time.sleep(self._pause)
            if self._seen is not None:
                self._seen(request)
            yield number, self.logprobs(request)

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """Yield the unconstrained choices along the answers; see `backend.Unconstrained`."""
        for number, (prompt, tokens) in enumerate(answers):
            requests = (Request(prompt, tokens[:length], ALL) for length in range(len(tokens)))
            choices = [max(zip(self.logprobs(r), ALL, strict=True))[1] for r in requests]
            steps = (Request(prompt, tokens[:place], (token,)) for place, token in enumerate(tokens))
            logprob = math.fsum(self.logprobs(step)[0] for step in steps)
            yield number, unforced(tokens, choices, lambda token: chr(token) if token < 128 else "", logprob)

    def logprobs(self, request: Request) -> list[float]:
        """Return the log-probabilities of the allowed tokens, normalized over all tokens."""
        state = digest([self._seed, request.prompt, request.path])
        drawn = hashlib.shake_256(state.encode()).digest(8 * len(ALL))
        heights = [number / 2**61 for (number,) in struct.iter_unpack(">Q", drawn)]  # of [0, 8)
        total = math.log(math.fsum(map(math.exp, heights)))
        return [heights[token] - total for token in request.allowed]
