"""`stead-sym replay` of a log: what follows from the deployment is confirmed, and nothing else."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from live import binding, fill, schema_of
from test_guard import DESK, ROWS, approve_once, database

import stead_sym as st
from stead_sym.cli.main import main
from stead_sym.guard.log import AuditLog
from stead_sym.relational.instance import Fact


@pytest.fixture
def desk():
    return st.parse_deployment(DESK)


@pytest.fixture
def log(desk, tmp_path):
    """The log of two guards with every kind of line but `conflict`."""
    path, bound = tmp_path / "log", database(tmp_path, *ROWS)
    with st.Guard(desk, bound, gates="rules", log=path) as guard:
        guard.call("approve", {"r": 1, "c": "bob"}, approve_once)
        with pytest.raises(ZeroDivisionError):
            guard.call("pay", {"r": 1}, lambda connection, r: 1 / 0)
        guard.record(guard.check("pay", {"r": 2}), "unknown")
        guard.check("pay", {"r": 2})
        guard.check("pay", {"r": 3})
        guard.check("ask", {"c": "ann", "n": 3})
        guard.check("pay", {"r": "3"})
        guard.check("nothing", {})
        with st.Guard(desk, bound, bounds=False, log=path) as other:
            other.check("ask", {"c": "ann", "n": 3})
            guard.check("approve", {"r": 3, "c": "ann"})
    return path


def test_a_log_is_confirmed_as_it_was_written(desk, log):
    replayed = st.replay_audit_log(log, desk)
    assert replayed.confirmed
    assert (replayed.allowed, replayed.denied, replayed.unread) == (5, 5, 2)
    assert replayed.outcomes == {"done": 1, "failed": 1, "unknown": 1}
    assert replayed.head == st.check_audit_log(log, desk).head


def rewritten(log, change):
    """Write the log anew, with a chain that is whole, and other contents."""
    entries = [json.loads(line) for line in log.read_bytes().splitlines()]
    log.unlink()
    for entry in change(entries):
        for name in ("n", "time", "previous", "hash"):
            del entry[name]
        AuditLog(log).append(entry.pop("event"), entry)


def changed(event, number=0, /, **contents):
    """A change of the line of an event."""

    def change(entries):
        [entry for entry in entries if entry["event"] == event][number].update(contents)
        return entries

    return change


def read(event, number, **values):
    def change(entries):
        [entry for entry in entries if entry["event"] == event][number]["read"].update(values)
        return entries

    return change


CHANGES = {
    "allowed though its guard is false": read("allowed", 0, guard=False),
    "allowed though no line permits it": read("allowed", 0, gates={"rules": [False]}),
    "allowed though a line forbids it": read("allowed", 2, gates={"rules": [True, False, True]}),
    "allowed past a bound": read("allowed", 0, within={"clerk": True, "refund": False}),
    "by other lines": changed("allowed", by=["guard true"]),
    "denied for another reason": changed("denied", reason="not allowed"),
    "denied in other words": changed("denied", why="no"),
    "denied though its guard is true": read("denied", 0, guard=True, possibly=None),
    "denied as allowed": changed("denied", event="allowed"),
    "allowed as denied": changed("allowed", event="denied"),
    "another tool": changed("allowed", tool="pay", arguments={"r": 1}),
    "other arguments": changed("allowed", arguments={"r": 1}),
    "nothing read": lambda entries: [
        {name: own for name, own in entry.items() if name != "read"} for entry in entries
    ],
    "truth that is none": read("allowed", 0, guard="yes"),
    "lines of another gate": read("allowed", 0, gates={"other": [True]}),
    "of no guard": changed("allowed", opened=2),
    "of another guard": changed("allowed", 4, opened=1),
    "a gate that is not of the file": changed("opened", gates=["gate rules\n  permit pay(nobody, r)"]),
    "an agent that is not of the file": changed("opened", agent="else"),
    "without bounds": changed("opened", bounds=False),
    "an outcome of what was denied": changed("done", of=99),
    "two outcomes": changed("failed", of=2),
    "an unknown event": changed("done", event="perhaps"),
    "a tool that there is": changed("denied", 4 - 1, tool="pay"),
    "an opening without its deployment": lambda entries: [
        {name: own for name, own in entry.items() if name != "digest"} for entry in entries
    ],
    "bounds that are no truth value": changed("opened", bounds=[]),
    "a gap that is no text": read("allowed", 0, gap=[]),
    "a possibility that is no truth value": read("allowed", 0, possibly=[]),
    "an opening too few": lambda entries: entries[1:],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_does_not_follow_is_a_fault(desk, log, change):
    rewritten(log, change)
    assert not st.replay_audit_log(log, desk).confirmed


def test_the_gate_of_a_shield_is_read_from_the_log(tmp_path):
    refund = st.load("refund")
    url = f"sqlite:///{tmp_path / 'live.sqlite'}"
    words = "CaseStatus c open; PartOf t1 c; PartOf t2 c; Handler c s1; Approver s1 a1; Approved t2 a1"
    facts = [Fact(name, tuple(args)) for name, *args in map(str.split, words.split(";"))]
    with sa.create_engine(url).begin() as connection:
        for statement in schema_of(refund.schema):
            connection.exec_driver_sql(statement)
        fill(connection, refund.schema, facts)
    bound, shield = binding(refund.schema, url), st.shield(refund)
    with st.Guard(refund, bound, shield=shield, bounds=False, log=tmp_path / "log") as guard:
        assert guard.check("issue_refund", {"task_id": "t2"}).allowed
        assert guard.check("issue_refund", {"task_id": "t1"}).reason == "not allowed"
    assert st.replay_audit_log(tmp_path / "log", refund).confirmed
    rewritten(tmp_path / "log", read("denied", 0, gates={"shield": [False]}))
    assert not st.replay_audit_log(tmp_path / "log", refund).confirmed


# as a command


@pytest.fixture
def file(tmp_path):
    (tmp_path / "desk.stead").write_text(DESK)
    return str(tmp_path / "desk.stead")


def test_the_command_says_what_was_confirmed_and_what_was_not(file, log, capsys):
    assert main(["replay", file, str(log)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("log: confirmed, 15 lines")
    assert lines[1] == "  guards: behind rules; without gates, also past the bounds"
    assert lines[2] == "  5 calls allowed (1 done, 1 failed, 1 unknown, 2 without an outcome), 5 denied"
    assert lines[3].startswith("  taken as logged: what the guard read in the database, and that 2 calls")
    assert main(["replay", file, str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"done": 1, "failed": 1, "unknown": 1}
    rewritten(log, CHANGES["allowed though its guard is false"])
    assert main(["replay", file, str(log)]) == 1
    assert "NOT confirmed" in capsys.readouterr().out


def test_a_log_that_was_changed_or_is_of_another_file_is_a_line(file, log, capsys):
    assert main(["replay", "refund", str(log)]) == 2
    assert "log:1: not of this version of refund" in capsys.readouterr().err
    assert main(["replay", file, str(log), "--spec", "approved_first"]) == 2
    assert "leave these options out" in capsys.readouterr().err
    log.write_bytes(log.read_bytes().replace(b'"r": 3', b'"r": 4'))
    assert main(["replay", file, str(log)]) == 2
    assert "the chain of hashes is broken" in capsys.readouterr().err
