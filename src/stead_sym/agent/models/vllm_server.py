"""Models behind a vLLM server, as a backend.

The decision: one HTTP request per branching node, of token ids and not of text, many in flight at a time; the
server batches them. What the server does not know is refused by `sampled`, since it drops parameters it does
not know without a word; what is temporary is tried again.

A server does not show its weights. What identifies a model here is the name it is served under, where the
server has it from, and its tokenizer: whoever serves other weights under the same two names needs another
store of decisions.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

from stead_sym.agent.models.agent import Request, Written, unforced
from stead_sym.agent.models.connection import EXTRA, IN_FLIGHT, Connection
from stead_sym.agent.models.engine_answers import Question, Sampled, gathered, questions
from stead_sym.agent.models.tokenizer import ChatTokenizer
from stead_sym.agent.records.said import Unforced
from stead_sym.errors import ModelError

Item = TypeVar("Item")
Result = TypeVar("Result")

_MOST = 20
"""So many tokens a server lets one request ask log-probabilities of, unless it was started otherwise."""
_GREEDY = {
    # What the model's own generation_config.json, which a server takes its defaults from, might say instead.
    "temperature": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
_SPOKEN = 'The tokens of {"name": "a_tool", "arguments": {"id": "TASK_12"}}, as asked: [1, 2, 30]?\n'


class VllmServer:
    """A language model behind the OpenAI-compatible interface of vLLM. Build it with `load`."""

    together = 0

    def __init__(self, server: Connection, model: str, in_flight: int = IN_FLIGHT) -> None:
        """``model`` is the name it is served under.

        Raises `ModelError` where the server has no such model, or no tokenizer for it is found here.
        """
        served = _served(server)
        if model not in served:
            wrong = f"has no model {model}" if model else "serves models by name"
            there = " or ".join(f"vllm:{server.url}#{name}" for name in served)
            raise ModelError(f"{server.url} {wrong}; write {there}")
        root = served[model].get("root") or model
        self._server = server
        self._model = model
        self._parallel = in_flight
        self.name = f"vllm:{server.url}#{model}"
        self.window = int(served[model].get("max_model_len") or 1 << 30)
        self.tokenizer = self._own_tokenizer(root)
        self.identity: Mapping[str, str] = {
            "engine": "vllm server",
            "model": model,
            "root": root,
            **self.tokenizer.identity,
        }
        version = server.get("/version", optional=True).get("version", "unknown")
        self.versions: Mapping[str, str] = {"vllm": str(version)}

    @classmethod
    def load(cls, address: str, *, tries: int = 6, in_flight: int = IN_FLIGHT) -> VllmServer:
        """The model of ``address``, which is `http://HOST:PORT#MODEL` or the same with https.

        A request gets so many ``tries``, with growing pauses, while the server is not there or busy; at most
        ``in_flight`` are open at a time. The environment variable VLLM_API_KEY has the key of a server that
        wants one. Raises `ModelError` where there is no such server or model, or the libraries are not
        installed.
        """
        url, _, model = address.partition("#")
        return cls(Connection(url, tries), model, in_flight)

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """See `model.Backend`."""
        return gathered(self.name, self._answers(questions(requests, _MOST)))

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """See `agent.Unconstrained`."""
        for (number, written), choices in self._in_flight(self._write_freely, [*enumerate(answers)]):
            yield number, unforced(written.tokens, choices, self.tokenizer.spelled)

    def _answers(self, asked: Sequence[Question]) -> Generator[tuple[Question, Sampled], None, None]:
        """The answers as they come in."""
        return self._in_flight(self._ask, asked)

    def _in_flight(
        self, ask: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[tuple[Item, Result], None, None]:
        """What is asked for each item, as it comes in; after a failure nothing new is asked, what is in
        flight counts."""
        failure: ModelError | None = None
        stopping = threading.Event()  # futures that a pool cancels would never come out of as_completed
        pool = ThreadPoolExecutor(max_workers=min(self._parallel, max(len(items), 1)))

        def ask_unless_stopping(item: Item) -> list[Result]:
            """The result; none once another item has failed."""
            if stopping.is_set():
                return []
            try:
                return [ask(item)]
            except ModelError:
                stopping.set()
                raise

        try:
            pending = {pool.submit(ask_unless_stopping, item): item for item in items}
            for future in as_completed(pending):
                try:
                    results = future.result()
                except ModelError as error:
                    failure = failure or error
                    continue
                for result in results:
                    yield pending[future], result
        finally:
            stopping.set()
            pool.shutdown(wait=False, cancel_futures=True)
        if failure is not None:
            raise failure

    def _write_freely(self, numbered: tuple[int, Written]) -> list[int]:
        """The tokens that greedy decoding writes, as many as the call has at most."""
        _, written = numbered
        said = self._server.post(
            "/v1/completions",
            {
                "model": self._model,
                "prompt": written.prompt,
                "max_tokens": len(written.tokens),
                **_GREEDY,
                "return_token_ids": True,
            },
        )
        try:
            return [int(token) for token in said["choices"][0]["token_ids"]]
        except (KeyError, IndexError, TypeError, ValueError):
            raise ModelError(
                f"{self.name}: the answer is no completion with token ids; use a vLLM server"
            ) from None

    def _ask(self, question: Question) -> Sampled:
        said = self._server.post(
            "/v1/completions",
            {
                "model": self._model,
                "prompt": question.tokens,
                "max_tokens": 1,
                **_GREEDY,
                "allowed_token_ids": question.request.allowed,
                "logprobs": len(question.asked),
                "logprob_token_ids": question.asked,
                "return_tokens_as_token_ids": True,
            },
        )
        try:
            logprobs = said["choices"][0]["logprobs"]
            [token], [likely] = logprobs["tokens"], logprobs["top_logprobs"]
            return Sampled(_token(token), {_token(name): float(value) for name, value in likely.items()})
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise ModelError(
                f"{self.name}: the answer is no completion with token ids and log-probabilities; "
                "use a vLLM server"
            ) from None

    def _own_tokenizer(self, root: str) -> ChatTokenizer:
        """The tokenizer of the model, from where the server has it or under its served name."""
        os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")  # it misses torch; no model runs here
        reasons: list[str] = []
        for name in dict.fromkeys((root, self._model)):
            try:
                tokenizer = ChatTokenizer.load(name, None, EXTRA)
            except ModelError as error:
                reasons.append(error.message)
                continue
            theirs = self._server.post(
                "/tokenize",
                {"model": self._model, "prompt": _SPOKEN, "add_special_tokens": False},
                optional=True,
            ).get("tokens")
            if theirs is not None and tuple(theirs) != tokenizer.text(_SPOKEN):
                raise ModelError(
                    f"the tokenizer in {name} is not the one that {self.name} uses; "
                    "put that of the served model there"
                )
            return tokenizer
        raise ModelError(f"{self.name} is served, but its tokenizer is not here: {reasons[0]}")


def _served(server: Connection) -> dict[str, dict[str, Any]]:
    """What the server says of its models, by their names."""
    try:
        return {str(card["id"]): dict(card) for card in server.get("/v1/models")["data"]}
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            f"{server.url}/v1/models: the answer is no list of models; name the address of a vLLM server"
        ) from None


def _token(text: str) -> int:
    """The number in `token_id:17`."""
    kind, _, number = text.partition(":")
    if kind != "token_id":
        raise ValueError(text)
    return int(number)
