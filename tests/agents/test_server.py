"""A server of a model, and what can go wrong with it: each misbehaviour ends within its deadline, in one
clear line, with what was answered in the store, and no thread left."""

from __future__ import annotations

import errno
import json
import math
import re
import threading
import time
from collections import Counter
from contextlib import ExitStack

import pytest

pytest.importorskip("aiohttp")

from store_places import execute
from test_store import CONTEXTS, prompt

from served_model import ServedModel, quick_logprobs, serving
from stead_sym.agents.base import Reporting
from stead_sym.agents.records.store import Store
from stead_sym.errors import AgentError, InputError, ModelError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.connection import Patience
from stead_sym.models.vllm_server import VllmServer
from stead_sym.report.progress import progress_line
from stead_sym.testing.byte_model import ALL, ByteModel, ByteTokenizer

pytestmark = pytest.mark.gate

COMPLETIONS = "/v1/completions"


class Spelling(ByteTokenizer):
    """The tokenizer of the byte model with what a served one has besides."""

    identity = {"tokenizer": "bytes"}  # noqa: RUF012

    def spelled(self, token):
        return chr(token) if token < 128 else ""


class Quick(ByteModel):
    """The code of the server, run in this process."""

    def logprobs(self, request):
        return quick_logprobs(0)(request)


def model(**card):
    return ServedModel("bytes", quick_logprobs(0), ALL, card)


def load(*urls, **options):
    words = ",".join(f"{url}#bytes" for url in urls)
    return VllmServer.load(words, **{"tokenizer": Spelling(), **options})


def decide(server, contexts=CONTEXTS, store=None, weigh=False):
    agent = ModelAgent(server, prompt, store, weigh=weigh)
    return agent, agent.select(contexts)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 60
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        time.sleep(0.01)  # those of the test's own server, which see that their client is gone
    assert not left


def on_completions(misbehaviour):
    def only_there(handler, body, answered):
        return misbehaviour(handler, body, answered) if handler.path == COMPLETIONS else answered

    return only_there


def expected(contexts=CONTEXTS):
    return ModelAgent(Quick(), prompt).select(contexts)


def test_decisions_are_those_of_the_model():
    """Many questions in a message, with what the model would write by itself, as one by one."""
    sizes = []

    def watch(handler, body, answered):
        sizes.append(len(body["prompt"]))
        return answered

    with serving(model(), on_completions(watch)) as url:
        agent, selected = decide(load(url), weigh=True)
        alone, again = decide(load(url, in_flight=1), weigh=True)
    assert selected == again == expected()
    direct = ModelAgent(Quick(), prompt)
    direct.select(CONTEXTS)
    assert [agent.answer(c).said for c in CONTEXTS] == [alone.answer(c).said for c in CONTEXTS]
    assert [agent.answer(c).branchings for c in CONTEXTS] == [direct.answer(c).branchings for c in CONTEXTS]
    assert [agent.answer(c).said.unforced for c in CONTEXTS] == [
        direct.answer(c).said.unforced for c in CONTEXTS
    ]
    assert max(sizes) > 4
    assert sizes[-1] == 1
    assert agent.requests == alone.requests == direct.requests


def within(seconds, server, contexts=CONTEXTS, store=None):
    """Return the message of the error that ends the decisions. A busy machine may take ten times the seconds,
    and without a deadline it would never come."""
    started = time.monotonic()
    with pytest.raises(ModelError) as caught:
        decide(server, contexts, store)
    assert time.monotonic() - started < 10 * seconds
    message = str(caught.value)
    assert "\n" not in message
    return message


def drip(handler, body, answered):
    """One byte of the body at a time, each sooner than any time-out between bytes."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.1)


def drip_head(handler, body, answered):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        handler.wfile.write(b"X-Still: here\r\n")
        time.sleep(0.1)


def silent(handler, body, answered):
    time.sleep(4)


def half(handler, body, answered):
    status, _, content = answered
    handler.close_connection = True
    return status, {"Content-Length": str(len(content) + 5)}, content[:-5]


def leave_me_alone(handler, body, answered):
    return 429, {"Retry-After": "3600"}, b'{"error": {"message": "try\\n later"}}'


def until_next_year(handler, body, answered):
    return 503, {"Retry-After": "Fri, 31 Dec 2027 23:59:59 GMT"}, b"<html>"


def endless_error(handler, body, answered):
    return 500, {}, b'{"error": {"message": "out of order"}}'


def hang_up(handler, body, answered):
    return None


@pytest.mark.parametrize(
    ("misbehaviour", "message"),
    [
        (drip, r"no whole answer within 1\.[45]\d* s; see the server's log, or wait longer"),
        (drip_head, r"no answer|no whole answer within 1\.[45]\d* s"),
        (silent, r"no whole answer within 1\.[45]\d* s; see the server's log, or wait longer"),
        (half, "no answer: .*"),
        (leave_me_alone, r"429 try later; see the server's log.* \(tried for 1.5 s\)"),
        (until_next_year, r"503 Service Unavailable; see the server's log.* \(tried for 1.5 s\)"),
        (endless_error, "500 out of order; see the server's log"),
        (hang_up, "no answer: the server hung up; start the server, or mend the address"),
    ],
)
def test_a_misbehaviour_ends_within_its_deadline(tmp_path, misbehaviour, message):
    path = str(tmp_path / "d.sqlite")
    answered = []

    def after_a_while(handler, body, said):
        if len(answered) < 4:
            answered.append(body)
            return said
        return misbehaviour(handler, body, said)

    with serving(model(), on_completions(after_a_while)) as url, Store(path) as store:
        server = load(url, in_flight=16, patience=Patience(request=1.5, tries=3))
        told = within(4.0, server, store=store)
        assert told.startswith(f"{url}/v1/completions: ")
        assert re.search(message, told), told
    paid = sum(len(body["prompt"]) for body in answered)
    assert execute(path, "SELECT count(*) FROM node")[0][0] == paid > 0
    asked = []
    with Store(path) as store, serving(model(), lambda *a: asked.append(a[1]) or a[2]) as url:
        agent, selected = decide(load(url), store=store)
        assert selected == expected()
    direct = ModelAgent(Quick(), prompt)
    direct.select(CONTEXTS)
    assert agent.requests == direct.requests - paid


ODD = (None, True, -1, 1.5, math.nan, math.inf, 10**400, "x", "\ud800", [], [[1]], {"a": 1})


def parts(data, path=()):
    """The paths to all parts of data."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, part in items:
        yield from parts(part, (*path, key))


@pytest.mark.parametrize("place", ["/v1/models", "/version", "/tokenize", COMPLETIONS])
def test_no_odd_answer_is_a_bug(place):
    """Each part of each kind of answer, once, as something else: the decisions are the same, or there are
    none and an error of one line."""
    odd = {}  # the kind of answer, the path in it, what stands there
    shapes = {}

    def alter(handler, body, answered):
        if handler.path == "/tokenize":
            answered = 200, {}, json.dumps({"tokens": [*Spelling().text(body["prompt"])]}).encode()
        kind = (handler.path, "allowed_token_ids" in body)
        data = json.loads(answered[2])
        shapes.setdefault(kind, json.loads(answered[2]))
        path, value = odd.pop(kind, (None, None))
        if path == ():
            data = value
        elif path is not None:
            inside = data
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = value
        return answered[0], {}, json.dumps(data).encode()

    some = CONTEXTS[:1]
    right = expected(some)
    ended = Counter()
    with serving(model(), alter) as url:
        decide(load(url), some, weigh=True)
        for kind in [kind for kind in shapes if kind[0] == place]:
            paths = [*parts(shapes[kind])]
            for number, path in enumerate([*paths[:8], *paths[-3:]]):
                for value in ODD[number % 3 :: 3]:  # each stands in some place of each kind
                    odd[kind] = path, value
                    error = ""
                    try:
                        server = load(url, patience=Patience(request=60, tries=1), in_flight=1)
                        assert decide(server, some, weigh=True)[1] == right
                    except AgentError as caught:
                        error = str(caught)
                    assert error.isprintable(), (path, value)
                    ended["told" if error else "well"] += 1
                    assert not odd
    assert ended["told"] > ended["well"] / 2


def test_a_deadline_for_all(tmp_path):
    """Each answer comes soon enough, all of them do not."""

    def slow(handler, body, answered):
        time.sleep(0.3)
        return answered

    with serving(model(), on_completions(slow)) as url, Store(tmp_path / "d.sqlite") as store:
        server = load(url, in_flight=1, patience=Patience(whole=1.5))
        told = within(4.0, server, store=store)
        assert "without an answer after 1.5 s; see the server's log, or wait longer" in told
        known = len(list(store.answers()))
        assert 0 < known < len(CONTEXTS)


def test_a_server_that_does_not_accept_is_soon_reported():
    with pytest.raises(ModelError) as caught:
        load("http://127.0.0.1:1", patience=Patience(tries=2))
    assert str(caught.value) == (
        f"http://127.0.0.1:1/v1/models: no answer: [Errno {errno.ECONNREFUSED}] Connection refused; "
        "start the server, or mend the address"
    )


def test_refusals_slow_down_and_do_not_end_the_run():
    """Two of three requests are refused, and more of them the more come at once."""
    lock, flying, most, counts = threading.Lock(), [0], [], Counter()

    def crowded(handler, body, answered):
        with lock:
            flying[0] += 1
            most.append(flying[0])
            counts["all"] += 1
            refused = flying[0] > 3 or counts["all"] % 3 > 0
            counts["refused"] += refused
        time.sleep(0.01)
        with lock:
            flying[0] -= 1
        return (429, {"Retry-After": "0.05"}, b"{}") if refused else answered

    with serving(model(), on_completions(crowded)) as url:
        agent, selected = decide(load(url, in_flight=16))
    assert selected == expected()
    assert counts["refused"] > counts["all"] / 2
    later = most[len(most) // 2 :]
    assert max(later) <= max(most) // 2 + 1  # fewer come at once than at first
    assert agent.requests == len([b for c in CONTEXTS for b in agent.answer(c).branchings])


@pytest.mark.parametrize("after", ["3600", "Fri, 31 Dec 2027 23:59:59 GMT"])
def test_a_server_is_left_alone_only_so_long(after):
    refused = []

    def once(handler, body, answered):
        if refused:
            return answered
        refused.append(body)
        return 429, {"Retry-After": after}, b"{}"

    with serving(model(), on_completions(once)) as url:
        started = time.monotonic()
        _, selected = decide(load(url, in_flight=1, patience=Patience(pause=0.3)), CONTEXTS[:3])
        assert 0.3 <= time.monotonic() - started < 60
    assert selected == expected(CONTEXTS[:3])


def test_waiting_and_asking_again_are_told():
    told = []

    def busy(handler, body, answered):
        seen = any("retries" in counts for _, counts in told)
        return answered if seen else (503, {}, b"{}")

    def progress(phase, **counts):
        told.append((phase, counts))

    with serving(model(), on_completions(busy)) as url:
        agent = ModelAgent(load(url), prompt, weigh=False)
        assert isinstance(agent, Reporting)
        agent.report_to(progress)
        agent.select(CONTEXTS[:3])
    assert {phase for phase, _ in told} == {f"asking vllm:{url}#bytes"}
    assert {counts["of"] for _, counts in told} == {3}
    assert "0 of 3 contexts, " in progress_line(*told[-1], 1.0)
    assert " retries (1 s)" in progress_line(*told[-1], 1.0)


# Several servers


def test_servers_share_the_work():
    counts = Counter()

    def counting(name):
        def count(handler, body, answered):
            counts[name] += len(body["prompt"])
            time.sleep(0.01)
            return answered

        return on_completions(count)

    with serving(model(), counting("a")) as a, serving(model(), counting("b")) as b:
        agent, selected = decide(load(a, b))
        assert agent.name == f"vllm:{a}#bytes,{b}#bytes"
    assert selected == expected()
    assert min(counts.values()) > 0.3 * sum(counts.values())
    assert sum(counts.values()) == agent.requests


@pytest.mark.parametrize("how", [hang_up, endless_error, silent, leave_me_alone])
def test_one_server_that_goes_down_loses_nothing(how, tmp_path):
    counts = Counter()

    def dying(handler, body, answered):
        counts["a"] += 1
        return answered if counts["a"] < 3 else how(handler, body, answered)

    with ExitStack() as stack:
        a = stack.enter_context(serving(model(), on_completions(dying)))
        b = stack.enter_context(serving(model()))
        store = stack.enter_context(Store(tmp_path / "d.sqlite"))
        _, selected = decide(load(a, b, patience=Patience(request=4.0, tries=2)), store=store)
    assert selected == expected()
    assert counts["a"] >= 3


def test_all_servers_down_is_an_error():
    with (
        serving(model(), on_completions(hang_up)) as a,
        serving(model(), on_completions(endless_error)) as b,
    ):
        told = within(10.0, load(a, b, patience=Patience(request=5.0, tries=2)))
    assert "no answer" in told or "out of order" in told


def test_a_server_that_comes_back_is_asked_again(monkeypatch):
    monkeypatch.setattr("stead_sym.models.fleet._RETRY_SECONDS", 0.3)
    began, counts = time.monotonic(), Counter()

    def down_for_a_while(handler, body, answered):
        up = time.monotonic() > began + 1.0
        counts[up] += 1
        return answered if up else None

    def slowly(handler, body, answered):
        time.sleep(0.25)
        return answered

    with (
        serving(model(), on_completions(down_for_a_while)) as a,
        serving(model(), on_completions(slowly)) as b,
    ):
        _, selected = decide(load(a, b, in_flight=2, patience=Patience(tries=1)))
    assert selected == expected()
    assert counts[False]
    assert counts[True]


def test_weights_from_elsewhere_are_asked_again():
    """Two servers give a model the same name and have it from two places: neither answers for the other."""
    asked = []
    with Store() as store:
        for root in ("one place", "another", "one place"):
            with serving(model(root=root)) as url:
                asked.append(decide(load(url), store=store)[0].requests > 0)
    assert asked == [True, True, False]


@pytest.mark.parametrize("card", [{"root": "elsewhere"}, {"max_model_len": 5}])
def test_servers_of_different_models_are_refused(card):
    with (
        serving(model()) as a,
        serving(model(**card)) as b,
        pytest.raises(ModelError, match=f"{b} and {a} serve different models: their {next(iter(card))} is"),
    ):
        load(a, b)
    with pytest.raises(ModelError, match="servers of the models x and y; write those of one model together"):
        VllmServer.load("http://127.0.0.1:1#x,http://127.0.0.1:2#y")


# Interruptions


@pytest.mark.parametrize("running", [True, False])
def test_an_interruption_while_a_thread_begins(running, monkeypatch):
    """It comes before the `with` of the one that is to end the thread; `no_thread_is_left` looks."""
    start = threading.Thread.start

    def interrupted(thread):
        if running or "requests" not in thread.name:
            start(thread)
        if "requests" in thread.name:
            raise KeyboardInterrupt

    with serving(model()) as url:
        server = load(url)
        monkeypatch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            decide(server)


def test_an_interruption_leaves_nothing_under_way(tmp_path):
    """As Ctrl-C in a library call, which comes where the main thread waits."""
    finished, release = [], threading.Event()

    def slowly(handler, body, answered):
        release.wait(60)
        finished.append(body)
        return answered

    with serving(model(), on_completions(slowly)) as url, Store(tmp_path / "d.sqlite") as store:
        agent = ModelAgent(load(url), prompt, store)
        names = lambda: [thread.name for thread in threading.enumerate()]  # noqa: E731

        def interrupt(phase, **counts):
            assert "requests of stead-sym" in names()
            assert "claims of stead-sym" in names()
            raise KeyboardInterrupt

        agent.report_to(interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                agent.select(CONTEXTS)
            assert finished == [], "no answer was waited for"
        finally:
            release.set()
        assert not {"requests of stead-sym", "claims of stead-sym"} & set(names())
        assert execute(str(tmp_path / "d.sqlite"), "SELECT key FROM claim") == []


# Credentials


def test_credentials_are_sent_and_never_said(tmp_path, monkeypatch):
    seen, told = [], []

    def guarded(handler, body, answered):
        seen.append((handler.path, handler.headers.get("Authorization")))
        if len(seen) > 4:
            said = f"no more for {handler.headers.get('Authorization')} at {handler.path}"
            return 403, {}, json.dumps({"error": {"message": said}}).encode()
        return answered

    with serving(model(), guarded) as url, Store(tmp_path / "d.sqlite") as store:
        secret = url.replace("//", "//someone:pass%40word@") + "?key=abracadabra"
        server = load(secret)
        assert server.name == f"vllm:{url}#bytes"
        decide(server, CONTEXTS[:1], store)
        with pytest.raises(ModelError) as caught:
            decide(server, CONTEXTS[1:9], store)
        told.append(str(caught.value))
        told.extend(json.dumps(answer.data()) for _, answer in store.answers())
    assert all("key=abracadabra" in path for path, _ in seen)
    assert all(header.startswith("Basic ") for _, header in seen)
    for words in (secret.replace("http:", "ftp:"), secret.replace("127.0.0.1", "[127"), secret):
        with pytest.raises((ModelError, InputError)) as caught:
            VllmServer.load(f"{words}#bytes", tokenizer=Spelling(), patience=Patience(tries=1))
        told.append(str(caught.value))
    seen.clear()
    monkeypatch.setenv("VLLM_API_KEY", "open sesame")
    with serving(model(), guarded) as url:
        with pytest.raises(ModelError) as caught:
            decide(load(url), CONTEXTS)
        told.append(str(caught.value))
        assert seen[0][1] == "Bearer open sesame"
    assert "no more for" in told[-1]
    for text in (*told, (tmp_path / "d.sqlite").read_bytes().decode("latin-1")):
        for part in ("someone", "pass%40word", "pass@word", "abracadabra", "sesame"):
            assert part not in text
