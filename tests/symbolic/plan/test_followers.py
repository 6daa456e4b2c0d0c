"""Relations that hold facts only while another does: what the text shows of them is so in every state."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from engine_pairs import assert_same_answers, examples
from generated.deployments import deployments
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.symbolic.plan.followers import follows, strengthened
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.errors import DefinitionError, Undecided
from stead_sym.support.progress import Pulse

DESK = """
deployment desk
sort order = {{ o1, o2 }}
sort n = 0..3
relation Call(order)
relation Wish(n)
relation Done()
init
  {init}
event call(o: order, k: n)
  guard {guard}
  effect
    {call}
tool work()
  guard Call(_)
  effect
    {work}
tool idle()
spec one AG atmost 1 k. Wish(k)
spec never AG (Wish(_) -> Call(_))
"""
PLAIN = {
    "init": "Done()",
    "guard": "~Call(_)",
    "call": "insert Call(o)  insert Wish(k)",
    "work": "clear Call, Wish",
}


def desk(**parts: str):
    return parse_deployment(DESK.format_map(PLAIN | parts))


def states_of(deployment):
    restriction = theorem_restriction(deployment, deployment.specs)
    return explore(deployment, {"": None}, restriction, max_states=120).states


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ({}, True),
        ({"work": "delete Call(_)  delete Wish(_)"}, True),
        ({"work": "delete Call(o) for o: order  clear Wish"}, True),
        ({"work": "clear Call  insert Call(o1)"}, True),
        ({"work": "clear Wish"}, True),
        ({"work": "clear Call"}, False),
        ({"work": "delete Call(_)"}, False),
        ({"work": "clear Call  delete Wish(k) for k: n where k > 1"}, False),
        ({"work": "clear Call  delete Wish(2)"}, False),
        ({"work": "clear Call, Wish  insert Wish(1)"}, False),
        ({"call": "insert Call(o) for o: order where Done() & o = o1  insert Wish(k)"}, False),
        ({"call": "insert Call(o)\n  effect\n    insert Wish(k)"}, False),
        ({"init": "Wish(1)"}, False),
        ({"init": "Call(o1)\n  Wish(1)"}, True),
    ],
)
def test_which_texts_show_that_a_relation_follows_another(parts, shown):
    """And where one does not, some state has a fact of the one without one of the other."""
    deployment = desk(**parts)
    assert follows(deployment, "Wish", "Call") == shown
    assert shown == all(state.tuples("Call") or not state.tuples("Wish") for state in states_of(deployment))


@pytest.mark.parametrize(
    ("parts", "single"),
    [
        ({}, True),
        ({"guard": "Done() & ~Call(_)"}, True),
        ({"guard": "~Call(o)"}, False),
        ({"guard": "~Call(o1)"}, False),
        ({"guard": "~exists p: order. Call(p) & p = o"}, False),
        ({"work": "clear Call"}, False),
    ],
)
def test_a_guard_without_a_fact_of_one_makes_the_other_single(parts, single):
    deployment = desk(**parts)
    assert ("Wish" in first_guess(deployment, True).singles) == single
    made = plan(
        Task(deployment, theorem_restriction(deployment, deployment.specs), True),
        first_guess(deployment, True),
        Pulse(),
    )
    fields = [field for field in made.encoding.fields if field.facts[0].relation == "Wish"]
    assert len(fields) == (1 if single else 4)
    assert_same_answers(deployment, "any")


def test_one_pair_of_variables_says_nothing_of_the_whole_relation():
    text = """
deployment pairs
sort a = { a1, a2 } rigid
relation Q(a, a)
relation P(a)
tool go(x: a)
  guard ~exists y: a. Q(y, y)
  effect
    insert Q(a1, a2)
    insert P(x)
spec one AG atmost 1 x. P(x)
"""
    deployment = parse_deployment(text)
    assert follows(deployment, "P", "Q")
    assert strengthened(deployment) is deployment
    assert_same_answers(deployment, "any")


@settings(max_examples=examples(40))
@given(deployments(specs=1, depth=2))
def test_what_follows_does_so_in_every_reachable_state(deployment):
    names = [relation.name for relation in deployment.schema.relations]
    pairs = [(p, q) for p in names for q in names if p != q and follows(deployment, p, q)]
    try:
        states = states_of(deployment)
    except (Undecided, DefinitionError):
        return
    for state in states:
        assert all(state.tuples(q) or not state.tuples(p) for p, q in pairs)
