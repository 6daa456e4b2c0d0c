"""The commands, each once and in this process: a first look before the gate runs `tests/cli`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stead_sym as st
from stead_sym.cli.main import main

REFUND = ["refund", "--policy", "baseline"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], status: int, *argv: str) -> str:
    """Run a command, check its exit status, and return its standard output."""
    assert main(list(argv)) == status, capsys.readouterr().err
    return capsys.readouterr().out


def test_verify_prints_verdicts_and_writes_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, 1, "verify", *REFUND, "--quiet") == "auth fails\nprog holds\n"
    report = json.loads(run(capsys, 1, "verify", *REFUND, "--json", "--report", "page.html"))
    assert {name: spec["verdict"] for name, spec in report["specs"].items()} == {
        "auth": "fails",
        "prog": "holds",
    }
    assert "auth" in Path("page.html").read_text(encoding="utf-8")


def test_evidence_is_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, 1, "verify", *REFUND, "--evidence", "shown", "--quiet")
    assert "auth" in run(capsys, 0, "replay", "refund", "shown/auth.json")


def test_a_certificate_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, 0, "verify", "refund", "--policy", "approving", "--certify", "kept", "--quiet")
    assert "auth" in run(capsys, 0, "check-certificate", "kept", "--about", "refund")


def test_reports_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    for policy in ("baseline", "approving"):
        status = int(policy == "baseline")
        text = run(capsys, status, "verify", "refund", "--policy", policy, "--json")
        Path(f"{policy}.json").write_text(text, encoding="utf-8")
    assert "auth" in run(capsys, 0, "diff", "baseline.json", "approving.json")
    run(capsys, 1, "diff", "approving.json", "baseline.json")


def test_a_new_file_is_checked_shown_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, 0, "new", "desk")
    run(capsys, 0, "check", "desk.stead")
    assert st.parse_deployment(run(capsys, 0, "show", "desk.stead")).name == "desk"
    assert "desk" in run(capsys, 0, "explain", "desk.stead")


def test_bounds_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert "case" in run(capsys, 0, "bounds", *REFUND)


def test_decisions_are_blamed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "auth" in run(capsys, 0, "blame", *REFUND)


def test_a_shield_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert "issue_refund" in run(capsys, 0, "shield", "refund", "--spec", "auth")


def test_the_system_is_exported_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, 0, "export", *REFUND, "--smv", "refund.smv", "--quiet")
    assert "MODULE main" in Path("refund.smv").read_text(encoding="utf-8")
    run(capsys, 0, "graph", *REFUND, "--out", "states.svg")
    assert "<svg" in Path("states.svg").read_text(encoding="utf-8")


def test_wrong_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "no_such_file.stead"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
