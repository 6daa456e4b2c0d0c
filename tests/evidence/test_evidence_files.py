"""`verify --evidence DIR`: which files there are, what is written over, and what is wrong with a folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from evidence_cases import NESTED

import stead_sym as st
from stead_sym.cli.main import main
from stead_sym.errors import InputError
from stead_sym.report.folder import file_names, prepare, write_evidence

DOCS = Path(__file__).resolve().parents[2] / "docs"

UNFAIR = """
deployment unfair
relation N()
tool rest()
tool on()
  effect insert N()
{}
spec s EF N()
"""


def run(*words):
    return main(["verify", "refund", "--findings", "off", *map(str, words)])


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--json",), ("--timeout", "100")])
def test_each_verdict_has_two_files(tmp_path, more):
    out = tmp_path / "deep" / "out"
    assert run("--policy", "baseline", "--evidence", out, *more) == 1
    assert files(out) == sorted(f"{name}.{kind}" for name in ("auth", "prog") for kind in ("json", "txt"))
    data = json.loads((out / "auth.json").read_text(encoding="utf-8"))
    assert (data["spec"], data["holds"]) == ("auth", False)
    text = (out / "auth.txt").read_text(encoding="utf-8")
    assert text.startswith("evidence of stead-sym: auth fails, refund under baseline\n")
    assert "a claim about all runs" in (out / "prog.txt").read_text(encoding="utf-8")


def test_the_files_replay(tmp_path, capsys):
    run("--agent", "any", "--evidence", tmp_path)
    for name in ("auth", "prog"):
        capsys.readouterr()
        assert main(["replay", "refund", str(tmp_path / f"{name}.json"), "--quiet"]) == 0
        assert f"{name} fails under any agent: confirmed" in capsys.readouterr().out


def test_a_formula_has_a_name_that_is_safe(tmp_path):
    formula = "EF exists t. RefundIssued(t) & ~(exists a. Approved(t, a))"
    assert run("--policy", "baseline", "--formula", formula, "--evidence", tmp_path) == 0
    names = files(tmp_path)
    assert len({name.rsplit(".", 1)[0] for name in names}) == 1
    assert all(character.isalnum() or character in "-." for name in names for character in name)
    assert names[0].startswith("EF-exists-t-RefundIssued-t-exists-a-Appr")
    [text] = [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.txt")]
    assert "the formula holds, refund under baseline" in text


def test_names_are_told_apart():
    specs = ["auth", "Auth", "AUTH_2", "../up", "a/b", "a b", "", "é", "x" * 200, "con.txt", "~P(x)", "P(x)"]
    names = file_names(specs)
    assert list(names) == specs
    assert len({name.casefold() for name in names.values()}) == len(specs)
    assert names["AUTH_2"] == "AUTH_2"
    for name in names.values():
        assert name == os.path.basename(name)
        assert name.isascii()
        assert 0 < len(name) < 60
        assert name[0].isalpha()
        assert "." not in name


def test_what_an_earlier_run_wrote_is_written_over(tmp_path):
    run("--agent", "any", "--evidence", tmp_path)
    before = (tmp_path / "auth.json").read_text(encoding="utf-8")
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    assert run("--policy", "baseline", "--evidence", tmp_path) == 1
    assert (tmp_path / "auth.json").read_text(encoding="utf-8") != before
    assert (tmp_path / "notes.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["auth.json", "prog.txt"])
def test_nothing_else_is_written_over(tmp_path, capsys, name):
    other = {"json": '{"format": "x"}', "txt": "my notes on evidence"}[name.split(".")[1]]
    (tmp_path / name).write_text(other, encoding="utf-8")
    capsys.readouterr()
    assert run("--agent", "any", "--evidence", tmp_path) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert f"{tmp_path / name}: is there already, and is no evidence of stead-sym" in said.err
    assert not said.out  # it is noticed before anything is verified
    assert files(tmp_path) == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == other


def test_a_folder_in_the_place_of_a_file_is_left_alone(tmp_path, capsys):
    (tmp_path / "auth.txt").mkdir()
    assert run("--agent", "any", "--evidence", tmp_path) == 2
    assert "auth.txt: is there already" in capsys.readouterr().err


def test_a_link_to_nowhere_is_no_evidence(tmp_path):
    (tmp_path / "auth.txt").symlink_to(tmp_path / "elsewhere")
    assert run("--agent", "any", "--evidence", tmp_path) == 2
    assert not (tmp_path / "elsewhere").exists()


def test_where_there_is_no_evidence_older_files_go(tmp_path):
    fair, unfair = (st.parse_deployment(UNFAIR.format(line)) for line in ("", "fair N() & ~N()"))
    assert len(write_evidence(st.verify(fair), tmp_path)) == 2
    assert write_evidence(st.verify(unfair), tmp_path) == ()
    assert files(tmp_path) == []


def test_no_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for place, says in (
        ("file", "file: is no folder"),
        ("file/below", "file/below: cannot be written (Not a"),
    ):
        capsys.readouterr()
        assert run("--agent", "any", "--evidence", tmp_path / place) == 2
        said = capsys.readouterr()
        assert says in said.err
        assert said.err.count("\n") == 1
        assert not said.out
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written"):
        prepare(tmp_path, ["auth"])


def test_a_folder_that_is_gone_is_one_line(tmp_path):
    result = st.verify(st.load("refund"), "any", findings=False)
    with pytest.raises(InputError, match=r"cannot be written \(No such file or directory\)"):
        write_evidence(result, tmp_path / "gone")


def alike(text):
    """The lines without what differs from run to run: the choice among alike names."""
    text = re.sub(r"\b(case|task|s|a|[A-Z]+_)\d+\b", r"\1N", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def test_the_page_on_evidence_shows_what_the_program_does(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "evidence.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for command, expected in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            program, *words = command.split()
            capsys.readouterr()
            if program == "cat":
                print((tmp_path / words[0]).read_text(encoding="utf-8"))
            else:
                assert program == "stead-sym"
                main(words)
            assert alike(capsys.readouterr().out) == alike(expected)


def test_the_page_on_evidence_names_every_part_of_the_json(tmp_path):
    page = (DOCS / "evidence.md").read_text(encoding="utf-8").split("## The JSON")[1]
    named = set(re.findall(r"`(\w+)`", page))
    path = tmp_path / "nested.stead"
    path.write_text(NESTED, encoding="utf-8")
    main(["verify", str(path), "--policy", "slow", "--evidence", str(tmp_path / "out"), "--quiet"])
    for file in (tmp_path / "out").glob("*.json"):
        data = json.loads(file.read_text(encoding="utf-8"))
        runs = [node["run"] for node in data["nodes"] if "run" in node]
        rows = [data, *data["nodes"], *runs, *(step for run in runs for step in run["steps"])]
        assert {name for row in rows for name in row} <= named
        assert all(node["because"] in page for node in data["nodes"])
