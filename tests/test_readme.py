"""The README is one screen and two commands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from processes import said

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    found = [text for kind, text in BLOCKS if kind == language]
    assert found, f"no {language} in the README"
    return found


def normalised(text: str) -> list[str]:
    """The lines without what differs from run to run: the time, the choice among alike runs."""
    text = re.sub(r"\d+\.\d+ s\b", "T s", text)
    text = re.sub(r"\b(case|task|s|a)\d+\b", r"\1N", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def test_the_python_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "refund under baseline: 7 states, 8 transitions" in out
    assert "issue_refund" in out
    assert "refund under cautious" in out
    assert "refund under desk-v3" in out


def test_the_output_is_what_the_program_prints() -> None:
    for block in blocks("console"):
        command, expected = block.split("\n", 1)
        program, *arguments = command.removeprefix("$ ").split()
        assert program == "stead-sym"
        ended = subprocess.run(
            [sys.executable, "-m", "stead_sym", *arguments],
            capture_output=True,
            encoding="utf-8",
            check=False,
            env={"PYTHONUTF8": "1", "COLUMNS": "80"},
        )
        assert normalised(ended.stdout) == normalised(expected)
        assert said(ended.stderr) == []


def test_the_map_names_what_is_there_and_all_of_it() -> None:
    table = README.split("| layer | what |")[1].split("\n\n")[0]
    named = {name.rstrip("/") for name in re.findall(r"`([\w./]+)`", table)}
    package = ROOT / "src" / "stead_sym"
    there = {
        path.name
        for path in package.iterdir()
        if path.name[0] not in "_." and (path.is_dir() or path.suffix == ".py")
    }
    assert named <= there | {"verify"}
    assert there - named <= {
        "errors.py",
        "memory.py",
        "printable.py",
        "progress.py",
        "html.py",
        "examples",
        "testing",
    }


def test_the_map_of_the_symbolic_engine_is_the_folder() -> None:
    table = README.split("| in `symbolic/`, from the top down | what |")[1].split("\n\n")[0]
    named = re.findall(r"^\| `([\w.]+)/?` \|", table, re.MULTILINE)
    folder = ROOT / "src" / "stead_sym" / "symbolic"
    assert set(named) == {path.name for path in folder.iterdir() if path.name[0] != "_"}


def test_links_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert targets
    assert all((ROOT / target).is_file() for target in targets)


def test_there_are_two_commands_of_one_line() -> None:
    install, test = (block.strip() for block in blocks("sh"))
    assert install.endswith("stead-sym verify refund --policy baseline")
    assert test.endswith("pytest")
    assert "\n" not in install + test
