"""Room within the bounds and in U_f, against counting the active values of each state."""

from __future__ import annotations

from itertools import combinations

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.room import Room
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Pulse

TEXT = """
deployment d
sort a
relation P(a)
relation Q(a)
bound a 2
init Q(c0)
tool t()
  effect
    {}
tool idle()
tool two() guard ~exists x. P(x) effect
  fresh u: a
  fresh v: a
  insert P(u)
  insert P(v)
tool off(x: a) guard P(x) effect delete P(x)
{}
"""


def room(block, size=4, more="", literal=True):
    deployment = parse_deployment(TEXT.format(block.replace("\n", "\n   "), more))
    restriction = normal_restriction(deployment)
    if literal:
        restriction = theorem_restriction(deployment, (), {"a": size}, force=True)
    made = plan(Task(deployment, restriction, literal), first_guess(deployment, literal), Pulse())
    writer = Writer(Compiler(made.encoding))
    return deployment, made.encoding, Room(deployment, made.restriction, writer)


def states(deployment, encoding):
    """The states within the bound that the encoding has a code for, with their values outside C."""
    facts = [fact for facts in encoding.dynamic_facts.values() for fact in facts]
    for number in range(5):
        for chosen in combinations(facts, number):
            state = Instance(deployment.schema, frozenset({*encoding.static, *chosen}))
            active = state.active_domain["a"].difference(deployment.constants["a"])
            if encoding.has_code(state) and len(active) <= deployment.bounds["a"]:
                yield state, active


@pytest.mark.parametrize(
    ("block", "drawn"),
    [
        ("insert P(c0)", 0),
        ("fresh u: a\n insert P(u)", 1),
        ("fresh u: a\n insert P(u)\n insert Q(u)", 1),
        ("fresh u: a\n fresh v: a\n insert P(u)", 1),
        ("fresh u: a\n fresh v: a\n insert P(u)\n insert Q(v)", 2),
        ("fresh u: a\n insert P(u) for x: a where Q(x)", None),
        ("fresh u: a\n insert P(u)\n delete P(x) for x: a", None),
        ("fresh u: a\n insert P(u)\n clear P", None),
    ],
)
def test_the_states_with_room_for_what_an_effect_only_inserts(block, drawn):
    deployment, encoding, made = room(block)
    before = made.before(deployment.tools[0].effects[0])
    if drawn is None:
        assert before is None
        return
    answers = set()
    for state, active in states(deployment, encoding):
        enough = len(active) + drawn <= deployment.bounds["a"]
        assert encoding.manager.satisfies(before, encoding.encode(state)) == enough
        answers.add(enough)
    assert answers == ({True, False} if drawn else {True})


def test_without_a_care_set_every_state_has_room():
    deployment, encoding, made = room("fresh u: a\n insert P(u)\n clear P", literal=False)
    assert made.before(deployment.tools[0].effects[0]) == encoding.manager.true


def test_what_is_written_is_asked_where_the_shape_does_not_say():
    deployment, encoding, made = room("fresh u: a\n insert P(u)\n insert Q(u)\n delete P(x) for x: a")
    m, effect, values = encoding.manager, deployment.tools[0].effects[0], encoding.values["a"]
    answers = set()
    for state, _ in states(deployment, encoding):
        here = m.cube(encoding.encode(state))
        for value in values:
            if value in state.active_domain["a"] or value in deployment.constants["a"]:
                continue
            shared = made.writer.shared(effect, m.true)
            written = made.writer.write(effect, {"u": value}, here & encoding.care, shared)
            kept = {fact.args[0] for fact in state.facts if fact.relation == "Q"} | {value}
            fits = len(kept.difference(deployment.constants["a"])) <= deployment.bounds["a"]
            assert (here & made.after({**shared.write.updates, **written.updates}) != m.false) == fits
            answers.add(fits)
    assert answers == {True, False}


@pytest.mark.parametrize("size", [3, 4, 5])
def test_fresh_values_outside_the_domain_are_lacking_where_it_is_full(size):
    """Two are inserted, into U_f with c0 and ``size`` - 1 others."""
    deployment, encoding, made = room("fresh u: a\n fresh v: a\n insert P(u)\n insert Q(v)", size)
    m, effect = encoding.manager, deployment.tools[0].effects[0]
    outside = {"u": "u?", "v": "v?"}
    lacking = made.lacking(effect, outside, m.true)
    assert made.lacking(effect, outside, m.false) == m.false
    for state, active in states(deployment, encoding):
        expected = len(active) + 2 > size - 1
        assert m.satisfies(lacking, encoding.encode(state)) == expected


def test_values_that_only_an_ensure_leads_to_are_spare():
    deployment, encoding, made = room("insert Q(c0)", more="tool leap() effect ensure exists x. Q(x)")
    m = encoding.manager
    (spare,) = made.spare["a"]
    assert spare not in made.restriction.values["a"]
    assert {*made.restriction.values["a"], spare} == set(encoding.values["a"])
    assert room("insert Q(c0)")[2].spare == {"a": ()}
    for state, active in states(deployment, encoding):
        after = {encoding.primed(bit): on for bit, on in encoding.encode(state).items()}
        assert m.satisfies(made.spare_active, after) == (spare in active)
        assert m.satisfies(made.care_after, after)
