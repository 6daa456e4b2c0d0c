"""An effect that is a formula is followed one value past a bound: the report says so."""

from __future__ import annotations

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.findings.static import lint
from stead_sym.verification import verify

LEAP = """
deployment leap
sort a
relation P(a)
relation F()
tool leap()
  effect
    ensure same(F) & exactly 2 u: a. P'(u)
  effect
    insert F()
spec s
  AG atmost 1 x: a. true
"""
STATEMENTS = LEAP.replace("ensure same(F) & exactly 2 u: a. P'(u)", "clear P")


@pytest.mark.parametrize(("text", "said"), [(LEAP, True), (STATEMENTS, False)])
def test_a_formula_that_may_leap_is_said(text: str, said: bool) -> None:
    deployment = parse_deployment(text)
    assert any(finding.kind == "leap unseen" for finding in lint(deployment)) is said
    result = verify(deployment)
    assert result["s"].holds
    assert any(finding.kind == "leap unseen" for finding in result.findings) is said


def test_without_unbounded_sorts_there_is_nothing_to_leap_to() -> None:
    text = """
deployment closed
sort k = { k1, k2 }
relation P(k)
tool fill()
  effect
    ensure forall x: k. P'(x)
spec s
  AG true
"""
    assert not [finding for finding in lint(parse_deployment(text)) if finding.kind == "leap unseen"]
