"""The store: nothing is lost, nothing is changed, nothing corrupt is believed."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from dataclasses import replace

import pytest
from sqlalchemy import Engine
from sqlalchemy.event import listens_for, remove
from sqlalchemy.exc import DBAPIError
from store_places import execute, tamper

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.digest import digest, spelled
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.replay import ReplayAgent, export_lines, read_answers
from stead_sym.agents.records.said import Given, Samples
from stead_sym.agents.records.store import Store
from stead_sym.agents.records.weight import weight_data, weight_words
from stead_sym.deployment.files import load
from stead_sym.deployment.semantics import offer
from stead_sym.errors import StoreError
from stead_sym.models.agent import ModelAgent
from stead_sym.relational.instance import Fact, Instance
from stead_sym.testing.byte_model import ByteModel
from stead_sym.verification.verify import verify

desk = load("refund")
prompt = Prompt.of(desk)


def context(case):
    state = Instance.of(
        desk.schema,
        [
            Fact("Approver", ("s1", "a1")),
            Fact("CaseStatus", (case, "open")),
            Fact("Handler", (case, "s1")),
            Fact("PartOf", ("t", case)),
        ],
    )
    return DecisionContext(state, offer(desk, state))


def with_two_approvers():
    """A context whose calls branch twice: which tool, which approver."""
    state = Instance(desk.schema, context("c").view.facts | {Fact("Approver", ("s2", "a2"))})
    return DecisionContext(state, offer(desk, state))


CONTEXTS = [context(f"c{i}") for i in range(30)]


@pytest.fixture
def path(place):
    """Return where the store is: a file, or a PostgreSQL database."""
    return place


def filled(path, contexts=CONTEXTS[:3], seed=0):
    with Store(path) as store:
        ModelAgent(ByteModel(seed), prompt, store).select(contexts)
        return [answer for _, answer in store.answers()]


def test_decisions_last(path):
    kept = filled(path)
    asked = []
    with Store(path) as store:
        agent = ModelAgent(ByteModel(seen=asked.append), prompt, store)
        assert agent.select(CONTEXTS[:3]) == [answer.selected for answer in kept]
        assert (agent.queries, agent.requests, asked) == (0, 0, [])
        assert [answer for _, answer in store.answers()] == kept


def test_another_model_prompt_or_tolerance_is_another_question(path):
    filled(path)
    with Store(path) as store:
        for agent in (
            ModelAgent(ByteModel(1), prompt, store),
            ModelAgent(ByteModel(), replace(prompt, policy="Other words."), store),
        ):
            agent.select(CONTEXTS[:3])
            assert agent.queries == 3
        wide = ModelAgent(ByteModel(), prompt, store, rule=Greedy(1e9))
        assert all(selected == CONTEXTS[0].calls for selected in wide.select(CONTEXTS[:1]))
        assert len(list(store.answers())) == 10


KILLED = """
import sys
from pathlib import Path
from test_store import CONTEXTS, prompt
from stead_sym.models.agent import ModelAgent
from stead_sym.agents.records import claims
from stead_sym.agents.records.store import Store
from stead_sym.testing.byte_model import ByteModel

claims.LEASE = 1.0
log = open(sys.argv[2], "a", buffering=1)
model = ByteModel(pause=0.02, seen=lambda request: log.write(repr(tuple(request)) + "\\n"))
ModelAgent(model, prompt, Store(sys.argv[1])).select(CONTEXTS)
"""


@pytest.mark.gate
def test_killing_the_process_in_mid_batch_loses_nothing(path, tmp_path):
    log = tmp_path / "log"
    folder = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, os.path.dirname(folder), *sys.path])}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), str(log)], env=environment)
    deadline = time.monotonic() + 60
    while not (log.exists() and len(log.read_text().splitlines()) >= 8):
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    paid = log.read_text().splitlines()
    assert len(paid) < len(CONTEXTS)
    asked = []
    with Store(path) as store:
        answers = ModelAgent(ByteModel(seen=asked.append), prompt, store).select(CONTEXTS)
    # The request that was being answered when the process died may be asked again; no other.
    assert not {repr(tuple(request)) for request in asked} & set(paid[:-1])
    assert answers == ModelAgent(ByteModel(), prompt).select(CONTEXTS)


def test_rows_are_never_changed_or_deleted(path):
    filled(path)
    for statement in ("UPDATE decision SET body = ''", "DELETE FROM decision", "DELETE FROM node"):
        with pytest.raises(DBAPIError, match=r"rows of a store are never (changed|deleted)"):
            execute(path, statement)
    with Store(path) as store:
        assert len(list(store.answers())) == 3


def test_a_corrupt_decision_is_named(path):
    [_, second, _] = filled(path)
    tamper(path, "UPDATE decision SET body = replace(body, 'issue_refund', 'obtain_approval') WHERE id = 2")
    with Store(path) as store:
        with pytest.raises(StoreError, match=r"decisions\S*: decision 2 is corrupt"):
            store.get(second.key)
        with pytest.raises(StoreError, match="decision 2 is corrupt"):
            list(store.answers())
        with pytest.raises(StoreError, match="decision 2 is corrupt"):
            ModelAgent(ByteModel(), prompt, store).select(CONTEXTS[:3])


def test_a_corrupt_node_is_named(path):
    filled(path)
    tamper(path, "UPDATE node SET body = '[-1.0,-2.0]' WHERE id = 1")
    with Store(path) as store, pytest.raises(StoreError, match="node 1 is corrupt"):
        ModelAgent(ByteModel(), prompt, store, rule=Greedy(0.01)).select(CONTEXTS[:1])


def insert_again(path, answer):
    """The same key once more with the digest in order, as a merge of two files would do it."""
    values = {
        "key": answer.key,
        "body": spelled(answer.data()),
        "digest": digest([answer.key, answer.data()]),
    }
    tamper(path, "INSERT INTO decision (key, body, digest) VALUES (:key, :body, :digest)", **values)


def other_selection(answer):
    """A sound record of the same key in which the model preferred other calls."""
    turned = tuple(replace(b, logprobs=tuple(-99.0 - p for p in b.logprobs)) for b in answer.branchings)
    answer = replace(answer, said=replace(answer.said, branchings=turned))
    return answer.under(Greedy())


def two_way(answers):
    return next(a for a in answers if len(a.branchings) == 1)


def test_records_are_spelled_as_their_data(path):
    kept = filled(path, CONTEXTS)
    odd = replace(
        kept[0], prompt=(Message("user", 'é"\\\n\x1b\u2028'),), model={"b": "é", "a": '"'}, time="—"
    )
    given = Samples((Given(tuple(sorted(kept[0].selected)), "why", -0.5),))
    for answer in (*kept, odd, replace(kept[0], said=given)):
        assert answer.spelled() == spelled(answer.data())


def insert_row(path, table, key, text):
    """A row with the digest that it should have."""
    sound = hashlib.sha256(f"[{spelled(key)},{text}]".encode()).hexdigest()
    words = f"INSERT INTO {table} (key, body, digest) VALUES (:key, :body, :digest)"
    tamper(path, words, key=key, body=text, digest=sound)


@pytest.mark.parametrize(
    "text",
    [
        *("{}", '"x"', "null", "5", "[null]", '["-1"]', "[[-1]]", "[NaN, -1]", "[true]", "[2]"),
        *("[-1e400, 1e400]", f"[-1{'0' * 400}]"),
    ],
)
def test_a_node_of_another_kind_is_named(path, text):
    """The digest is right, so that somebody wrote it; it is no answer of a model."""
    Store(path).close()
    insert_row(path, "node", "key", text)
    with (
        Store(path) as store,
        pytest.raises(StoreError, match="node 1 has no log-probabilities; use another"),
    ):
        store.get_nodes(["key"])


def test_what_is_impossible_has_a_log_probability(path):
    with Store(path) as store:
        store.put_nodes({"key": (-math.inf, -0.5)})
        assert store.get_nodes(["key"]) == {"key": (-math.inf, -0.5)}


@pytest.mark.parametrize("table", ["decision", "node", "question"])
def test_a_row_that_is_nested_without_end_is_corrupt(path, table, tmp_path):
    Store(path).close()
    insert_row(path, table, "key", "[" * 100_000 + "]" * 100_000)
    with Store(path) as store:
        read = {"decision": store.get, "node": lambda key: store.get_nodes([key])}.get(
            table, lambda key: store.get_questions([key])
        )
        with pytest.raises(StoreError, match=f"{table} 1 is corrupt \\(it is nested without end\\); restore"):
            read("key")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_what_is_no_path(name, tmp_path):
    for create in (True, False):
        with pytest.raises(StoreError) as caught:
            Store(f"{tmp_path}/{name}", create=create)
        assert str(caught.value).isprintable()


def test_two_answers_for_one_key_are_named(path):
    answer = two_way(filled(path, CONTEXTS))
    other = other_selection(answer)
    assert other.selected != answer.selected
    with Store(path) as store:
        assert store.put(answer) == answer
        with pytest.raises(StoreError, match=r"decision \d+ selects .* where .* was selected now"):
            store.put(other)
        assert store.get(answer.key) == answer
    insert_again(path, other)
    with (
        Store(path) as store,
        pytest.raises(StoreError, match=r"decisions \d+ and \d+ are two answers for one key"),
    ):
        store.get(answer.key)


def test_a_selection_that_does_not_follow_is_named(path):
    answer = two_way(filled(path, CONTEXTS))
    wrong = replace(answer, key="another", selected=other_selection(answer).selected)
    insert_again(path, wrong)
    with (
        Store(path) as store,
        pytest.raises(StoreError, match="decision 31: the recorded selection does not follow"),
    ):
        store.get("another")


def test_files_that_are_no_store(tmp_path):
    path = tmp_path / "decisions.sqlite"
    path.write_text("no database, only text that is long enough to be looked at", encoding="utf-8")
    with pytest.raises(StoreError, match="file is not a database; name a file"):
        Store(path)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE t (x)")
    with pytest.raises(StoreError, match="no store of decisions of version 2"):
        Store(other)
    with pytest.raises(StoreError, match="unable to open database file"):
        Store(tmp_path / "no such folder" / "x.sqlite")


def test_a_store_of_a_newer_version_says_so(path):
    filled(path)
    newer = "COMMENT ON TABLE decision IS 'stead-sym 3'" if "://" in str(path) else "PRAGMA user_version = 3"
    execute(str(path), newer)
    with pytest.raises(
        StoreError, match=r"a store of version 3, which a newer version of this program wrote; "
    ):
        Store(path)


@pytest.mark.parametrize("left_open", [False, True])
def test_a_store_that_cannot_be_written_is_read(tmp_path, left_open, monkeypatch):
    path = tmp_path / "a?b%20#c.sqlite"
    answers = filled(path)
    with Store(path) if left_open else nullcontext() as other:
        if other is not None:
            ModelAgent(ByteModel(), prompt, other).select(CONTEXTS[3:5])
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        before = sorted((file.name, file.read_bytes()) for file in tmp_path.iterdir() if left_open is False)
        with Store(path) as store:
            assert [answer for _, answer in store.answers()][:3] == answers
            agent = ModelAgent(ByteModel(), prompt, store)
            agent.select(CONTEXTS[: 5 if left_open else 3])
            assert agent.queries == 0
            with pytest.raises(
                StoreError, match="can be read here and not be written, and something has to be"
            ):
                agent.select(CONTEXTS[5:])
            assert agent.requests == 0, "the model is not asked for what cannot be kept"
        assert before == sorted((f.name, f.read_bytes()) for f in tmp_path.iterdir() if left_open is False)


def test_a_store_on_a_read_only_mount(tmp_path):
    """SQLite can make no files beside it there."""
    (tmp_path / "s").mkdir()
    filled(tmp_path / "s" / "d.sqlite")
    program = f"import sys; from stead_sym.cli.main import main; sys.exit(main({LIST!r}))"
    script = 'mount --bind s s && mount -o remount,ro,bind s && exec "$0" -c "$1"'
    command = ["unshare", "-rm", "sh", "-c", script, sys.executable, program]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command[:3], "-c", script.split(" &&")[0]], cwd=tmp_path).returncode
    ):
        pytest.skip("nothing can be mounted here")
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("\n") == 3


LIST = ["decisions", "list", "--store", "s/d.sqlite"]


def test_a_store_that_is_cut_off_says_how_to_keep_what_is_sound(tmp_path):
    path = tmp_path / "decisions.sqlite"
    with Store(path) as store:
        ModelAgent(ByteModel(), prompt, store).select(CONTEXTS)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(
        StoreError, match=r"malformed; keep what is sound with `stead-sym models decisions salvage"
    ):
        Store(path)


def test_two_processes_may_share_a_file(path):
    with Store(path) as one, Store(path) as two:
        ModelAgent(ByteModel(), prompt, one).select(CONTEXTS[:2])
        agent = ModelAgent(ByteModel(), prompt, two)
        agent.select(CONTEXTS[:3])
        assert agent.queries == 1


# Replay


def exported(path, *answers):
    path.write_text("".join(line + "\n" for line in export_lines(answers)), encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_gives_the_same_verification(tmp_path, seed):
    agent = ModelAgent(ByteModel(seed), prompt)
    first = verify(desk, agent)
    file = exported(tmp_path / "d.jsonl", *(answer for _, answer in agent.store.answers()))
    again = verify(desk, ReplayAgent(file, prompt))
    assert (again.queries, again.contexts) == (0, first.contexts)
    assert again.decisions == first.decisions
    assert str(again["auth"]) == str(first["auth"])


def test_a_replay_fails_on_a_context_that_the_file_lacks(tmp_path):
    agent = ModelAgent(ByteModel(), prompt)
    agent.select(CONTEXTS[:2])
    file = exported(tmp_path / "d.jsonl", *(answer for _, answer in agent.store.answers()))
    replay = ReplayAgent(file, prompt)
    assert replay.select(CONTEXTS[:2]) == agent.select(CONTEXTS[:2])
    with pytest.raises(StoreError, match=r"d\.jsonl: no decision for \{ Approver.*; verify with the model"):
        replay.select(CONTEXTS[2:3])
    with pytest.raises(StoreError, match="no decision for"):
        ReplayAgent(file, replace(prompt, policy="Other words.")).select(CONTEXTS[:1])


def test_a_replay_under_another_tolerance(tmp_path):
    agent = ModelAgent(ByteModel(), prompt, rule=Greedy(1e9))
    agent.select(CONTEXTS[:1])
    greedy = ModelAgent(ByteModel(), prompt).select(CONTEXTS[:1])
    file = exported(tmp_path / "d.jsonl", *(answer for _, answer in agent.store.answers()))
    assert ReplayAgent(file, prompt, Greedy()).select(CONTEXTS[:1]) == greedy


@pytest.mark.parametrize("wide_first", [False, True])
def test_decisions_selected_in_two_ways_are_replayed_only_as_told(tmp_path, wide_first):
    """A store that was tried with several tolerances says nothing of which one a replay is to have."""
    store = Store()
    narrow, wide = (ModelAgent(ByteModel(), prompt, store, rule) for rule in (Greedy(), Greedy(1e9)))
    context = next(context for context in CONTEXTS if len(context.calls) > 1)
    selected = [agent.select([context]) for agent in (narrow, wide)]
    assert selected[0] != selected[1]
    answers = [agent.answer(context) for agent in (narrow, wide)]
    file = exported(tmp_path / "d.jsonl", *(reversed(answers) if wide_first else answers))
    with pytest.raises(StoreError, match=r"selected in 2 ways \(greedily; with a tolerance of 1e\+09\); say"):
        ReplayAgent(file, prompt)
    replays = [ReplayAgent(file, prompt, rule) for rule in (Greedy(), Greedy(1e9))]
    assert [replay.select([context]) for replay in replays] == selected


def test_a_replay_does_not_reach_past_what_was_asked(tmp_path):
    two_approvers = with_two_approvers()
    agent = next(
        agent
        for agent in (ModelAgent(ByteModel(seed), prompt) for seed in range(9))
        if "issue_refund" in str(agent.select([two_approvers])[0])
    )
    file = exported(tmp_path / "d.jsonl", agent.answer(two_approvers))
    with pytest.raises(StoreError, match=r"not reach as far as selecting with a tolerance of 1e\+09: no log"):
        ReplayAgent(file, prompt, Greedy(1e9)).select([two_approvers])


def test_lines_are_checked(tmp_path):
    agent = ModelAgent(ByteModel(), prompt)
    agent.select(CONTEXTS[:2])
    answers = [answer for _, answer in agent.store.answers()]
    file = exported(tmp_path / "d.jsonl", *answers)
    assert read_answers(file) == answers
    lines = file.read_text().splitlines()
    file.write_text(lines[0] + "\n" + lines[1].replace("CaseStatus", "CaseState"))
    with pytest.raises(StoreError, match=r"d\.jsonl:2: the decision is corrupt"):
        read_answers(file)
    file.write_text("{")
    with pytest.raises(StoreError, match=r"d\.jsonl:1: not JSON"):
        read_answers(file)
    other = ModelAgent(ByteModel(1), prompt)
    other.select(CONTEXTS[:1])
    mixed = exported(tmp_path / "m.jsonl", *answers, *(answer for _, answer in other.store.answers()))
    with pytest.raises(StoreError, match="decisions of 2 models where one is wanted"):
        ReplayAgent(mixed, prompt)


def written(path, *records):
    """A file of these records as data, each with the digest that it should have."""
    path.write_text(
        "".join(spelled({**data, "digest": digest(data)}) + "\n" for data in records), encoding="utf-8"
    )
    return path


def test_calls_that_are_swapped_under_their_texts_are_not_believed(tmp_path):
    """The texts are those of the question, the selection follows from the record, and yet it is another."""
    agent = ModelAgent(ByteModel(), prompt)
    context = next(context for context in CONTEXTS if len(context.calls) > 1)
    (selected,) = agent.select([context])
    data = agent.answer(context).data()
    first, second, *_ = data["calls"]
    first["call"], second["call"] = second["call"], first["call"]
    names = {spelled(first["call"]): second["call"], spelled(second["call"]): first["call"]}
    data["selected"] = sorted(names.get(spelled(call), call) for call in data["selected"])
    replay = ReplayAgent(written(tmp_path / "d.jsonl", data), prompt)
    assert replay._answers.popitem()[1].selected != selected or len(selected) > 1
    replay = ReplayAgent(tmp_path / "d.jsonl", prompt)
    with pytest.raises(StoreError, match=r"d\.jsonl: decision \w+ has other calls under the texts"):
        replay.select([context])
    store = Store()
    store.put(Answer.from_data(data))
    with pytest.raises(StoreError, match="other calls, or another prompt, than what its key was made of"):
        ModelAgent(ByteModel(), prompt, store).select([context])


@pytest.mark.parametrize("other_first", [False, True])
def test_answers_to_one_question_that_say_different_things_are_refused(tmp_path, other_first):
    """Whatever their tolerances, and whether or not the selection is another."""
    context = next(context for context in CONTEXTS if len(context.calls) > 1)
    store = Store()
    greedy, tolerant = (
        ModelAgent(ByteModel(), prompt, store, Greedy(tolerance)) for tolerance in (0.0, 1e-9)
    )
    assert greedy.select([context]) == tolerant.select([context])
    records = [agent.answer(context).data() for agent in (greedy, tolerant)]
    assert records[0]["said"]["branchings"]
    ReplayAgent(written(tmp_path / "d.jsonl", *records), prompt, Greedy())
    worst = records[1]["said"]["branchings"][0]["logprobs"]
    worst[worst.index(min(worst))] -= 0.5
    assert Answer.from_data(records[1]).selected == greedy.answer(context).selected
    file = written(tmp_path / "d.jsonl", *(reversed(records) if other_first else records))
    with pytest.raises(StoreError, match="are two answers to one question"):
        ReplayAgent(file, prompt)


def test_a_line_that_is_nested_without_end(tmp_path):
    file = tmp_path / "d.jsonl"
    for depth in (500, 950, 990, 100_000):
        for text in ("[" * depth + "]" * depth, '{"x":' + "[" * depth + "]" * depth + "}"):
            file.write_text(text)
            with pytest.raises(StoreError, match=r"d\.jsonl:1: (not JSON|the decision is corrupt)"):
                read_answers(file)


ODD = (
    None,
    True,
    -1,
    3,
    1e400,
    math.nan,
    1e300,
    10**400,
    -(10**400),
    {"tolerance": 10**400},
    "",
    "x",
    "\ud800",  # as JSON may spell it: half a character
    [],
    [[]],
    ["x", "y"],
    {},
    {"x": []},
    [["x"]],
    [3],
    [[3, "x"]],
)


def changed(data):
    """The data with any one part of it replaced by something odd, or left out."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, part in items:
        for other in (*ODD, *changed(part)):
            copy = data.copy()
            copy[key] = other
            yield copy
        copy = data.copy()
        del copy[key]
        yield copy


@pytest.mark.gate
def test_no_odd_record_is_a_bug(tmp_path):
    """A line with the right digest is a decision, or an error with its place."""
    agent = ModelAgent(ByteModel(), prompt)
    context = next(context for context in CONTEXTS if len(context.calls) > 1)
    agent.select([context])
    (data,) = (answer.data() for _, answer in agent.store.answers())
    data["prompt"] = data["prompt"][:1]
    errors, records = [], [*ODD, *changed(data)]
    file = tmp_path / "d.jsonl"
    for record in records:
        text = json.dumps({**record, "digest": digest(record)} if isinstance(record, dict) else record)
        file.write_text(text, encoding="utf-8")
        try:
            for answer in read_answers(file):
                list(export_lines([answer]))
                assert weight_data(answer)
                assert weight_words(answer)
                ReplayAgent(file, prompt)
        except StoreError as error:
            errors.append(str(error))
    assert all(error.startswith(f"{file}:") and "\n" not in error for error in errors)
    assert len(errors) > len(records) / 2


@pytest.mark.parametrize("before", range(4))
def test_a_file_may_become_a_store_while_it_is_opened(tmp_path, before):
    """Another process makes the store right before one of the statements that look whether there is one."""
    path, said = str(tmp_path / "decisions.sqlite"), list[str]()

    def make(_connection, _cursor, statement, *_):
        said.append(statement)
        if len(said) == before + 1:
            Store(path).close()

    listens_for(Engine, "before_cursor_execute")(make)
    try:
        Store(path).close()
    finally:
        remove(Engine, "before_cursor_execute", make)
    assert not any(statement.startswith("BEGIN") for statement in said[:before]), "nobody can come in between"
    assert execute(path, "SELECT count(*) FROM decision") == [(0,)]
