"""A language model without libraries behind vLLM's HTTP interface: what a client needs to be tried against.

The decision: it says what such a server says about the same requests, and computes it by `logprobs` of a
model; what it does wrong is up to who starts it, request by request. It counts how many questions it was
asked, and how many of them again.

    python tests/served_model.py [--name NAME] [--root DIR] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from stead_sym.agents.records.possible import Tokens
from stead_sym.models.backend import Request

Logprobs: TypeAlias = Callable[[Request], Sequence[float]]
"""The log-probabilities of the allowed tokens of a request."""
Answered: TypeAlias = "tuple[int, Mapping[str, str], bytes] | None"
"""Status, headers and body; None where the server hangs up without a word."""
Misbehaviour: TypeAlias = Callable[[BaseHTTPRequestHandler, dict[str, Any], Answered], Answered]
"""Gets the handler, the request's body and what would be answered; returns what is answered. It may write to
the handler's `wfile` itself, and then returns None."""

_LONGEST = 256
"""Of tokens farther from the end of a prompt nothing is computed: a call is shorter."""


class ServedModel:
    """A model under a name, with the paths that a client of vLLM asks. ``card`` is what it says of the model
    besides its name; ``free`` are the tokens among which it writes when nothing constrains it."""

    def __init__(
        self, name: str, logprobs: Logprobs, free: Sequence[int], card: Mapping[str, Any] | None = None
    ) -> None:
        self._name = name
        self._logprobs = logprobs
        self._free = tuple(free)
        self._lock = threading.Lock()
        self._asked: set[int] = set()
        self._again = 0
        self._card = {"id": name, "root": name, "max_model_len": 1 << 20, **(card or {})}

    def answer(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what is said to a request; None for a path that is not known."""
        match path.partition("?")[0]:
            case "/v1/models":
                return {"object": "list", "data": [self._card]}
            case "/version":
                return {"version": "0.0 without a model"}
            case "/v1/completions":
                prompts = body["prompt"]
                several = prompts if isinstance(prompts[0], list) else [prompts]
                return {
                    "model": self._name,
                    "choices": [
                        {"index": i, **self._choice(tuple(prompt), body)} for i, prompt in enumerate(several)
                    ],
                }
            case "/asked":  # which no server of vLLM knows
                return {"asked": len(self._asked) + self._again, "again": self._again}
            case _:
                return None

    def _count(self, question: object) -> None:
        with self._lock:
            before = len(self._asked)
            self._asked.add(hash(question))
            self._again += len(self._asked) == before

    def _choice(self, prompt: Tokens, body: Mapping[str, Any]) -> dict[str, Any]:
        allowed = tuple(body.get("allowed_token_ids") or self._free)
        self._count((prompt, allowed, tuple(body.get("logprob_token_ids") or ())))
        read = {}
        if body.get("prompt_logprobs") is not None:
            call = max(1, len(prompt) - _LONGEST)
            early = [{str(token): {"logprob": -1.0}} for token in prompt[1:call]]
            read = {
                "prompt_logprobs": [
                    None,
                    *early,
                    *(self._place(prompt[:i], prompt[i]) for i in range(call, len(prompt))),
                ]
            }
        said = dict(zip(allowed, self._logprobs(Request(prompt, (), allowed)), strict=True))
        best = self._best(Request(prompt, (), allowed))
        shown = dict.fromkeys((best, *body["logprob_token_ids"]))
        return {
            "logprobs": {
                "tokens": [f"token_id:{best}"],
                "top_logprobs": [{f"token_id:{token}": said[token] for token in shown}],
            },
            **read,
        }

    def _place(self, before: Tokens, token: int) -> dict[str, dict[str, object]]:
        """Return what is said of a token of the prompt: its log-probability, and the likeliest one's."""
        allowed = tuple(dict.fromkeys((*self._free, token)))
        said = dict(zip(allowed, self._logprobs(Request(before, (), allowed)), strict=True))
        best = max(self._free, key=lambda one: (said[one], -one))
        return {str(one): {"logprob": said[one], "decoded_token": chr(one)} for one in {token, best}}

    def _best(self, request: Request) -> int:
        pairs = zip(self._logprobs(request), (-token for token in request.allowed), strict=True)
        return -max(pairs)[1]


@contextmanager
def serving(model: ServedModel, misbehaviour: Misbehaviour | None = None, port: int = 0) -> Iterator[str]:
    """The address of a server of ``model`` in threads of this process."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each body waits 40 ms for the headers to be acknowledged

        def _any(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(sent) if sent else {}
            said = model.answer(self.path, body)
            answered: Answered = (404, {}, b'{"detail":"Not Found"}')
            if said is not None:
                answered = 200, {}, json.dumps(said).encode()
            if misbehaviour is not None:
                answered = misbehaviour(self, body, answered)
            if answered is None:
                self.close_connection = True
                return
            status, headers, content = answered
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._any()

        def do_POST(self) -> None:
            self._any()

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:  # the client has had enough
                self.close_connection = True

        def finish(self) -> None:
            try:
                super().finish()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 512

    with Server(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def quick_logprobs(seed: int) -> Logprobs:
    """Log-probabilities from a checksum of the request: erratic, and hardly any work."""

    def logprobs(request: Request) -> list[float]:
        state = zlib.crc32(repr((seed, request.prompt + request.path)).encode())
        return [-0.5 - ((state ^ (token * 2654435761)) % 99991) / 10000 for token in request.allowed]

    return logprobs


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a model that costs nothing, as vLLM would.")
    parser.add_argument("--name", default="quick")
    parser.add_argument("--root", help="the folder that has its tokenizer")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    card = {"root": options.root or options.name}
    model = ServedModel(options.name, quick_logprobs(options.seed), range(256), card)
    with serving(model) as url:
        print(url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
