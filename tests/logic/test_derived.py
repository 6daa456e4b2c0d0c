"""Operators that are defined by others: what they mean, and that nothing later meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

import stead_sym as st
import stead_sym.logic.syntax as fo
from stead_sym.errors import DeclarationError, ParseError
from stead_sym.logic.derived import OPERATORS
from stead_sym.logic.evaluate import holds

WORK = """
deployment work
sort stage = { new < seen < done }
sort job
bound job 2
relation At(job key, stage)
event ask()
  guard ~At(_, _)
  effect
    fresh j: job
    insert At(j, new)
tool look(j: job)
  guard At(j, new)
  effect
    set At(j, seen)
tool settle(j: job)
  guard At(j, seen)
  effect
    set At(j, done)
tool drop(j: job)
  guard At(j, seen) | At(j, done)
  effect
    delete At(j, _)
define busy() = exists j. At(j, new)
policy all
  call look(j)
  call settle(j)
  call drop(j)
policy careless
  call look(j)
  call drop(j)
"""

LEADS = {
    "busy ~> exists j. At(j, seen)": "~EF (busy & EG ~exists j. At(j, seen))",
    "busy ~> exists j. At(j, done)": "~EF (busy & EG ~exists j. At(j, done))",
    "AG forall j. (At(j, seen) ~> At(j, done))": "~EF exists j. EF (At(j, seen) & EG ~At(j, done))",
    "(busy ~> At(_, seen)) -> EF ~(true ~> At(_, done))": (
        "EF (busy & EG ~At(_, seen)) | EF EF EG ~At(_, done)"
    ),
}


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize("policy", ["all", "careless", "any"])
def test_leads_to_fails_by_a_run_that_meets_the_one_and_never_the_other(engine, policy):
    asked = [text for pair in LEADS.items() for text in pair]
    result = st.verify(st.parse_deployment(WORK), policy, asked, engine=engine, findings=False)
    for leads, other in LEADS.items():
        assert result[leads].holds is result[other].holds, leads
    assert {result[leads].holds for leads in LEADS} >= ({True} if policy == "all" else {True, False})


def test_what_comes_after_meets_the_meaning_only():
    """Engines, evidence, certificates, exports and findings are given expanded formulas."""
    deployment = st.parse_deployment(WORK)
    for leads in LEADS:
        assert not any(isinstance(part, fo.Derived) for part in fo.subformulas(deployment.formula(leads)))
    short = deployment.formula("busy ~> exists j. At(j, seen)")
    assert short == deployment.formula("AG (busy -> AF exists j. At(j, seen))")
    with pytest.raises(TypeError, match="uses the operator ~>, which is not expanded"):
        holds(fo.Derived("~>", (st.logic.TRUE, st.logic.TRUE)), deployment.init)


def test_it_is_printed_as_it_was_written(tmp_path):
    text = WORK + "spec seen AG forall j. At(j, new) ~> At(j, seen)\n"
    assert " ~> " in str(st.parse_deployment(text).written.specs[0].formula)
    result = st.verify(st.parse_deployment(text), "all")
    assert str(result["seen"].formula) == "AG forall j: job. At(j, new) ~> At(j, seen)"
    st.write_certificate(result, tmp_path)
    [claim] = st.check_certificate(tmp_path).claims
    assert " ~> " in claim.formula
    assert st.parse_deployment(
        st.deployment.print_deployment(st.parse_deployment(text))
    ) == st.parse_deployment(text)


@pytest.mark.parametrize("operator", OPERATORS)
def test_it_is_read_and_documented(operator):
    assert isinstance(st.logic.parse_formula(f"P {operator} Q"), fo.Derived)
    with pytest.raises(ParseError, match="reads in two ways: put one of them in parentheses"):
        st.logic.parse_formula(f"P {operator} Q {operator} R")
    page = Path(__file__).parents[2] / "docs" / "language.md"
    assert f"`f {operator} g`" in page.read_text(encoding="utf-8")


def test_a_condition_has_none_that_is_about_runs():
    with pytest.raises(DeclarationError, match=r"a temporal operator stands in a first-order formula"):
        st.parse_deployment(WORK.replace("guard At(j, new)", "guard true & (busy ~> busy)"))
