"""The page of the paper's statements: what it shows is what the program prints, and each row has its test."""

from __future__ import annotations

import re

import pytest

from language_page import FENCE, ROOT, Session, blocks, folded, normalised, run, sessions
from stead_sym.cli.main import _parser

PAGE = ROOT / "docs" / "theory.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!---|the paper's statement)(.*) \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("session", list(sessions(TEXT)), ids=lambda session: session.command)
def test_it_prints_what_the_page_says(session: Session) -> None:
    status, out, err = run(session)
    assert normalised(folded(out + err)) == normalised(session.output.splitlines())
    assert status == (1 if " fails " in session.output else 3)


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks(TEXT):
        if block.kind == "python":
            exec(compile(block.text, f"theory.md:{block.line}", "exec"), names)
    assert capsys.readouterr().out.splitlines() == [
        "halts holds",
        "4 steps to 4 values of sort cell are in use besides the constants",
    ]


def test_each_row_has_its_test_and_a_command_of_the_program() -> None:
    assert len(ROWS) >= 17
    for row in ROWS:
        *_, commands, tests = row.split(" | ")
        for test in re.findall("`([^`]+)`", tests):
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8"), test
        for command in re.findall("`([^`]+)`", commands):
            program, *words = command.split()
            if program == "python":
                assert (ROOT / words[0]).is_file(), command
            else:
                assert program == "stead-sym", command
                _parser().parse_args(words)


def test_links_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", TEXT), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for target in re.findall(r"\]\(([^)]+)\)", FENCE.sub("", TEXT)):
        assert (target.startswith("#") and target[1:] in anchors) or (PAGE.parent / target).is_file(), target


def test_the_readme_leads_here() -> None:
    assert "(docs/theory.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
