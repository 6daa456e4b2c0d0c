"""What is shown on few facts holds: on generated deployments both engines, which see all facts, agree."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import event, given, reject, settings

from engine_pairs import examples
from generated.deployments import deployments
from generated.workflows import workflows
from stead_sym.analyses.local.model import Local, Shown
from stead_sym.errors import NoInitialState, Undecided
from stead_sym.logic.syntax import Globally, Next, Until
from stead_sym.verification.verify import verify


def sentences_of(deployment):
    """The specifications, and each as an invariant, at the next step and until another."""
    formulas_ = [spec.formula for spec in deployment.specs]
    for formula in formulas_:
        yield formula
        yield Globally("A", formula)
        yield Globally("A", Next("A", formula))
    for left, right in pairwise(formulas_):
        yield Globally("A", Until("A", left, right, weak=True))


def assert_law(deployment, agent="any"):
    """Nothing is shown that does not hold."""
    try:
        explored = verify(deployment, agent, [], engine="explicit", findings=False, max_states=400).explored
    except (NoInitialState, Undecided):
        reject()
    if explored is None:  # a claim of the file is broken
        reject()
    local = Local.under(deployment, agent)
    for formula in map(deployment.formula, sentences_of(deployment)):
        how, holds = local.shown(formula), explored.holds(formula)
        event(f"{'shown' if isinstance(how, Shown) else 'not shown'}, {'holds' if holds else 'fails'}")
        assert not isinstance(how, Shown) or holds, f"{formula}: {how}"


@settings(max_examples=examples(60))
@given(workflows())
def test_workflows(deployment):
    assert_law(deployment)


@settings(max_examples=examples(60))
@given(deployments())
def test_deployments(deployment):
    assert_law(deployment)
