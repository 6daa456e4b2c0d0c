"""A call is possible if it is one of those that its tool has in a state, also with values in no fact."""

from __future__ import annotations

from itertools import product

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.semantics import calls_of, each_call, is_possible
from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Instance

DESK = """
deployment desk
sort case, person
sort stage = { new, done }
relation Stage(case key, stage)
relation Staff(person)
relation Sees(person, case)
init Stage(c1, new) Stage(c2, done) Staff(ann) Sees(ann, c1) Sees(bob, c2)
tool wait()
tool close(c: case)
  guard Stage(c, new)
tool ask(c: case, p: person)
tool set_stage(c: case, s: stage)
  guard exists p. Staff(p) & Sees(p, c)
event leave(p: person)
  guard ~exists c. Stage(c, new) & Sees(p, c)
"""
VALUES = {"case": ("c1", "c2", "c3"), "person": ("ann", "bob", "cy"), "stage": ("new", "done")}
STATES = [
    [("Stage", ("c1", "new")), ("Staff", ("ann",)), ("Sees", ("ann", "c1"))],
    [("Stage", ("c1", "done")), ("Stage", ("c2", "new")), ("Sees", ("bob", "c1")), ("Staff", ("bob",))],
    [],
]


@pytest.mark.parametrize("facts", STATES)
@pytest.mark.parametrize("name", ["wait", "close", "ask", "set_stage", "leave"])
def test_a_call_is_possible_where_its_tool_has_it(name, facts):
    desk = parse_deployment(DESK)
    state, tool = Instance.of(desk.schema, facts), desk.tool(name)
    made = calls_of(desk, tool, state)
    for args in product(*(VALUES[param.sort] for param in tool.params)):
        assert is_possible(desk, Call(name, args), state) == (Call(name, args) in made)


@pytest.mark.parametrize("facts", STATES)
@pytest.mark.parametrize("name", ["close", "ask", "set_stage", "leave"])
def test_some_values_can_be_fixed(name, facts):
    desk = parse_deployment(DESK)
    state, tool = Instance.of(desk.schema, facts), desk.tool(name)
    made = sorted(calls_of(desk, tool, state))
    for place, param in enumerate(tool.params):
        for value in VALUES[param.sort]:
            found = [*each_call(desk, tool, state, {param.name: value})]
            assert sorted(found) == [call for call in made if call.args[place] == value]
