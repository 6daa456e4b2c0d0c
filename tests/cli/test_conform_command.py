"""`stead-sym conform` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead_sym.cli.main import main

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
