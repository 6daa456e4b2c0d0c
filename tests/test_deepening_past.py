"""Raising the bounds of deployments whose formulas speak of the last step and of the past: what is said
without a bound is what bounds that are kept say."""

from __future__ import annotations

import os
from dataclasses import replace

from hypothesis import HealthCheck, event, given, settings

import stead_sym as st
from generated.past import past_workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import SteadError

CASES = int(os.environ.get("VIEWS_CASES", "10"))

DESK = """deployment desk
sort t
sort s = { new, approved, rejected, paid } rigid
relation T(t key, s)
bound t any
event ask() effect fresh x: t insert T(x, new)
event forget(x: t) guard T(x, paid) effect delete T(x, _)
tool approve(x: t) guard T(x, new) | T(x, rejected) effect set T(x, approved)
tool reject(x: t) guard T(x, approved) effect set T(x, rejected)
tool pay(x: t) guard once did approve(x) & ~T(x, paid) effect set T(x, paid)
policy careful
  call pay(x) when ~did reject(x) since did approve(x)
  call approve(x)
  call reject(x)
spec approved AG forall x. (did pay(x) -> once did approve(x))
spec not_rejected AG forall x. (did pay(x) -> (~did reject(x) since did approve(x)))
spec one_paid AG forall x, y. (did pay(x) & x != y -> ~once T(y, paid))
"""


def said(found) -> dict[str, bool | None]:
    return {name: one.verdict.holds for name, one in found.found.items()}


def test_what_a_run_shows_is_found_for_every_number() -> None:
    desk = parse_deployment(DESK)
    found = st.deepen(desk, limit=3)
    assert said(found) == {"approved": None, "not_rejected": False, "one_paid": False}
    assert "states keep the last step or the past" in found["approved"].reason
    steps = found["one_paid"].evidence.trace.steps
    assert [step.call.tool for step in steps].count("pay") == 2
    assert said(st.deepen(desk, "careful", limit=3)) == {
        "approved": None, "not_rejected": None, "one_paid": False
    }  # fmt: skip


def test_bounds_that_are_kept_are_found() -> None:
    guarded = DESK.replace("event ask()", "event ask() guard ~T(_, _)").replace("bound t any", "bound t 7")
    found = st.deepen(parse_deployment(guarded))
    assert dict(found.bounds) == {"t": 1}
    assert said(found) == {"approved": None, "not_rejected": False, "one_paid": None}
    assert all(found.found[name].shown for name in ("approved", "one_paid"))


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(past_workflows(sound=False))
def test_no_bound_that_is_kept_says_otherwise(deployment: Deployment) -> None:
    if not deployment.bounds or deployment.fair_actions or deployment.initially:
        return
    anything = replace(deployment, unbounded=frozenset(deployment.bounds), text=None)
    try:
        raised, every = st.deepen(deployment, limit=4), st.deepen(anything, limit=4)
    except SteadError as error:
        event(type(error).__name__)
        return
    assert not any(one.verdict.holds for name, one in every.found.items() if not name.startswith("bound"))
    for bound in range(1, 5):
        within = deployment.within(dict.fromkeys(deployment.bounds, bound))
        try:
            result = st.verify(within, engine="explicit", findings=False, max_states=3000)
        except SteadError:
            continue
        if result.broken is not None:
            continue
        event("kept")
        for name, verdict in result.verdicts.items():
            for found in (raised.found[name], every.found[name]):
                if found.verdict.holds is False:
                    assert verdict.holds is not True, (bound, name)
                if found.shown:
                    assert verdict.holds is not False, (bound, name)
