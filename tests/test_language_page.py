"""The language page: both engines agree with its examples, and its words are those of the grammar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import stead_sym as st
from pages import FENCE, ROOT, Block, Reader, blocks, commands, verdicts

TEXT = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Session:
    """A command on a deployment of the page, and what the page says that it prints."""

    name: str
    file: str
    words: tuple[str, ...]
    output: str


BLOCKS = list(blocks(TEXT))


def sessions() -> Iterator[Session]:
    """The commands of the page, each with the deployment above it, whose file has its name."""
    file, name = "", ""
    for block in BLOCKS:
        if block.kind == "stead":
            file, name = block.text, block.text.split()[1]
        elif block.kind == "stead more":
            file = f"{file}\n{block.text}"
        elif block.kind == "console":
            [command] = commands(block.text)
            program, what, deployed, *_ = command.words
            assert (program, deployed) == ("stead-sym", f"{name}.stead"), f"line {block.line}"
            if what == "explain":  # it asks no engine; tests/test_pages.py runs it
                continue
            assert what == "verify", f"line {block.line}"
            yield Session(name, file, tuple(command.words[1:]), command.output)


def write_tables(folder: Path) -> None:
    """Write the tables of the page, which lie beside its deployments."""
    for block in BLOCKS:
        if block.kind == "csv" and block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")


SESSIONS = list(sessions())
DEPLOYMENTS = {session.file: session.name for session in SESSIONS}
GRAMMARS = ("logic/formula.lark", "deployment/deployment.lark")


def of_kind(kind: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind == kind]


def test_there_are_as_many_examples_as_the_page_needs() -> None:
    kinds = Counter(block.kind for block in BLOCKS)
    assert kinds.keys() == {"stead", "stead more", "csv", "console", "ebnf", "python"}
    assert kinds["stead"] >= 39
    assert kinds["python"] == 2
    assert kinds["console"] >= len(SESSIONS) >= 50
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
    assert [session.name for session in wrong] == ["night_watch"]
    assert all(session.output.startswith(f"stead-sym: {session.name}.stead:") for session in wrong)


def test_each_section_has_an_example() -> None:
    sections = re.findall(r"^###? (.*)$", FENCE.sub("", TEXT), re.MULTILINE)
    without = {"How a deployment runs", "Text", "Items", "Patterns", "Where people go wrong", "deployment"}
    assert set(sections) - without == {block.heading for block in of_kind("stead") + of_kind("python")}


def decided(output: str) -> dict[str, str]:
    """The verdicts that are known; of others a full report and a quiet one say different things."""
    return {name: word for name, word in verdicts(output).items() if word != "unknown"}


@pytest.mark.parametrize(
    "literal",
    [["--engine", "explicit"], pytest.param(["--domain", "theorem"], marks=pytest.mark.gate)],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "session",
    # The explicit engine takes minutes with three records of a file for every number of them.
    [session for session in SESSIONS if "--max-bound 3" not in " ".join(session.words)],
    ids=lambda session: " ".join(session.words),
)
def test_the_literal_domain_gives_the_same_verdicts(
    session: Session, literal: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    Path(f"{session.name}.stead").write_text(session.file, encoding="utf-8")
    words = [word for word in session.words if word not in ("--quiet", "--strict")]
    reader = Reader("language.md")
    out, err = reader.program("stead-sym", [*words, "--quiet", *literal, "--findings", "off"])
    if literal[0] == "--domain" and re.search(r"^bound \w+ any$", session.file, re.MULTILINE):
        assert "--domain is for bounds that the file has" in err
        return
    assert decided(out) == decided(session.output)
    assert (reader.status == 2) == (not out)
    assert err.startswith("stead-sym: ") == (reader.status == 2)


@pytest.mark.parametrize(("file", "name"), DEPLOYMENTS.items(), ids=DEPLOYMENTS.values())
def test_it_is_printed_back_as_itself(file: str, name: str, tmp_path: Path) -> None:
    write_tables(tmp_path)
    deployment = st.parse_deployment(file, folder=tmp_path)
    assert deployment.name == name
    assert st.parse_deployment(str(deployment)) == deployment


def test_the_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, name in DEPLOYMENTS.items():
        (tmp_path / f"{name}.stead").write_text(file, encoding="utf-8")
    write_tables(tmp_path)
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


def test_the_readme_and_the_changelog_lead_here() -> None:
    for name in ("README.md", "CHANGELOG.md"):
        assert "(docs/language.md)" in (ROOT / name).read_text(encoding="utf-8"), name
