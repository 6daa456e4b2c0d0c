"""Deployments that break what the engine guesses, each against the explicit engine.

A guess is worth its confirmation only if an answer would be wrong without it: in every deployment here
something can happen only once the guess is broken. `tests/mutation.py` switches the confirmations off, and
then these tests fail.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, reject, settings

from engine_pairs import assert_same_answers, examples
from generated.guess_breakers import crowded_relations, named_after_others, short_of_room
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.engines.symbolic.explore.reach import explore
from stead_sym.engines.symbolic.plan.guess import Broken, Guess, confirm, first_guess
from stead_sym.engines.symbolic.plan.planner import Task, attempt
from stead_sym.errors import DefinitionError, Undecided
from stead_sym.support.progress import Pulse


@dataclass(frozen=True)
class Case:
    """A deployment, the answers worked out by hand (or the name of the error), and what breaks."""

    text: str
    answers: object
    keys: frozenset = frozenset()
    anchors: frozenset = frozenset()


ITEMS = """
deployment items
sort item = { i1, i2, i3, i4 }
relation At(item)
relation On()
relation Bad()
tool idle()
tool notice()
  guard exists x, y. At(x) & At(y) & x != y
  effect
    insert Bad()
spec never AG ~Bad()
spec can EF Bad()
"""
STATUSES = """
deployment statuses
sort item = { i1, i2 }
sort k = { k1, k2, k3 } rigid
relation Item(item)
relation S(item, k)
relation On()
relation Bad()
init
  Item(i1)
  Item(i2)
tool flip()
  effect
    delete On() where On()
    insert On() where ~On()
tool notice()
  guard exists x: item, p: k, q: k. S(x, p) & S(x, q) & p != q
  effect
    insert Bad()
spec never AG ~Bad()
spec can EF Bad()
"""
BROKEN = {"never": False, "can": True}
AT, S = frozenset({("At", ())}), frozenset({("S", (0,))})

CASES = {
    "two of a single relation inserted": Case(
        f"{ITEMS}tool jump()\n  effect\n    clear At\n    insert At(i1)\n    insert At(i4)\n", BROKEN, AT
    ),
    "a single relation, of two alternatives one makes no room": Case(
        ITEMS
        + """
tool first()
  effect
    clear At
    insert At(i1)
    insert On()
  effect
    delete At(x) for x: item where ~On()
    insert At(i2)
""",
        BROKEN,
        AT,
    ),
    "a single relation, what is chosen meets what stays": Case(
        ITEMS
        + """
tool move()
  effect
    choose x: item where ~At(x)
    delete At(y) for y: item where On()
    insert At(x)
  effect
    insert On()
""",
        BROKEN,
        AT,
    ),
    "a single relation with a fact that nothing deletes": Case(
        ITEMS
        + """
init
  At(i1)
tool add()
  effect
    delete At(x) for x: item where On()
    insert At(i2)
""",
        BROKEN,
        AT,
    ),
    "a relation that has two facts at the start": Case(
        ITEMS
        + """
init
  At(i1)
  At(i2)
tool jump()
  effect
    clear At
    insert At(i3)
""",
        BROKEN,
    ),
    "two facts of a key inserted": Case(
        STATUSES
        + """
tool set(x: item)
  effect
    delete S(x, y) for y: k
    insert S(x, k1)
    insert S(x, k2)
""",
        BROKEN,
        S,
    ),
    "the deletion that makes room does not always": Case(
        STATUSES
        + """
tool set(x: item)
  effect
    choose q: k
    delete S(x, y) for y: k where On()
    insert S(x, q)
""",
        BROKEN,
        S,
    ),
    "a clear with two bulk insertions": Case(
        STATUSES
        + """
tool set()
  effect
    clear S
    insert S(x, k1) for x: item
    insert S(x, k2) for x: item where On()
""",
        BROKEN,
        S,
    ),
    "a fact that a guard names is kept at times": Case(
        STATUSES
        + """
tool start(x: item)
  guard ~(exists y. S(x, y))
  effect
    insert S(x, k1)
tool next(x: item)
  guard S(x, k1)
  effect
    delete S(x, k1) where ~On()
    insert S(x, k2)
""",
        BROKEN,
        S,
    ),
}

DESK = """
deployment desk
sort case
sort holder = { h1, h2 }
bound case 2
relation Place(holder)
relation H(case, holder)
init
  Place(h1)
  Place(h2)
tool idle()
tool close(c: case)
  effect
    clear H
spec two EF exactly 2 x: case. true
spec beside EF exactly 2 x. H(x, h1)
spec another AG ((atmost 1 x: case. true) -> EX exactly 2 x: case. true)
"""
MOVE = "tool move(c: case)\n  effect\n    delete H(c, y) for y: holder\n    insert H(c, h2)\n"
KEPT = "  effect\n    insert Place(h1)\n"
OPEN = (("open", 0), "c")

CASES |= {
    "a name is in use when its anchor draws again": Case(
        f"""{DESK}
tool open(g: holder)
  guard (atmost 1 x: case. true) & ~(exists x. H(x, g))
  effect
    fresh c: case
    insert H(c, g)
{KEPT}{MOVE}""",
        {"two": True, "beside": False, "another": False},
        anchors=frozenset({(OPEN, "g")}),
    ),
    "an anchor draws twice": Case(
        f"""{DESK}
tool open(g: holder)
  guard atmost 1 x: case. true
  effect
    fresh c: case
    insert H(c, g)
{KEPT}""",
        {"two": True, "beside": True, "another": False},
        anchors=frozenset({(OPEN, "g")}),
    ),
    "two draws after one anchor, and one of them stays": Case(
        """
deployment twins
sort case
sort holder = { h1 }
bound case 3
relation H(case, holder)
relation Place(holder)
init
  Place(h1)
tool open(g: holder)
  guard atmost 1 x: case. true
  effect
    fresh c: case
    fresh d: case
    insert H(c, g)
    insert H(d, g)
  effect
    insert Place(h1)
tool drop(c: case)
  effect
    delete H(c, h1)
spec three EF exactly 3 x: case. true
spec another AG ((atmost 1 x: case. true) -> EX exists x: case. true)
spec more AG ((exactly 1 x: case. true) -> EX exactly 3 x: case. true)
""",
        {"three": True, "another": True, "more": True},
        anchors=frozenset({(OPEN, "g"), ((("open", 0), "d"), "g")}),
    ),
    "anchors that are named after anchors": Case(
        """
deployment chain
sort case
bound case 3
relation H(case)
relation Next(case, case)
tool open()
  guard ~exists x: case. true
  effect
    fresh c: case
    insert H(c)
tool follow(c: case)
  guard exactly 1 x: case. true
  effect
    insert H(c)
  effect
    fresh d: case
    fresh e: case
    clear H
    insert Next(d, c)
    insert Next(e, c)
tool take()
  guard exists x, y. Next(x, y)
  effect
    choose x: case where exists y. Next(x, y)
    clear H, Next
    insert H(x)
spec three EF exactly 3 x: case. true
spec more AG ((exactly 1 x: case. true) -> EX exactly 3 x: case. true)
""",
        {"three": True, "more": True},
        anchors=frozenset({((("follow", 1), "d"), "c"), ((("follow", 1), "e"), "c")}),
    ),
}

ROOM = """
deployment room
sort a
bound a 1
relation P(a)
tool idle()
tool one()
  guard ~exists x: a. true
  effect
    fresh x: a
    insert P(x)
"""
CASES |= {
    "more is inserted than the literal domain has left": Case(
        ROOM
        + """
tool more()
  guard exists x: a. true
  effect
    insert P(x) for x: a
  effect
    fresh x: a
    fresh y: a
    insert P(x)
    insert P(y)
""",
        "BoundExceeded",
    ),
    "an ensure leaps past the bound": Case(
        ROOM
        + """
tool leap()
  guard exists x: a. true
  effect
    insert P(x) for x: a
  effect
    ensure (exactly 2 x. P'(x)) & forall x. P'(x) -> ~P(x)
""",
        "BoundExceeded",
    ),
    "an ensure leaps past no bound": Case(
        ROOM
        + """
tool leap()
  guard exists x: a. true
  effect
    ensure (exactly 1 x. P'(x)) & forall x. P'(x) -> ~P(x)
spec other AG forall x. (P(x) -> EX exists y. P(y) & x != y)
spec same AG forall x. (P(x) -> AX P(x))
""",
        {"other": True, "same": False},
    ),
}


def attempts(deployment, literal):
    """The guesses that planning and exploring go through, each with what is broken of it."""
    restriction = (
        theorem_restriction(deployment, deployment.specs) if literal else normal_restriction(deployment)
    )
    task = Task(deployment, restriction, literal)
    guess = first_guess(deployment, literal)
    while True:
        made = attempt(task, guess, Pulse())
        if not isinstance(made, Broken):
            made = explore(made, {"": None})
        if not isinstance(made, Broken):
            return
        yield guess, made
        guess = guess.without(made)


def all_broken(deployment, literal):
    """Everything of the first guess that is broken sooner or later."""
    keys, anchors = set(), set()
    try:
        for _, broken in attempts(deployment, literal):
            keys |= broken.keys
            anchors |= broken.anchors
    except DefinitionError as error:
        error.with_traceback(None)
    return Broken(frozenset(anchors), frozenset(keys))


@pytest.mark.parametrize("name", CASES)
def test_what_breaks_a_guess_changes_no_answer(name):
    case = CASES[name]
    assert assert_same_answers(parse_deployment(case.text), max_states=600) == case.answers


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("domain", ["theorem", "normal"])
def test_it_is_guessed_and_found_broken(name, domain):
    case, literal = CASES[name], domain == "theorem"
    deployment = parse_deployment(case.text)
    guess = first_guess(deployment, literal)
    assert case.keys <= {(relation, key) for relation, keys in guess.keys.items() for key in keys}
    if not literal:
        assert case.anchors <= {(draw, binder.name) for draw, binder in guess.anchored.items()}
    broken = all_broken(deployment, literal)
    assert case.keys <= broken.keys
    assert (frozenset() if literal else case.anchors) <= broken.anchors
    assert not (literal and broken.anchors)


def told(strategy, number, literal=False):
    """Runs the comparison on generated deployments, and counts what they break."""
    broken = Counter()

    @settings(max_examples=examples(number))
    @given(strategy)
    def check(deployment):
        try:
            answers = assert_same_answers(deployment, max_states=100)
        except Undecided:
            reject()
        broken["deployments"] += 1
        broken["errors"] += isinstance(answers, str)
        found = all_broken(deployment, literal)
        broken["singles"] += any(key == () for _, key in found.keys)
        broken["keys"] += any(key != () for _, key in found.keys)
        broken["anchors"] += bool(found.anchors)

    check()
    return broken


def test_crowded_relations():
    broken = told(crowded_relations(), 40)
    assert min(broken["singles"], broken["keys"]) > broken["deployments"] // 10


def test_names_after_other_values():
    broken = told(named_after_others(), 40)
    assert broken["anchors"] > broken["deployments"] // 4


def test_room_for_fresh_values():
    broken = told(short_of_room(), 40, literal=True)
    assert broken["deployments"] // 4 < broken["errors"] < broken["deployments"]


def test_a_smaller_guess_is_left():
    """What is broken is no part of what is left, and all else is; a relation of which two facts may hold is
    no single one."""
    deployment = parse_deployment(CASES["two of a single relation inserted"].text)
    guess = first_guess(deployment, False)
    assert "At" in guess.singles
    left = guess.without(Broken(keys=AT))
    assert left == Guess(guess.anchors, {**guess.keys, "At": ()}, guess.singles - {"At"})
    with pytest.raises(AssertionError, match="guessed"):
        left.without(Broken(keys=AT))
    desk = first_guess(parse_deployment(CASES["an anchor draws twice"].text), False)
    assert desk.anchored[OPEN].name == "g"
    assert OPEN not in desk.without(Broken(anchors=frozenset({(OPEN, "g")}))).anchored


def test_confirmation_is_a_function_of_the_compiled_tools():
    """Each attempt says what its own tools break, and asking again says the same."""
    deployment = parse_deployment(CASES["two facts of a key inserted"].text)
    task = Task(deployment, normal_restriction(deployment), False)
    *_, (guess, broken) = attempts(deployment, False)
    assert attempt(task, guess, Pulse()) == broken
    confirmed = attempt(task, guess.without(broken), Pulse())
    assert not confirm(confirmed.tools.values())
