"""Limits and Ctrl-C: a verification ends when it should, says why, and leaves no process behind."""

import fcntl
import html
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from described import assert_described
from processes import hear_ctrl_c
from stead_sym.cli.main import main
from stead_sym.report.page import MARKER

WRONG = "wrong fails: some agent violates this; a specific agent may not"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="watching takes a POSIX system")

COMMAND = (sys.executable, "-m", "stead_sym")
EAGER = """
import sys
from stead_sym.report.progress import ProgressDisplay
ProgressDisplay.__init__.__defaults__ = (0.0, 0.1)
from stead_sym.cli.main import main
sys.exit(main())
"""
"""The command with progress from the start, a line each tenth of a second."""
GRACE = 60.0
BOUND = 4

# Literal freshness with many records in flight: more than any engine gets through.
LONG = f"""
deployment long
sort case, task
sort status = {{ open, resolved }} rigid
relation CaseStatus(case, status)
relation PartOf(task, case)
relation After(case, case)
init
bound case {BOUND}
bound task {BOUND}
tool rest()
tool ingest()
  guard atmost {BOUND - 1} c: case. exists q. CaseStatus(c, q)
  effect
    fresh c: case
    fresh t: task
    insert CaseStatus(c, open)
    insert PartOf(t, c)
tool link(c: case, d: case)
  effect
    insert After(c, d)
tool archive(c: case)
  effect
    delete CaseStatus(c, q) for q
    delete PartOf(t, c) for t
    delete After(c, d) for d
    delete After(d, c) for d
spec prog
  AG forall c. (CaseStatus(c, open) -> EF CaseStatus(c, resolved))
"""


@pytest.fixture
def long(tmp_path: Path) -> str:
    path = tmp_path / "long.stead"
    path.write_text(LONG, encoding="utf-8")
    return str(path)


# The states are reached and two specifications decided in no time; the third is more than any engine gets
# through.
MIXED = (
    LONG.split("spec prog")[0].replace("4", "3").replace("atmost 3", "atmost 2")
    + """
spec quick
  AG forall c. (CaseStatus(c, open) -> ~CaseStatus(c, resolved))
spec wrong
  AG ~exists c. CaseStatus(c, open)
spec slow
  AG forall c, d, e, f, g, h: case.
    (CaseStatus(c, open) -> EF (After(c, d) & EF (After(d, e)
      & AF (After(e, f) | EG (After(f, g) | EF (After(g, h) & ~After(c, d)))))))
spec last
  AG EF exists c: case. CaseStatus(c, open)
"""
)


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    path = tmp_path / "mixed.stead"
    path.write_text(MIXED, encoding="utf-8")
    return str(path)


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def process_table() -> dict[int, tuple[str, int]]:
    """State and parent of each process."""
    table = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            table[int(path.parent.name)] = state, int(parent)
    return table


def children(pid: int) -> list[int]:
    return [child for child, (_, parent) in process_table().items() if parent == pid]


def gone(pid: int) -> bool:
    """Return if the process ends before long."""
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        if process_table().get(pid, ("Z", 0))[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command, which shows its progress often, killed at the end if it still runs."""
    with subprocess.Popen(
        [sys.executable, "-c", EAGER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_timeout_ends_a_run_with_status_3_and_says_how_far_it_came(long: str) -> None:
    started = time.monotonic()
    with running("verify", long, "--agent", "any", "--domain", "theorem", "--timeout", "3") as process:
        out, err = process.communicate(timeout=60)
    assert 3 <= time.monotonic() - started < 3 + GRACE
    assert process.returncode == 3
    assert out == ""
    line = err.splitlines()[-1]
    assert line.startswith("stead-sym: unknown: stopped at the limit of 3 s (--timeout); ")
    assert re.search(r"; (start|preparing(: .*)?|exploring: [\d,]+ nodes of .*) \(3 s\)$", line)


def test_the_report_of_a_stopped_run_has_the_reason_and_the_counts(long: str) -> None:
    for seconds in ("3", "12", "48"):  # a busy machine takes more than one to begin
        with running(
            "verify", long, "--agent", "any", "--engine", "explicit", "--timeout", seconds, "--json"
        ) as process:
            out, err = process.communicate(timeout=100)
        assert process.returncode == 3
        report: Any = json.loads(out)
        assert_described(report)
        assert err.splitlines()[-1] == f"stead-sym: {report['error']}"
        if report["progress"]["phase"] == "reach":
            break
    assert report["progress"]["phase"] == "reach"
    assert report["progress"]["counts"]["states"] > 0


def test_a_limit_of_memory_ends_a_run_with_status_3(long: str) -> None:
    with running("verify", long, "--agent", "any", "--engine", "explicit", "--memory", "100") as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    found = re.search(r"stopped at ([\d,]+) MiB, past the limit of 100 MiB \(--memory\)", err)
    assert found
    assert 100 < int(found[1].replace(",", "")) < 200


@pytest.mark.parametrize("arguments", [["--policy", "approving"], ["--policy", "baseline", "--json"]])
def test_limits_that_are_kept_change_nothing(arguments: list[str]) -> None:
    def ended(*limits: str) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, "verify", "refund", *arguments, *limits]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def timeless(text: str) -> str:
        """Without times and steps, which go by where nodes lie in memory, and without the progress that a
        busy machine has time to show."""
        text = re.sub(r"^stead-sym: .* \(\d+ s\)\n", "", text, flags=re.MULTILINE)
        return re.sub(r'(?<="seconds": )[\d.e-]+|(?<=steps": )\d+|\d+\.\d+ s', "T", text)

    free, limited = ended(), ended("--timeout", "60", "--memory", "4000")
    assert timeless(limited.stdout) == timeless(free.stdout)
    assert timeless(limited.stderr) == timeless(free.stderr)
    assert limited.returncode == free.returncode


def test_errors_in_the_child_are_the_same_errors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stuck.stead"
    path.write_text(
        "deployment stuck\nrelation P()\ntool t()\n  guard P()\nspec s AG ~P()\n", encoding="utf-8"
    )
    for arguments in (["missing.stead"], [str(path), "--agent", "any"], ["refund", "--spec", "none"]):
        here = main(["verify", *arguments, "--json", "--quiet"])
        printed = capfd.readouterr()
        there = main(["verify", *arguments, "--json", "--quiet", "--timeout", "60"])
        assert capfd.readouterr() == printed
        assert here == there == 2
        assert printed.err.startswith("stead-sym: ")


def test_limits_that_are_no_limits_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for option, value in (("--timeout", "0"), ("--timeout", "nan"), ("--timeout", "soon"), ("--memory", "0")):
        assert main(["verify", "refund", option, value]) == 2
        assert option in capsys.readouterr().err


@linux
def test_ctrl_c_ends_a_long_run_and_its_child(long: str) -> None:
    with running("verify", long, "--agent", "any", "--domain", "theorem") as process:
        assert process.stderr is not None
        process.stderr.readline()  # progress: it is under way
        [child] = children(process.pid)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert time.monotonic() - started < GRACE
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "stead-sym: interrupted"
    assert gone(child)


@linux
@pytest.mark.parametrize(
    ("number", "says"),
    [
        (signal.SIGKILL, "signal 9 (Killed), perhaps for lack of memory: make room, or set --memory"),
        (signal.SIGABRT, "signal 6 (Aborted), perhaps because the library of diagrams ran out of memory"),
        (signal.SIGSEGV, "signal 11 (Segmentation fault), a crash in a compiled library: try --backend"),
    ],
)
def test_a_signal_that_ends_the_child_is_named(long: str, number: signal.Signals, says: str) -> None:
    with running("verify", long, "--agent", "any", "--domain", "theorem") as process:
        assert process.stderr is not None
        process.stderr.readline()
        [child] = children(process.pid)
        os.kill(child, number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert f"ended by {says}" in err
    assert "Traceback" not in err


def under_way(process: subprocess.Popen[str], phase: str) -> None:
    """Wait until the progress on stderr shows a phase."""
    assert process.stderr is not None
    for line in process.stderr:
        if re.match(rf"stead-sym: {phase}", line):
            return
    raise AssertionError(f"{phase} never came")


SLOW = r"checking: .* (1[5-9]|[2-9]\d) parts of"  # the specifications before have fewer


@linux
def test_what_was_established_before_a_crash_is_reported(
    mixed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with running("verify", mixed, "--agent", "any") as process:
        under_way(process, SLOW)
        [child] = children(process.pid)
        os.kill(child, signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1  # that `wrong` fails is a fact, whatever came later
    assert err.splitlines()[-1].startswith("stead-sym: unknown: the process was ended by signal 9 (Killed)")
    table, evidence = out.split("\n\n", 1)
    rows = [line.split() for line in table.splitlines()[1:] if line.startswith("  ") and line[2] != " "]
    assert {row[1]: row[2] for row in rows} == {
        "quick": "holds", "wrong": "fails", "slow": "unknown", "last": "unknown"
    }  # fmt: skip
    assert table.count("not reached: the process was ended by signal") == 2
    assert evidence.startswith("wrong fails\n")
    main(["verify", mixed, "--agent", "any", "--spec", "wrong"])
    assert capfd.readouterr().out.endswith(evidence)


@linux
def test_a_crash_after_verdicts_that_hold_leaves_the_rest_unknown(mixed: str) -> None:
    with running("verify", mixed, "--agent", "any", "--json", "--spec", "quick", "slow") as process:
        under_way(process, r"checking: .* (1[2-9]|[2-9]\d) parts of")
        os.kill(children(process.pid)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    report: Any = json.loads(out)
    assert_described(report)
    assert err.splitlines()[-1] == f"stead-sym: {report['error']}"
    assert {name: spec["verdict"] for name, spec in report["specs"].items()} == {
        "quick": "holds", "slow": "unknown"
    }  # fmt: skip
    assert report["specs"]["slow"]["reason"].startswith("not reached: the process was ended by signal 9")
    assert "After(g, h)" in report["specs"]["slow"]["formula"]


@linux
def test_a_limit_keeps_what_was_established(mixed: str) -> None:
    for limit in (4, 12, 60):  # a busy machine may take longer for the two that are decided
        with running("verify", mixed, "--agent", "any", "--timeout", str(limit), "--quiet") as process:
            out, err = process.communicate(timeout=100)
        if "wrong fails" in out:
            break
    assert process.returncode == 1
    missing = f"unknown: not reached: stopped at the limit of {limit} s (--timeout)"
    assert out.splitlines() == ["quick holds", WRONG, f"slow {missing}", f"last {missing}"]
    assert err.startswith(f"stead-sym: unknown: stopped at the limit of {limit} s (--timeout); checking: ")


@linux
def test_ctrl_c_keeps_what_was_established(mixed: str) -> None:
    with running("verify", mixed, "--agent", "any") as process:
        under_way(process, SLOW)
        [child] = children(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "stead-sym: interrupted"
    assert "not reached: interrupted" in out
    assert "\nwrong fails\n" in out
    assert gone(child)


PAYS = """
import time

def pays(context):
    if len(context.view):
        {then}
    return next((call for call in context.calls if call.tool == "pay"), min(context.calls))
"""
PAID = """deployment paid
relation Paid()
define never() = ~Paid()
init
tool pay()
  effect insert Paid()
tool wait()
spec unpaid AG ~Paid()
spec waits AF Paid()
"""


@pytest.mark.gate
@pytest.mark.parametrize(
    ("then", "options", "why"),
    [
        ("raise ValueError('enough')", (), "agent pays raises ValueError: enough"),
        ("time.sleep(60)", ("--timeout", "4"), "stopped at the limit of 4 s (--timeout)"),
    ],
)
def test_what_an_agent_had_done_by_then_fails_with_its_evidence(tmp_path, then, options, why) -> None:
    tmp_path.joinpath("agent.py").write_text(PAYS.format(then=then))
    tmp_path.joinpath("paid.stead").write_text(PAID)
    words = [
        "verify",
        "paid.stead",
        "--agent",
        "python:agent:pays",
        "--json",
        "--evidence",
        "shown",
        "--report",
        "page.html",
        *options,
    ]
    tmp_path.joinpath("page.html").write_text(f"{MARKER}\n<p>waits holds</p>")  # of an earlier run
    ended = subprocess.run([*COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    report: Any = json.loads(ended.stdout)
    assert_described(report)
    assert (ended.returncode, report["specs"]["unpaid"]["verdict"]) == (1, "fails")
    assert [finding["kind"] for finding in report["findings"]] == ["unused define"]
    assert report["specs"]["waits"]["verdict"] == "unknown"
    assert report["specs"]["waits"]["reason"].startswith(f"not reached: {why}")
    assert main(["replay", str(tmp_path / "paid.stead"), str(tmp_path / "shown" / "unpaid.json")]) == 0
    page = tmp_path.joinpath("page.html").read_text(encoding="utf-8")
    assert "waits holds" not in page
    for said in ("unpaid fails", "waits unknown: not reached", "+ Paid()", html.escape(why)):
        assert said in page


@pytest.mark.gate
@pytest.mark.parametrize(
    ("module", "status", "why"),
    [
        ("import sys\ndef pays(context): sys.exit(0)", 2, "agent pays raises SystemExit: 0"),
        ("import os\ndef pays(context): os._exit(0)", 3, "the process was ended from within"),
        ("import sys\ndef pays(context): ...\nsys.exit(0)", 2, "the module cannot be imported: SystemExit"),
        (
            "import sys\nclass A:\n  name = 'a'\n  select = lambda *_: sys.exit(0)\npays = A()",
            2,
            "an agent, or what it calls, exits with 0",
        ),
    ],
)
def test_an_agent_that_exits_has_answered_nothing(tmp_path, module, status, why) -> None:
    tmp_path.joinpath("agent.py").write_text(module)
    tmp_path.joinpath("paid.stead").write_text(PAID)
    words = ["verify", "paid.stead", "--agent", "python:agent:pays", "--quiet"]
    ended = subprocess.run([*COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (status, "")
    assert why in ended.stderr


@linux
def test_where_memory_runs_out_what_was_established_is_reported(mixed: str) -> None:
    """The system refuses more memory: CUDD calls exit(1), or `dd` raises an error that says nothing, or
    something crashes."""
    limited = ["sh", "-c", 'ulimit -v 300000; exec "$0" "$@"', *COMMAND]
    command = [*limited, "verify", mixed, "--agent", "any", "--quiet"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout.startswith(f"quick holds\n{WRONG}\nslow unknown: not reached: ")
    reasons = "the library of diagrams ran out of memory|memory has run out|the process was ended by signal"
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("stead-sym")]
    assert re.match(f"stead-sym: unknown: ({reasons})", line)


@linux
def test_a_child_that_ends_while_it_prints_is_not_spoken_over() -> None:
    with running("verify", "bank", "--policy", "fast", "--json", "--quiet") as process:
        assert process.stdout is not None
        size = fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        written = array("i", [0])
        until = time.monotonic() + 6 * GRACE
        while written[0] < size:  # the report is larger than the pipe, and nobody reads
            assert time.monotonic() < until
            time.sleep(0.05)
            fcntl.ioctl(process.stdout, termios.FIONREAD, written)
        os.kill(children(process.pid)[0], signal.SIGKILL)
        while children(process.pid):  # one that is still there would write on as soon as somebody reads
            assert time.monotonic() < until
            time.sleep(0.05)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert len(out.encode()) == size
    assert out.startswith('{\n  "deployment": "bank"')
    assert '"error"' not in out
    assert err.startswith("stead-sym: unknown: the process was ended by signal 9 (Killed), perhaps for lack")


@linux
def test_the_explicit_engine_works_in_a_child_too(long: str) -> None:
    with running("verify", long, "--agent", "any", "--engine", "explicit") as process:
        under_way(process, "exploring")
        os.kill(children(process.pid)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert out == ""
    assert "ended by signal 9 (Killed), perhaps for lack of memory" in err


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_child_does_not_outlive_the_command(long: str, number: signal.Signals) -> None:
    with running("verify", long, "--agent", "any", "--domain", "theorem") as process:
        assert process.stderr is not None
        process.stderr.readline()
        [child] = children(process.pid)
        process.send_signal(number)
        process.wait(timeout=60)
    assert gone(child)
