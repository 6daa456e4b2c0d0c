"""Fields and keys: what is grouped, and that what is relied on in the end holds in every reachable state."""

from __future__ import annotations

from itertools import combinations

import pytest
from families import desks, service_desk
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engine_pairs import examples
from generated.deployments import deployments
from generated.guess_breakers import crowded_relations
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.symbolic.encode.mutex import fields, keys_of, possible_keys, singles
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.errors import Undecided
from stead_sym.support.progress import Pulse
from stead_sym.verification.verify import verify


def confirmed(deployment):
    """The plan over the literal domain, and the reachable states."""
    restriction = theorem_restriction(deployment, deployment.specs)
    try:
        states = explore(deployment, {"": None}, restriction, max_states=80).states
    except Undecided:
        reject()
    return plan(Task(deployment, restriction, True), first_guess(deployment, True), Pulse()), states


@settings(max_examples=examples(40))
@given(st.one_of(crowded_relations(), deployments(specs=1, depth=2)))
def test_what_a_confirmed_plan_relies_on_holds_in_every_reachable_state(deployment):
    made, states = confirmed(deployment)
    for state in states:
        for field in made.encoding.fields:
            assert len(state.facts.intersection(field.facts)) <= 1
        for relation in made.guess.singles:
            assert len(state.tuples(relation)) <= 1


@settings(max_examples=examples(40))
@given(st.one_of(crowded_relations(), deployments(specs=1, depth=2)))
def test_fields_group_the_facts_by_a_key(deployment):
    """Each fact is in one field; the facts of a field agree on a key that was offered; D0 has one of them
    at most; and without keys every fact is on its own."""
    made, _ = confirmed(deployment)
    dynamic = [fact for facts in made.encoding.dynamic_facts.values() for fact in facts]
    keys = possible_keys(deployment)
    for offered in (keys, dict.fromkeys(keys, ())):
        grouped = list(fields(deployment, dynamic, offered))
        assert sorted(fact for field in grouped for fact in field.facts) == sorted(dynamic)
        for field in grouped:
            relation = field.facts[0].relation
            assert len(deployment.init.facts.intersection(field.facts)) <= 1
            broken = {key for name, key in keys_of(field) if name == relation}
            assert len(field.facts) == 1 or broken & set(offered[relation])


@pytest.mark.parametrize("deployment", [load("refund"), service_desk(3), desks(2)], ids=lambda d: d.name)
def test_the_keys_of_a_field_are_the_columns_on_which_its_facts_agree(deployment):
    made = plan(
        Task(deployment, theorem_restriction(deployment, deployment.specs), True),
        first_guess(deployment, True),
        Pulse(),
    )
    several = [field for field in made.encoding.fields if len(field.facts) > 1]
    assert several
    for field in several:
        columns = range(len(field.facts[0].args))
        for size in range(len(columns)):
            for key in combinations(columns, size):
                agree = len({tuple(fact.args[k] for k in key) for fact in field.facts}) == 1
                assert ((field.facts[0].relation, key) in keys_of(field)) == agree


SHAPES = """
deployment shapes
sort a
sort k = { k1, k2 } rigid
bound a 1
relation S(a, k)
relation Q(k)
init
  Q(k1)
tool go(q: k)
"""


@pytest.mark.parametrize(
    ("effect", "keys"),
    [
        ("clear S  fresh x: a  insert S(x, q)", {(), (0,), (1,)}),
        ("fresh x: a  insert S(x, q)", {(0,)}),
        ("choose x: a  delete S(x, y) for y: k  insert S(x, q)", {(0,)}),
        ("choose x: a where S(x, k1)  delete S(x, k1)  insert S(x, k2)", {(), (0,)}),
        ("choose x: a where ~(exists y: k. S(x, y))  insert S(x, q)", {(0,)}),
        ("choose x: a where ~(exists z: a, y: k. S(z, y))  insert S(x, q)", {(), (0,), (1,)}),
        ("choose x: a  insert S(x, q)", set()),
        ("clear S  insert S(x, q) for x: a", {(0,)}),
        ("choose x: a  delete S(x, k1)  insert S(x, q)", set()),
    ],
)
def test_which_shapes_of_effects_suggest_a_key(effect, keys):
    deployment = parse_deployment(f"{SHAPES}  effect\n    {effect}\n")
    possible = possible_keys(deployment)
    assert set(possible["S"]) == keys
    assert ("S" in singles(deployment, possible)) == (() in keys)
    assert "Q" not in singles(deployment, possible), "nothing inserts into it"


def test_with_an_ensure_nothing_is_guessed():
    tools = "  effect\n    clear S  fresh x: a  insert S(x, q)\ntool any()\n  effect\n    ensure same(S)\n"
    possible = possible_keys(parse_deployment(SHAPES + tools))
    assert set(possible.values()) == {()}


PAIRS = """
deployment pairs
sort a
sort k = { k1, k2 } rigid
sort v = { v1, v2 } rigid
relation P(a key, k key, v)
bound a 1
tool fill()
  guard ~exists x: a. true
  effect
    fresh x: a
    insert P(x, k1, v1)
    insert P(x, k2, v1)
tool change(x: a)
  guard P(x, k1, v1)
  effect
    delete P(x, _, _)
    insert P(x, k1, v2)
    insert P(x, k2, v2)
tool drop(x: a)
  guard P(x, k1, _)
  effect delete P(x, _, _)
spec both AG forall x: a. (P(x, k1, _) & P(x, k2, _))
"""


@pytest.mark.parametrize("domain", ["normal", "theorem"])
def test_part_of_a_declared_key_is_a_guess_like_any_other(domain):
    """Each insertion looks as if `a` alone determined the rest. It does not, and that is no fault."""
    deployment = parse_deployment(PAIRS)
    result = verify(deployment, "any", domain=domain)
    explicit = verify(deployment, "any", engine="explicit")
    assert result["both"].holds
    assert explicit["both"].holds
    if domain == "theorem":
        assert (result.states, result.transitions) == (explicit.states, explicit.transitions)
