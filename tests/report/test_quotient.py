"""The reachable states by what an agent is shown: the symbolic engine, on sets, against the explicit one,
which asks the wrapper in every state; and against a count by hand."""

from __future__ import annotations

import pytest
from families import desks
from hypothesis import given, note, reject, settings

import stead_sym as st
from engine_pairs import both, examples
from generated.workflows import workflows
from stead_sym.agents.base import Everything
from stead_sym.errors import AgentError, DefinitionError, NoInitialState, Undecided


def contexts_of(pair, name):
    return [context for context, _ in pair.wrappers[0][name].decisions]


def assert_agree(pair):
    """Both engines say the same of each agent's contexts, one by one and in twos."""
    explicit, symbolic = pair
    for name, wrapper in pair.wrappers[0].items():
        if wrapper is None:
            continue
        contexts = contexts_of(pair, name)
        for together in (1, 2):
            groups = [contexts[k : k + together] for k in range(0, len(contexts), together)]
            found = explicit.quotient(name, groups)
            assert symbolic.quotient(name, groups) == found
            assert sum(found.sizes) == explicit.states
            assert all(found.sizes[:-1])


@pytest.mark.parametrize("policy", ["baseline", "approving"])
def test_the_engines_agree_on_the_refund_workflow(policy):
    pair = both(st.load("refund"), policy)
    assert_agree(pair)
    found = pair.symbolic.quotient("", [[context] for context in contexts_of(pair, "")])
    assert sum(found.sizes) == {"baseline": 55, "approving": 73}[policy]
    assert found.initial == {0}
    assert found.sizes[0] == 1
    assert found.sizes[-1] == 0


@settings(max_examples=examples(40), deadline=None)
@given(workflows())
def test_the_engines_agree_on_generated_deployments(deployment):
    try:
        pair = both(deployment, {role.name: Everything() for role in deployment.agents})
    except (DefinitionError, NoInitialState, Undecided, AgentError):
        reject()
    note(st.deployment.print_deployment(deployment))
    assert_agree(pair)


def test_numbers_of_states_are_exact_where_nobody_can_count_them():
    """In hand is one of k cases: with representatives a desk is free or in one of two phases at rest."""
    k = 12
    result = st.verify(desks(k), "baseline", [], findings=False)
    found = result.engine.quotient("", [[context] for context, _ in result.decisions])
    assert found.sizes == (3**k, k * 3 ** (k - 1), k * 3 ** (k - 1), k * 3 ** (k - 1), 0)
    assert {(i, j) for i, _, j in found.moves} == {(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)}


LAMP = """
deployment lamp
relation On()
tool press()
  guard ~On()
  effect insert On()
event fuse()
  guard On()
  effect delete On()
policy presses
  call press()
"""


def test_where_the_agent_is_offered_nothing_is_a_group_of_its_own():
    pair = both(st.parse_deployment(LAMP), "presses")
    assert_agree(pair)
    for engine in pair:
        found = engine.quotient("", [contexts_of(pair, "")])
        assert found.sizes == (1, 1)
        assert found.moves == {(0, "press", 1), (1, "fuse", 0)}
        assert found.initial == {0}


def test_moves_say_which_tool():
    result = st.verify(st.load("refund"), "baseline", [], findings=False)
    found = result.engine.quotient("", [[context] for context, _ in result.decisions])
    assert found.moves == {
        (0, "ingest_case", 1),
        (1, "issue_refund", 2),
        (2, "resolve_case", 3),
        (3, "archive_case", 0),
    }
