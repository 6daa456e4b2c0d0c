"""A formula and what is left of it when the truth of some of its parts is folded mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, small_graphs, states, syntax, temporal_formulas, well_sorted

from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.logic.evaluate import holds
from stead_sym.logic.folding import conjoin, disjoin, fold
from stead_sym.logic.kernel import core, definition
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Atom,
    Count,
    Exists,
    Forall,
    Future,
    Globally,
    Next,
    Not,
    Or,
    Truth,
    Until,
    map_children,
    subformulas,
)


def some_decided(draw, formula):
    """Return the formula with some of its atoms replaced by `true` or `false`."""
    if isinstance(formula, Atom):
        return draw(st.sampled_from((formula, formula, TRUE, FALSE)))
    return map_children(lambda part: some_decided(draw, part), formula)


@given(st.data(), states())
def test_a_folded_first_order_formula_means_the_same(data, state):
    formula = some_decided(data.draw, data.draw(well_sorted({"v": "a"})))
    for value in ("c0", "nowhere"):
        assert holds(fold(formula), state, {"v": value}) is holds(formula, state, {"v": value})


@given(st.data(), small_graphs(), temporal_formulas())
def test_a_folded_formula_means_the_same_over_all_runs_and_over_the_fair_ones(data, graph, formula):
    formula = some_decided(data.draw, formula)
    labelling = Labelling(graph, theorem_restriction(graph.deployment, ()))
    found = fold(formula)
    assert labelling.satisfying(found) == labelling.satisfying(formula)
    assert fold(found) == found
    inner = fold(core(formula))
    assert labelling.satisfying(inner) == labelling.satisfying(formula)
    assert all(definition(part) is None for part in subformulas(inner))


@given(st.data(), temporal_formulas())
def test_nothing_is_left_to_fold_but_what_depends_on_values_and_runs(data, formula):
    for part in subformulas(fold(some_decided(data.draw, formula))):
        if isinstance(part, Exists | Forall):
            assert part.body != Truth(isinstance(part, Forall))
        elif isinstance(part, Next | Future | Globally):
            assert part.body != Truth(part.path == "A")
        elif not isinstance(part, Until | Count | Truth):
            assert not any(isinstance(one, Truth) for one in subformulas(part) if one in children_of(part))


def children_of(formula):
    """Return the immediate subformulas."""
    found = []
    map_children(lambda part: found.append(part) or part, formula)
    return found


@given(st.data(), temporal_formulas(), st.booleans())
def test_what_is_decided_from_outside_is_folded_like_a_written_truth(data, formula, value):
    atom = Atom("G")

    def written(part):
        return Truth(value) if part == atom else map_children(written, part)

    assert fold(formula, lambda part: value if part == atom else None) == fold(written(formula))


@pytest.mark.parametrize(
    ("given", "folded"),
    [
        ("P(c0) & (true & N) & P(c0)", "P(c0) & N"),
        ("P(c0) & (N & false)", "false"),
        ("N | (P(c0) | false) | N", "N | P(c0)"),
        ("exists x: a. true", "exists x: a. true"),  # there may be no active value
        ("exists x: a. P(x) & false", "false"),
        ("N <-> false", "~N"),
        ("N -> false", "~N"),
        ("~~N", "N"),
        ("E[N U false]", "false"),
        ("E[N W false]", "E[N W false]"),
        ("E[N U true]", "E[N U true]"),  # false without a fair run
        ("A[N U true]", "true"),
        ("A[N W false]", "A[N W false]"),
        ("AX false", "AX false"),
        ("EX true & AG true", "EX true"),
    ],
)
def test_a_folded_formula_as_it_is_written(given, folded):
    formula, expected = (resolve(parse_formula(text), NAMES, temporal=True) for text in (given, folded))
    assert fold(formula) == expected


def test_what_is_below_an_operator_of_the_past_stays():
    formula = parse_formula("(P(x) | true) since (previously (true & N))")
    assert fold(formula) == formula


@given(st.lists(syntax(depth=1), max_size=3))
def test_conjunctions_are_flat_and_have_each_part_once(parts):
    whole = conjoin(*parts)
    assert whole == conjoin(whole)
    if isinstance(whole, And):
        assert not any(isinstance(part, And | Truth) for part in whole.parts)
        assert len(set(whole.parts)) == len(whole.parts)


def test_a_disjunction_is_flat_and_has_each_part_once():
    inner = Or((Atom("N"), Not(Atom("N"))))
    assert disjoin(inner, FALSE, Atom("N")) == inner
    assert disjoin(inner, TRUE) == TRUE
    assert disjoin() == FALSE
