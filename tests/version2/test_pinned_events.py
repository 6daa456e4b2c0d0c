"""Events: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from pinned import DOMAINS, assert_fault, counts, explored, reachable, states, verdicts
from stead_sym.errors import AgentError, BoundExceeded, NoEffect, NothingOffered

CLOCK = """
deployment clock
sort k = { k1, k2 } rigid
relation At(k)
init
  At(k1)
event tick()
  guard At(k1)
  effect
    clear At
    insert At(k2)
event tock()
  guard At(k2)
  effect
    clear At
    insert At(k1)
"""
KNOCK = """
tool knock()
  guard At(k2)
policy quiet
  call knock()
"""


@pytest.mark.parametrize("agent", ["any", "quiet"])
def test_an_event_alone_is_enough_where_nothing_is_offered(engine, agent):
    """At k1 there is only the event; at k2 the event leads back, or the tool changes nothing."""
    assert counts(engine, CLOCK + KNOCK, agent) == (2, 1 + 2)
    result = explored(engine, CLOCK + KNOCK, "quiet")
    assert (result.contexts, result.queries) == (1, 1)  # nobody is asked at k1


def test_a_deployment_of_events_only(engine):
    text = CLOCK + "spec alternates AG ((At(k1) -> AX At(k2)) & (At(k2) -> AX At(k1)))\n"
    assert counts(engine, text) == (2, 2)
    assert verdicts(engine, text) == {"alternates": True}


def test_every_enabled_event_may_happen_whatever_the_agent_selects(engine):
    """stamp(k1) and stamp(k2), also where the policy selects idle: all subsets are reached. Each of the four
    states has its idle, and a stamp for each value that is missing: 4 + 2 + 1 + 1 + 0. A parameter of a
    finite sort ranges over all declared values: no value is active at first."""
    text = """
deployment stamps
sort k = { k1, k2 } rigid
relation M(k)
event stamp(x: k)
  guard ~M(x)
  effect
    insert M(x)
tool idle()
policy quiet
  call idle()
spec possible AG forall x in k. EF M(x)
spec next forall x in k. EX M(x)
spec sure AF M(_)
"""
    for agent in ("any", "quiet"):
        assert counts(engine, text, agent) == (4, 8)
        assert verdicts(engine, text, agent) == {"possible": True, "next": True, "sure": False}


def test_parameters_of_an_event_range_over_the_active_domain(engine):
    """The constant c leaves the state, and with it the event mark(c)."""
    text = """
deployment parameters
sort a
relation P(a)
relation M(a)
relation Left()
init
  P(c)
event leave()
  guard ~Left()
  effect
    clear P
    insert Left()
event mark(x: a)
  guard Left()
  effect
    insert M(x)
tool idle()
"""
    assert reachable(explored(engine, text)) == states("P(c)", "Left()")


def test_an_event_reads_the_whole_state_and_is_not_shown(engine):
    """The view shows Z alone. The event takes an active value that no view shows: were it shown to the agent,
    the policy would see a value of a and never go. P(c), and then with Z or Q(c) or both: four states. Two
    contexts: with Z and without it."""
    text = """
deployment unseen
sort a
relation P(a)
relation Q(a)
relation Z()
init
  P(c)
event take(x: a)
  guard P(x) & ~Q(x)
  effect
    insert Q(x)
tool go()
  effect
    insert Z()
tool idle()
view Z()
policy p
  call go() when exactly 0 y: a. true
  call idle()
"""
    result = explored(engine, text, "p")
    assert reachable(result) == states("P(c)", "P(c) Z()", "P(c) Q(c)", "P(c) Q(c) Z()")
    assert (result.contexts, result.queries) == (2, 2)


def test_an_event_is_never_offered(engine):
    seen = set()

    def takes_all(context):
        seen.update(call.tool for call in context.calls)
        return context.calls

    result = explored(engine, CLOCK + KNOCK, takes_all)
    assert seen == {"knock"}
    assert result.states == 2


def test_fresh_values_of_an_event(engine):
    """Over the 2·1 + 1 values of a (the specification has one variable): the empty state with 3 successors,
    and 3 states with one successor each."""
    text = """
deployment visits
sort a
relation P(a)
bound a 1
event come()
  guard ~P(_)
  effect
    fresh x: a
    insert P(x)
event go()
  guard P(_)
  effect
    clear P
spec comes_back AG forall x: a. (P(x) -> EX EX P(x))
spec never_back AG forall x: a. (P(x) -> AX AG ~P(x))
"""
    assert counts(engine, text) == (1 + 3, 3 + 3)
    assert verdicts(engine, text) == {"comes_back": True, "never_back": False}


def test_alternatives_of_an_event(engine):
    """From k0 to k1 or k2, from both to k3, which stays."""
    text = """
deployment alternatives
sort k = { k0, k1, k2, k3 } rigid
relation At(k)
init
  At(k0)
event go()
  effect when At(k0)
    clear At
    insert At(k1)
  effect when At(k0)
    clear At
    insert At(k2)
  effect when ~At(k0)
    clear At
    insert At(k3)
"""
    assert counts(engine, text) == (4, 2 + 1 + 1 + 1)


def test_neither_an_offer_nor_an_event_is_an_error(engine):
    text = CLOCK.replace("event tock()\n  guard At(k2)", "event tock()\n  guard At(k1) & At(k2)")
    assert_fault(engine, text + "tool knock()\n  guard At(k1)\n", NothingOffered, "At(k2)", 1)


def test_an_enabled_event_without_a_successor_is_an_error(engine):
    """At k2 `stuck` is enabled and has no effect, though knock and tock lead on."""
    text = CLOCK + KNOCK + "event stuck()\n  guard At(k2)\n  effect when At(k1)\n"
    for agent in ("any", "quiet"):
        assert_fault(engine, text, NoEffect, "At(k2)", 1, agent)


def test_an_event_that_exceeds_a_bound_is_an_error(engine):
    text = """
deployment crowd
sort a
relation P(a)
bound a 1
event come()
  effect
    fresh x: a
    insert P(x)
tool idle()
policy quiet
  call idle()
"""
    for agent in ("any", "quiet"):
        with pytest.raises(BoundExceeded) as caught:
            explored(engine, text, agent)
        assert len(caught.value.trace.steps) == 2
        assert len(caught.value.trace.last.facts) == 2


def test_a_policy_that_selects_nothing_is_an_error_also_where_an_event_is_enabled(engine):
    """At k1 knock is offered and the policy has no line for it; the event would lead on."""
    text = CLOCK + "tool knock()\npolicy late\n  call knock() when At(k2)\n"
    for domain in DOMAINS[engine]:
        with pytest.raises(AgentError, match="selects nothing"):
            explored(engine, text, "late", domain)


def test_fairness_keeps_the_agent_from_starving_an_event(engine):
    """The agent may wait at k1 for ever, unless only runs count that are at k2 again and again."""
    text = CLOCK + "tool wait()\nspec moves AF At(k2)\n"
    assert verdicts(engine, text) == {"moves": False}
    assert verdicts(engine, text + "fair At(k2)\n") == {"moves": True}


def test_the_steps_of_a_run_say_who_acted(engine):
    """The knock at k2 is the only agent's, the tick to k2 nobody's."""
    text = CLOCK + KNOCK + "relation Heard()\nspec quiet AG ~Heard()\n"
    text = text.replace("  guard At(k2)\npolicy", "  guard At(k2)\n  effect\n    insert Heard()\npolicy")
    trace = explored(engine, text)["quiet"].trace
    assert [(step.call.tool, step.actor) for step in trace.steps] == [("tick", None), ("knock", "")]
