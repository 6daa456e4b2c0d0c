"""`stead-sym export`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

import stead_sym as st
from stead_sym.cli.main import main


def test_all_formats_at_once(tmp_path, capsys):
    arguments = ["export", "refund", "--policy", "approving"]
    smv, tra = tmp_path / "refund.smv", tmp_path / "storm"
    assert main([*arguments, "--smv", str(smv), "--tra", str(tra)]) == 0
    said = capsys.readouterr()
    refund = st.load("refund")
    export = st.exported(st.verify(refund, refund.policy("approving"), findings=False))
    assert smv.read_text() == st.to_smv(export)
    files = st.to_storm(export)
    assert (tra / "model.tra").read_text() == files.transitions
    assert (tra / "model.lab").read_text() == files.labels
    assert (tra / "properties.props").read_text() == files.properties
    assert said.out == ""
    assert "1 initial, 9 states, 10 transitions" in said.err
    assert "spec_auth holds\n" in said.err
    assert "spec_prog holds\n" in said.err


def test_one_formula_to_stdout(capsys):
    arguments = ["export", "refund", "--domain", "theorem", "--formula", "AG ~RefundIssued(_)"]
    assert main([*arguments, "--smv", "-", "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "\nSPEC (AG " in said.out
    assert "-- stead-sym: fails" in said.out
    assert said.out.count("SPEC") == 1


def test_tools_and_sql_without_a_verification(tmp_path, capsys):
    folder = tmp_path / "sql"
    assert main(["export", "refund", "--tools", "mcp", "--sql", str(folder), "--dialect", "sqlite"]) == 0
    said = capsys.readouterr()
    refund = st.load("refund")
    sql = st.to_sql(refund, "sqlite")
    assert said.out == st.to_tools(refund, "mcp")
    assert said.err == "".join(f"stead-sym: left out: {line}\n" for line in sql.left_out)
    assert "ingest_case, line 27: `choose s: service` is decided by nobody" in said.err
    written = {path.name: path.read_text() for path in folder.iterdir()}
    assert written == {"schema.sql": sql.tables, "rows.sql": sql.rows, "tools.sql": sql.tools}


def test_the_command_says_that_it_is_done():
    words = [sys.executable, "-m", "stead_sym", "export", "refund", "--tools", "openai", "--quiet"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == st.to_tools(st.load("refund"))


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "no output is given; add --smv OUT, --tra DIR, --tools FORM or --sql DIR"),
        (["--smv", "/nowhere/x"], 2, "/nowhere/x: cannot be written"),
        (["--sql", "/dev/null/x"], 2, "/dev/null/x: cannot be written"),
        (["--tra", "/dev/null/x"], 2, "/dev/null/x: cannot be written"),
        (["--smv", "-", "--max-states", "3"], 3, "there are 7, more than 3; raise the limit"),
        (["--smv", "-", "--prompts", "x"], 2, "--prompts is for a language model"),
        (["--smv", "-", "--spec", "auht"], 2, "auth"),
    ],
)
def test_refusals(arguments, status, message, capsys):
    assert main(["export", "refund", *arguments, *(["--quiet"] if status == 2 else [])]) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err


def test_a_specification_that_gets_too_long(monkeypatch, capsys):
    monkeypatch.setattr("stead_sym.export.ground.MAX_PARTS", 10)
    assert main(["export", "refund", "--smv", "-"]) == 3
    assert "more than 10 parts once its quantifiers are written out" in capsys.readouterr().err
