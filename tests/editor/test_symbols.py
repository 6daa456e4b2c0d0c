"""The names of a file: each occurrence is found, and a rename never changes what anything means."""

from __future__ import annotations

import json
import random
import re
from importlib.resources import files
from pathlib import Path

import pytest

from stead_sym.cli.editor.describe import KEYWORDS, described
from stead_sym.cli.editor.names import Names, Symbol, clashes, renamed
from stead_sym.cli.new import TEMPLATES, template
from stead_sym.deployment.files import load_text, packaged_examples
from stead_sym.deployment.language import parse_deployment
from stead_sym.logic.parser import FORMULA_GRAMMAR
from stead_sym.verification.verify import verify

TESTS = Path(__file__).parents[1]
WRONG = {
    name
    for file in TESTS.glob("conformance*/expected.json")
    for name, one in json.loads(file.read_text()).items()
    if "wrong" in one
}
TEXTS = {
    **{name: load_text(name)[0] for name in packaged_examples()},
    **{name: template(name) for name in TEMPLATES},
    **{
        path.stem: path.read_text()
        for path in sorted(TESTS.glob("conformance*/*.stead"))
        if path.stem not in WRONG
    },
}
TEMPLATE_FILES = str(files("stead_sym.cli").joinpath("templates"))
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
    """The symbols but the deployment, a fourth of the variables, renamed in turn: only the name changes."""
    text = TEXTS[name]
    deployment = parse_deployment(text, folder=TEMPLATE_FILES)
    for number, one in enumerate(Names(text).symbols):
        if one.kind == "variable" and number % 4:
            continue
        refused = clashes(text, one, "zz_new")
        if "init from" in text and (one.kind == "constant" or one.argument is not None):
            assert "by hand" in (refused or "")  # the data may have the name
            continue
        assert refused is None, one
        new = renamed(text, one.places, "zz_new")
        again = parse_deployment(new, folder=TEMPLATE_FILES)
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
        ("case", "sort", 0, "zz\n"),
        ("case", "sort", 0, " zz"),
        ("t", "variable", 0, "zz # what follows it"),
        ("auth", "spec", 0, "a\u200bb"),
        ("open", "constant", 0, "_"),
        ("case", "sort", 0, "fa\u00e7ade"),
    ],
)
def test_a_rename_that_would_capture_or_clash_is_refused(name: str, kind: str, number: int, new: str) -> None:
    one = symbol(REFUND, name, kind, number)
    assert clashes(REFUND, one, new) is not None


BACKWARDS = """spec last AF ~P(a)
spec back AG forall x. (Q(x, k1) -> EF exists y. Q(x, y))
policy first
  call take(a) when P(a)
  call take(x) when exists y. Q(x, y)
  call rest()
tool rest()
tool take(x: s) guard P(x) effect delete P(x) set Q(x, k1)
define taken(x: s) = exists k: kind. Q(x, k)
init P(a) P(b) Q(b, k2)
relation P(s) relation Q(s key, kind)
bound s 0
sort kind = { k1, k2 } rigid
sort s
deployment backwards
"""
"""A file in which what is declared stands after what uses it."""


@pytest.mark.parametrize("name", ["backwards", "approval"])
def test_a_rename_that_is_not_refused_changes_no_verdict(name: str) -> None:
    """Every symbol renamed to names and words of the file, where that is let happen: the same answers."""
    text = TEXTS.get(name, BACKWARDS)
    names, chance = Names(text).symbols, random.Random(name)
    before = _answers(text)
    for one in names:
        for new in {chance.choice(("zz", "succ", "key")), chance.choice(names).name} - {one.name}:
            if clashes(text, one, new) is None:
                assert _answers(renamed(text, one.places, new)) == before, (one, new)


def _answers(text: str) -> tuple[list[str], int, int]:
    deployment = parse_deployment(text)
    agents = {role.name: role.policies[0].name for role in deployment.agents}
    result = verify(deployment, agents, engine="explicit", findings=False)
    return [verdict.word for verdict in result.verdicts.values()], result.states, result.transitions


def test_arguments_of_fair_calls_say_nothing() -> None:
    assert [s for s in Names(BACKWARDS + "fair tool take(zz)").symbols if s.name == "zz"] == []


def test_a_policy_may_name_a_constant_that_is_declared_after_it() -> None:
    assert [place.line for place in sorted(symbol(BACKWARDS, "a", "constant").places)] == [1, 4, 4, 10]


def test_what_data_may_name_is_not_renamed() -> None:
    """Which values a table has is not known to an editor: another name could come to mean one, or no more."""
    text = REFUND + 'init from "cases.csv" into CaseStatus(case, status)\n'
    for kind, name in (("constant", "s1"), ("constant", "open")):
        assert "the data that the file reads may have" in (
            clashes(text, symbol(text, name, kind), "zz") or ""
        )
    of_policy = next(s for s in Names(text).symbols if s.argument is not None)
    assert clashes(text, of_policy, "zz") is not None
    assert clashes(text, symbol(text, "CaseStatus", "relation"), "zz") is None


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
    deployment = parse_deployment(TEXTS[name], folder=TEMPLATE_FILES)
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
    assert {word for word in KEYWORDS if word.islower()} <= lower | {
        "exactly",
        "atmost",
        "atleast",
        "same",
        "fails",
        "deny",
        *("sequential", "batch", "on", "refusal", "skip", "each"),
    }


def test_a_rename_reaches_references() -> None:
    text = "deployment d\nsort s\nrelation P(s key)\nrelation Q(s key references P) total P\n"
    [relation] = [symbol for symbol in Names(text).symbols if (symbol.kind, symbol.name) == ("relation", "P")]
    assert [place.line for place in relation.places] == [3, 4, 4]
