"""Sweeps on processes: results, going on after an end, what kills a run, plans and tables."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sweeping import expected, runs, write_killer

import stead_sym as st
from stead_sym.analyses.sweeps.plan import read_plan
from stead_sym.analyses.sweeps.run import Job
from stead_sym.analyses.sweeps.sweep import results_in
from stead_sym.analyses.sweeps.table import print_sweep
from stead_sym.analyses.sweeps.work import Result, carry_out
from stead_sym.cli.main import main


class Scripted(Executor):
    """Carries nothing out: gives the results that it was given, in their order, and keeps the jobs."""

    def __init__(self, *results: Result | BaseException) -> None:
        self.results = list(results)
        self.jobs: list[Job] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.append(args[0])
        future: Future[Any] = Future()
        found = self.results.pop(0)
        if isinstance(found, BaseException):
            future.set_exception(found)
        else:
            future.set_result(found)
        return future


DONE = Result("done", {"aged": "holds"}, {"states": 3}, seconds=1.0)
LOST = Result("lost", error="killed")
STOPPED = Result("stopped", {"aged": "unknown"}, error="at the limit")


def test_ten_runs_of_which_one_is_killed(tmp_path: Path) -> None:
    """Each agent with two bounds.."""
    write_killer(tmp_path, levels=0)
    listed, file = runs(tmp_path, 10), tmp_path / "results.jsonl"
    store = str(tmp_path / "decisions.sqlite")
    first = st.sweep(listed, store=store, results=file, workers=2, tries=1)
    assert (tmp_path / "killed").exists()
    assert [row.result.outcome for row in first.rows].count("done") == 9
    assert first.rows[3].result.outcome == "lost"
    assert "ended by signal 9" in first.rows[3].result.error
    assert first.exit_status == 1
    second = st.sweep(listed, store=store, results=file, workers=2, tries=1)
    assert [row.run.agent for row in second.rows if row.fresh] == ["python:killer:once"]
    assert {row.result.outcome for row in second.rows} == {"done"}
    known: dict[str, dict[str, str]] = {}
    for row in second.rows:  # bounds change nothing here but what identifies a run
        assert row.result.specs == known.setdefault(str(row.run.agent), expected(row.run))
    with sqlite3.connect(store) as connection:
        assert connection.execute("select count(*) from sqlite_master").fetchone()[0] > 0


@pytest.mark.parametrize("levels", [0, 1])
def test_a_killed_run_is_started_again(levels: int, tmp_path: Path) -> None:
    """Its own process, and that of the command which watches it."""
    write_killer(tmp_path, levels)
    found = st.sweep(runs(tmp_path, 4)[3:], store=str(tmp_path / "s.sqlite"), workers=1)
    assert [row.result.outcome for row in found.rows] == ["done"]
    assert (tmp_path / "killed").exists()


def test_a_pool_that_breaks_is_made_again(tmp_path: Path) -> None:
    write_killer(tmp_path, levels=2)
    made: list[Executor] = []

    def pool() -> Executor:
        made.append(ProcessPoolExecutor(1, mp_context=get_context("spawn")))
        return made[-1]

    found = st.sweep(runs(tmp_path, 4)[3:], store=str(tmp_path / "s.sqlite"), executor=pool)
    assert [row.result.outcome for row in found.rows] == ["done"]
    assert len(made) == 2


def test_a_process_ends_with_its_worker(tmp_path: Path) -> None:
    """What a killed worker waited for does not go on by itself."""
    import signal
    import subprocess
    import sys
    import time

    (tmp_path / "slow.py").write_text(
        "import os, time\nimport stead_sym as st\n\n\n@st.agent(identity='slow')\ndef slow(context):\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(600)\n",
        encoding="utf-8",
    )
    runs(tmp_path, 1)
    store = str(tmp_path / "s.sqlite")
    program = (
        "import stead_sym as st\n"
        "from stead_sym.analyses.sweeps.work import carry_out\n"
        f"carry_out(st.Run('toy.stead', 'python:slow:slow', folder={str(tmp_path)!r}).job({store!r}))"
    )
    worker = subprocess.Popen([sys.executable, "-c", program])
    try:
        until = time.monotonic() + 120
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    pid = int((tmp_path / "pid").read_text())
    while os.path.exists(f"/proc/{pid}") and "Z" not in Path(f"/proc/{pid}/stat").read_text().split():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_lost_run_is_tried_so_often_and_others_once(tmp_path: Path) -> None:
    listed, file = runs(tmp_path, 3), tmp_path / "results.jsonl"
    pool = Scripted(LOST, STOPPED, DONE, LOST)
    found = st.sweep(listed, results=file, executor=pool, tries=2)
    assert [row.result.outcome for row in found.rows] == ["lost", "stopped", "done"]
    assert len(pool.jobs) == 4
    assert found.exit_status == 3
    again = Scripted(OSError("the worker has left"), DONE)
    found = st.sweep(listed, results=file, executor=again, tries=2)
    assert [row.result.outcome for row in found.rows] == ["done", "stopped", "done"]
    assert [row.fresh for row in found.rows] == [True, False, False]
    assert [job.words for job in again.jobs] == [pool.jobs[0].words] * 2
    everything = Scripted(DONE, DONE, DONE)
    assert all(row.fresh for row in st.sweep(listed, results=file, executor=everything, again=True).rows)


def test_results_are_told_as_they_come(tmp_path: Path) -> None:
    listed, told = runs(tmp_path, 3), []
    st.sweep(
        [*listed, listed[0]],
        executor=Scripted(DONE, STOPPED, DONE),
        told=lambda row, number, of: told.append((row.result.outcome, number, of)),
    )
    assert sorted(told, key=lambda one: one[1]) == told
    assert {(number, of) for _, number, of in told} == {(1, 3), (2, 3), (3, 3)}


def test_a_changed_run_is_another_one(tmp_path: Path) -> None:
    """Whatever the answer depends on is in the key, and what only the table shows is not."""
    (tmp_path / "data.csv").write_text("thing\na\n", encoding="utf-8")
    first = runs(tmp_path, 1)[0]
    text = (tmp_path / "toy.stead").read_text(encoding="utf-8")
    with_data = f"{text}\ninit from \"data.csv\" into Is(thing, 'new')"
    (tmp_path / "data.stead").write_text(with_data, encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "system.txt").write_text("Be kind.", encoding="utf-8")
    write_killer(tmp_path, 0)
    changes = {
        "agent": "taking",
        "timeout": 60,
        "memory": 500,
        "bounds": {"thing": 9},
        "specs": ("aged",),
        "engine": "explicit",
        "domain": "theorem",
        "deployment": "data.stead",
        "options": ("--findings", "off"),
    }
    keys = {first.key, *(replace(first, **{name: value}).key for name, value in changes.items())}  # type: ignore[arg-type]
    assert len(keys) == 1 + len(changes)
    assert replace(first, size=3).key == first.key
    assert replace(first, deployment=first.built).key != ""

    def key(**given: object) -> str:
        from stead_sym.analyses.sweeps.run import _loaded

        _loaded.cache_clear()
        return replace(first, **given).key  # type: ignore[arg-type]

    before = [key(deployment="data.stead"), key(prompts="prompts"), key(agent="python:killer:once"), key()]
    (tmp_path / "data.csv").write_text("thing\nb\n", encoding="utf-8")
    (tmp_path / "prompts" / "system.txt").write_text("Be firm.", encoding="utf-8")
    write_killer(tmp_path, 1)
    (tmp_path / "toy.stead").write_text(f"{text}\n# a comment", encoding="utf-8")
    after = [key(deployment="data.stead"), key(prompts="prompts"), key(agent="python:killer:once"), key()]
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, False, True]


def test_a_worker_with_other_data_is_found_out(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("thing\na\n", encoding="utf-8")
    runs(tmp_path, 1)
    text = (tmp_path / "toy.stead").read_text(encoding="utf-8")
    (tmp_path / "data.stead").write_text(f"{text}\ninit from \"data.csv\" into Is(thing, 'new')", "utf-8")
    job = st.Run("data.stead", "ageing", folder=str(tmp_path)).job()
    assert "data.stead" in job.words[1]
    assert carry_out(job).outcome == "done"
    (tmp_path / "data.csv").write_text("thing\nb\n", encoding="utf-8")
    found = carry_out(job)
    assert found.outcome == "error"
    assert "another deployment" in found.error
    assert not found.specs


def test_a_file_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    file, (first, second) = tmp_path / "results.jsonl", runs(tmp_path, 2)
    with results_in(file) as kept:
        kept.add(first, DONE)
        kept.add(second, STOPPED)
    whole = file.read_bytes()
    for cut in range(len(whole) - 2, len(whole.splitlines()[0]) + 1, -97):
        file.write_bytes(whole[:cut])
        with results_in(file) as kept:
            assert kept.lasting(first) == DONE
            assert kept.lasting(second) is None
            kept.add(second, STOPPED)
        with results_in(file) as kept:
            assert kept.lasting(second) == STOPPED
    zeros, damaged = b"\0" * 512, whole.replace(b'{"aged": "unknown"}', b"3")
    for left in (whole + zeros, whole.replace(b"\n", zeros + b"\n"), damaged):
        file.write_bytes(left)
        with results_in(file) as kept:
            assert kept.lasting(first) == DONE
            assert kept.lasting(second) == (STOPPED if left is not damaged else None)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(st.InputError, match=r"results\.jsonl:1: no result of a sweep"), results_in(file):
        pass
    file.write_text("order,user\n", encoding="utf-8")
    with pytest.raises(st.InputError, match=r"results\.jsonl:1: no result of a sweep"), results_in(file):
        pass
    with (
        results_in(tmp_path / "other"),
        pytest.raises(st.InputError, match="another sweep writes"),
        results_in(tmp_path / "other"),
    ):
        pass


PLAN = """
store = "decisions.sqlite"
timeout = 60

[[runs]]
deployment = ["toy.stead", "refund"]
agent = ["any", "ageing", { "" = "taking" }]
engine = "symbolic"

[[runs]]
deployment = "python:made_for_a_sweep:made"
size = [1, 2]
memory = 900
"""


def test_a_plan_is_all_combinations(tmp_path: Path) -> None:
    runs(tmp_path, 1)
    (tmp_path / "made_for_a_sweep.py").write_text(
        "import stead_sym as st\n\n\ndef made(n):\n    return st.load('refund')\n", encoding="utf-8"
    )
    (tmp_path / "sweep.toml").write_text(PLAN, encoding="utf-8")
    plan = read_plan(tmp_path / "sweep.toml")
    assert plan.store == "decisions.sqlite"
    assert len(plan.runs) == 2 * 3 + 2
    assert {run.timeout for run in plan.runs} == {60}
    assert [run.size for run in plan.runs if run.memory == 900] == [1, 2]
    assert {run.built.name for run in plan.runs} == {"toy", "refund"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs = 3", "there are no runs"),
        ("[[runs]]\nagent = 'any'", "runs 1: which deployment"),
        ("[[runs]]\ndeployment = 'toy.stead'\nagents = 'any'", "unknown key `agents`; did you mean agent"),
        ("[[runs]]\ndeployment = 'toy.stead'\nagent = 3", "`agent` has 3; write a text"),
        ("[[runs]]\ndeployment = []", "`deployment` is an empty list"),
        ("[[runs]]\ndeployment = 'toy.stead'\ntimeout = -1", "`timeout` is -1; write a number above 0"),
        ("[[runs]]\ndeployment = 'toy.stead'\ntimeout = nan", "`timeout` is nan"),
        ("[[runs]]\ndeployment = 'toy.stead'\ntimeout = inf", "`timeout` is inf"),
        ("[[runs]]\ndeployment = 'toy.stead'\nmemory = 1.5", "1.5; write a whole number above 0"),
        ("[[runs]]\ndeployment = 'toy.stead'\nbounds = { thing = [] }", "thing is an empty list"),
        ("[[runs]]\ndeployment = 'toy.stead'\nsize = 2", "`size` is for a deployment"),
        ("[[runs]]\ndeployment = 'toy.stead'\nbounds = { thing = 'x' }", "the bound of thing has 'x'"),
        ("[[runs]]\ndeployment = 'toy.stead'\nbounds = { thin = 1 }", "no unbounded sort thin"),
        ("[[runs]]\ndeployment = 'none.stead'", "none.stead: cannot be read"),
        ("[[runs]]\ndeployment = 'python:nowhere:f'", "python:nowhere:f is not there"),
        ("[[runs]]\ndeployment = 'python:wrong_for_a_sweep:f'", "python:wrong_for_a_sweep:f is not there"),
        ("[[runs]]\ndeployment = 'python::f'", "python::f is not there"),
        ("[[runs]]\ndeployment = 'python:wrong_for_a_sweep:made'", "with no size raises TypeError: made()"),
        (
            "[[runs]]\ndeployment = 'python:wrong_for_a_sweep:made'\nsize = 0",
            "python:wrong_for_a_sweep:made with size 0 raises ZeroDivisionError: division by zero; mend it",
        ),
        ("[[runs]]\ndeployment = 'python:cannot_be_read:f'", "raises SyntaxError"),
        ("[[runs]]\ndeployment = 'python:asks_for_another:f'", "raises ModuleNotFoundError"),
        ("store = 'postgresql://me:s3cret@h/d'\n[[runs]]\ndeployment = 'toy.stead'", "`store` is a URL"),
        ("[[runs", "no TOML"),
    ],
)
def test_a_plan_that_is_none(
    text: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs(tmp_path, 1)
    for module, program in {
        "wrong_for_a_sweep": "def made(n):\n    return 1 / n",
        "cannot_be_read": "def f(:",
        "asks_for_another": "import there_is_none",
    }.items():
        (tmp_path / f"{module}.py").write_text(program, encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr("sys.path", list(sys.path))
    assert main(["sweep", str(tmp_path / "sweep.toml")]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert "s3cret" not in err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs(tmp_path, 1)
    (tmp_path / "sweep.toml").write_text(
        "timeout = 100\n[[runs]]\ndeployment = 'toy.stead'\nagent = ['both', 'nobody']\n", encoding="utf-8"
    )
    words = ["sweep", str(tmp_path / "sweep.toml"), "--workers", "1"]
    assert main(words) == 3
    out, err = capsys.readouterr()
    assert "2 runs: 1 done, 1 error" in out
    assert "unknown policy nobody" in out
    assert "1 of 2: toy, agent both: aged holds, emptied holds" in err
    assert (tmp_path / "sweep.results.jsonl").read_text().count("\n") == 2
    assert main([*words, "--json"]) == 3
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["specs"] == ["aged", "emptied"]
    assert [(run["outcome"], run["fresh"]) for run in data["runs"]] == [("done", False), ("error", True)]
    assert data["runs"][0]["specs"] == {"aged": "holds", "emptied": "holds"}
    assert "(known)" in err
    assert main([*words, "--csv", "--quiet"]) == 3
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["outcome"] for row in rows] == ["done", "error"]
    assert rows[0]["aged"] == "holds"
    assert int(rows[0]["states"]) == st.verify(runs(tmp_path, 1)[0].built, "both").states
    assert err == ""


def test_a_store_in_a_variable_is_on_no_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_killer(tmp_path, 0)
    monkeypatch.setenv("STORE", "postgresql://me:s3cret@host/store")
    job = runs(tmp_path, 4)[3].job("env STORE")
    assert "s3cret" not in " ".join(job.words)
    assert job.environment == {"STORE": "postgresql://me:s3cret@host/store"}
    monkeypatch.setenv("STORE", str(tmp_path / "one.sqlite"))
    (tmp_path / "killed").touch()
    assert carry_out(runs(tmp_path, 4)[3].job("env STORE")).outcome == "done"
    assert (tmp_path / "one.sqlite").exists()


def test_each_name_in_the_table_stands_behind_its_verdict(tmp_path: Path) -> None:
    words = {
        "one_patient_per_bed": "holds",
        "confirmed": "holds",
        "answered": "holds",
        "isolated": "fails",
        "cleaned_in_between": "unknown",
    }
    done = Result("done", words, {"states": 46163}, seconds=1.0)
    stopped = Result("stopped", {"isolated": "fails"}, error="at the limit")
    scripted = Scripted(done, stopped)
    found = st.sweep(runs(tmp_path, 2), results=tmp_path / "r.jsonl", executor=lambda: scripted)
    out = io.StringIO()
    print_sweep(found, Console(file=out, width=80, highlight=False, color_system=None))
    header, *lines = out.getvalue().split("\n\n")[0].splitlines()
    column = slice(header.index("verdicts"), header.index("states"))
    assert " ".join(line[column].strip() for line in lines) == (
        "fails: isolated unknown: cleaned_in_between holds: one_patient_per_bed, confirmed, answered"
        " stopped fails: isolated"
    )


def test_what_holds_of_nothing_or_of_some_agent_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sweep is no place where a verdict reads greener than in `verify`."""
    tmp_path.joinpath("d.stead").write_text(
        "deployment d relation Never() relation Done() tool wait()\n"
        "tool work() guard ~Done() effect insert Done()\n"
        "spec nothing AG (Never() -> AX Done())\nspec possible EF Done()\n"
        "spec once AG (Done() -> AX Done())\n",
        encoding="utf-8",
    )
    tmp_path.joinpath("s.toml").write_text(
        "[[runs]]\ndeployment = 'd.stead'\nagent = 'any'\n", encoding="utf-8"
    )
    words = ["sweep", str(tmp_path / "s.toml"), "--workers", "1", "--quiet"]
    assert main([*words, "--csv"]) == 0
    assert '"holds, of nothing","holds, within its scope",holds,' in capsys.readouterr().out
    assert main(words) == 0
    out = capsys.readouterr().out
    for said in ("holds, of nothing: nothing", "holds, within its scope:", "holds: some agent does this"):
        assert said in out
    assert main([*words, "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["specs"] == {"nothing": "holds, of nothing", "possible": "holds", "once": "holds"}
    assert list(run["scope"]) == ["possible"]


def test_gates_are_an_axis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table of verdicts, gate by agent."""
    tmp_path.joinpath("d.stead").write_text(
        "deployment d relation Done() relation Off() tool work() effect insert Done()"
        " tool stop() effect insert Off() tool wait()"
        " gate g forbid work() gate h forbid stop() policy p call stop() call work()"
        " spec idle AG ~Done() spec on AG ~Off()\n",
        encoding="utf-8",
    )
    tmp_path.joinpath("s.toml").write_text(
        "[[runs]]\ndeployment = 'd.stead'\nagent = ['p', 'any']\ngates = ['', 'g', 'h', 'g h']\n",
        encoding="utf-8",
    )
    words = ["sweep", str(tmp_path / "s.toml"), "--workers", "1", "--quiet"]
    assert main([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["runs"]
    assert {(run["agent"], run["gates"]): tuple(run["specs"].values()) for run in found} == {
        ("p", "none"): ("holds", "fails"),
        ("p", "g"): ("holds", "fails"),
        ("p", "h"): ("fails", "holds"),
        ("any", "none"): ("fails", "fails"),
        ("any", "g"): ("holds", "fails"),
        ("any", "h"): ("fails", "holds"),
        ("any", "g h"): ("holds", "holds"),
        ("p", "g h"): (),
    }
    [undecided] = (run for run in found if (run["agent"], run["gates"]) == ("p", "g h"))
    assert "policy p selects nothing" in undecided["error"]
    tmp_path.joinpath("s.toml").write_text(
        "[[runs]]\ndeployment = 'd.stead'\ngates = 'k'\n", encoding="utf-8"
    )
    assert main(words) == 2
    assert "unknown gate k; there are g, h" in capsys.readouterr().err
