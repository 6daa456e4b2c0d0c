"""A backend for models behind vLLM servers.

The decision: requests have token ids and not text (`server_asking`); the server batches them. A server
silently ignores parameters that it does not know; `engine_answers` detects that.

A server does not reveal its weights. The identity of a model here is the name under which it is served, the
server's source of it, and its tokenizer. If other weights are served under the same two names, another store
of decisions is needed. Several servers of one address must agree in everything that they report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stead_sym.agents.records.said import Unforced
from stead_sym.errors import ModelError
from stead_sym.models.asking import Question, Said
from stead_sym.models.backend import Request, Written
from stead_sym.models.connection import Address, Patience, Talk
from stead_sym.models.server_asking import ServedTokenizer, ServerAsking
from stead_sym.models.server_cards import FirstWords, card_of, own_tokenizer
from stead_sym.support.printable import without_credentials

IN_FLIGHT = 256
"""The maximum number of requests at one server at a time."""
_SPOKEN = 'The tokens of {"name": "a_tool", "arguments": {"id": "TASK_12"}}, as asked: [1, 2, 30]?\n'


class VllmServer:
    """A language model behind the OpenAI-compatible interface of vLLM; build it with `load`.

    It may be on one server or several.
    """

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
        """Wrap servers; ``model`` is the name that they use, ``card`` their description of it."""
        self.addresses = tuple(addresses)
        self.model = model
        self.patience = patience
        self.in_flight = in_flight
        self.name = _name(addresses, model)
        self.window = int(card.get("max_model_len") or 1 << 30)
        self.tokenizer: ServedTokenizer = tokenizer
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
        """Return the model of ``address``, `http://HOST:PORT#MODEL` or the same with https.

        Several of these with commas between them are servers of the same model. At most ``in_flight``
        requests are at a server at a time. ``patience`` has the timeouts, and ``tries`` the number of
        failures until a server is given up. The tokenizer is loaded from the server's source of the model, or
        from the folder or the name ``tokenizer``. The environment variable VLLM_API_KEY has the key for a
        server that requires one. Raise `ModelError` if there is no such server or model, if the servers
        differ, and if the tokenizer or the libraries are missing.
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
            first_words = FirstWords(talk, patience)
            cards = [card_of(first_words, one, models[0]) for one in addresses]
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
                found = own_tokenizer(_name(addresses, models[0]), [found] if found else [root, models[0]])
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
        """Open a session; see `asking.Streaming`."""
        return ServerAsking(self)

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield the log-probabilities of each request; see `backend.Backend`."""
        for number, said in self._all(requests):
            assert not isinstance(said, Unforced)
            yield number, said

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """Yield the comparison of each call with greedy decoding; see `backend.Unconstrained`."""
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


def _name(addresses: Sequence[Address], model: str) -> str:
    return "vllm:" + ",".join(f"{address.url}#{model}" for address in addresses)
