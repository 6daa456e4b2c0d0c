"""The equations of the kernel: a formula means what its core means, which has the kernel's operators only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_graphs, states, temporal_formulas, well_sorted

import stead_sym.logic.syntax as fo
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.logic.evaluate import holds
from stead_sym.logic.kernel import core, definition, written
from stead_sym.logic.parser import parse_formula


@given(st.data(), states())
def test_a_first_order_formula_means_what_its_core_means(data, state):
    formula = data.draw(well_sorted({"v": "a"}))
    for value in ("c0", "nowhere"):
        assert holds(core(formula), state, {"v": value}) is holds(formula, state, {"v": value})


@given(small_graphs(), temporal_formulas())
def test_a_formula_means_what_its_core_means_over_all_runs_and_over_the_fair_ones(graph, formula):
    labelling = Labelling(graph, theorem_restriction(graph.deployment, ()))
    assert labelling.satisfying(core(formula)) == labelling.satisfying(formula)


@given(temporal_formulas())
def test_a_core_has_the_operators_of_the_kernel_only_and_is_its_own_core(formula):
    found = core(formula)
    assert core(found) == found
    for part in fo.subformulas(found):
        assert definition(part) is None
        assert getattr(part, "path", "E") == "E"
        assert not getattr(part, "weak", False)
        assert not isinstance(part, fo.Count) or part.comparison == "atleast"
        assert not (isinstance(part, fo.Not) and isinstance(part.body, fo.Not))


def test_what_an_equation_has_twice_is_there_once():
    """A formula of thirty A[f U g] within one another has 2^30 places, and few formulas."""
    formula = fo.Atom("G")
    for _ in range(30):
        formula = fo.Until("A", fo.Atom("G"), formula)
    inner = core(formula)
    assert isinstance(inner, fo.And)
    weak, strong = inner.parts
    assert weak.body.left is strong.body.body
    assert len(_distinct(inner, {})) < 30 * 8


def _distinct(formula, seen):
    if id(formula) not in seen:
        seen[id(formula)] = formula
        for part in getattr(formula, "parts", ()):
            _distinct(part, seen)
        for name in ("body", "left", "right"):
            if (below := getattr(formula, name, None)) is not None:
                _distinct(below, seen)
    return seen.values()


def test_the_use_of_a_definition_has_no_core():
    with pytest.raises(TypeError, match=r"D\(\) uses the definition D, which is not expanded"):
        core(fo.Not(fo.Use("D")))


def test_a_part_of_a_core_is_traced_back_to_what_was_written():
    formula = parse_formula("P(c) & (forall x: n. P(x) -> AX G)")
    forall = formula.parts[1]
    assert written(core(forall).body, formula) == forall
    assert written(fo.Atom("H"), formula) == fo.Atom("H")
