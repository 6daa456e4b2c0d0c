"""Several agents: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from pinned import DOMAINS, assert_refused, counts, explored, reachable, states, verdicts
from stead_sym.errors import AgentError

PAIR = """
deployment pair
relation A()
relation B()
tool a()
  effect
    insert A()
tool b()
  effect
    insert B()
tool idle()
agent ann
  tools a, idle
  policy go
    call a()
  policy rest
    call idle()
agent bob
  tools b
  policy go
    call b()
"""


@pytest.mark.parametrize(
    ("ann", "bob", "expected"),
    [
        # from the empty state to A, to B, or idle; from A or B to itself or to both; from both to itself
        ("any", "any", (4, 3 + 2 + 2 + 1)),
        ("go", "go", (4, 2 + 2 + 2 + 1)),
        ("rest", "go", (2, 2 + 1)),
        ("rest", "any", (2, 2 + 1)),
        ("any", "go", (4, 3 + 2 + 2 + 1)),
    ],
)
def test_any_one_of_the_selections_happens(engine, ann, bob, expected):
    assert counts(engine, PAIR, {"ann": ann, "bob": bob}) == expected


def test_agents_act_one_at_a_time(engine):
    """After one step A or B holds, never both; under `go` one of them does, and it may be either."""
    text = PAIR + "spec one AX ~(A() & B())\nspec acted AX (A() | B())\nspec either (EX A()) & EX B()\n"
    assert verdicts(engine, text, {"ann": "go", "bob": "go"}) == {"one": True, "acted": True, "either": True}
    assert verdicts(engine, text) == {"one": True, "acted": False, "either": True}


def test_no_agent_waits_for_another(engine):
    """Bob may act for ever before ann does."""
    assert verdicts(engine, PAIR + "spec acts AF A()\n", {"ann": "go", "bob": "go"}) == {"acts": False}


def test_the_steps_of_a_run_name_the_agents(engine):
    trace = explored(engine, PAIR + "spec never AG ~(A() & B())\n", {"ann": "go", "bob": "go"})["never"].trace
    assert {step.call.tool: step.actor for step in trace.steps} == {"a": "ann", "b": "bob"}


SHARED_TOOL = """
deployment shared_tool
relation A()
tool a()
  effect
    insert A()
tool idle()
agent ann
  tools a, idle
agent bob
  tools a, idle
policy go
  call a()
policy rest
  call idle()
spec sure AF A()
spec possible EF A()
"""


@pytest.mark.parametrize(
    ("ann", "bob", "expected", "sure", "possible"),
    [
        ("go", "go", (2, 1 + 1), True, True),
        ("go", "rest", (2, 2 + 1), False, True),
        ("rest", "go", (2, 2 + 1), False, True),
        ("rest", "rest", (1, 1), False, False),
        ("any", "rest", (2, 2 + 1), False, True),
    ],
)
def test_a_tool_of_two_agents_happens_if_either_selects_it(engine, ann, bob, expected, sure, possible):
    """The policies stand in the file and are given to both agents."""
    agents = {"ann": ann, "bob": bob}
    assert counts(engine, SHARED_TOOL, agents) == expected
    assert verdicts(engine, SHARED_TOOL, agents) == {"sure": sure, "possible": possible}


EYES = """
deployment eyes
sort k = { k1, k2 } rigid
relation P(k)
relation Q(k)
relation A()
relation B()
init
  P(k1)
  Q(k2)
tool a()
  effect
    insert A()
tool b()
  effect
    insert B()
tool idle()
policy on_p
  call a() when P(_)
  call b() when P(_)
  call idle()
policy on_q
  call a() when Q(_)
  call b() when Q(_)
  call idle()
agent ann
  tools a, idle
  view P(x)
agent bob
  tools b, idle
"""
BOBS_OWN = EYES + "  view Q(x)\n"
OF_THE_FILE = EYES.replace("agent ann", "view Q(x)\nagent ann")


@pytest.mark.parametrize(
    ("text", "ann", "bob", "acted"),
    [
        (BOBS_OWN, "on_p", "on_q", {"A()", "B()"}),
        (BOBS_OWN, "on_p", "on_p", {"A()"}),
        (BOBS_OWN, "on_q", "on_q", {"B()"}),
        (BOBS_OWN, "on_q", "on_p", set()),
        # ann has a view of her own, so that of the file is for bob alone
        (OF_THE_FILE, "on_p", "on_q", {"A()", "B()"}),
        (OF_THE_FILE, "on_p", "on_p", {"A()"}),
        (OF_THE_FILE, "on_q", "on_q", {"B()"}),
        # bob has no view at all and is shown the whole state
        (EYES, "on_p", "on_p", {"A()", "B()"}),
        (EYES, "on_q", "on_q", {"B()"}),
    ],
)
def test_each_agent_sees_what_its_own_view_shows(engine, text, ann, bob, acted):
    """The policy asks for P or for Q. It acts where the agent that it is given to is shown that relation; the
    two acts are independent, so that each subset of those that happen is reached."""
    result = explored(engine, text, {"ann": ann, "bob": bob})
    assert set().union(*reachable(result)) - {"P(k1)", "Q(k2)"} == acted
    assert result.states == 2 ** len(acted)


def test_an_agent_that_is_offered_nothing_is_not_asked(engine):
    """Ann may act at first, then bob, then nobody but the event: three states in a row. Ann is asked once
    (her policy has no line for the second state), bob once too."""
    text = """
deployment relay
relation A()
relation B()
tool a()
  guard ~A()
  effect
    insert A()
tool b()
  guard A() & ~B()
  effect
    insert B()
event rest()
  guard B()
agent ann
  tools a
  policy p
    call a() when ~A()
agent bob
  tools b
  policy p
    call b() when A()
"""
    result = explored(engine, text, {"ann": "p", "bob": "p"})
    assert (result.states, result.transitions) == (3, 3)
    assert result.queries == 2


def test_an_agent_that_selects_nothing_is_an_error_also_where_another_one_selects(engine):
    text = PAIR + "  policy late\n    call b() when A() & B()\n"
    for domain in DOMAINS[engine]:
        with pytest.raises(AgentError, match="selects nothing"):
            explored(engine, text, {"ann": "go", "bob": "late"}, domain)


@pytest.mark.parametrize(("bobs_tools", "number"), [("go, idle", 2), ("go, idle, take", 1)])
def test_a_rule_sees_the_offered_calls_of_its_own_agent(engine, bobs_tools, number):
    """The views show Z alone; take(c) mentions c, to ann only or to bob as well, who goes where no value of a
    is mentioned to him."""
    text = f"""
deployment own_calls
sort a
relation P(a)
relation Z()
init
  P(c)
tool take(x: a)
  guard P(x)
tool go()
  effect
    insert Z()
tool idle()
view Z()
agent ann
  tools take
agent bob
  tools {bobs_tools}
  policy p
    call go() when exactly 0 y: a. true
    call idle()
"""
    assert explored(engine, text, {"ann": "any", "bob": "p"}).states == number


def test_interchangeable_records_are_all_chosen_by_each_agent(engine):
    """Ann picks one of two alike items by its name, so that either may be meant, and bob finishes one of
    those picked. Each item is new, picked or done: 9 states, with a transition for each item that is not
    done; where both are done only the event is left."""
    text = """
deployment handover
sort item
relation New(item)
relation Picked(item)
init
  New(i)
  New(j)
tool pick(x: item)
  guard New(x)
  effect
    delete New(x)
    insert Picked(x)
tool finish(x: item)
  guard Picked(x)
  effect
    delete Picked(x)
event rest()
  guard ~New(_) & ~Picked(_)
agent ann
  tools pick
agent bob
  tools finish
"""
    agents = {"ann": lambda context: min(context.calls), "bob": lambda context: min(context.calls)}
    result = explored(engine, text, agents)
    assert reachable(result) == states(
        "New(i) New(j)",
        "Picked(i) New(j)",
        "New(i) Picked(j)",
        "Picked(i) Picked(j)",
        "New(j)",
        "New(i)",
        "Picked(j)",
        "Picked(i)",
        "",
    )
    assert result.transitions == 4 * 2 + 4 * 1 + 1


@pytest.mark.parametrize(
    "text",
    [
        PAIR.replace("  tools b\n", "  tools a\n"),  # b belongs to nobody
        PAIR.replace("  tools b\n", "  tools b, c\n"),  # there is no c
        PAIR + "agent ann\n  tools a\n",  # a second ann
    ],
)
def test_tools_and_agents_that_do_not_fit_are_refused(text):
    assert_refused(text)
