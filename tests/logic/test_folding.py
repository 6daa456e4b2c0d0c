"""A formula and what is left of it when the truth of some of its parts is folded mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, small_graphs, states, syntax, temporal_formulas, well_sorted

import stead_sym.logic.syntax as fo
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.logic.evaluate import holds
from stead_sym.logic.folding import conjoin, disjoin, fold
from stead_sym.logic.kernel import core, definition
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve


def some_decided(draw, formula):
    """Return the formula with some of its atoms replaced by `true` or `false`."""
    if isinstance(formula, fo.Atom):
        return draw(st.sampled_from((formula, formula, fo.TRUE, fo.FALSE)))
    return fo.map_children(lambda part: some_decided(draw, part), formula)


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
    assert all(definition(part) is None for part in fo.subformulas(inner))


@given(st.data(), temporal_formulas())
def test_nothing_is_left_to_fold_but_what_depends_on_values_and_runs(data, formula):
    for part in fo.subformulas(fold(some_decided(data.draw, formula))):
        if isinstance(part, fo.Exists | fo.Forall):
            assert part.body != fo.Truth(isinstance(part, fo.Forall))
        elif isinstance(part, fo.Next | fo.Future | fo.Globally):
            assert part.body != fo.Truth(part.path == "A")
        elif not isinstance(part, fo.Until | fo.Count | fo.Truth):
            assert not any(
                isinstance(one, fo.Truth) for one in fo.subformulas(part) if one in children_of(part)
            )


def children_of(formula):
    """Return the immediate subformulas."""
    found = []
    fo.map_children(lambda part: found.append(part) or part, formula)
    return found


@given(st.data(), temporal_formulas(), st.booleans())
def test_what_is_decided_from_outside_is_folded_like_a_written_truth(data, formula, value):
    atom = fo.Atom("G")

    def written(part):
        return fo.Truth(value) if part == atom else fo.map_children(written, part)

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
    if isinstance(whole, fo.And):
        assert not any(isinstance(part, fo.And | fo.Truth) for part in whole.parts)
        assert len(set(whole.parts)) == len(whole.parts)


def test_a_disjunction_is_flat_and_has_each_part_once():
    inner = fo.Or((fo.Atom("N"), fo.Not(fo.Atom("N"))))
    assert disjoin(inner, fo.FALSE, fo.Atom("N")) == inner
    assert disjoin(inner, fo.TRUE) == fo.TRUE
    assert disjoin() == fo.FALSE
