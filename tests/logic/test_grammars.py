"""The tables of the parsers are kept, and whatever becomes of the file the language is the same."""

from __future__ import annotations

import pytest

from stead_sym.errors import ParseError
from stead_sym.logic import parser
from stead_sym.logic.parser import parse_formula
from stead_sym.support.caches import cache_folder


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The file of the parser of formulas in a folder of caches of its own; the parser is made anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    parser._parser.cache_clear()
    yield cache_folder("grammars") / "formulas.lark"
    parser._parser.cache_clear()


def read():
    parser._parser.cache_clear()
    with pytest.raises(ParseError, match="f:1:6"):
        parse_formula("P &  &", source="f")
    return parse_formula("AG forall x. (P(x) -> EX Q(x, c))")


def test_what_is_kept_reads_as_what_is_computed(kept):
    first = read()
    assert kept.is_file()
    assert read() == first


@pytest.mark.parametrize("content", [b"", b"{}", b"\x80\x04.", b"x" * 1000])
def test_a_file_that_is_damaged_is_computed_anew(kept, content):
    first = read()
    whole = kept.read_bytes()
    for damaged in (content, whole[: len(whole) // 2], whole.splitlines(keepends=True)[0]):
        kept.write_bytes(damaged)
        assert read() == first


def test_tables_of_another_grammar_are_not_taken(kept):
    first = read()
    other = parser.build_parser("formulas", 'start: "no"\n', ("start",))
    assert other.parse("no").data == "start"
    assert read() == first


def test_a_folder_that_cannot_be_made_costs_time_only(monkeypatch, tmp_path):
    (tmp_path / "caches").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    read()
