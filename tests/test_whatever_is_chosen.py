"""Truth for every choice among symmetric records: both engines against all choices, one by one, on small
deployments whose records an agent cannot tell apart."""

from __future__ import annotations

import gc
import math
import random
import weakref
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as some

import stead_sym as st
import stead_sym.logic.syntax as fo
from brute_force import context_automorphisms
from engine_pairs import by_name, examples, some_by_name
from generated.choosing import deployments
from generated.workflows import workflows
from stead_sym.agents.base import FunctionAgent
from stead_sym.agents.roles import wrap_all
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.deployment.semantics import offer, view
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.protocol import Choosers
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import DefinitionError, InputError, Undecided
from stead_sym.verification import orbits

MOST_STATES = 60
MOST_CHOICES = 64


def groups(graph, wrappers):
    """For each state, per agent that chooses, the calls that it may make, in orbits; by trying all
    renamings of what it is shown and offered."""
    deployment = graph.deployment
    for state, acting in zip(graph.states, graph.actors, strict=True):
        here = []
        for role in deployment.agents:
            wrapper = wrappers[role.name]
            mine = {call for call, who in acting.items() if role.name in who}
            if wrapper is None or not mine:
                continue
            shown = st.DecisionContext(view(deployment, state, role), offer(deployment, state, role))
            alphas = context_automorphisms(shown, wrapper.tools, wrapper.rigid)
            here += {(role.name, frozenset(call.rename(alpha) for alpha in alphas)) for call in mine}
        yield sorted((name, sorted(orbit)) for name, orbit in here)


def choices(graph, wrappers, seed):
    """The graphs where one call of each orbit is made in each state, and whether these are all."""
    orbits = [*groups(graph, wrappers)]
    sizes = [len(orbit) for here in orbits for _, orbit in here]
    exhaustive = math.prod(sizes) <= MOST_CHOICES
    if exhaustive:
        plans = [*product(*map(range, sizes))]
    else:
        draw = random.Random(seed)
        ranks = [tuple(min(rank, size - 1) for size in sizes) for rank in range(3)]
        plans = [*ranks, *(tuple(map(draw.randrange, sizes)) for _ in range(MOST_CHOICES - 3))]
    found = []
    for plan in plans:
        left, actors = iter(plan), []
        for here, acting in zip(orbits, graph.actors, strict=True):
            made = {(name, orbit[next(left)]) for name, orbit in here}
            choosing = {name for name, _ in here}
            still = {
                call: tuple(a for a in who if a not in choosing or (a, call) in made)
                for call, who in acting.items()
            }
            actors.append({call: who for call, who in still.items() if who or not acting[call]})
        edges = tuple(
            tuple((call, target) for call, target in out if call in acting)
            for out, acting in zip(graph.edges, actors, strict=True)
        )
        found.append(replace(graph, edges=edges, actors=tuple(actors)))
    return found, exhaustive


def answered(graph, restriction, formula):
    """The answer of one graph by the law of `readings`."""
    fairly, completely = Labelling(graph, restriction), Labelling(graph, restriction, completed=True)
    where_fair = fo.Implies(fo.Globally("E", fo.TRUE), formula)
    if not (fairly.holds_initially(where_fair) and completely.holds_initially(formula)):
        return False
    return fairly.holds_initially(formula) or None


def has_one_operator(formula):
    return str(formula)[:1] in "AE" and not any(map(fo.is_temporal, fo.children(formula)))


def assert_decided_for_all(deployment, agent, seed):
    assume(not deployment.fair_actions)
    restriction = theorem_restriction(deployment, deployment.specs)
    wrappers = wrap_all(deployment, agent)
    try:
        explicit = ExplicitEngine(deployment, wrappers, restriction, max_states=MOST_STATES)
    except (DefinitionError, InputError, Undecided):
        assume(False)
    literal = SymbolicEngine(deployment, wrappers, restriction)
    normal = SymbolicEngine(deployment, wrappers, normal_restriction(deployment), literal=False)
    graphs, exhaustive = choices(explicit.graph, wrappers, seed)
    tied = Choosers(tied=frozenset(name for name, wrapper in wrappers.items() if wrapper))
    for spec in deployment.specs:
        truths = {answered(graph, restriction, spec.formula) for graph in graphs}
        for holds in (True, False):
            decided = explicit.whatever_chosen(spec.formula, tied, holds=holds)
            assert literal.whatever_chosen(spec.formula, tied, holds=holds) == decided
            assert normal.whatever_chosen(spec.formula, tied, holds=holds) == decided
            if decided:
                event(f"{'holds' if holds else 'fails'} whatever is chosen of {min(len(graphs), 3)}")
                assert truths == {holds}
            elif (
                exhaustive
                and explicit.initial == 1
                and not deployment.fair
                and has_one_operator(spec.formula)
            ):
                event("depends")
                assert truths != {holds}


@settings(max_examples=examples(60, slow=2000, quick=8))
@given(deployments(), some.sampled_from([by_name("a"), by_name("b"), some_by_name("a")]), some.integers(0, 9))
def test_what_is_decided_is_so_for_every_choice(deployment, agent, seed):
    assert_decided_for_all(deployment, agent, seed)


@settings(max_examples=examples(20, slow=2000))
@given(workflows(), some.sampled_from([by_name("a"), some_by_name("b")]), some.integers(0, 9))
def test_what_is_decided_is_so_for_every_choice_of_several_agents(deployment, agent, seed):
    assert_decided_for_all(deployment, {role.name: agent for role in deployment.agents}, seed)


QUEUE = """
deployment queue
sort case
relation Open(case)
init Open(a) Open(b) Open(c)
bound case 3
tool close(x: case)
  guard Open(x) & atleast 2 y. Open(y)
  effect delete Open(x)
tool rest()
  guard atmost 1 y. Open(y)
policy some
  call close(x)
  call rest()
spec a_closes EF ~Open(a)
spec one_closes EF atmost 2 x. Open(x)
spec a_or_b EF ~Open(a) | EF ~Open(b)
spec a_iff_b EF ~Open(a) <-> EF ~Open(b)
"""

MARKED = """
deployment marked
sort case
relation Open(case)
relation Urgent(case)
init Open(a) Open(b) Open(c) Urgent(c)
bound case 3
agent clerk
  tools close, rest
  {clerk}
  policy p
    call close(x)
    call rest()
agent chief
  tools close, rest
  policy p
    call close(x) when Urgent(x)
    call close(x)
    call rest()
tool close(x: case)
  guard Open(x) & atleast 2 y. Open(y)
  effect delete Open(x)
tool rest()
  guard atmost 1 y. Open(y)
spec c_closes EF ~Open(c)
spec a_first EX ~Open(a)
"""

ANYWHERE = """
deployment anywhere
sort place
relation At(place)
relation Known(place)
init At(b) Known(a) Known(b)
bound place 2
view Known(x) where true
tool go(x: place)
  guard Known(x)
  effect
    delete At(_)
    insert At(x)
{event}
fair At(a)
policy some
  call go(x)
spec comes AF At(a)
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_a_verdict_says_whether_it_hangs_on_the_choice(engine):
    """The game does not settle that of two that are closed one is a or b, and no single choice differs."""
    result = st.verify(st.parse_deployment(QUEUE), "some", engine=engine)
    hangs = "it hangs on which of the records alike is chosen: it holds with 6 of 8 single choices"
    could = "some choice of some among records alike does this; another choice may not"
    assert {name: verdict.scope for name, verdict in result.verdicts.items()} == {
        "a_closes": (hangs,),
        "one_closes": (),
        "a_or_b": (could,),
        "a_iff_b": (hangs,),
    }
    found = {f.spec: f.text for f in result.findings if f.kind == "about no given agent"}
    assert found == {
        "a_closes": f"a_closes holds: {hangs}",
        "a_or_b": f"a_or_b holds: {could}",
        "a_iff_b": f"a_iff_b holds: {hangs}",
    }


def test_an_agent_is_asked_nothing_more_and_a_large_deployment_is_not_looked_at(monkeypatch):
    asked = []

    def first(shown):
        asked.append(shown)
        return min(shown.calls)

    desk = st.parse_deployment(QUEUE)
    wrapper = st.agents.wrap(desk, FunctionAgent(first))
    result = st.verify(desk, wrapper)
    assert "6 of 8" in result["a_closes"].scope[0]
    assert len(asked) == len(set(asked)) == result.contexts
    unasked = {"": st.agents.wrap(desk, FunctionAgent(first))}
    assert (
        orbits.Open(desk, result.engine, unasked, desk.specs).count(desk.specs[0].formula, holds=True) is None
    )
    monkeypatch.setattr(orbits, "MOST_STATES", result.states - 1)
    monkeypatch.setattr(orbits, "MOST_LITERAL", result.states - 1)
    assert all(
        "some choice of " in verdict.scope[0] for verdict in st.verify(desk, wrapper).verdicts.values()
    )
    assert len(asked) == result.contexts


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize(
    ("clerk", "chief", "matters"),
    [
        ("view Urgent(x) where true\n  view Open(x) where true", False, False),
        ("view Open(x) where true", True, False),
        ("view Open(x) where true", False, True),
    ],
)
def test_a_call_that_is_alone_for_some_agent_may_happen_whatever_is_chosen(engine, clerk, chief, matters):
    """The clerk selects all three cases. He is shown that the third is urgent, or the chief is."""
    text = MARKED.format(clerk=clerk)
    if not chief:
        text = text[: text.index("agent chief")] + text[text.index("tool close(x: case)") :]
    desk = st.parse_deployment(text)
    result = st.verify(desk, "p", engine=engine)
    assert all(verdict.holds for verdict in result.verdicts.values())
    scopes = {name: bool(verdict.scope) for name, verdict in result.verdicts.items()}
    assert scopes == {"c_closes": matters, "a_first": True}


TEAMS = """
deployment teams
sort person
relation Leads(person, person)
relation Next(person, person)
relation Busy(person)
init Next(p, q) Leads(p, a) Leads(p, b) Leads(q, c) Leads(q, d)
bound person 6
tool book(x: person)
  guard exists y. (Leads(y, x) & ~(exists z. (Leads(y, z) & Busy(z))))
  effect insert Busy(x)
event free(x: person)
  guard Busy(x)
  effect delete Busy(x)
tool rest()
  guard Busy(_)
policy some
  call book(x)
  call rest()
spec first EF Busy(a)
spec both AG EF ((Busy(a) | Busy(b)) & (Busy(c) | Busy(d)))
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_two_orbits_of_one_tool_at_places_in_the_data(engine):
    """Of each of two teams one member is booked, and whoever chooses takes the same one each time."""
    result = st.verify(st.parse_deployment(TEAMS), "some", engine=engine)
    assert engine == "explicit" or result.statistics["places"]
    assert all(verdict.holds for verdict in result.verdicts.values())
    assert {name: bool(verdict.scope) for name, verdict in result.verdicts.items()} == {
        "first": True,
        "both": False,
    }


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize(
    ("event_", "matters"), [("", True), ("event home()\n  effect\n    delete At(_)\n    insert At(a)", False)]
)
def test_fairness_that_a_choice_can_break_is_said(engine, event_, matters):
    verdict = st.verify(st.parse_deployment(ANYWHERE.format(event=event_)), "some", engine=engine)["comes"]
    assert verdict.holds
    assert bool(verdict.scope) == matters
    found = st.symmetry(st.parse_deployment(ANYWHERE.format(event=event_)), "some")
    assert bool(found.differing) == matters


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_what_was_asked_is_gone_with_the_answer(engine):
    """The two sides of the game refer to each other, and would keep the states until garbage is collected."""
    result = st.verify(st.parse_deployment(QUEUE), "some", engine=engine)
    alive = weakref.ref(next(iter(result.engine._whatever.values()))._sure)
    gc.disable()
    try:
        del result
        assert alive() is None
    finally:
        gc.enable()
