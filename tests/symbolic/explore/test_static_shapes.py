"""Both engines on deployments over data of awkward shapes: verdicts, states, transitions, decisions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import stead_sym
from engine_pairs import by_name, examples, some_by_name
from static_shapes import static_shape
from stead_sym.engines.symbolic.bdd import relation
from stead_sym.engines.symbolic.explore import contexts
from stead_sym.engines.symbolic.step import effects, transitions
from stead_sym.errors import DefinitionError, Undecided

_STATES = 200


def chosen(deployment, seed):
    """An agent for each of the deployment's: its policy, anything, or what depends on names."""
    source = random.Random(seed)

    def one(policies):
        kind = source.choice([*policies, "any", "one", "one", "some"])
        if kind in ("any", "p"):
            return deployment.policy("p") if kind == "p" else "any"
        return (by_name if kind == "one" else some_by_name)(source.randrange(5))

    if len(deployment.agents) > 1:
        return {agent.name: one([]) for agent in deployment.agents}
    return one(["p", "p"])


def answers(deployment, agent, **options):
    """Return what a verification says, but for the numbers that depend on the domain; or the claim that is
    broken, or that there is an error."""
    try:
        result = stead_sym.verify(deployment, agent, findings=False, **options)
    except DefinitionError as error:
        error.with_traceback(None)  # its frames hold the engine, and with the error a cycle
        return "an error", None
    verdicts = {name: verdict.word for name, verdict in result.verdicts.items()}
    if result.broken is not None:
        return type(result.broken), None
    return (verdicts, set(result.decisions)), (result.states, result.transitions)


def assert_agreement(seed):
    deployment = stead_sym.parse_deployment(static_shape(seed))
    agent = chosen(deployment, seed)
    try:
        expected, counted = answers(deployment, agent, engine="explicit", max_states=_STATES)
    except Undecided:
        reject()
    for domain in ("theorem", "normal"):
        found, states = answers(deployment, agent, domain=domain)
        assert found == expected, domain
        assert domain == "normal" or states == counted


@settings(max_examples=examples(40, quick=5), deadline=None)
@given(st.integers(0, 10**9))
def test_both_engines_agree(seed):
    assert_agreement(seed)


@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 10**9))
def test_both_engines_agree_where_every_limit_is_passed(seed):
    """What is done for many calls, large contexts and large relations, done for small ones."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(effects, "_FEW_CALLS", 0)
        patched.setattr(contexts, "_LIMIT", 0)
        patched.setattr(relation, "_CHEAP_STEP", -1)
        patched.setattr(transitions, "_NODES_RATIO", 0)
        assert_agreement(seed)


_NAMED = """
deployment named
sort rec
relation Rec(rec)
relation Focus(rec)
relation Done(rec)
init
{facts}
view Focus(r)
view Rec(r) where Focus(r) | ~Focus(_)
view Done(r) where Focus(r)
spec never
  AG ~Done({named})
spec others
  AG forall r. (Done(r) -> r = {named})
"""
_WITH_PARAMETERS = """
tool take(r: rec)
  guard ~Focus(_)
  effect
    insert Focus(r)
tool do(r: rec)
  guard Focus(r) & ~Done(r)
  effect
    insert Done(r)
tool leave(r: rec)
  guard Focus(r)
  effect
    clear Focus
policy p
  call take(r)
  call do({named})
  call leave(r)
"""
_WITHOUT = """
tool take()
  guard ~Focus(_)
  effect
    choose r: rec where Rec(r)
    insert Focus(r)
tool do()
  guard exists r. Focus(r) & ~Done(r)
  effect
    insert Done(r) for r where Focus(r)
tool leave()
  guard Focus(_)
  effect
    clear Focus
policy p
  call take()
  call do() when Focus({named})
  call leave()
"""


@pytest.mark.parametrize("tools", [_WITH_PARAMETERS, _WITHOUT], ids=["parameters", "none"])
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("named", [0, 1])
def test_a_record_that_the_policy_names_is_no_other(number, named, tools):
    """All records have isomorphic neighbourhoods; one of them the agent knows."""
    facts = "\n".join(f"  Rec(r{k})" for k in range(max(number, named + 1)))
    deployment = stead_sym.parse_deployment((_NAMED + tools).format(facts=facts, named=f"r{named}"))
    policy = deployment.policy("p")
    expected, _ = answers(deployment, policy, engine="explicit")
    assert expected[0] == {"never": "fails", "others": "holds"}
    assert answers(deployment, policy)[0] == expected
