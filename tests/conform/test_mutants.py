"""Generated deployments as systems in SQLite: each observable mistake in a tool is found, and no other."""

from __future__ import annotations

import os

import pytest
from mutants import one_mistake, subject

from stead_sym.conformance.conform import conform

pytest.importorskip("sqlglot")

SEEDS = int(os.environ.get("STEAD_MUTANTS", "60"))
"""The number of seeds; one in ten has a deployment with tools in SQL that is small enough."""


@pytest.mark.gate
def test_an_observable_mistake_is_found_and_no_other():
    outcomes = []
    for seed in range(1, SEEDS + 1):
        if (made := subject(seed)) is not None:
            assert conform(made[0].deployment, made[1]).agrees, seed
            outcomes.append(one_mistake(seed, *made))
    planted = [outcome for outcome in outcomes if outcome is not None]
    assert len(planted) > SEEDS // 30
    assert any(outcome.found for outcome in planted)
    for outcome in planted:
        assert outcome.found is outcome.observable, outcome
