"""The page of the paper's experiments: it shows the paper's figures; what needs a model is a command."""

from __future__ import annotations

import re

from pages import ROOT, Block, blocks, commands
from stead_sym.agents.prompts.paper import PAPER_PROMPTS
from stead_sym.cli.parser import whole_parser

PAGE = ROOT / "docs" / "paper.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = list(blocks(TEXT))
ROWS = re.findall(r"^\| (?!---|the paper's result)(.*) \|$", TEXT, re.MULTILINE)


def of_kind(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind]


def test_the_page_has_what_it_needs() -> None:
    assert len(ROWS) >= 12
    assert [len(of_kind(kind)) for kind in ("python", "console", "sh")] == [3, 5, 3]
    assert TEXT.count("```") == 2 * len(BLOCKS)


def test_the_figures_are_those_of_the_paper() -> None:
    shown = [command for block in of_kind("console") for command in commands(block.text)]
    baseline, explicit, hypotheses, control, recorded = (command.output for command in shown)
    for shown in (baseline, recorded):
        assert "55 states, 72 transitions, 4 contexts" in shown
        assert re.search(r"✘  auth +fails", shown)
        assert re.search(r"✔  prog +holds", shown)
        steps = re.findall(r"^ +\d+  (\w+)\(", shown, re.MULTILINE)
        assert steps == ["ingest_case", "issue_refund"]
    assert "4 queries" in baseline
    assert explicit == "auth fails\nprog holds\n"
    assert "widened" not in hypotheses
    assert hypotheses.count("established") + hypotheses.count("by construction") == 7
    assert "73 states, 90 transitions, 5 contexts, 5 queries" in control
    assert control.count("holds") == 2


def test_what_needs_a_model_are_commands_of_the_program() -> None:
    lines = [line for block in of_kind("sh") for line in block.text.splitlines()]
    assert len(lines) == 7
    for line in lines:
        program, *words = line.replace("'", "").split()
        assert program == "stead-sym"
        options = whole_parser().parse_args(words)
        assert options.agent
        assert options.prompts is None or options.prompts.partition(":")[0] in PAPER_PROMPTS


def test_each_row_leads_to_a_section_or_says_why_not() -> None:
    for row in ROWS:
        assert "](#" in row or "none are reported" in row, row


def test_the_readme_leads_here() -> None:
    assert "(docs/paper.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
