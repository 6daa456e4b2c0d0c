"""The reductions to verification within bounds are right: verdicts are the answers found without them."""

from __future__ import annotations

import hardness
import pytest

import stead_sym as st
from engine_pairs import examples


def verdicts(deployment: st.Deployment) -> set[bool | None]:
    """Return what the engines say of its one specification."""
    found = (st.verify(deployment, engine=engine, findings=False) for engine in ("explicit", "symbolic"))
    return {verdict.holds for result in found for verdict in result.verdicts.values()}


def test_truth_of_formulas():
    assert hardness.true(hardness.Quantified((), ()))
    assert hardness.true(hardness.Quantified((False, True), ((1, 2), (-1, -2))))
    assert not hardness.true(hardness.Quantified((True, False), ((1, 2), (-1, -2))))


def test_formulas_are_true_where_their_deployments_say_so():
    """Of both kinds of quantifiers, with variables in no clause, and with no clause at all."""
    answers = set()
    for seed in range(examples(5, slow=300)):
        for size, clauses in ((1, 1), (2, 0), (3, 4), (4, 3), (5, 8)):
            formula = hardness.random_formula(size, clauses, seed)
            turned = hardness.Quantified(tuple(not one for one in formula.exists), formula.clauses)
            for one in (formula, turned):
                answers.add(answer := hardness.true(one))
                assert verdicts(hardness.one_state(one)) == {answer}, one
    assert answers == {True, False}


def test_machines_halt_where_their_deployments_say_so():
    answers = set()
    for seed in range(examples(48, slow=300)):
        machine = hardness.random_machine(1 + seed % 3, seed)
        answers.add(answer := hardness.halts(machine))
        assert verdicts(hardness.on_data(machine)) == {answer}, machine
    assert answers == {True, False}


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_machines_differ_in_their_data_only(digits):
    """All share schema but for the listed values, tool and specification; a counter visits 2^n numbers."""
    one, other = hardness.on_data(hardness.counting(digits)), hardness.on_data(hardness.random_machine(2, 0))
    assert (one.tools, one.written.specs) == (other.tools, other.written.specs)
    assert one.schema.relations == other.schema.relations
    assert not one.bounds
    assert not any(tool.params for tool in one.tools)
    assert st.verify(one, findings=False).states == 2 ** (digits + 2) - digits - 2


def test_a_row_is_checked():
    rows = list(hardness.rows("tape", limit=0))
    assert [(row["size"], row["verdict"], row["direct"]) for row in rows] == [(1, "holds", True)]
