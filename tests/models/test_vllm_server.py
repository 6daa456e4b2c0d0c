"""A vLLM server as a backend: what goes wrong is one line, and what was answered stays.

Between the backend and the real server stands a relay that answers wrongly where a test wants it to.
"""

from __future__ import annotations

import errno
import json
import os
import re
import threading
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import small_model
from backends import SERVED, desk, free_port, needs, prompt

from stead_sym.agents.records.store import Store
from stead_sym.cli.main import main
from stead_sym.errors import InputError, ModelError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.vllm_server import VllmServer

needs("vllm", "torch", "transformers", "aiohttp", "vllm")

COMPLETIONS = "/v1/completions"


class Relay:
    """A server in front of another. ``change`` gets (path, request, status, answer) and returns what is said
    instead: (status, answer), or None to hang up. ``answered`` counts the good answers per path, and of
    completions each choice."""

    def __init__(self, target, change):
        self.target, self.change = target, change
        self.answered = Counter()
        self.lock = threading.Lock()

    def answer(self, method, path, body, headers):
        request = json.loads(body) if body else {}
        sent = {name: value for name, value in headers.items() if name in ("Authorization", "Content-Type")}
        asking = urllib.request.Request(self.target + path, data=body or None, headers=sent, method=method)
        try:
            with urllib.request.urlopen(asking) as response:
                status, answer = response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                status, answer = error.code, json.load(error)
        with self.lock:
            said = self.change(path, request, status, answer)
            if said is not None and said[0] == 200:
                self.answered[path] += len(answer.get("choices", ("one",)))
        return said


@contextmanager
def relayed(target, change, kind=Relay):
    """The address of a relay, and the relay."""
    relay = kind(target, change)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = relay.answer(self.command, self.path, body, self.headers)
            if said is None:
                self.close_connection = True
                return
            status, answer = said
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = handle_any  # noqa: N815

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}", relay
        finally:
            httpd.shutdown()
            thread.join()


def faithful(path, request, status, answer):
    return status, answer


def on_completions(change):
    """A change of the answers to completions only: ``change(request, logprobs)`` edits in place."""

    def edited(path, request, status, answer):
        if path == COMPLETIONS and "allowed_token_ids" in request:
            for choice in answer["choices"]:
                change(request, choice["logprobs"])
        return status, answer

    return edited


def card(**changes):
    """A change of what the server says of its model."""

    def edited(path, request, status, answer):
        if path == "/v1/models":
            answer["data"][0] |= changes
        return status, answer

    return edited


def ask(url, contexts, store=None, **options):
    agent = ModelAgent(
        VllmServer.load(f"{url}#{SERVED}", **{"tries": 2, **options}), prompt, store, weigh=False
    )
    return agent, agent.select(contexts)


def nodes(store):
    with store.database.reading() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM node").scalar_one()


def test_many_in_flight_answer_as_one_by_one(server, contexts):
    agent, selected = ask(server, contexts)
    one_by_one, again = ask(server, contexts, in_flight=1)
    assert again == selected
    assert agent.requests == one_by_one.requests >= len(contexts)
    assert agent.backend.versions["vllm"][0].isdigit()


def other_token(request, logprobs):
    logprobs["tokens"] = [f"token_id:{max(request['allowed_token_ids']) + 1}"]


def unlikely(request, logprobs):
    [likely] = logprobs["top_logprobs"]
    logprobs["tokens"] = [min(likely, key=likely.get)]


def unasked(request, logprobs):
    """Return what a server says that does not know logprob_token_ids: the likeliest of all tokens."""
    [taken], [likely] = logprobs["tokens"], logprobs["top_logprobs"]
    logprobs["top_logprobs"] = [{taken: likely[taken], "token_id:0": -1.0}]


def logits(request, logprobs):
    [likely] = logprobs["top_logprobs"]
    logprobs["top_logprobs"] = [{name: value + 50 for name, value in likely.items()}]


def words(request, logprobs):
    """Return what a server says that does not know return_tokens_as_token_ids."""
    logprobs["tokens"] = ["issue"]


def nothing(request, logprobs):
    logprobs.clear()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (other_token, "ignores allowed_token_ids: it sampled token "),
        (unasked, "gives no log-probabilities of the allowed tokens "),
        (unlikely, "does not decode greedily: it sampled token "),
        (logits, "reports logits for log-probabilities; start it with --logprobs-mode raw_logprobs"),
        (words, "the answer is no completion with token ids and log-probabilities; use a vLLM server"),
        (nothing, "the answer is no completion with token ids and log-probabilities; use a vLLM server"),
    ],
)
def test_a_server_that_does_not_do_as_told(server, tmp_path, capsys, wrong, message):
    store = str(tmp_path / "d.sqlite")
    with relayed(server, on_completions(wrong)) as (url, _):
        words = ["verify", "refund", "--agent", f"vllm:{url}#{SERVED}", "--store", store]
        assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"stead-sym: vllm:{url}#{SERVED}")
    assert message in error
    assert error.count("\n") == 1
    with Store(store) as opened:
        assert nodes(opened) == 0
        assert [answer for _, answer in opened.answers() if answer.branchings] == []


def test_a_server_with_processed_log_probabilities_decides_the_same(server, contexts):
    """They are normalised over the allowed tokens, so that a constant is added at each node."""

    def processed(request, logprobs):
        [likely] = logprobs["top_logprobs"]
        logprobs["top_logprobs"] = [{name: value - 3.0 for name, value in likely.items()}]

    agent, selected = ask(server, contexts)
    with relayed(server, on_completions(processed)) as (url, _):
        shifted, again = ask(url, contexts)
    assert again == selected
    margins = [[agent_.answer(context).margin for context in contexts] for agent_ in (agent, shifted)]
    assert margins[0] == pytest.approx(margins[1], abs=1e-4)


def test_a_server_that_is_not_there(tmp_path, capsys):
    url = f"http://127.0.0.1:{free_port()}"
    store = str(tmp_path / "d.sqlite")
    assert main(["verify", "refund", "--agent", f"vllm:{url}#{SERVED}", "--store", store]) == 2
    assert capsys.readouterr().err == (
        f"stead-sym: {url}/v1/models: no answer: [Errno {errno.ECONNREFUSED}] Connection refused; "
        "start the server, or mend the address\n"
    )
    assert os.path.exists(store)


@pytest.mark.parametrize(("name", "what"), [("other", "has no model other"), ("", "serves models by name")])
def test_another_model_than_the_one_served(server, name, what):
    with pytest.raises(ModelError) as caught:
        VllmServer.load(f"{server}#{name}")
    assert str(caught.value) == f"{server} {what}; write vllm:{server}#{SERVED}"


@pytest.mark.parametrize("address", ["http://#small", "http:///x#small", "https://[#small"])
def test_an_address_that_is_none(address):
    with pytest.raises(InputError, match=r"is no address of a server; write http://HOST:PORT#MODEL"):
        VllmServer.load(address)


def test_the_address_may_be_that_of_the_interface(server):
    """As other clients of such servers are given it."""
    assert VllmServer.load(f"{server}/v1/#{SERVED}").name == f"vllm:{server}#{SERVED}"


@pytest.mark.parametrize("in_flight", [2, 64])
def test_an_error_of_the_server_is_told_in_its_words(server, contexts, in_flight):
    refused = []

    def refuse(path, request, status, answer):
        if path == COMPLETIONS:
            refused.append(request)
            return 400, {"error": {"message": "no more\n tokens today", "type": "BadRequestError"}}
        return status, answer

    with (
        relayed(server, refuse) as (url, _),
        pytest.raises(ModelError, match=r"/v1/completions: 400 no more tokens today; see the server's log"),
    ):
        ask(url, contexts, in_flight=in_flight)
    assert len(refused) <= in_flight


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (b"<html>Welcome</html>", "the answer is not a JSON object; name the address of a vLLM server"),
        (["small"], "the answer is not a JSON object; name the address of a vLLM server"),
        ({"models": ["small"]}, "the answer is no list of models; name the address of a vLLM server"),
        ({"data": ["small"]}, "the answer is no list of models; name the address of a vLLM server"),
    ],
)
def test_what_is_not_a_vllm_server_at_all(server, said, message):
    with (
        relayed(server, lambda *_: (200, said)) as (url, _),
        pytest.raises(ModelError, match=message),
    ):
        VllmServer.load(f"{url}#{SERVED}")


def test_a_busy_server_is_asked_again(server, contexts):
    refused = Counter()

    def busy(path, request, status, answer):
        asked = json.dumps(request)
        if path == COMPLETIONS and refused[asked] < 2:
            refused[asked] += 1
            return 503, {"error": {"message": "try later"}}
        return status, answer

    with relayed(server, busy) as (url, _):
        _, selected = ask(url, contexts[:3], tries=3)
    assert selected == ask(server, contexts[:3])[1]
    assert set(refused.values()) == {2}


def test_a_server_that_stays_busy(server, contexts):
    def busy(path, request, status, answer):
        return (429, {"error": {"message": "try later"}}) if path == COMPLETIONS else (status, answer)

    with (
        relayed(server, busy) as (url, _),
        pytest.raises(ModelError, match="/v1/completions: 429 try later; see the server's log"),
    ):
        ask(url, contexts[:1])


@pytest.mark.parametrize("in_flight", [2, 64])
def test_a_server_that_dies_in_the_middle(server, contexts, tmp_path, in_flight):
    """What was answered is in the store, and another run asks for the rest only."""
    alive = 7

    def dying(path, request, status, answer):
        return None if relay.answered[COMPLETIONS] >= alive else (status, answer)

    with Store(tmp_path / "d.sqlite") as store:
        with (
            relayed(server, dying) as (url, relay),
            pytest.raises(ModelError, match="no answer: the server hung up"),
        ):
            ask(url, contexts, store, in_flight=in_flight)
        known = relay.answered[COMPLETIONS]
        assert nodes(store) == known >= alive
        whole, selected = ask(server, contexts)
        with relayed(server, faithful) as (url, relay):
            rest, again = ask(url, contexts, store)
        assert again == selected
        assert rest.requests == relay.answered[COMPLETIONS] == whole.requests - known
        with relayed(server, faithful) as (url, relay):
            assert ask(url, contexts, store)[1] == selected
        assert relay.answered[COMPLETIONS] == 0


def test_a_key_where_the_server_wants_one(server, monkeypatch):
    class Guarded(Relay):
        def answer(self, method, path, body, headers):
            if headers.get("Authorization") != "Bearer open sesame":
                return 401, {"error": "Unauthorized"}
            return super().answer(method, path, body, headers)

    with relayed(server, faithful, Guarded) as (url, _):
        with pytest.raises(ModelError, match=r"/v1/models: 401 Unauthorized; .* set VLLM_API_KEY"):
            VllmServer.load(f"{url}#{SERVED}")
        monkeypatch.setenv("VLLM_API_KEY", "open sesame")
        assert VllmServer.load(f"{url}#{SERVED}").window == 4096


def test_a_model_whose_tokenizer_is_not_here(server):
    with (
        relayed(server, card(root="/nowhere/at/all")) as (url, _),
        pytest.raises(ModelError, match="is served, but its tokenizer is not here: /nowhere/at/all: no such"),
    ):
        VllmServer.load(f"{url}#{SERVED}")


def test_a_tokenizer_that_is_not_the_servers(server, tmp_path):
    other = small_model.build(tmp_path / "other", ["quite other texts than those"])
    with (
        relayed(server, card(root=str(other))) as (url, _),
        pytest.raises(
            ModelError, match=r"the tokenizer of vllm:.* is another than the one that is here; put that of"
        ),
    ):
        VllmServer.load(f"{url}#{SERVED}")


def prompts(folder, **files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return str(folder)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"system_txt": "word " * 5000},
            r"a context of \d+ tokens is longer than the window of vllm:.*, 4096",
        ),
        (
            {"calls_json": json.dumps(dict.fromkeys((tool.name for tool in desk.tools), "go on"))},
            r"maps the calls .* and .* to the same tokens; spell them differently",
        ),
    ],
    ids=["window", "same tokens"],
)
def test_contexts_that_cannot_be_asked(server, tmp_path, capsys, files, message):
    folder = prompts(tmp_path / "prompts", **files)
    store = str(tmp_path / "d.sqlite")
    with relayed(server, faithful) as (url, relay):
        words = ["verify", "refund", "--agent", f"vllm:{url}#{SERVED}", "--store", store]
        assert main([*words, "--prompts", folder]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(message, error)
    # At most what the model writes by itself where one call is offered.
    assert relay.answered[COMPLETIONS] <= 1
    with Store(store) as opened:
        assert nodes(opened) == 0
