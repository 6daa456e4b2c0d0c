"""The names of a file: each occurrence is found, and a rename never changes what anything means."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from stead_sym.cli.editor.describe import KEYWORDS, described
from stead_sym.cli.editor.names import Names, Symbol, clashes, renamed
from stead_sym.cli.new import TEMPLATES, template
from stead_sym.deployment.language import parse_deployment
from stead_sym.files import load_text, packaged_examples
from stead_sym.logic.parser import FORMULA_GRAMMAR

TESTS = Path(__file__).parents[1]
TEXTS = {
    **{name: load_text(name)[0] for name in packaged_examples()},
    **{name: template(name) for name in TEMPLATES},
    **{path.stem: path.read_text() for path in sorted(TESTS.glob("conformance*/*.stead"))},
}
REFUND = load_text("refund")[0]


def symbol(text: str, name: str, kind: str, number: int = 0) -> Symbol:
    found = [s for s in Names(text).symbols if (s.name, s.kind) == (name, kind)]
    return found[number]


@pytest.mark.parametrize("name", TEXTS)
def test_every_name_is_declared_and_stands_where_it_is_said_to(name: str) -> None:
    lines = TEXTS[name].split("\n")
    found = Names(TEXTS[name]).symbols
    assert found
    for one in found:
        assert one.declaration is not None, one
        for place in one.places:
            assert lines[place.line - 1][place.column - 1 :][: place.length] == one.name


@pytest.mark.parametrize("name", [*packaged_examples(), *TEMPLATES])
def test_a_rename_to_a_new_name_changes_nothing_but_names(name: str) -> None:
    """Every symbol but the deployment renamed in turn: the file is the same one up to that name."""
    text = TEXTS[name]
    deployment = parse_deployment(text)
    for one in Names(text).symbols:
        assert clashes(text, one, "zz_new") is None, one
        new = renamed(text, one.places, "zz_new")
        again = parse_deployment(new)
        assert renamed(new, one_at(new, one).places, one.name) == text
        assert len(again.written.specs) == len(deployment.written.specs)
        if one.kind == "variable":  # facts are printed in the order of their names
            assert Names(str(again)).meaning() == Names(str(deployment)).meaning()


def one_at(text: str, one: Symbol) -> Symbol:
    """The symbol that begins where another did."""
    names = Names(text)
    first = min(one.places)
    found = names.at(first.line, first.column)
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("name", "kind", "number", "new"),
    [
        ("t", "variable", 4, "c"),  # of the specification auth: its t becomes the quantified c beside it
        ("t", "variable", 0, "open"),  # of the define: `CaseStatus(c, open)` would read the parameter
        ("open", "constant", 0, "c"),  # a constant that a quantifier would take
        ("s", "variable", 0, "s1"),  # of ingest_case: `s = s1` would compare the chosen value with itself
        ("s1", "constant", 0, "s"),  # the same from the other side; every sort fits
        ("a", "variable", 1, "s"),  # of the specification auth: a quantifier beside it, of the same sort
        ("s1", "constant", 0, "a1"),
        ("case", "sort", 0, "task"),
        ("Handler", "relation", 0, "PartOf"),
        ("Handler", "relation", 0, "pending"),  # a define has the names of relations
        ("issue_refund", "tool", 0, "resolve_case"),
        ("auth", "spec", 0, "prog"),
        ("t", "variable", 0, "forall"),
        ("case", "sort", 0, "a b"),
        ("case", "sort", 0, ""),
        ("case", "sort", 0, "1x"),
    ],
)
def test_a_rename_that_would_capture_or_clash_is_refused(name: str, kind: str, number: int, new: str) -> None:
    one = symbol(REFUND, name, kind, number)
    assert clashes(REFUND, one, new) is not None


def test_a_rename_reaches_formulas_effects_views_and_policies() -> None:
    text = renamed(REFUND, symbol(REFUND, "CaseStatus", "relation").places, "StatusOf")
    assert "CaseStatus" not in text
    assert len(parse_deployment(text).written.specs) == 2


def test_a_primed_relation_is_one() -> None:
    text = "deployment d\nrelation P()\ntool t()\n  effect\n    ensure P'() <-> ~P()\n"
    one = symbol(text, "P", "relation")
    assert len(one.places) == 3
    assert "Q'() <-> ~Q()" in renamed(text, one.places, "Q")


def test_relations_that_are_read_from_files_are_found() -> None:
    text = 'deployment d\nsort s\nrelation P(s)\ninit from "p.csv" into P(owner)\n'
    assert [len(one.places) for one in Names(text).symbols if one.kind == "relation"] == [2]


def test_shadowing_is_told_apart() -> None:
    text = "deployment d\nsort s\nrelation P(s)\n"
    text += "tool t(x: s) guard P(x) & exists x. P(x)\nspec a forall x. P(x)\n"
    found = [len(one.places) for one in Names(text).symbols if one.kind == "variable"]
    assert found == [2, 2, 2]


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("case", "sort", "sort `case`, unbounded: at most 1 values in use besides 0 constants"),
        ("status", "sort", "sort `status`, finite: open, resolved (rigid)"),
        ("PartOf", "relation", "relation `PartOf(task, case)`"),
        ("pending", "define", "define `pending(t: task) = "),
        ("issue_refund", "tool", "tool `issue_refund(task_id: task)`, guard `pending(task_id)`"),
        ("open", "constant", "constant `open: status`, known by name"),
        ("s1", "constant", "constant `s1: service`"),
        ("q", "variable", "variable `q: status`"),
        ("auth", "spec", "spec `AG forall t: task, "),
    ],
)
def test_hover_has_the_sorts(name: str, kind: str, text: str) -> None:
    assert described(symbol(REFUND, name, kind), parse_deployment(REFUND)).startswith(text)


@pytest.mark.parametrize("name", [*packaged_examples(), *TEMPLATES])
def test_every_variable_has_a_sort(name: str) -> None:
    deployment = parse_deployment(TEXTS[name])
    for one in Names(TEXTS[name]).symbols:
        if one.kind == "variable":
            assert re.fullmatch(r"variable `\w+: \w+`", described(one, deployment)), one


def test_the_keywords_are_those_of_the_grammar() -> None:
    grammar = files("stead_sym.deployment").joinpath("deployment.lark").read_text() + FORMULA_GRAMMAR
    patterns = re.findall(r"^_?[A-Z]+(?:\.\d)?: *(.*)$", grammar, re.MULTILINE)
    words = {
        word for pattern in patterns for word in re.findall(r"/\(?([a-z|]+)\\?\)?\b|\|([a-z]+)", pattern)
    }
    lower = {part for pair in words for word in pair for part in word.split("|") if len(part) > 1}
    assert lower <= set(KEYWORDS)
    assert {word for word in KEYWORDS if word.islower()} <= lower | {"exactly", "atmost", "atleast", "same"}
