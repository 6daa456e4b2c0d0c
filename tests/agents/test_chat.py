"""Agents behind chat interfaces: what is asked, what counts as an answer, and a server that misbehaves."""

from __future__ import annotations

import gzip
import json
import logging
import math
import re
import threading
import time
from itertools import repeat

import pytest

import stead_sym as st
from chat_server import Reply, calling, completion, error, first_call, serving
from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.recorded import Asking
from stead_sym.agents.records.replay import export_lines
from stead_sym.cli.main import main
from stead_sym.models.chat import ASKING, chat_agent
from stead_sym.models.function_tools import function_tools

desk = st.load("refund")
prompt = Prompt.of(desk)
QUICK = Asking(concurrency=4, tries=3, deadline=20.0, probe=False)
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr("stead_sym.agents.recorded._PAUSE", 0.001)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def contexts(number=6):
    """Contexts that leave a choice: two approvals and a refund."""
    return [
        DecisionContext(
            st.Instance.of(
                desk.schema, [("Approver", ("s1", "s2")), ("Handler", ("c", "s1")), ("PartOf", (task, "c"))]
            ),
            frozenset(
                {
                    st.Call("issue_refund", (task,)),
                    st.Call("obtain_approval", (task, "s2")),
                    st.Call("obtain_approval", (task, "s3")),
                }
            ),
        )
        for task in (f"t{n}" for n in range(number))
    ]


def by_function(context):
    """The call that `first_call` makes."""
    return min(context.calls)


def asked(url, store=None, asking=QUICK, **options):
    return chat_agent(f"http://{url}#m", prompt, store, asking, **options)


def failing(reply, asking=QUICK, some=None):
    """The error of asking about contexts, how often the server was asked, the seconds, and the store."""
    store, others = st.Store(), threading.enumerate()
    with serving(reply) as (url, server):
        started = time.monotonic()
        with pytest.raises(st.AgentError) as caught:
            asked(url, store, asking).select(some or contexts(1))
        seconds = time.monotonic() - started
    message = str(caught.value)
    assert "\n" not in message
    assert message.isprintable()
    left = [thread for thread in threading.enumerate() if thread not in others]
    own = [thread for thread in left if thread.name.startswith("stead-sym")]
    for thread in own:  # what has told its answer may be about to end
        thread.join(5)
    assert not any(thread.is_alive() for thread in own)
    return message, len(server.requests), seconds, store


# what is asked


def test_verdicts_are_those_of_the_same_choices():
    with serving(lambda request, _: first_call(request)) as (url, server):
        store = st.Store()
        result = st.verify(desk, asked(url, store))
        same = st.verify(desk, FunctionAgent(by_function))
        assert result.decisions == same.decisions
        assert {n: v.holds for n, v in result.verdicts.items()} == {
            n: v.holds for n, v in same.verdicts.items()
        }
        choices = sum(len(context.calls) > 1 for context, _ in result.decisions)
        assert len(server.requests) == choices < result.queries, "what is forced is not asked"
        assert set(server.paths) == {"/v1/chat/completions"}
        assert st.verify(desk, asked(url, store)).queries == 0
        assert len(server.requests) == choices
    assert result.agent == f"openai:http://{url}#m"


def test_a_request():
    with serving(lambda request, _: first_call(request)) as (url, server):
        [selected] = asked(url).select(contexts(1))
    [request] = server.requests
    assert request["model"] == "m"
    assert request["tool_choice"] == "required"
    assert (request["temperature"], request["seed"], request["logprobs"]) == (0, 0, True)
    assert request["parallel_tool_calls"] is False
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert "Make exactly one of these calls" in request["messages"][1]["content"]
    refund, approval = (tool["function"] for tool in request["tools"])
    assert refund["name"] == "issue_refund"
    assert refund["strict"] is True
    assert refund["parameters"]["properties"]["task_id"]["enum"] == ["t0"]
    assert approval["parameters"] == {
        "type": "object",
        "properties": {
            "task_id": {"type": "string", "enum": ["t0"], "description": "task"},
            "approver_id": {"type": "string", "enum": ["s2", "s3"], "description": "service"},
        },
        "required": ["task_id", "approver_id"],
        "additionalProperties": False,
    }
    assert "Possible arguments" not in approval.get("description", ""), "every combination is offered"
    assert selected == {st.Call("issue_refund", ("t0",))}
    assert server.headers[0]["authorization"] == "Bearer none"


def test_combinations_that_are_not_all_offered_are_listed():
    calls = [st.Call("obtain_approval", pair) for pair in (("t1", "s2"), ("t2", "s3"))]
    [tool] = function_tools(calls, desk.tools)
    described = tool["function"]["description"]
    assert '{"task_id": "t1", "approver_id": "s2"}; {"task_id": "t2", "approver_id": "s3"}' in described
    assert tool["function"]["parameters"]["properties"]["approver_id"]["enum"] == ["s2", "s3"]


def test_what_determines_an_answer_is_in_its_key():
    keys = []
    with serving(lambda request, _: first_call(request)) as (url, _):
        for asking, options in (
            (QUICK, {}),
            (QUICK, {"seed": 1}),
            (QUICK, {"temperature": 0.5}),
            (Asking(samples=2), {}),
        ):
            agent = asked(url, asking=asking, **options)
            agent.select(contexts(1))
            keys.append(agent.answer(contexts(1)[0]).key)
        other = chat_agent(f"http://{url}#other", prompt, None, QUICK)
        other.select(contexts(1))
        keys.append(other.answer(contexts(1)[0]).key)
        again = asked(url, asking=Asking(concurrency=1, tries=9, deadline=3.0))
        again.select(contexts(1))
        assert again.answer(contexts(1)[0]).key == keys[0], "how it is waited for does not matter"
    assert len(set(keys)) == len(keys)


def test_samples_have_seeds_and_a_temperature():
    def by_seed(request, number):
        return calling("obtain_approval", {"task_id": "t0", "approver_id": f"s{2 + request['seed'] % 2}"})

    with serving(by_seed) as (url, server):
        agent = asked(url, asking=Asking(samples=4, concurrency=4))
        [selected] = agent.select(contexts(1))
    assert sorted(request["seed"] for request in server.requests) == [0, 1, 2, 3]
    assert {request["temperature"] for request in server.requests} == {1}
    assert len(selected) == 2
    assert agent.answer(contexts(1)[0]).said.counts == dict.fromkeys(selected, 2)


def test_so_many_at_a_time():
    def slow(request, number):
        time.sleep(0.05)
        return first_call(request)

    with serving(slow) as (url, server):
        asked(url, asking=Asking(concurrency=5, probe=False)).select(contexts(30))
    assert server.most == 5


def test_reasoning_and_probabilities_are_kept(tmp_path, capsys):
    def reasoning(request, number):
        call = {"name": "issue_refund", "arguments": '{"task_id": "t0"}'}
        return completion(
            {
                "content": "So:\x1b[2J I pay.",
                "reasoning_content": "It is due.\ud83d",
                "tool_calls": [{"id": "1", "type": "function", "function": call}],
            },
            logprobs={"content": [{"token": "a", "logprob": -0.25}, {"token": "b", "logprob": -0.5}]},
        )

    file = tmp_path / "s.sqlite"
    with serving(reasoning) as (url, _), st.Store(file) as store:
        asked(url, store).select(contexts(1))
        [(_, answer)] = store.answers()
    [given] = answer.said.answers
    assert given.note == "It is due.\\ud83d\nSo:\x1b[2J I pay."
    assert given.logprob == -0.75
    assert main(["decisions", "show", answer.key, "--store", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "It is due." in shown
    assert "\x1b" not in shown
    assert "-0.75" in shown


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": []},
        {"content": [{"logprob": None}]},
        {"content": 3},
        {"content": [{}, 3]},
        *({"content": [{"logprob": odd}]} for odd in (math.nan, -math.inf, -(10**400), 3.0, True, "-1")),
    ],
)
def test_probabilities_may_be_missing(logprobs):
    def told(request, number):
        data = json.loads(first_call(request).pieces[0])
        return completion(data["choices"][0]["message"], logprobs=logprobs)

    with serving(told) as (url, _):
        agent = asked(url)
        agent.select(contexts(1))
        assert agent.answer(contexts(1)[0]).said.answers[0].logprob is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("logprobs", "logprobs are not supported with this model"),
        ("max_completion_tokens", "This model's maximum context length is 2048 tokens"),
    ],
)
def test_a_server_that_does_without(name, says):
    def without(request, number):
        return error(400, says) if name in request else first_call(request)

    with serving(without) as (url, server):
        asked(url, asking=Asking(concurrency=1, probe=False)).select(contexts(3))
    assert len(server.requests) == 4
    assert len({len(request) for request in server.requests}) == 2, "nothing else is left out"
    message, times, _, _ = failing(lambda request, number: error(400, says))
    assert says in message
    assert times == 2


def test_replay(tmp_path):
    with serving(lambda request, _: first_call(request)) as (url, _):
        agent = asked(url, st.Store())
        result = st.verify(desk, agent)
    file = tmp_path / "decisions.jsonl"
    file.write_text("\n".join(export_lines(answer for _, answer in agent.store.answers())))
    texts = agent.respondent.texts
    assert st.verify(desk, st.agents.ReplayAgent(file, texts)).decisions == result.decisions


def test_on_the_command_line(tmp_path, capsys):
    store = str(tmp_path / "s.sqlite")
    with serving(lambda request, _: first_call(request)) as (url, server):
        words = ["refund", "--agent", f"openai:http://{url}#m", "--store", store]
        assert main(["verify", *words, "--json", "--samples", "2", "--temperature", "0.5"]) == 1
        report = json.loads(capsys.readouterr().out)
        assert report["agent"] == f"openai:http://{url}#m"
        assert {request["temperature"] for request in server.requests} == {0.5}
        assert {d["asked"] for d in report["decisions"]} == {1, 2}
        assert main(["audit", *words]) in (0, 1)
        assert main(["verify", *words, "--quiet"]) == 1
    capsys.readouterr()
    assert main(["decisions", "export", "--store", store, "--agent", f"openai:http://{url}#m"]) == 0
    assert capsys.readouterr().out.count("\n") > 4


# answers that are none


def said(name, arguments):
    return lambda request, number: calling(name, arguments)


def twice(*approvers):
    arguments = (json.dumps({"task_id": "t0", "approver_id": approver}) for approver in approvers)
    calls = [
        {"id": str(n), "type": "function", "function": {"name": "obtain_approval", "arguments": a}}
        for n, a in enumerate(arguments)
    ]
    return lambda request, number: completion({"tool_calls": calls})


WRONG = {
    "another tool": (said("fly", {}), "the function fly is not offered"),
    "a tool that is not offered": (said("archive_case", {"c": "c"}), "archive_case is not offered"),
    "an unknown argument": (said("issue_refund", {"task_id": "t0", "x": "1"}), "it takes task_id"),
    "a missing argument": (said("obtain_approval", {"task_id": "t0"}), "it takes task_id, approver_id"),
    "another value": (said("issue_refund", {"task_id": "t9"}), "issue_refund(t9) is not offered"),
    "a number": (said("issue_refund", {"task_id": 0}), "each has to be a text"),
    "broken JSON": (said("issue_refund", '{"task_id": "t0'), "are no JSON"),
    "JSON without end": (said("issue_refund", "[" * 100000), "are no JSON"),
    "an argument twice": (said("issue_refund", '{"task_id": "t9", "task_id": "t0"}'), "given twice"),
    "a list": (said("issue_refund", "[]"), "it takes task_id"),
    "control characters": (said("fly\x1b[2J\n\x00", {}), "fly\\x1b[2J \\x00"),
    "no call": (lambda request, number: completion({"content": "I cannot."}), "no function was called"),
    "calls that are none": (lambda request, number: completion({"tool_calls": [3]}), "None is not offered"),
    "cut off": (
        lambda request, number: completion({"content": "Let me"}, finish_reason="length"),
        "the answer is cut off",
    ),
    "two calls": (twice("s2", "s3"), "2 calls were made where one is wanted"),
    "a call twice": (twice("s2", "s2"), "2 calls were made where one is wanted"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_answers_outside_the_offer(kind):
    reply, says = WRONG[kind]
    message, times, _, store = failing(reply)
    assert says in message
    assert "makes no offered call in 3 answers" in message
    assert times == 3
    assert not [*store.answers()]


@pytest.mark.parametrize("kind", WRONG)
def test_an_answer_after_refusals(kind):
    """It is told why, the prompt begins as it was, and the record tells of it."""
    reply, _ = WRONG[kind]
    with serving(lambda r, number: first_call(r) if number == 2 else reply(r, number)) as (url, server):
        agent = asked(url)
        assert agent.select(contexts(1)) == [{st.Call("issue_refund", ("t0",))}]
    begins = server.requests[0]["messages"][-1]["content"]
    texts = [request["messages"][-1]["content"] for request in server.requests]
    assert all(text.startswith(begins) for text in texts)
    assert [text.count("An earlier answer was refused: ") for text in texts] == [0, 1, 2]
    assert "\x1b" not in texts[-1]
    assert {len(request["messages"]) for request in server.requests} == {2}
    [given] = agent.answer(contexts(1)[0]).said.answers
    assert given.note.startswith("refused before: ")


# a server that misbehaves


def busy(*statuses, **headers):
    return lambda request, number: error(statuses[number % len(statuses)], "busy", **headers)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_is_temporary_is_tried_again(status):
    def reply(request, number):
        return first_call(request) if number == 2 else error(status, "busy")

    with serving(reply) as (url, server):
        agent = asked(url)
        told = []
        agent.report_to(lambda phase, **counts: told.append(counts))
        agent.select(contexts(1))
    assert len(server.requests) == 3
    assert told[-1] == {"answers": 1, "of": 1, "retries": 2}
    message, times, _, _ = failing(busy(status))
    assert times == 3
    assert f"#m: {status}: busy" in message


def test_a_pause_that_is_asked_for_is_bounded_by_the_deadline():
    message, times, seconds, _ = failing(
        busy(429, Retry_After="3600"), Asking(tries=9, deadline=2.0, probe=False)
    )
    assert message.endswith("429: busy (it asks to wait 3600 s); try later, or ask less at a time")
    assert times == 1, "a pause that outlasts the deadline is not begun"
    assert seconds < 60


@pytest.mark.parametrize(
    "asks",
    [
        "0.01",
        "soon",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Thu, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2024 00:00:00 +999999999999999",
        "nan",
        "-5",
    ],
)
def test_a_pause_that_is_asked_for_is_kept(asks):
    _, times, seconds, _ = failing(busy(503, Retry_After=asks))
    assert times == 3
    assert seconds < 60


def test_no_pause_is_longer_than_a_minute(monkeypatch):
    pauses = []

    async def pause(self, seconds):
        pauses.append(seconds)

    monkeypatch.setattr("stead_sym.agents.in_flight.InFlight.pause", pause)
    failing(busy(429, Retry_After="3600"), Asking(tries=3, deadline=None, probe=False))
    assert pauses == [60.0, 60.0]


def test_a_drip_ends_at_the_deadline():
    def dripping(request, number):
        def drip():
            while True:
                yield b" "
                time.sleep(0.1)

        return Reply(200, drip(), {"Content-Type": "application/json"})

    message, _, seconds, _ = failing(dripping, Asking(deadline=1.0, tries=3, probe=False))
    assert "has not answered within 1 s" in message
    assert seconds < 60


def endless(status):
    """A body that is sent as fast as it is read."""

    def reply(request, number):
        return Reply(status, repeat(b" " * (1 << 16)), {"Content-Type": "application/json"})

    return reply


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_body_without_end_is_not_read_to_its_end(status):
    sent = []

    def counted(request, number):
        body = endless(status)(request, number)
        body.pieces = (sent.append(len(piece)) or piece for piece in body.pieces)
        return body

    message, times, _, _ = failing(counted, Asking(deadline=60.0, tries=2, probe=False))
    assert re.match(r"openai:http://\S+#m: the answer has more than 1 MiB; name the address of ", message)
    assert times == 1
    assert sum(sent) < 1 << 24, "what lies between the two programs, and no more"


def test_what_is_said_beside_a_call_is_cut(monkeypatch):
    """Before it is recorded: 50 MB beside each call would make reports that never end."""
    readers = []

    def read(content):
        readers.append(threading.current_thread().name)
        return json.loads(content)

    monkeypatch.setattr("stead_sym.models.chat.json_or_none", read)
    text = "So. " * 10_000

    def telling(request, number):
        return completion(
            {**json.loads(first_call(request).pieces[0])["choices"][0]["message"], "content": text}
        )

    with serving(telling) as (url, _):
        agent = asked(url)
        agent.select(contexts(1))
    [given] = agent.answer(contexts(1)[0]).said.answers
    assert given.note == f"{text[:30_000]}\n[cut: 10000 more characters]"
    assert readers
    assert "stead-sym questions" not in readers, "what others answer is not held up by reading"


def test_a_compressed_body_is_not_unpacked():
    """A thousand times as long, it would be unpacked in one go, past all deadlines."""
    bomb = gzip.compress(bytes(1 << 24))
    message, _, _, _ = failing(
        lambda request, number: Reply(
            200, bomb, {"Content-Encoding": "gzip", "Content-Length": str(len(bomb))}
        )
    )
    assert "no answer: the answer is compressed (gzip), which was not asked for; " in message


def test_no_compressed_body_is_asked_for():
    with serving(lambda request, number: first_call(request)) as (url, server):
        asked(url).select(contexts(1))
    assert {headers["accept-encoding"] for headers in server.headers} == {"identity"}


def test_no_answer_at_all_ends_at_the_deadline():
    release = threading.Event()

    def silent(request, number):
        release.wait(30)

    try:
        message, _, seconds, _ = failing(silent, Asking(deadline=1.0, concurrency=4), contexts(4))
    finally:
        release.set()
    assert "has not answered within 1 s" in message
    assert seconds < 60


def test_a_redirect_is_told_and_not_followed():
    seen = []
    with serving(lambda request, number: seen.append(request) or first_call(request)) as (other, _):
        target = f"http://user:pw@{other}/chat/completions\x7f"
        message, times, _, _ = failing(
            lambda request, number: Reply(307, b"", {"Location": target, "Content-Length": "0"})
        )
    assert not seen
    assert times == 1
    assert "307: the server sends to http://" in message
    assert "user:pw" not in message


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"null", b"[]", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"\xff{"]
)
def test_a_body_that_is_no_completion(body):
    message, times, _, _ = failing(
        lambda request, number: Reply(200, body, {"Content-Type": "application/json"})
    )
    assert "the answer is no chat completion" in message
    assert times == 3


def test_a_connection_that_is_hung_up():
    message, times, _, _ = failing(lambda request, number: None)
    assert "no answer: " in message
    assert times == 3


def test_nobody_there():
    with serving(lambda request, number: None) as (url, _):
        pass
    with pytest.raises(
        st.errors.ModelError, match=r"no answer: .*; start the server, or correct the address"
    ):
        asked(url).select(contexts(1))
    with pytest.raises(st.errors.ModelError, match="no answer"):
        chat_agent("http://no-such-host.invalid/v1#m", prompt, None, QUICK).select(contexts(1))


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "set OPENAI_API_KEY"),
        (403, "set OPENAI_API_KEY"),
        (404, "most end in /v1"),
        (400, "see the server's log"),
    ],
)
def test_what_is_not_temporary_is_not_tried_again(status, says):
    message, times, _, _ = failing(lambda request, number: error(status, "no\x1b[2J\nthat is 'wrong'"))
    assert times == 1
    assert says in message
    assert "no\\x1b[2J that is 'wrong'" in message


def test_an_endless_error_message_is_cut():
    message, _, _, _ = failing(lambda request, number: error(400, "x" * 1_000_000))
    assert len(message) < 1000


def test_what_was_answered_is_kept():
    """The 15th request fails for good; what was answered is in the store, and is not asked again."""

    failed = []

    def reply(request, number):
        if number >= 15 and not failed:
            failed.append(request)
            return error(400, "no more")
        return first_call(request)

    store = st.Store()
    with serving(reply) as (url, server):
        with pytest.raises(st.errors.ModelError, match="no more"):
            asked(url, store).select(contexts(30))
        kept = len([*store.answers()])
        assert 15 <= kept < 30
        asked(url, store).select(contexts(30))
        assert len(server.requests) == 30 + len(failed)


def test_answers_that_change_are_told():
    with serving(
        lambda r, number: (
            calling(
                "obtain_approval",
                {
                    "task_id": "TASK_1",
                    "approver_id": r["tools"][-1]["function"]["parameters"]["properties"]["approver_id"][
                        "enum"
                    ][number % 2],
                },
            )
            if any(tool["function"]["name"] == "obtain_approval" for tool in r["tools"])
            else first_call(r)
        )
    ) as (url, _):
        result = st.verify(desk, asked(url, asking=Asking(concurrency=1, tries=2)))
    assert {verdict.holds for verdict in result.verdicts.values()} == {None}
    assert "unsteady agent" in {finding.kind for finding in result.findings}


# credentials


def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path, monkeypatch, capsys, caplog):
    """Not into a report, a log, a store or an error, even where the server repeats it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    store = tmp_path / "s.sqlite"

    def repeating(request, number):
        reply = first_call(request)
        data = json.loads(reply.pieces[0])
        return completion({**data["choices"][0]["message"], "content": f"My key is {KEY}."})

    def told(arguments, reply):
        with serving(reply) as (url, server):
            main([*arguments, "--agent", f"openai:http://me:pass-word@{url}#m", "--store", str(store)])
        caught = capsys.readouterr()
        return caught.out + caught.err, server

    text, server = told(["verify", "refund", "--json"], repeating)
    assert json.loads(text[text.index("{") :])["specs"]
    assert {headers["authorization"] for headers in server.headers} == {"Basic bWU6cGFzcy13b3Jk"}
    for status in (400, 401, 500):
        text += told(
            ["verify", "refund", "--tries", "1"], lambda r, n, s=status: error(s, f"{KEY} pass-word")
        )[0]
    text += told(["verify", "ward"], lambda r, n: calling(KEY, {}))[0]
    main(["verify", "ward", "--agent", "openai:http://me:pass-word@h/v1", "--agent", "openai:http://x/v1#m"])
    main(
        [
            "verify",
            "ward",
            "--agent",
            "bed_agent=openai:http://me:pass-word@h/v1#m",
            "--agent",
            "bed_agent=any",
        ]
    )
    main(["verify", "refund", "--agent", "openai:http://me:pass-word@h/v1"])
    main(["verify", "refund", "--agent", "openai:http://me:pass-word@h:port/v1#m"])
    main(["verify", "refund", "--agent", "openai:me:pass-word@h/v1#m"])
    assert main(["decisions", "export", "--store", str(store)]) == 0
    caught = capsys.readouterr()
    text += caught.out + caught.err + caplog.text
    text += "".join(file.read_bytes().decode(errors="replace") for file in tmp_path.iterdir())
    for secret in (KEY, "pass-word", "bWU6cGFzcy13b3Jk"):
        assert secret not in text


@pytest.mark.parametrize("before", [70, 90, 99, 280, 299, 1195])
def test_no_part_of_a_key_gets_out_where_a_message_is_cut(before, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    calls = serving(lambda request, number: calling("x" * before + KEY, {}))
    with calls as (url, server), pytest.raises(st.errors.ModelError) as refused:
        asked(url).select(contexts(1))
    with (
        pytest.raises(st.errors.ModelError) as failed,
        serving(lambda r, n: error(400, "x" * before + KEY)) as (url, _),
    ):
        asked(url).select(contexts(1))
    for said in (str(refused.value), str(failed.value), server.requests[-1]["messages"][-1]["content"]):
        assert "x" * 70 in said
        assert KEY[:4] not in said


def test_the_key_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda request, number: first_call(request)) as (url, server):
        asked(url).select(contexts(1))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://h/v1", "name the model too"),
        ("h/v1#m", "no address of a server"),
        ("ftp://h/v1#m", "no address of a server"),
        ("http:///v1#m", "no address of a server"),
        ("http://h/v1?key=1#m", "no address of a server"),
        ("http://[h/v1#m", "no address of a server"),
    ],
)
def test_what_is_no_address(address, says):
    with pytest.raises(st.InputError, match=says):
        chat_agent(address, prompt)


def test_names_that_no_function_has():
    name = "t" * 65
    long = st.parse_deployment(f"deployment d\nrelation R()\ntool {name}()\n")
    with pytest.raises(st.InputError, match="cannot be that of a function in a chat"):
        chat_agent("http://h/v1#m", Prompt.of(long))


def test_by_default_there_is_a_deadline():
    assert math.isfinite(ASKING.deadline)
    assert chat_agent("http://h/v1#m", prompt).asking == ASKING


# several calls in one message

REFUNDS = """deployment refunds
sort times = 0..2
relation Refunded(times)
init Refunded(0)
tool refund()
  guard ~Refunded(2)
  effect
    choose m: times where exists n. (Refunded(n) & succ(n, m))
    clear Refunded
    insert Refunded(m)
tool wait()
spec once AG ~Refunded(2)
"""


def saying(*names):
    """A completion that calls these functions, which take no arguments."""
    made = [{"id": f"{n}", "type": "function", "function": {"name": name, "arguments": "{}"}} for n, name in
            enumerate(names)]  # fmt: skip
    return completion({"tool_calls": made})


@pytest.mark.parametrize("calls", ["sequential", "batch 2", "parallel 3 on refusal stop"])
def test_a_model_is_told_of_several_calls_iff_its_deployment_has_them(calls):
    refunds = st.parse_deployment(f"{REFUNDS}calls {calls}\n")
    most = int(calls.split()[1]) if " " in calls else 1
    with serving(lambda request, _: saying("refund")) as (url, server):
        result = st.verify(refunds, chat_agent(f"http://{url}#m", Prompt.of(refunds), st.Store(), QUICK))
    assert result["once"].holds is False
    texts = [request["messages"][-1]["content"] for request in server.requests]
    for request, text in zip(server.requests, texts, strict=True):
        so_far = re.search(r'"calls of your message so far": \[(.*)\]', text)
        written = 0 if so_far is None else so_far[1].count('"name": "refund"')
        assert request["parallel_tool_calls"] == (most - written > 1)
        assert (so_far is None) == (most == 1)
        assert (f"You may make up to {most} calls in one message." in text) == (most > 1)
        assert ("Make exactly one of these calls" in text) == (most == 1)
        assert "@" not in text
    assert any("side by side" in text and "ends the message" in text for text in texts) == (most == 3)


def test_the_first_of_several_calls_is_the_next_of_the_message():
    refunds = st.parse_deployment(f"{REFUNDS}calls batch 2\n")

    def reply(request, _):
        so_far = request["messages"][-1]["content"].partition("so far")[2].partition("\n")[0]
        return saying("wait") if '"name": "refund"' in so_far else saying("refund", "wait")

    with serving(reply) as (url, server):
        model = chat_agent(f"http://{url}#m", Prompt.of(refunds), st.Store(), QUICK)
        result = st.verify(refunds, model)
    assert result["once"].holds is False  # in two messages
    decided = {str(context): selected for context, selected in result.decisions}
    assert {str(call) for calls in decided.values() for call in calls} == {"refund()", "wait()"}
    assert any("the first of 2 calls in one message" in line for line in export_lines(result.answers))
    assert len(server.requests) == len({request["messages"][-1]["content"] for request in server.requests})


def test_more_calls_than_a_message_has_room_for_are_refused():
    refunds = st.parse_deployment(f"{REFUNDS}calls batch 2\n")
    with serving(lambda request, _: saying("wait", "wait", "wait")) as (url, _):
        model = chat_agent(f"http://{url}#m", Prompt.of(refunds), st.Store(), QUICK)
        with pytest.raises(st.AgentError, match="3 calls were made where 2 at most are wanted"):
            st.verify(refunds, model)


def test_a_message_that_is_not_shown_is_not_told():
    hiding = st.parse_deployment(f"{REFUNDS}calls batch 2\nview Refunded(n)\n")
    content = Prompt.of(hiding).messages(
        DecisionContext(st.view(hiding, hiding.init), st.offer(hiding, hiding.init))
    )[-1].content  # fmt: skip
    assert "so far" not in content
    assert "You may make up to 2 calls in one message." in content
