"""docs/symmetry.md: its Python and its command print what the page says, and its options are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from language_page import ROOT, Session, blocks, folded, run
from stead_sym.cli.main import main

PAGE = (ROOT / "docs" / "symmetry.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    [found] = [one.text for one in blocks(PAGE) if one.kind == kind]
    return found


def test_the_python_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queue.stead").write_text(block("stead"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "symmetry.md", "exec"), {})
    assert capsys.readouterr().out == block("text")


def test_the_command_prints_what_the_page_says() -> None:
    prompt, output = block("console").split("\n", 1)
    status, out, err = run(Session("queue", block("stead"), prompt.removeprefix("$ "), output))
    assert folded(out + err) == output.splitlines()
    assert status == 0


def test_the_options_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    named = set(re.findall(r"--[a-z]+[a-z-]*", PAGE))
    for command in ("symmetry", "verify"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
    assert named <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
