"""Any initial state: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from pinned import DOMAINS, assert_fault, explored, verdicts
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import NoInitialState, NothingOffered
from whole import verify

ANY = """
deployment whatever
sort a
sort k = { k1, k2 } rigid
relation P(a)
relation Q(a)
relation F(a key, k)
relation K(k)
relation Z()
tool idle()
"""


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        # a has 2·bound + constants values, as no specification has a variable
        ("bound a 1\ninitially any P", 1 + 2),
        ("bound a 2\ninitially any P", 1 + 4 + 6),  # at most two of four values
        ("initially any P", 1),  # no bound: only constants, and there are none
        ("initially any K", 4),
        ("initially any Z", 2),
        ("bound a 1\ninitially any P, Q", 1 + 2 * 3),  # a value in P, in Q, or in both
        ("bound a 1\ninitially any P\ninitially any Q", 1 + 2 * 3),
        ("init\n  P(c)\nbound a 1\ninitially any P", 1 + 2),  # the fact of init is always there
        ("init\n  Q(c)\nbound a 1\ninitially any P", 2 * (1 + 2)),  # c is in P or not
        ("init\n  Q(c)\nbound a 1\ninitially any P where P(c)", 1 + 2),
        ("init\n  K(k1)\ninitially any K", 2),
        # conditions
        ("bound a 1\ninitially any P where P(_)", 2),
        ("bound a 2\ninitially any P where atmost 1 x. P(x)", 1 + 4),
        ("bound a 1\ninitially any P where P(_)\ninitially any Q where forall x. (Q(x) -> P(x))", 2 * 2),
        ("bound a 1\ninitially any P where forall x. (P(x) -> Q(x))\ninitially any Q", 1 + 2 * 2),
        ("initially any K where forall x: k. K(x)", 4),  # over the active values, which K has
        ("initially any K where forall x in k. K(x)", 1),
        ("initially any K where ~K(_) | K(k2)", 1 + 2),
        # the declared key: one k for each value
        ("bound a 1\ninitially any F", 1 + 2 * 2),
        ("bound a 2\ninitially any F", 1 + 4 * 2 + 6 * 4),
        ("init\n  F(c, k1)\nbound a 1\ninitially any F", 1 + 2 * 2),
    ],
)
def test_the_number_of_initial_states(engine, lines, number):
    """Every initial state idles, and no other state is reached."""
    result = explored(engine, f"{ANY}{lines}\n")
    assert (result.initial, result.states, result.transitions) == (number, number, number)


def test_each_initial_state_is_counted_once_with_representatives():
    """c has one k or none: two bits have one code more than that."""
    deployment = parse_deployment(f"{ANY}init\n  Q(c)\ninitially any F\n")
    result = verify(deployment, domain="normal")
    assert (result.initial, result.states, result.transitions) == (3, 3, 3)


def test_states_and_transitions_count_what_is_reached_from_any_initial_state(engine):
    """Three initial states; from those with a value to themselves and to the empty one."""
    text = ANY + "bound a 1\ninitially any P where P(_)\ntool drop()\n  effect\n    clear P\n"
    result = explored(engine, text)
    assert (result.initial, result.states, result.transitions) == (2, 3, 2 + 2 + 1)


def test_what_init_lists_holds_in_every_initial_state_and_may_leave_later(engine):
    """P(c) and at most one of two other values at first; from these three states to themselves and to the
    empty one."""
    text = ANY + "init\n  P(c)\nbound a 1\ninitially any P\ntool drop()\n  effect\n    clear P\n"
    result = explored(engine, text)
    assert (result.initial, result.states, result.transitions) == (3, 4, 3 * 2 + 1)
    text += "spec at_first P(c)\nspec always AG P(c)\n"
    assert verdicts(engine, text) == {"at_first": True, "always": False}


def test_a_specification_holds_where_it_holds_from_every_initial_state(engine):
    """With at most one value in P: `some` and its negation fail both, each from another initial state."""
    text = (
        ANY
        + """
bound a 1
initially any P
spec some exists x. P(x)
spec none ~exists x. P(x)
spec either (exists x. P(x)) | ~exists x. P(x)
spec stays (exists x. P(x) & AG P(x)) | AG ~exists x. P(x)
spec one AG atmost 1 x. P(x)
"""
    )
    expected = {"some": False, "none": False, "either": True, "stays": True, "one": True}
    assert verdicts(engine, text) == expected


def test_a_run_starts_with_the_initial_state_that_it_is_about(engine):
    """The values are those of the initial state: it takes one with a value in P that is not in Q."""
    text = (
        ANY
        + """
bound a 1
initially any P, Q
tool move(x: a)
  guard P(x) & ~Q(x)
  effect
    insert F(x, k2)
spec never AG ~F(_, _)
"""
    )
    for domain in DOMAINS[engine]:
        trace = explored(engine, text, domain=domain)["never"].trace
        [fact] = trace.start.facts
        assert fact.relation == "P"
        [step] = trace.steps
        assert step.call.args == fact.args
        assert step.state.tuples("F") == {(*fact.args, "k2")}


@pytest.mark.parametrize(
    "lines",
    [
        "bound a 1\ninitially any P where P(_) & ~P(_)",
        "initially any P where P(_)",  # no constant, and no bound
        "bound a 1\ninitially any P where ~Q(_)\ninitially any Q where Q(_)",
    ],
)
def test_no_initial_state_is_an_error(engine, lines):
    for domain in DOMAINS[engine]:
        with pytest.raises(NoInitialState) as caught:
            explored(engine, f"{ANY}{lines}\nspec s AG Z()\n", domain=domain)
        assert "\n" not in str(caught.value)


def test_a_fault_in_one_of_the_initial_states_is_an_error(engine):
    """With P(k1) the tool is offered, without it nothing is."""
    text = """
deployment stuck
sort k = { k1 } rigid
relation P(k)
initially any P
tool idle()
  guard P(k1)
"""
    assert_fault(engine, text, NothingOffered, "", 0)


def test_values_of_initial_states_are_treated_alike(engine):
    """Which of the values is in P and which in Q does not matter to an agent: it is asked about one value in
    P, in Q, in both, and about none."""
    result = explored(engine, ANY + "bound a 1\ninitially any P, Q\n", lambda context: min(context.calls))
    assert (result.states, result.contexts, result.queries) == (7, 4, 4)


def test_values_of_an_initial_state_leave_and_come_back(engine):
    """Over the 2·1 + 2 values of a: none or one is there at first, leaves, and a fresh value comes, which
    may be the same or another one."""
    text = """
deployment returning
sort a
relation P(a)
bound a 1
initially any P
event leave()
  guard P(_)
  effect
    clear P
tool come()
  guard ~P(_)
  effect
    fresh x: a
    insert P(x)
spec leaves forall x. (P(x) -> AX ~P(x))
spec comes_back forall x. (P(x) -> EX EX P(x))
spec another forall x. (P(x) -> EX EX exists y. (P(y) & y != x))
spec may_stay_away forall x. (P(x) -> EX EG ~P(x))
spec never_back forall x. (P(x) -> AX AG ~P(x))
"""
    result = explored(engine, text)
    assert (result.initial, result.states, result.transitions) == (1 + 4, 1 + 4, 4 + 4)
    assert verdicts(engine, text) == {
        "leaves": True,
        "comes_back": True,
        "another": True,
        "may_stay_away": True,
        "never_back": False,
    }


def test_interchangeable_values_of_an_initial_state_are_all_chosen(engine):
    """The agent picks one of at most two alike values by its name: either may be meant. Over the 2·2 + 1
    values of a: nothing, 5 values, 10 pairs, all of them initial; each value that is there may be
    picked."""
    text = """
deployment picking
sort a
relation New(a)
bound a 2
initially any New
tool pick(x: a)
  guard New(x)
  effect
    delete New(x)
event rest()
  guard ~New(_)
spec each AG forall x. (New(x) -> EX ~New(x))
"""
    result = explored(engine, text, lambda context: min(context.calls))
    assert (result.initial, result.states, result.transitions) == (16, 16, 1 + 5 + 10 * 2)
    for domain in DOMAINS[engine]:
        found = explored(engine, text, lambda context: min(context.calls), domain)
        assert found["each"].holds
        assert (found.contexts, found.queries) == (2, 2)  # one value, or two
