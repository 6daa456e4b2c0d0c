"""The page of the paper's statements: each row has its test, and a command of the program."""

from __future__ import annotations

import re

from page_commands import not_options
from pages import ROOT
from shared_folder import shared_folder

PAGE = ROOT / "docs" / "theory.md"
TEXT = PAGE.read_text(encoding="utf-8")
NAMED = re.compile(r'(Definition|Theorem|Proposition|Lemma|Corollary) "([^"]*)"')
FIRST = TEXT.partition("\n## ")[0]
ROWS = re.findall(r"^\| (?!---|the paper's statement)(.*) \|$", FIRST, re.MULTILINE)


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
                assert not list(not_options(words))


def test_every_statement_of_the_paper_is_in_the_table() -> None:
    """Those with a number: restated ones have one already. Titles are written without the marks of TeX."""
    paper = (shared_folder() / "paper.tex").read_text(encoding="utf-8")
    kinds = "definition|theorem|proposition|lemma|corollary"
    begun = re.findall(rf"\\begin\{{({kinds})\}}\[(.*)\]", paper)
    assert len(begun) == len(re.findall(rf"\\begin\{{(?:{kinds})\}}", paper)) >= 25
    stated = {(kind.capitalize(), re.sub(r"[$]|\\[()]", "", title)) for kind, title in begun}
    listed = {named for row in ROWS for named in NAMED.findall(row.split(" | ")[0])}
    assert listed == stated


def test_the_readme_leads_here() -> None:
    assert "(docs/theory.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
