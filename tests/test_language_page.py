"""The language page: each example on it runs, prints what it says, and both engines agree with it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import stead_sym as st
from language_page import (
    FENCE,
    PAGE,
    ROOT,
    Block,
    Session,
    blocks,
    folded,
    normalised,
    run,
    sessions,
    write_files,
)

TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = list(blocks(TEXT))
SESSIONS = list(sessions(TEXT))
DEPLOYMENTS = {session.file: session.name for session in SESSIONS}
GRAMMARS = ("logic/formula.lark", "deployment/deployment.lark")


def of_kind(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind]


def verdicts(output: str) -> dict[str, str]:
    """The verdicts in what a quiet or a full report prints, by specification."""
    quiet = re.findall(r"^(?!stead-sym)(\S.*?) (holds|fails|unknown)$", output, re.MULTILINE)
    full = re.findall(r"^  [✘✔?]  (\S+) +(holds|fails|unknown)\b", output, re.MULTILINE)
    return dict([*quiet, *full])


def test_there_are_as_many_examples_as_the_page_needs() -> None:
    kinds = Counter(block.kind for block in BLOCKS)
    assert kinds.keys() == {"stead", "stead more", "csv orders.csv", "console", "ebnf", "python"}
    assert kinds["stead"] >= 39
    assert kinds["python"] == 2
    assert kinds["console"] == len(SESSIONS) >= 50
    words = Counter(word for session in SESSIONS for word in verdicts(session.output).values())
    assert words["holds"] >= 50
    assert words["fails"] >= 25
    assert TEXT.count("```") == 2 * len(BLOCKS)


def test_each_deployment_has_a_name_of_its_own_and_is_run() -> None:
    named = [block.text.split()[:2] for block in of_kind("stead")]
    assert all(word == "deployment" for word, _ in named)
    assert len({name for _, name in named}) == len(named)
    assert {name for _, name in named} == set(DEPLOYMENTS.values())
    assert len(DEPLOYMENTS) == len(named) + len(of_kind("stead more"))


def test_errors_are_shown_where_they_are_meant() -> None:
    wrong = [session for session in SESSIONS if not verdicts(session.output)]
    assert [session.name for session in wrong] == ["queue", "parcels", "night_watch"]
    assert all(session.output.startswith(f"stead-sym: {session.name}.stead:") for session in wrong)


def test_each_section_has_an_example() -> None:
    sections = re.findall(r"^###? (.*)$", FENCE.sub("", TEXT), re.MULTILINE)
    without = {"How a deployment runs", "Text", "Items", "Patterns", "Where people go wrong", "deployment"}
    assert set(sections) - without == {block.heading for block in of_kind("stead") + of_kind("python")}


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.command)
def test_it_prints_what_the_page_says(session: Session) -> None:
    status, out, err = run(session)
    assert normalised(folded(out + err)) == normalised(session.output.splitlines())
    words = verdicts(session.output)
    wrong = "fails" in words.values() or "stead-sym: finding: " in session.output
    assert status == (int(wrong) if words else 2)


@pytest.mark.parametrize("literal", [["--engine", "explicit"], ["--domain", "theorem"]], ids=" ".join)
@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.command)
def test_the_literal_domain_gives_the_same_verdicts(session: Session, literal: list[str]) -> None:
    words = [word for word in session.words if word not in ("--quiet", "--strict")]
    quiet = Session(session.name, session.file, f"stead-sym {' '.join(map(repr, words))} --quiet", "")
    status, out, err = run(quiet, [*literal, "--findings", "off"])
    assert verdicts(out) == verdicts(session.output)
    assert (status == 2) == (not verdicts(out))
    assert err.startswith("stead-sym: ") == (status == 2)


@pytest.mark.parametrize(("file", "name"), DEPLOYMENTS.items(), ids=DEPLOYMENTS.values())
def test_it_is_printed_back_as_itself(file: str, name: str, tmp_path: Path) -> None:
    write_files(TEXT, tmp_path)
    deployment = st.parse_deployment(file, folder=tmp_path)
    assert deployment.name == name
    assert st.parse_deployment(str(deployment)) == deployment


def test_the_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, name in DEPLOYMENTS.items():
        (tmp_path / f"{name}.stead").write_text(file, encoding="utf-8")
    write_files(TEXT, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in of_kind("python"):
        exec(compile(block.text, f"language.md:{block.line}", "exec"), names)
    out = capsys.readouterr().out
    assert "close(ticket1)" in out
    assert "office under" in out
    assert "AG ~exists r. Request(r, done) fails" in out


def test_the_words_of_the_page_are_those_of_the_grammar() -> None:
    """In quotes on the page, in terminals of the grammar; `succ` is spelled like a relation."""
    on_the_page = set(re.findall(r'"([A-Za-z]+)"', "".join(block.text for block in of_kind("ebnf"))))
    grammar = "".join((ROOT / "src" / "stead_sym" / name).read_text(encoding="utf-8") for name in GRAMMARS)
    terminals = "\n".join(re.findall(r"^_?[A-Z]+(?:\.\d)?: (.*)$", grammar, re.MULTILINE))
    spelled = re.sub(r"\[AE\](\w?)", r" A\1 E\1 ", terminals)  # AX and EX in one pattern
    spelled = re.sub(r"\[[^]\n]*\]|\\.", " ", spelled)  # other classes of characters, and escapes
    assert len(on_the_page) > 40
    assert on_the_page - {"succ"} == set(re.findall(r"[A-Za-z]+", spelled))


def test_links_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", TEXT), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    targets = re.findall(r"\]\(([^)]+)\)", FENCE.sub("", TEXT))
    assert len(targets) > 20
    for target in targets:
        if target.startswith("#"):
            assert target[1:] in anchors
        else:
            assert (PAGE.parent / target).is_file(), target


def test_the_readme_and_the_changelog_lead_here() -> None:
    for name in ("README.md", "CHANGELOG.md"):
        assert "(docs/language.md)" in (ROOT / name).read_text(encoding="utf-8"), name
