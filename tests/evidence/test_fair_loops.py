"""A loop says where it meets the fairness constraints, or why it counts although it does not."""

from __future__ import annotations

import stead_sym as st
from stead_sym.evidence.replay import replay
from stead_sym.report.evidence import evidence_text, subject
from stead_sym.report.page import report_html

DESK = """deployment desk
sort order
relation Open(order)
relation Paid(order)
bound order 1
event arrive()
  guard ~Open(_) & ~Paid(_)
  effect
    fresh o: order
    insert Open(o)
event phone()
tool pay(o: order)
  guard Open(o)
  effect
    delete Open(o)
    insert Paid(o)
tool wait()
policy lazy
  call wait()
spec all_paid AG forall o. (Open(o) -> AF Paid(o))
"""


def shown(fair: str) -> tuple[str, st.Verification]:
    deployment = st.parse_deployment(DESK + fair)
    result = st.verify(deployment, deployment.policy("lazy"))
    assert result["all_paid"].holds is False
    text = evidence_text(subject(result, "all_paid"), result.moves, width=200)
    return text, result


def test_where_an_action_is_taken_and_which_are_not_asked_for() -> None:
    text, result = shown("fair event phone\nfair tool pay(o)\nfair strong event arrive\n")
    assert "fair  event phone is met after step 2, again and again" in text
    assert "fair  tool pay(o) is kept: none is possible all along the loop, or it" in text
    assert "fair  strong event arrive is kept: none is possible at some point of the loop, or it" in text
    assert "event phone" in report_html(result)


def test_a_run_that_no_fair_run_goes_on_from() -> None:
    text, _ = shown("fair ~Open(_)\n")
    assert (
        "fair  ~Open(_) is never met, and no fair run goes on from here: the run counts all the same" in text
    )


JOBS = """deployment jobs
relation Done()
tool try()
  effect
    insert Done()
  effect
tool wait()
policy stubborn
  call try()
policy lazy
  call wait()
spec done AF Done()
"""


def test_a_loop_in_which_an_outcome_never_comes_is_refuted_by_a_replay() -> None:
    fair = st.parse_deployment(JOBS + "fair outcome try\n")
    for agent, confirmed in (("stubborn", False), ("lazy", True), ("any", True)):
        free = st.parse_deployment(JOBS)
        result = st.verify(free, agent if agent == "any" else free.policy(agent))
        evidence = result["done"].evidence
        assert evidence is not None
        assert st.verify(fair, agent if agent == "any" else fair.policy(agent))["done"].holds is not confirmed
        again = replay(fair, result.moves.wrappers, evidence)
        assert again.confirmed is confirmed, again.fault
        assert ("`fair outcome try`" in again.fault) is not confirmed


def test_a_loop_says_that_outcomes_are_kept() -> None:
    deployment = st.parse_deployment(JOBS + "fair outcome try\n")
    result = st.verify(deployment, deployment.policy("lazy"))
    text = evidence_text(subject(result, "done"), result.moves, width=200)
    assert "fair  outcome try is kept: every possible outcome comes, or another call leads there" in text
