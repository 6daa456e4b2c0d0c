"""Active variables by the shape of a formula: a law, and the shapes that are recognised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, POOL, states, well_sorted

import stead_sym.logic.syntax as fo
from stead_sym.logic.activity import implies_active
from stead_sym.logic.evaluate import holds
from stead_sym.logic.kernel import core
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve


@given(st.data(), states(), st.booleans())
def test_no_other_value_satisfies_what_says_that_it_is_active(data, state, negated):
    formula = core(data.draw(well_sorted({"v": "a"})))
    if implies_active(formula, "v", negated=negated):
        for value in {*POOL["a"], "nowhere"} - state.active_domain["a"]:
            assert holds(formula, state, {"v": value}) is negated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P(v)", True),
        ("~P(v)", False),
        ("~~P(v)", True),
        ("v = c0", False),
        ("P(v) & ~Q(v, c0)", True),
        ("P(v) | Q(c0, v)", True),
        ("P(v) | P(c0)", False),
        ("P(c0) -> P(v)", False),
        ("false -> P(c0)", False),
        ("~(P(v) -> Q(v, v))", True),
        ("~(P(c0) | ~P(v))", True),
        ("exists y. Q(v, y) & P(y)", True),
        ("exists v. P(v)", False),  # another variable of the same name
        ("~forall v. ~P(v)", False),
        ("forall y. Q(v, y)", False),  # there may be no y
        ("~forall y. P(y) -> ~Q(v, y)", True),
        ("false & v = c0", True),
        ("atleast 1 y. Q(v, y)", False),  # so much is not looked at
    ],
)
def test_shapes_that_are_recognised(text, expected):
    formula = core(resolve(parse_formula(text), NAMES, {"v": "a"}))
    assert implies_active(formula, "v") is expected
    assert implies_active(fo.Not(formula), "v", negated=True) is expected
