"""The site of the documentation: every page is in its navigation, links that leave `docs/` are followed.

`.ci/site` builds it without warnings; here is what can be said without building.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import stead_sym
from pages import ROOT

pytestmark = pytest.mark.gate

DOCS = ROOT / "docs"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation() -> None:
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    entries = re.findall(r"(\S+\.md)$", CONFIGURATION.split("\nnav:")[1], re.MULTILINE)
    named = set(entries)
    assert len(entries) == len(named), "a page is in the navigation twice"
    assert pages - named == set(), "name it under `nav` in mkdocs.yml"
    beside = {name.removeprefix("repository/") for name in named - pages}
    assert all((ROOT / name).is_file() for name in beside)


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    monkeypatch.syspath_prepend(str(DOCS / ".site"))
    import hooks

    yield hooks
    del sys.modules["hooks"]


def test_links_out_of_the_pages_are_followed(hooks) -> None:
    example = ROOT / "src" / "stead_sym" / "examples" / "bank.stead"
    page = DOCS / "examples" / "bank.md"
    assert example in hooks.targets(page)
    assert hooks.place(example) == "repository/src/stead_sym/examples/bank.stead"
    assert hooks.source(hooks.place(example)) == example
    assert hooks.source(hooks.place(page)) == page


def test_the_lexer_has_the_words_of_the_grammar(hooks) -> None:
    import stead_lexer

    grammar = "".join(
        (ROOT / "src" / "stead_sym" / name).read_text(encoding="utf-8")
        for name in ("logic/formula.lark", "deployment/deployment.lark")
    )
    terminals = "\n".join(re.findall(r"^_?[A-Z]+(?:\.\d)?: (.*)$", grammar, re.MULTILINE))
    spelled = re.sub(r"\[AE\](\w?)", r" A\1 E\1 ", terminals)
    spelled = re.sub(r"\[[^]\n]*\]|\\.", " ", spelled)
    known = {*stead_lexer.ITEMS, *stead_lexer.PARTS, *stead_lexer.LOGIC, *stead_lexer.MORE_LOGIC}
    assert set(re.findall(r"[A-Za-z]+", spelled)) - {"A", "E"} <= known


def test_blocks_of_the_language_get_their_colours(hooks) -> None:
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Keyword, Operator

    tokens = {text: kind for kind, text in get_lexer_by_name("stead").get_tokens("spec s\n  AG Open(x)")}
    assert tokens["spec"] is Keyword.Declaration
    assert tokens["AG"] is Operator.Word


def test_all_names_of_the_package_are_on_the_page_of_python(hooks) -> None:
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^<!-- all names: .* -->$", page, re.MULTILINE)) == 1
    shown = set(re.findall(r"^::: stead_sym\.([\w.]+)$", hooks.all_names(), re.MULTILINE))
    rooms = ("logic", "deployment", "verification")
    assert {name for name in stead_sym.__all__ if callable(getattr(stead_sym, name))} <= shown
    assert {f"{room}.{name}" for room in rooms for name in getattr(stead_sym, room).__all__} <= shown
    assert "errors.ParseError" in shown


def test_what_can_be_cited_is_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {stead_sym.__version__}\n" in text
    assert "\nlicense: Apache-2.0\n" in text


def test_the_files_that_the_guide_for_contributors_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walks = set(re.findall(r"`((?:src|tests|docs|benchmarks|\.ci)/[\w./]*)`", text))
    assert len(walks) > 35
    assert [name for name in sorted(walks) if not (ROOT / name).exists()] == []


def test_the_names_that_the_guide_for_contributors_gives_are_in_these_files() -> None:
    """A name in capitals in the same item of a list as files is in one of these."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for item in re.findall(r"^\d\. (.*(?:\n   .*)*)", text, re.MULTILINE):
        files = [ROOT / name for name in re.findall(r"`(src/[\w./]+\.py)`", item)]
        for name in re.findall(r"`([A-Z][a-z]\w+|[a-z]+_children|children)`", item):
            assert any(re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")) for file in files), name


def test_every_example_is_installed_with_the_package() -> None:
    folder = ROOT / "src" / "stead_sym" / "examples"
    assert {path.suffix for path in Path(folder).iterdir() if path.is_file()} == {".stead", ".py"}
