"""Leaving out values that cannot decide leaves out none that can, and leaves out many."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, POOL, SCHEMA, states, well_sorted

from stead_sym.logic import candidates as module
from stead_sym.logic.candidates import candidates, worth_trying
from stead_sym.logic.evaluate import holds
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.relational.instance import Fact, Instance

SCOPE = {"v": "a", "w": "a", "u": "k"}


@given(well_sorted(SCOPE), states(), st.booleans(), st.booleans())
def test_no_value_is_left_out_that_some_assignment_needs(formula, state, truth, known):
    sigma = {"w": "c1"} if known else {}
    found = candidates(formula, "v", state, sigma, truth)
    others = [("c1",) if known else POOL["a"], POOL["k"]]
    for value, w, u in product(POOL["a"], *others):
        if holds(formula, state, {"v": value, "w": w, "u": u}) == truth:
            assert found is None or value in found


@given(well_sorted(SCOPE), states(), st.sampled_from(POOL["a"]), st.sampled_from(POOL["k"]))
def test_truth_does_not_depend_on_it(formula, state, value, other):
    sigma = {"v": value, "w": "c0", "u": other}
    expected = holds(formula, state, sigma)
    with patch.object(module, "MANY", 0):
        assert holds(formula, state, sigma) == expected


@pytest.mark.parametrize(
    ("text", "sigma", "truth", "found"),
    [
        ("P(x)", {}, True, {"c0"}),
        ("P(x)", {}, False, None),
        ("~P(x)", {}, False, {"c0"}),
        ("Q(x, y)", {}, True, {"c0", "n"}),
        ("Q(x, y)", {"y": "n"}, True, {"c0"}),
        ("Q(x, n) & P(x)", {"n": "n"}, True, {"c0"}),
        ("P(x) | Q(y, x)", {}, True, {"c0", "n", "m"}),
        ("P(x) | y = y", {}, True, None),
        ("P(x) -> Q(x, y)", {}, False, {"c0"}),
        ("P(x) -> Q(x, y)", {}, True, None),
        ("~P(x) -> Q(x, y)", {}, True, {"c0", "n"}),
        ("exists y. Q(x, y) & P(y)", {"y": "n"}, True, {"c0", "n"}),
        ("exists x. P(x)", {}, True, None),
        ("x = y", {"y": "m"}, True, {"m"}),
        ("false & N", {}, True, set()),
    ],
)
def test_what_is_left(text, sigma, truth, found):
    state = Instance.of(SCHEMA, [("P", ("c0",)), ("Q", ("c0", "n")), ("Q", ("n", "m"))])
    formula = resolve(parse_formula(text), NAMES, {"x": "a", "y": "a", "n": "a"})
    assert candidates(formula, "x", state, sigma, truth) == found


def test_of_few_values_none_is_left_out_and_of_many_all_that_cannot_be():
    formula = resolve(parse_formula("P(x)"), NAMES, {"x": "a"})
    state = Instance(SCHEMA, frozenset({Fact("P", ("v3",))}))
    few, many = (tuple(f"v{i}" for i in range(size)) for size in (15, 16))
    assert worth_trying(few, formula, "x", state, {}) == few
    assert worth_trying(many, formula, "x", state, {"x": "v9"}) == ["v3"]
