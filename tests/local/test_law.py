"""What is shown on few facts holds, and what is refuted fails: on generated deployments the explicit engine,
which sees all facts, agrees, and each run is one of the deployment."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import event, given, reject, settings

from engine_pairs import examples, replay
from generated.deployments import deployments
from generated.workflows import workflows
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.local.model import Local, Refuted, Shown
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.errors import NoInitialState, Undecided
from stead_sym.evidence.prefix import refutation
from stead_sym.logic.syntax import Globally, Next, Until
from stead_sym.verification.readings import answer
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
    """Nothing is shown that does not hold, and nothing refuted but by a run."""
    try:
        explored = verify(deployment, agent, [], engine="explicit", findings=False, max_states=400).explored
    except (NoInitialState, Undecided):
        reject()
    if explored is None:  # a claim of the file is broken
        reject()
    local = Local.under(deployment, agent)
    wrappers, restriction = wrap_all(deployment, agent), normal_restriction(deployment)
    for formula in map(deployment.formula, sentences_of(deployment)):
        how, holds = local.shown(formula, refuting=True), answer(explored, formula).holds
        event(
            f"{'left open' if isinstance(how, str) else type(how).__name__}, {'holds' if holds else 'fails'}"
        )
        assert not isinstance(how, Shown) or holds is True, f"{formula}: {how}"
        if isinstance(how, Refuted):
            assert holds is False, f"{formula}: {how}"
            assert refutation(formula, how.run) is not None
            replay(deployment, restriction, wrappers, how.run)


@settings(max_examples=examples(60))
@given(workflows())
def test_workflows(deployment):
    assert_law(deployment)


@settings(max_examples=examples(60))
@given(deployments())
def test_deployments(deployment):
    assert_law(deployment)
