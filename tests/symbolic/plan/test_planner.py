"""Planning: what is planned does not depend on how; how far it has come is told on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from families import desks, returns_desk, service_desk
from hypothesis import given, reject, settings

from engine_pairs import both, examples
from generated.deployments import deployments
from stead_sym.deployment.files import load
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.engines.symbolic.plan.guess import Guess, first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.errors import Undecided
from stead_sym.support import progress
from stead_sym.support.progress import Pulse
from stead_sym.verification.verify import verify


def task(deployment, literal=False):
    restriction = (
        theorem_restriction(deployment, deployment.specs) if literal else normal_restriction(deployment)
    )
    return Task(deployment, restriction, literal)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("deployment", [load("refund"), service_desk(3), desks(2)], ids=lambda d: d.name)
def test_without_any_guess_all_facts_have_bits_of_their_own(deployment, literal):
    """A guess only makes the encoding smaller: whatever has a bit with it has one without."""
    guessed = plan(task(deployment, literal), first_guess(deployment, literal), Pulse())
    nothing = Guess(keys={relation.name: () for relation in deployment.schema.relations})
    plain = plan(task(deployment, literal), nothing, Pulse())
    assert plain.guess == nothing
    assert all(len(field.facts) == 1 for field in plain.encoding.fields)
    assert len(guessed.encoding.state_bits) <= len(plain.encoding.state_bits)
    assert guessed.guess.keys != nothing.keys
    if not guessed.naming.anchors:
        facts = {name: set(facts) for name, facts in plain.encoding.dynamic_facts.items()}
        assert all(set(f) <= facts[name] for name, f in guessed.encoding.dynamic_facts.items())
        assert guessed.encoding.static == plain.encoding.static


@settings(max_examples=examples(40))
@given(deployments(specs=1, depth=2))
def test_every_reachable_state_has_a_code(deployment):
    """The facts of every state of the explicit engine have bits or are static, and its code is read back."""
    try:
        pair = both(deployment, max_states=60)
    except Undecided:
        reject()
    made = plan(task(deployment, literal=True), first_guess(deployment, True), Pulse())
    encoding = made.encoding
    for state in pair.explicit.satisfying(deployment.specs[0].formula, {}).states:
        assert encoding.static <= state.facts
        assert encoding.decode(encoding.encode(state)) == state


def test_planning_tells_which_tool_and_how_far():
    """Rounds of relaxed reachability, then the tools in their order, each by name with its actions."""
    deployment = service_desk(5)
    heard = []
    made = plan(
        task(deployment),
        first_guess(deployment, False),
        lambda phase, **counts: heard.append((phase, counts)),
    )
    assert {phase for phase, _ in heard} == {"plan"}
    rounds = [counts["rounds"] for _, counts in heard if "rounds" in counts]
    assert rounds == sorted(rounds)
    assert max(rounds) > 1
    compiling = [counts for _, counts in heard if "of" in counts]
    assert [counts["tools"] for counts in compiling] == sorted(counts["tools"] for counts in compiling)
    last = {}
    for counts in compiling:
        assert counts["of"] == len(deployment.tools)
        tool = deployment.tools[counts["tools"] - 1].name
        assert set(counts) == {"tools", "of", f"actions of {tool}"}
        last[tool] = counts[f"actions of {tool}"]
    assert last == {name: tool.actions for name, tool in made.tools.items() if tool.actions}


def test_a_listener_hears_of_planning(monkeypatch):
    """From the outside, where a second passes between any two reports."""
    clock = iter(range(10**9))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    heard = []
    verify(load("refund"), progress=lambda phase, **counts: heard.append((phase, counts)))
    phases = [phase for phase, _ in heard]
    assert phases.index("plan") < phases.index("check")
    tools = {
        name for phase, counts in heard if phase == "plan" for name in counts if name.startswith("actions of")
    }
    assert tools == {f"actions of {tool.name}" for tool in load("refund").tools}


def test_the_backend_makes_no_difference():
    deployment = load("refund")
    made = [
        plan(replace(task(deployment), backend=backend), first_guess(deployment, False), Pulse())
        for backend in (None, "autoref")
    ]
    assert made[0].guess == made[1].guess
    assert made[0].restriction == made[1].restriction
    assert made[0].encoding.fields == made[1].encoding.fields
    assert made[0].encoding.static == made[1].encoding.static
    assert [t.actions for t in made[0].tools.values()] == [t.actions for t in made[1].tools.values()]


def written_bits(deployment, monkeypatch):
    """The plan of a deployment, with how many bits each of its actions writes besides what all of them do."""
    written = []

    def write(self, *args):
        write = plain(self, *args)
        written.append(len(write.updates))
        return write

    plain = Writer.write
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "write", write)
        made = plan(task(deployment), first_guess(deployment, False), Pulse())
    return made, written


def test_an_action_costs_what_it_is_about(monkeypatch):
    """Each closing tool clears relations over all orders and users. An action writes the bits of its own
    order even so, and the relations are linear in the number of orders."""
    small, large = (written_bits(returns_desk(n), monkeypatch) for n in (80, 240))
    assert max(small[1] + large[1]) < 10
    assert sum(large[1]) < 3.6 * sum(small[1])
    for name, tool in large[0].tools.items():
        assert tool.steps.dag_size < 3.8 * small[0].tools[name].steps.dag_size, name


def test_conditions_on_the_state_alone_are_no_part_of_an_action(monkeypatch):
    """`next_request` asks that there is no request at all: it is asked once, not for each order."""
    cases = []
    plain = Writer.write

    def write(self, effect, values, case, *args):
        cases.append(case.dag_size)
        return plain(self, effect, values, case, *args)

    monkeypatch.setattr(Writer, "write", write)
    deployment = returns_desk(80)
    plan(task(deployment), first_guess(deployment, False), Pulse())
    assert max(cases) < 30
