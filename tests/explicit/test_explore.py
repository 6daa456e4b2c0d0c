"""Reachability of small deployments, and each breach of the definition with the run that leads there."""

from __future__ import annotations

import pytest

from stead_sym.agents.base import FunctionAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer, successors
from stead_sym.engines.explicit.explore import explore
from stead_sym.errors import BoundExceeded, NoEffect, NothingOffered, Undecided

QUEUE = """
deployment queue
sort job
relation Waiting(job)
relation Done(job)
bound job {bound}
tool take() "Take a job."
  guard ~exists x. Waiting(x)
  effect
    fresh x: job
    insert Waiting(x)
tool finish(x: job) "Finish a job."
  guard Waiting(x)
  effect
    clear Waiting{and_done}
    insert Done(x)
"""


def queue(bound=1, and_done=", Done"):
    return parse_deployment(QUEUE.format(bound=bound, and_done=and_done), "queue.stead")


def explored(deployment, wrapper=None, overrides=None, **options):
    restriction = theorem_restriction(deployment, deployment.specs, overrides or {}, force=bool(overrides))
    return explore(deployment, {"": wrapper}, restriction, **options)


def assert_is_a_run(deployment, trace):
    """Each step is an offered call and one of its successors, over as many values as the run needs."""
    assert trace.start == deployment.init
    roomy = theorem_restriction(deployment, (), dict.fromkeys(deployment.bounds, 12))
    for before, step in zip(trace.states, trace.steps, strict=False):
        assert step.call in offer(deployment, before)
        assert step.state in successors(deployment, step.call, before, roomy).inside


def test_states_and_transitions():
    """U_f has 2 jobs; besides D0 the states are Waiting(u), Done(u), Waiting(u) with Done(v), u ≠ v."""
    graph = explored(queue(bound=2))
    assert sorted(map(len, graph.states)) == [0] + 8 * [1] + 12 * [2]
    assert graph.transitions == 4 + 4 + 12 + 12


def test_two_calls_with_one_effect_are_one_transition():
    deployment = parse_deployment("""
deployment twins
sort k = { k1, k2 }
relation K(k)
relation Z()
init
  K(k1)
  K(k2)
tool set(x: k)
  effect
    insert Z()
""")
    graph = explored(deployment)
    assert len(graph.states) == 2
    assert len(graph.edges[0]) == 2
    assert graph.transitions == 2


def test_a_run_to_a_fault_is_a_shortest_one():
    deployment = parse_deployment("""
deployment chain
sort k = { k0, k1, k2, k3 }
relation At(k)
relation Next(k, k)
init
  At(k0)
  Next(k0, k1)
  Next(k1, k2)
  Next(k2, k3)
  Next(k0, k2)
tool go(x: k, y: k)
  guard At(x) & Next(x, y)
  effect
    clear At
    insert At(y)
""")
    with pytest.raises(NothingOffered) as caught:
        explored(deployment)
    trace = caught.value.trace
    assert_is_a_run(deployment, trace)
    assert trace.last.tuples("At") == {("k3",)}
    assert [str(step.call) for step in trace.steps] == ["go(k0, k2)", "go(k2, k3)"]


def test_the_wrapper_selects():
    """An agent that never finishes; `take` is offered in D0 only."""
    deployment = parse_deployment(
        """
deployment lazy
sort job
relation Waiting(job)
bound job 1
tool idle()
tool take()
  guard ~exists x. Waiting(x)
  effect
    fresh x: job
    insert Waiting(x)
"""
    )
    agent = FunctionAgent(lambda context: min(context.calls))
    wrapper = CanonicalWrapper(agent, deployment.schema, deployment.tools)
    assert len(explored(deployment, wrapper).states) == 1
    assert wrapper.contexts == 1
    assert len(explored(deployment).states) == 3


def test_a_bound_violation_within_the_restriction():
    """Done jobs pile up: the second one exceeds the bound."""
    deployment = queue(bound=1, and_done="")
    with pytest.raises(BoundExceeded) as caught:
        explored(deployment)
    error = caught.value
    assert str(error).startswith(
        "queue.stead:6:7: 2 values of sort job are in use besides the constants after take()"
    )
    assert "`bound job 1` claims at most 1; raise the bound" in str(error)
    assert [step.call.tool for step in error.trace.steps] == ["take", "finish", "take"]
    assert len(error.trace.last.active_domain["job"]) == 2
    assert_is_a_run(deployment, error.trace)


def test_a_bound_violation_that_only_values_beyond_the_restriction_show():
    """Without a bound U_f has no job at all, yet the infinite system has a successor."""
    deployment = queue(bound=0)
    with pytest.raises(BoundExceeded, match="1 value of sort job is in use") as caught:
        explored(deployment)
    assert [str(step) for step in caught.value.trace.last] == ["Waiting(job1)"]
    assert_is_a_run(deployment, caught.value.trace)


def test_a_bound_violation_without_a_bound_line_is_placed_at_the_tool():
    text = QUEUE.format(bound=0, and_done="").replace("bound job 0\n", "")
    with pytest.raises(BoundExceeded, match=r"^queue\.stead:6:6: 1 value of sort job"):
        explored(parse_deployment(text, "queue.stead"))


def test_a_bound_violation_by_ensure():
    """`ensure` lets any set of jobs wait."""
    deployment = parse_deployment("""
deployment burst
sort job
relation Waiting(job)
bound job 1
tool arrive()
  effect
    ensure atmost 2 x: job. Waiting'(x)
""")
    with pytest.raises(BoundExceeded, match="2 values of sort job"):
        explored(deployment)


def test_a_state_that_offers_nothing():
    text = QUEUE.format(bound=1, and_done="").replace("~exists x. Waiting(x)", "~exists x: job. true")
    deployment = parse_deployment(text, "queue.stead")
    with pytest.raises(
        NothingOffered, match=r"no call is offered in { Done\(job1\) }.*weaken a guard"
    ) as caught:
        explored(deployment)
    error = caught.value
    assert [str(step.call) for step in error.trace.steps] == ["take()", "finish(job1)"]
    assert offer(deployment, error.trace.last) == frozenset()
    assert_is_a_run(deployment, error.trace)


NO_EFFECT = """
deployment stuck
sort k = { k1, k2 }
relation K(k)
init
  K(k1)
tool idle()
tool move(x: k)
  guard K(x)
  effect
    choose y: k where y != x & K(y)
    clear K
    insert K(y)
"""


@pytest.mark.parametrize("select", [min, max])
def test_an_offered_call_without_successor(select):
    """Whether the agent selects it (max) or not (min)."""
    deployment = parse_deployment(NO_EFFECT, "stuck.stead")
    agent = FunctionAgent(lambda context: select(context.calls))
    with pytest.raises(
        NoEffect, match=r"^stuck\.stead:8:6: move\(k1\) is offered, but none of its effects applies, in "
    ) as caught:
        explored(deployment, CanonicalWrapper(agent, deployment.schema, deployment.tools))
    assert caught.value.trace.steps == ()
    assert caught.value.trace.last == deployment.init


def test_a_forced_domain_that_is_too_small_is_not_answered():
    """With one job in U_f there is no fresh one while Done(job1) stands; the deployment itself goes on."""
    with pytest.raises(Undecided, match="domain \\(job=1\\) has too few values for any step"):
        explored(queue(bound=2), overrides={"job": 1})


def test_a_limit_on_states():
    assert len(explored(queue(bound=2), max_states=21).states) == 21
    with pytest.raises(Undecided, match="more than 20 states are reachable"):
        explored(queue(bound=2), max_states=20)


def test_progress_is_reported():
    reports = []
    explored(queue(bound=2), progress=lambda phase, **counts: reports.append((phase, counts)))
    assert reports[-1] == ("reach", {"states": 21, "contexts": 0})
