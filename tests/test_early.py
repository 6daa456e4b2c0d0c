"""A failure is known before everything is explored, and stays however the exploration ends."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings

from engine_pairs import examples
from generated.workflows import workflows
from replayed import assert_replays
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.errors import AgentError, InputError, Undecided
from stead_sym.verification.verify import verify

MODES = [{}, {"domain": "theorem"}, {"engine": "explicit"}]

DESK = """deployment desk
sort order
sort status = { open, paid, lost } rigid
relation Status(order key, status)
bound order 1
event arrive()
  guard ~Status(_, _)
  effect
    fresh o: order
    insert Status(o, open)
tool pay(o: order)
  guard Status(o, open)
  effect set Status(o, paid)
tool lose(o: order)
  guard Status(o, paid)
  effect set Status(o, lost)
tool wait()
spec unpaid AG ~Status(_, paid)
spec both (AG ~Status(_, lost)) & (AG ~Status(_, paid))
spec never_lost AG ~Status(_, lost)
spec comes AF Status(_, paid)
spec goes EF Status(_, paid)
"""


def until_paid(context):
    """Pays, and knows nothing to do afterwards."""
    if any("paid" in fact.args for fact in context.view):
        raise ValueError("enough")
    return next((call for call in context.calls if call.tool == "pay"), min(context.calls))


@pytest.mark.parametrize("fair", ["", "fair Status(_, open)\n", "fair event arrive\n"])
@pytest.mark.parametrize("mode", MODES)
def test_what_an_agent_did_before_its_error_is_told_with_the_run(mode, fair):
    deployment = parse_deployment(DESK + fair)
    told = {}

    def established(verdict, moves):
        told[verdict.spec] = verdict
        assert_replays(deployment, moves.wrappers, normal_restriction(deployment), verdict.evidence)

    with pytest.raises(AgentError, match="enough"):
        verify(deployment, until_paid, established=established, **mode)
    assert {name: verdict.holds for name, verdict in told.items()} == {"unpaid": False, "both": False}
    assert [str(step.call) for step in told["both"].trace.steps] == ["arrive()", "pay(order1)"]


@given(workflows(specs=1, depth=2))
@settings(max_examples=examples(60))
def test_the_invariants_that_fail_are_told_before_the_end(deployment):
    kept = [f"AG ~{r.name}({', '.join('_' * r.arity)})" for r in deployment.schema.relations]
    for mode in MODES:
        told = []

        def established(verdict, moves, told=told):
            assert_replays(deployment, moves.wrappers, normal_restriction(deployment), verdict.evidence)
            told.append(verdict)

        limit = {"max_states": 200} if "engine" in mode else {}
        try:
            result = verify(deployment, "any", kept, established=established, findings=False, **mode, **limit)
        except (InputError, Undecided):
            return
        if result.broken is not None:
            return
        failing = {name for name, verdict in result.verdicts.items() if verdict.holds is False}
        early = {verdict.spec for verdict in told[: len(told) - len(kept)] if verdict.holds is False}
        event("some fail" if failing else "none fails")
        assert failing <= early
        assert len(told) == len(early) + len(kept)
        assert all(not result[name].holds for name in early)
