"""The store in use: from many threads and processes, in bulk, with files of version 1."""

from __future__ import annotations

import itertools
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy.exc import OperationalError
from store_places import execute
from test_store import CONTEXTS, filled, other_selection, prompt, two_way

from stead_sym.agents.records import database
from stead_sym.agents.records.digest import digest, spelled
from stead_sym.agents.records.store import Store
from stead_sym.errors import StoreError
from stead_sym.models.agent import ModelAgent
from stead_sym.testing.byte_model import ByteModel

pytestmark = pytest.mark.gate

VERSION_1 = """
    CREATE TABLE {0} (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, body TEXT NOT NULL,
        digest TEXT NOT NULL);
    CREATE INDEX {0}_key ON {0} (key);
    CREATE TRIGGER {0}_no_update BEFORE UPDATE ON {0}
        BEGIN SELECT RAISE(ABORT, 'rows of a store are never changed'); END;
    CREATE TRIGGER {0}_no_delete BEFORE DELETE ON {0}
        BEGIN SELECT RAISE(ABORT, 'rows of a store are never deleted'); END;
"""


@pytest.fixture
def version_1(tmp_path):
    """A file as the first version of the store wrote it, with the decisions and nodes of another store."""
    path, source = str(tmp_path / "version1.sqlite"), str(tmp_path / "source.sqlite")
    filled(source, CONTEXTS[:3])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        for table in ("decision", "node"):
            db.executescript(VERSION_1.format(table))
            for row in execute(source, f"SELECT key, body, digest FROM {table} ORDER BY id"):
                db.execute(f"INSERT INTO {table} (key, body, digest) VALUES (?, ?, ?)", tuple(row))
        db.execute(f"PRAGMA application_id = {0x53544541}")
        db.execute("PRAGMA user_version = 1")
    return path


def test_files_of_version_1_are_read_and_added_to(version_1, tmp_path):
    asked = []
    with Store(version_1) as store:
        kept = [answer for _, answer in store.answers()]
        agent = ModelAgent(ByteModel(seen=asked.append), prompt, store)
        agent.select(CONTEXTS[:3])
        assert asked == []
        agent.select(CONTEXTS)
        assert len(asked) >= len(CONTEXTS) - 3
        with store.claims() as claims:
            assert claims.take(["a"]) == {"a"}
    with Store(version_1) as store:
        assert [answer for _, answer in store.answers()][:3] == kept
        assert len(list(store.answers())) == len(CONTEXTS)


def test_the_digests_of_rows_are_those_of_their_contents(place):
    """Computed here from what the row says, not from its text."""
    kept = filled(place)
    rows = execute(place, "SELECT key, body, digest FROM decision ORDER BY id")
    for row, answer in zip(rows, kept, strict=True):
        assert row.body == spelled(answer.data())
        assert row.digest == digest([answer.key, answer.data()])


def test_many_at_once(place):
    answers = filled(place, CONTEXTS)
    with Store(place) as store:
        keys = [answer.key for answer in answers]
        assert store.get_many([*keys, "another"]) == dict(zip(keys, answers, strict=True))
        assert store.get_many([]) == {}
        assert store.put_many(answers) == answers
        nodes = {f"node{i}": (-float(i), -0.5) for i in range(1200)}
        store.put_nodes(nodes)
        store.put_nodes({"node7": (-1.0,), "more": (-2.0,)})
        assert store.get_nodes([*nodes, "more", "none"]) == {**nodes, "more": (-2.0,)}
        assert len(list(store.answers())) == len(answers)


def test_one_that_disagrees_does_not_keep_the_others_out(place, tmp_path):
    answers = filled(str(tmp_path / "other.sqlite"), CONTEXTS)
    answer = two_way(answers)
    with Store(place) as store:
        store.put(other_selection(answer))
        with pytest.raises(StoreError, match=r"decision 1 selects .* where .* was selected now"):
            store.put_many(answers)
        assert len(list(store.answers())) == len(answers)
        again = replace(answer, key="again")
        with pytest.raises(StoreError, match="a decision of now selects"):
            store.put_many([again, replace(other_selection(answer), key="again")])


def test_threads_share_a_store(place):
    """Each decides all contexts with an agent of its own: every decision is there once, as it is alone."""
    expected = ModelAgent(ByteModel(), prompt).select(CONTEXTS)
    results = []
    with Store(place) as store:

        def work(number):
            agent = ModelAgent(ByteModel(), prompt, store)
            for context in CONTEXTS[number:] + CONTEXTS[:number]:
                agent.select([context])
            results.append(agent.select(CONTEXTS))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [expected] * 12
        assert len(list(store.answers())) == len(CONTEXTS)


def test_a_store_in_memory_is_one_for_all_threads():
    with Store() as store:
        thread = threading.Thread(target=store.put_nodes, args=({"a": [-1.0]},))
        thread.start()
        thread.join()
        assert store.get_nodes(["a"]) == {"a": (-1.0,)}
        with Store() as other:
            assert other.get_nodes(["a"]) == {}


ADDING = """
import sys
from stead_sym.agents.records.store import Store

with Store(sys.argv[1]) as store:
    for number in range(100_000):
        store.put_nodes({f"{sys.argv[2]} {number} {part}": (-1.0 * number,) for part in range(7)})
        print(number, flush=True)
"""


def test_what_was_stored_by_processes_that_were_killed_is_there(place):
    """Two at a time, killed while they write: each batch that was reported is there, and each is whole."""
    writers = [
        subprocess.Popen([sys.executable, "-c", ADDING, place, name], stdout=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    for writer in writers:
        for _ in range(20):
            writer.stdout.readline()
    time.sleep(0.1)
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    reported = [20 + len(writer.communicate()[0].splitlines()) for writer in writers]
    with Store(place) as store:
        for name, batches in zip("ab", reported, strict=True):
            keys = [f"{name} {number} {part}" for number in range(batches) for part in range(7)]
            assert len(store.get_nodes(keys)) == len(keys)
        store.put_nodes({"and goes on": [0.0]})
    counts = execute(place, "SELECT count(*) FROM node")[0][0] - 1
    assert counts % 7 == 0


def test_a_store_that_is_closed():
    store = Store()
    store.close()
    with pytest.raises(StoreError, match="the store in memory: the store is closed; open it again"):
        store.get("a")


class _Refusing:
    """A connection that is refused what it asks for, some times."""

    def __init__(self, *reasons):
        self.reasons = list(reasons)

    def exec_driver_sql(self, statement):
        if self.reasons:
            raise OperationalError(statement, None, sqlite3.OperationalError(self.reasons.pop(0)))


def test_processes_that_make_one_file_at_once_wait_for_each_other(monkeypatch):
    """SQLite refuses at once, and does not wait, while another process switches to a log of what is written:
    of six processes that open one new store at the same moment one failed in every tenth try."""
    database._write_ahead(_Refusing("database is locked", "database is locked"))
    with pytest.raises(OperationalError, match="disk I/O error"):
        database._write_ahead(_Refusing("disk I/O error"))
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.05)
    with pytest.raises(OperationalError, match="locked"):
        database._write_ahead(_Refusing(*["database is locked"] * 1000))


def test_ctrl_c_leaves_no_transaction_open(tmp_path):
    """Wherever it comes, and while somebody still holds the exception: else all others wait for a minute."""
    store = Store(tmp_path / "decisions.sqlite")
    other = sqlite3.connect(tmp_path / "decisions.sqlite", timeout=0, isolation_level=None)
    kept = []

    def interrupted_at(moment):
        """Store something, with Ctrl-C at the moment of this number; whether it came to that."""
        moments = itertools.count()

        def look(frame, event, argument):
            if event == "call" and next(moments) == moment:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)

        sys.setprofile(look)
        try:
            store.put_nodes({str(moment): [-1.0]})
        except KeyboardInterrupt as error:
            kept.append(error)
        finally:
            sys.setprofile(None)
        return next(moments) > moment

    for moment in itertools.count():
        if not interrupted_at(moment):
            break
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    assert len(kept) > 100
    kept.clear()
