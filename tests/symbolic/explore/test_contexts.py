"""Requests to the agent: once per canonical context, all new contexts of a frontier together."""

from __future__ import annotations

import pytest
from families import desks, service_desk

import stead_sym as st
from engine_pairs import both
from stead_sym.engines.symbolic.explore import contexts


class Noting:
    """An agent that notes how many contexts it is asked about at a time."""

    def __init__(self, inner):
        self.inner = inner
        self.name = inner.name
        self.batches = []

    def select(self, contexts):
        self.batches.append(len(contexts))
        return self.inner.select(contexts)


def verified(deployment, policy):
    agent = Noting(st.agents.RuleAgent.of(deployment, policy))
    return agent, st.verify(deployment, agent)


@pytest.mark.parametrize(
    ("deployment", "policy", "queries"), [(service_desk(10), "careful", 87), (desks(3), "approving", 5)]
)
def test_a_frontier_is_asked_about_at_once(deployment, policy, queries):
    agent, result = verified(deployment, policy)
    assert sum(agent.batches) == result.queries == result.contexts == queries
    assert len(agent.batches) <= result.engine.statistics["sweeps"]
    assert queries == 5 or max(agent.batches) > 10


@pytest.mark.parametrize(("deployment", "policy"), [(service_desk(4), "careful"), (desks(2), "approving")])
def test_matches_that_are_too_large_are_built_for_the_states_at_hand(deployment, policy, monkeypatch):
    """The relation over all states and the one over those at hand give the same system."""
    _, free = verified(deployment, policy)
    monkeypatch.setattr(contexts, "_LIMIT", 0)
    agent, bounded = verified(deployment, policy)
    assert sum(agent.batches) == free.queries
    assert (bounded.states, bounded.transitions) == (free.states, free.transitions)
    assert set(bounded.decisions) == set(free.decisions)
    assert {name: v.word for name, v in bounded.verdicts.items()} == {
        name: v.word for name, v in free.verdicts.items()
    }


_HIDDEN = """
deployment hidden
relation Open()
relation Told()
{init}
view Told()
tool use()
  guard Open()
  effect
    {use}
tool other()
  effect
    {other}
policy p
  call use()
  call other()
spec told
  EF Told()
"""


@pytest.mark.parametrize(
    ("init", "use", "other"),
    [
        pytest.param("", "insert Told()", "insert Open()", id="more"),
        pytest.param("init\n  Open()", "clear Open", "insert Told()", id="less"),
    ],
)
def test_what_is_offered_is_part_of_a_context(init, use, other):
    """A state that shows the same as one before it, and offers a call more or less, is decided anew."""
    deployment = st.parse_deployment(_HIDDEN.format(init=init, use=use, other=other))
    pair = both(deployment, deployment.policy("p"), asked=True)
    [spec] = deployment.specs
    for engine in pair:
        assert engine.holds(spec.formula)
    assert pair.symbolic.transitions == pair.explicit.transitions == 3
