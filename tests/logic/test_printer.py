"""Printing: parsing what is printed gives the formula back, with no parentheses to spare."""

from __future__ import annotations

import pytest
from hypothesis import given
from strategies import NAMES, syntax, well_sorted

import stead_sym.logic.syntax as fo
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.printer import print_formula
from stead_sym.logic.sorts import resolve


@given(syntax())
def test_parsing_what_is_printed_gives_the_formula_back(formula):
    assert parse_formula(print_formula(formula)) == formula


@given(well_sorted())
def test_printing_keeps_a_resolved_formula(formula):
    assert resolve(parse_formula(print_formula(formula)), NAMES) == formula


@given(syntax())
def test_printing_keeps_the_default_sorts_of_a_list(formula):
    once = parse_formula(print_formula(formula))
    again = parse_formula(print_formula(once))
    assert [b.default for b in _binders(again)] == [b.default for b in _binders(once)]


def _binders(formula):
    return [f.binder for f in fo.subformulas(formula) if isinstance(f, fo.Quantified)]


@pytest.mark.parametrize(
    "text",
    [
        "P(x) & Q(x) & N()",
        "(P(x) & Q(x)) & N()",
        "P(x) | Q(x) & N()",
        "(P(x) | Q(x)) & N()",
        "P(x) -> Q(x) -> N()",
        "(P(x) -> Q(x)) -> N()",
        "P(x) <-> Q(x) <-> N()",
        "P(x) <-> (Q(x) <-> N())",
        "P(x) <-> Q(x) ~> N() -> N()",
        "P(x) <-> (Q(x) ~> N())",
        "(P(x) ~> Q(x)) ~> N()",
        "P(x) ~> (Q(x) ~> N())",
        "AG (P(x) ~> Q(x))",
        "~(P(x) ~> ~Q(x))",
        "~exists x. (P(x) ~> N())",
        "~(P(x) & Q(x))",
        "~~P(x)",
        "~(x != y)",
        "x != y",
        "AG EF P(x)",
        "AG (P(x) -> AF Q(x))",
        "AG forall x: a, y. P(x) -> AF Q(y)",
        "P(x) & exists y. Q(y) | N()",
        "P(x) & (exists y. Q(y)) | N()",
        "~(exists x. P(x)) & N()",
        "~exists x. (P(x) & N())",
        "AX (exists x. P(x)) & N()",
        "exists x. forall y. Q(x, y)",
        "atleast 2 x: a. P(x)",
        "E[P(x) & exists y. Q(y) U A[N() W P(x)]]",
        "same(P) & empty(Q) & P'(x)",
        "once W(x) & ~previously U(x) | W(x) since U(x)",
        "A[once U() U once W()]",
        "E[W(x) since U(x) W did U(x) & did W(_) by U]",
        "once gate(x) & historically event(x)",
        "once call'() & previously U'(x)",
        "once (false since true)",
        "refused W(x) & ~did U(_) | once refused U(_) by W",
        "offered W(x) & once offered U(_) | ~offered gate()",
        "P(x) & did W(x) | historically W'() since U'()",
    ],
)
def test_no_parentheses_but_those_that_are_needed(text):
    assert print_formula(parse_formula(text)) == text


def test_lists_of_variables_are_merged_only_where_the_sorts_stay():
    body = fo.Atom("Q", (fo.Var("x"), fo.Var("y")))
    assert print_formula(fo.Exists(fo.Binder("x", "a"), fo.Exists(fo.Binder("y", "a"), body))) == (
        "exists x: a, y: a. Q(x, y)"
    )
    # in one list x would fall back on the sort of y
    apart = fo.Exists(fo.Binder("x"), fo.Exists(fo.Binder("y", "a"), body))
    assert print_formula(apart) == "exists x. exists y: a. Q(x, y)"
    assert (
        print_formula(fo.Exists(fo.Binder("x"), fo.Forall(fo.Binder("y"), body)))
        == "exists x. forall y. Q(x, y)"
    )


def test_a_wildcard_is_in_no_list_of_variables():
    atom = fo.Atom("Q", (fo.Var("x"), fo.Var("_1")))
    wild = fo.Exists(fo.Binder("_1", "a", wild=True), atom)
    assert print_formula(fo.Exists(fo.Binder("x", "a"), wild)) == "exists x: a. Q(x, _)"
    both = fo.Exists(fo.Binder("_1", "a", wild=True), fo.And((atom, fo.Atom("P", (fo.Var("_1"),)))))
    assert print_formula(fo.Exists(fo.Binder("x", "a"), both)) == "exists x: a, _1: a. Q(x, _1) & P(_1)"


def test_a_conjunction_of_one_part_prints_as_the_part():
    part = fo.Atom("P", (fo.Const("c0"),))
    assert (str(fo.And((part,))), str(fo.Or((part,))), str(fo.And(())), str(fo.Or(()))) == (
        "P(c0)", "P(c0)", "true", "false",
    )  # fmt: skip
