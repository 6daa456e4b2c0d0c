"""Leaving out values that cannot decide leaves out none that can, and leaves out many."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import NAMES, POOL, SCHEMA, states, well_sorted

from engine_pairs import examples
from stead_sym.logic import candidates as candidates_module
from stead_sym.logic import evaluate as evaluate_module
from stead_sym.logic.candidates import candidates, facts_of, worth_trying
from stead_sym.logic.evaluate import holds
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.relational.instance import Fact, Instance

SCOPE = {"v": "a", "w": "a", "u": "k"}


@given(well_sorted(SCOPE), states(), st.booleans(), st.booleans(), st.sampled_from([0, 16]))
def test_no_value_is_left_out_that_some_assignment_needs(formula, state, truth, known, many):
    sigma = {"w": "c1"} if known else {}
    with patch.object(candidates_module, "MANY", many):
        found = candidates(formula, "v", facts_of(state), sigma, truth)
    others = [("c1",) if known else POOL["a"], POOL["k"]]
    for value, w, u in product(POOL["a"], *others):
        if holds(formula, state, {"v": value, "w": w, "u": u}) == truth:
            assert found is None or value in found


@given(well_sorted(SCOPE), states(), st.sampled_from(POOL["a"]), st.sampled_from(POOL["k"]))
def test_truth_does_not_depend_on_it(formula, state, value, other):
    sigma = {"v": value, "w": "c0", "u": other}
    expected = holds(formula, state, sigma)
    with patch.object(candidates_module, "MANY", 0), patch.object(evaluate_module, "MANY", 0):
        assert holds(formula, state, sigma) == expected


@pytest.mark.parametrize("body", ["P(x)", "~P(x)", "Q(x, y)", "P(x) -> Q(x, x)", "P(x) | ~Q(x, y)", "x = y"])
@pytest.mark.parametrize(
    "quantifier", ["exists x.", "forall x.", "exactly 1 x.", "atmost 1 x.", "atleast 2 x."]
)
@settings(max_examples=examples(20))
@given(states(), st.sampled_from(POOL["a"]))
def test_nor_for_any_quantifier(quantifier, body, state, value):
    formula = resolve(parse_formula(f"{quantifier} {body}"), NAMES, {"y": "a"})
    expected = holds(formula, state, {"y": value})
    with patch.object(candidates_module, "MANY", 0), patch.object(evaluate_module, "MANY", 0):
        assert holds(formula, state, {"y": value}) == expected


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
    assert candidates(formula, "x", facts_of(state), sigma, truth) == found


@pytest.mark.parametrize(
    ("text", "truth"), [("exists y. P(y) & Q(y, x)", True), ("forall y. P(y) -> ~Q(y, x)", False)]
)
def test_many_are_found_by_the_few_values_of_a_bound_variable(text, truth):
    state = Instance.of(
        SCHEMA,
        [("P", ("a0",)), ("P", ("a1",)), *(("Q", (f"a{number % 5}", f"b{number}")) for number in range(50))],
    )
    formula = resolve(parse_formula(text), NAMES, {"x": "a"})
    found = {f"b{number}" for number in range(50) if number % 5 < 2}
    assert candidates(formula, "x", facts_of(state), {}, truth) == found


def test_of_few_values_none_is_left_out_and_of_many_all_that_cannot_be():
    formula = resolve(parse_formula("P(x)"), NAMES, {"x": "a"})
    state = Instance(SCHEMA, frozenset({Fact("P", ("v3",))}))
    few, many = (tuple(f"v{i}" for i in range(size)) for size in (15, 16))
    assert worth_trying(few, formula, "x", state, {}) == few
    assert worth_trying(many, formula, "x", state, {"x": "v9"}) == ["v3"]


@given(states(), st.sampled_from(sorted(relation.name for relation in SCHEMA.relations)), st.integers(0, 2))
def test_the_tuples_that_have_a_value_at_a_place(state, relation, place):
    tuples = state.tuples(relation)
    if place < SCHEMA.relation(relation).arity:
        for value in {args[place] for args in tuples} | {"nobody"}:
            found = state.matching(
                relation,
                [value if at == place else None for at in range(len(SCHEMA.relation(relation).sorts))],
            )
            assert sorted(found) == sorted(args for args in tuples if args[place] == value)


@pytest.mark.parametrize("number", [50, 200])
def test_only_the_tuples_of_the_known_value_are_looked_at(number, monkeypatch):
    """For one v the guard looks at its own tuples, however many others there are."""
    facts = [Fact("Q", (f"a{i}", f"a{i}.{j}")) for i in range(number) for j in range(3)]
    state = Instance(SCHEMA, frozenset(facts))
    looked_at = []
    having = Instance._having

    def counting(self, *args):
        found = having(self, *args)
        looked_at.extend(found)
        return found

    monkeypatch.setattr(Instance, "_having", counting)
    formula = resolve(parse_formula("exists y. Q(v, y) & P(y)"), NAMES, {"v": "a"})
    assert not holds(formula, state, {"v": "a7"})
    assert 0 < len(looked_at) <= 6
