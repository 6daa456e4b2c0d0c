"""The values with which a formula holds are found as if all were tried, for few values and for many."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, POOL, SCHEMA, states, well_sorted

from stead_sym.logic import candidates as candidates_module
from stead_sym.logic import evaluate as evaluate_module
from stead_sym.logic.evaluate import holds, solutions
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.relational.instance import Instance

SORTS = {"v": "a", "w": "a", "u": "k"}
formulas = st.lists(well_sorted(SORTS), min_size=1, max_size=3)


@given(formulas, states(), st.permutations(sorted(SORTS)), st.integers(0, 3), st.sampled_from([0, 16]))
def test_they_are_those_with_which_it_holds(parts, state, names, known, many):
    formula = parts[0]
    for part in parts[1:]:
        formula = formula & part
    sigma = {name: POOL[SORTS[name]][-1] for name in names[:known]}
    domains = {name: frozenset(POOL[SORTS[name]]) for name in names[known:]}
    expected = [
        {**sigma, **dict(zip(domains, values, strict=True))}
        for values in product(*map(sorted, domains.values()))
        if holds(formula, state, {**sigma, **dict(zip(domains, values, strict=True))})
    ]
    with patch.object(candidates_module, "MANY", many), patch.object(evaluate_module, "MANY", many):
        assert list(solutions(formula, domains, state, sigma)) == expected


def test_a_conjunct_that_is_false_ends_the_search_for_its_variables():
    state = Instance.of(SCHEMA, [("P", (f"c{number}",)) for number in range(3)])
    formula = resolve(parse_formula("P(w) & v = v & ~P(v)"), NAMES, {"v": "a", "w": "a"})
    tried = []
    with patch.object(evaluate_module, "holds", lambda f, *rest: tried.append(f) or holds(f, *rest)):
        domains = {"v": frozenset({"c0", "c1", "c2"}), "w": frozenset({"c0", "c1", "c2"})}
        assert list(solutions(formula, domains, state, {})) == []
    assert not any("P(w)" in str(part) for part in tried)


def test_a_domain_comes_before_a_value_of_the_same_name():
    state = Instance.of(SCHEMA, [("P", ("c0",))])
    formula = resolve(parse_formula("P(v)"), NAMES, {"v": "a"})
    assert list(solutions(formula, {"v": frozenset({"c0", "c1"})}, state, {"v": "c1"})) == [{"v": "c0"}]
