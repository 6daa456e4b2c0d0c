"""The page of the paper's experiments: what needs no model runs and prints what the page says, and the others
are commands of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from language_page import FENCE, ROOT, Block, Session, blocks, folded, normalised, run
from stead_sym.agent.prompts.paper import PAPER_PROMPTS
from stead_sym.cli.main import _parser

PAGE = ROOT / "docs" / "paper.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = list(blocks(TEXT))
ROWS = re.findall(r"^\| (?!---|the paper's result)(.*) \|$", TEXT, re.MULTILINE)
LISTING = "\\listingheading{User-message template.}\n\\begin{lstlisting}\n%s\n\\end{lstlisting}\n"


def of_kind(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind]


def sessions() -> list[Session]:
    pairs = (block.text.split("\n", 1) for block in of_kind("console"))
    return [Session("paper", "", prompt.removeprefix("$ "), output) for prompt, output in pairs]


def alike(lines: list[str]) -> list[str]:
    """Without what differs from run to run: the time, and which of alike values a run takes."""
    return [re.sub(r"\b(case|task|s|a)\d\b", r"\1N", line) for line in normalised(lines)]


def test_the_page_has_what_it_needs() -> None:
    assert len(ROWS) >= 12
    assert [len(of_kind(kind)) for kind in ("python", "console", "sh")] == [3, 5, 3]
    assert TEXT.count("```") == 2 * len(BLOCKS)


@pytest.mark.parametrize("session", sessions(), ids=lambda session: session.command)
def test_it_prints_what_the_page_says(session: Session) -> None:
    status, out, err = run(session)
    assert alike(folded(out + err)) == alike(session.output.splitlines())
    assert status == int(" fails" in session.output)


def test_the_figures_are_those_of_the_paper() -> None:
    baseline, explicit, hypotheses, control, recorded = (session.output for session in sessions())
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


def test_the_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = next((p / "paper.tex" for p in (ROOT / "shared", ROOT.parent / "shared")), None)
    listing = "[USERNAME] " * 5 + '\n{"do":"drop","ids":["<an id>"]}'
    has_source = source is not None and source.is_file()
    (tmp_path / "paper.tex").write_text(
        source.read_text(encoding="utf-8") if has_source and source else LISTING % listing, encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in of_kind("python"):
        exec(compile(block.text, f"paper.md:{block.line}", "exec"), names)
    assert capsys.readouterr().out.splitlines() == [
        "{'case': 3, 'task': 3, 'service': 4, 'status': 2} 12",
        "18",
        "5 places",
    ]


def test_what_needs_a_model_are_commands_of_the_program() -> None:
    lines = [line for block in of_kind("sh") for line in block.text.splitlines()]
    assert len(lines) == 7
    for line in lines:
        program, *words = Session("", "", line, "").command.replace("'", "").split()
        assert program == "stead-sym"
        options = _parser().parse_args(words)
        assert options.agent
        assert options.prompts is None or options.prompts.partition(":")[0] in PAPER_PROMPTS


def test_links_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", TEXT), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for target in re.findall(r"\]\(([^)]+)\)", FENCE.sub("", TEXT)):
        assert (target.startswith("#") and target[1:] in anchors) or (PAGE.parent / target).is_file(), target


def test_each_row_leads_to_a_section_or_says_why_not() -> None:
    for row in ROWS:
        assert "](#" in row or "none are reported" in row, row


def test_the_readme_leads_here() -> None:
    assert "(docs/paper.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
