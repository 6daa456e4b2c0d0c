"""`stead-sym conform` as people run it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from argparse import _SubParsersAction
from contextlib import closing
from pathlib import Path

import pytest

import stead_sym
from stead_sym.cli.main import main
from stead_sym.cli.parser import whole_parser
from stead_sym.cli.supervised import EXPLORING

_SRC = Path(stead_sym.__file__).parents[1]
_DESK = Path(__file__).resolve().parents[1] / "conform" / "case_desk.py"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(_DESK.parent)
    import case_desk as desk

    (tmp_path / "desk.stead").write_text(desk.FILE)
    (tmp_path / "bound.py").write_text(
        "import case_desk\nbinding = case_desk.binding()\n"
        "weak = case_desk.binding(approve=case_desk.approve_one_own)\n"
    )
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.delitem(__import__("sys").modules, "bound", raising=False)


def test_agreement_a_difference_and_a_limit_have_statuses_of_their_own(capsys):
    assert main(["conform", "desk.stead", "--binding", "bound"]) == 0
    assert "agree on all databases" in " ".join(capsys.readouterr().out.split())
    assert main(["conform", "desk.stead", "--binding", "bound:weak", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    [difference] = found["differences"]
    assert difference["kind"] == "not refused"
    assert difference["expected"] == [difference["before"]]
    assert main(["conform", "desk.stead", "--binding", "bound", "--max-states", "2"]) == 3


def test_another_database_is_used_and_left_with_its_tables(tmp_path, capsys):
    url = f"sqlite:///{tmp_path}/scratch.db"
    for _ in range(2):  # the second time its tables are there
        assert main(["conform", "desk.stead", "--binding", "bound", "--database", url, "--quiet"]) == 0


def test_another_database_that_holds_data_is_refused(tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / "mine.db")) as database:
        database.executescript(__import__("case_desk").SCHEMA)
        database.execute("INSERT INTO staff (id) VALUES (7)")
        database.commit()
        url = f"sqlite:///{tmp_path}/mine.db"
        assert main(["conform", "desk.stead", "--binding", "bound", "--database", url, "--quiet"]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert "the table staff of" in line
        assert database.execute("SELECT id FROM staff").fetchall() == [(7,)]


@pytest.mark.parametrize(
    ("binding", "says"),
    [
        ("nothing_here", "there is no module nothing_here"),
        ("bound:nothing", "has no nothing"),
        ("bound:case_desk", "is no Binding"),
        ("broken", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_bad_input_is_one_line(binding, says, capsys):
    assert main(["conform", "desk.stead", "--binding", binding]) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if "exploring" not in line]
    assert says in line


def test_every_command_with_limits_can_be_stopped():
    [commands] = [a.choices for a in whole_parser()._actions if isinstance(a, _SubParsersAction)]
    limited = {
        name
        for name, parser in commands.items()
        if any("--timeout" in action.option_strings for action in parser._actions)
    }
    assert limited == EXPLORING


def test_a_tool_that_hangs_is_stopped(tmp_path):
    (tmp_path / "hanging.py").write_text(
        "import case_desk, threading\nbinding = case_desk.binding(pay=lambda r: threading.Event().wait())\n"
    )
    words = ["conform", "desk.stead", "--binding", "hanging", "--timeout", "5"]
    ended = subprocess.run(
        [sys.executable, "-m", "stead_sym", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_DESK.parent), str(_SRC)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 3
    assert "stopped at the limit of 5 s (--timeout)" in ended.stderr
