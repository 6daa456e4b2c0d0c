"""The chain of a log shows every change but one at its end, which the head shows."""

from __future__ import annotations

import hashlib
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as some

import stead_sym as st
from stead_sym.guard.log import AuditLog


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    written = AuditLog(path)
    for number in range(6):
        assert written.append("denied", {"tool": "pay", "arguments": {"r": number, "t": "ü\n"}}) == number + 1
    return path


def test_a_log_is_intact_as_it_was_written(log):
    checked = st.check_audit_log(log)
    assert checked.lines == 6
    assert checked.head == json.loads(log.read_bytes().splitlines()[-1])["hash"]


@given(data=some.data())
def test_every_change_before_the_end_is_found(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("log") / "log"
    written = AuditLog(path)
    for number in range(5):
        written.append("denied", {"arguments": {"r": number}})
    lines = path.read_bytes().splitlines(keepends=True)
    match data.draw(some.sampled_from(("remove", "repeat", "swap", "change"))):
        case "remove":
            del lines[data.draw(some.integers(0, 3))]
        case "repeat":
            lines.insert(data.draw(some.integers(0, 5)), lines[data.draw(some.integers(0, 4))])
        case "swap":
            one, other = data.draw(some.permutations(range(5)))[:2]
            lines[one], lines[other] = lines[other], lines[one]
        case "change":
            number = data.draw(some.integers(0, 4))
            entry = json.loads(lines[number])
            entry[data.draw(some.sampled_from(("time", "event", "more", "hash", "previous")))] = "else"
            lines[number] = json.dumps(entry, sort_keys=True).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(st.InputError, match=r":\d: the chain of hashes is broken"):
        st.check_audit_log(path)


@pytest.mark.parametrize(
    "text",
    [b"{}\n", b"[]\n", b"nothing\n", b"\xff\n", b"1\n", b"\n", pytest.param(b"[" * 100_000, id="deep")],
)
def test_what_is_no_log_is_said_to_be_none(tmp_path, text):
    (tmp_path / "log").write_bytes(text)
    with pytest.raises(st.InputError, match="log:1: no line of a log"):
        st.check_audit_log(tmp_path / "log")
    with pytest.raises(OSError, match="does not end with a line of a log"):
        AuditLog(tmp_path / "log").append("denied", {})


@pytest.mark.parametrize("left", [1, 40, -1])
def test_a_last_line_that_was_cut_is_named_and_kept(log, left):
    text = log.read_bytes()
    start = text[:-1].rindex(b"\n") + 1
    cut = text[start:][:left]
    log.write_bytes(text[:start] + cut)
    with pytest.raises(st.InputError, match="log:6: this last line was not written to its end"):
        st.check_audit_log(log)
    assert AuditLog(log).append("denied", {"tool": "more"}) == 7
    entries = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert [entry["event"] for entry in entries[-3:]] == ["denied", "torn", "denied"]
    assert entries[-2]["text"].encode() == cut
    assert st.check_audit_log(log).lines == 7


def test_a_writer_that_is_stopped_while_it_recovers_loses_nothing(log):
    """Cut at any byte of what an append to a torn log has written, the log goes on."""
    intact = log.read_bytes()
    log.write_bytes(intact + b'{"arg')
    AuditLog(log).append("denied", {"tool": "more"})
    recovered = log.read_bytes()
    for end in range(len(intact), len(recovered), 7):
        log.write_bytes(recovered[:end])
        AuditLog(log).append("denied", {"tool": "again"})
        assert log.read_bytes().startswith(intact)
        assert st.check_audit_log(log).lines in (7, 8, 9)


@pytest.mark.parametrize("text", ["no log", '{"a": 1', "no log\nnor this"])
def test_nothing_is_cut_off_a_file_that_is_no_log(tmp_path, text):
    (tmp_path / "log").write_text(text)
    with pytest.raises(OSError, match="does not end with a line of a log"):
        AuditLog(tmp_path / "log").append("denied", {})
    assert (tmp_path / "log").read_text() == text


def test_a_log_that_is_not_there(tmp_path):
    with pytest.raises(st.InputError, match="cannot be read"):
        st.check_audit_log(tmp_path / "log")


def test_a_log_of_another_deployment_is_refused(tmp_path):
    AuditLog(tmp_path / "log").append("opened", {"digest": "another"})
    assert st.check_audit_log(tmp_path / "log").lines == 1
    with pytest.raises(st.InputError, match="log:1: not of this version of refund"):
        st.check_audit_log(tmp_path / "log", st.load("refund"))


def test_a_line_with_a_hash_of_its_own_breaks_the_chain(log):
    """Who changes a line and computes its hash again has to change all lines after it."""
    lines = log.read_bytes().splitlines(keepends=True)
    entry = json.loads(lines[2])
    del entry["hash"]
    entry["arguments"]["r"] = 99
    text = json.dumps(entry, sort_keys=True).encode()
    entry["hash"] = hashlib.sha256(text).hexdigest()
    lines[2] = json.dumps(entry, sort_keys=True).encode() + b"\n"
    log.write_bytes(b"".join(lines))
    with pytest.raises(st.InputError, match="log:4: the chain of hashes is broken"):
        st.check_audit_log(log)


def test_lines_longer_than_a_block_and_many_writers(tmp_path):
    logs = [AuditLog(tmp_path / "log") for _ in range(4)]  # as processes have them: without a common lock

    def write(log):
        for number in range(10):
            log.append("denied", {"arguments": {"text": "x" * 3000 * (number % 3)}})

    threads = [threading.Thread(target=write, args=(log,)) for log in logs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert st.check_audit_log(tmp_path / "log").lines == 40


@pytest.mark.parametrize(
    ("was", "becomes"),
    [(b'"event": "denied"', b'"event": "allowed", "event": "denied"'), (b'", "', b'",  "')],
)
def test_a_line_that_is_written_in_another_way_breaks_the_chain(log, was, becomes):
    """What stands twice in a line could be read as either."""
    log.write_bytes(log.read_bytes().replace(was, becomes, 1))
    with pytest.raises(st.InputError, match=":1: the chain of hashes is broken"):
        st.check_audit_log(log)
