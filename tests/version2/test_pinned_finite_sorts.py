"""Ordered sorts and `in`: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from pinned import assert_fault, assert_refused, counts, effect, explored, reachable, states, verdicts
from stead_sym.errors import NoEffect

ORDERED = """
deployment ordered
sort n = 0..11
sort size = { small < medium < large }
relation N(n)
relation S(size)
tool idle()
"""


def test_order_and_succ_need_no_facts(engine):
    """Nothing is active. The order is that of the numbers and of the list, not that of the letters."""
    text = (
        ORDERED
        + """
spec numbers 2 < 10 & 9 < 10 & ~(10 < 9) & 3 <= 3 & ~(3 < 3) & 4 >= 4 & ~(4 > 4) & 11 > 0
spec names small < medium & medium < large & small < large & ~(large < small) & large >= large
spec next succ(0, 1) & succ(9, 10) & ~succ(0, 2) & ~succ(1, 0) & ~succ(0, 0)
spec next_name succ(small, medium) & succ(medium, large) & ~succ(small, large) & ~succ(large, small)
spec last (~exists x in n. succ(11, x)) & (~exists x in n. succ(x, 0)) & exists x in n. succ(x, 11)
spec total forall x in n. forall y in n. (x < y & ~(x >= y) | x = y & x <= y | x > y & ~(x <= y))
spec chain forall x in size. (x != large -> exists y in size. (succ(x, y) & x < y))
spec unseen (~exists x: n. x < 5) & (forall x: n. x < 0) & ~exists x: n. succ(x, _)
"""
    )
    assert set(verdicts(engine, text).values()) == {True}


def test_a_wildcard_in_succ_is_an_active_value(engine):
    """1 is active, 2 is not: succ(0, _) holds, succ(1, _) does not."""
    text = ORDERED + "init\n  N(1)\nspec s succ(0, _) & ~succ(1, _) & succ(_, 2) & ~succ(_, 1)\n"
    assert verdicts(engine, text) == {"s": True}


SHARED_NUMERALS = """
deployment numerals
sort n = 0..2
sort m = 0..1
relation N(n)
relation M(m)
init
  N(1)
tool mark(x: m)
  effect
    insert M(x)
"""


def test_a_numeral_is_of_the_sort_that_its_position_gives(engine):
    """1 of n is active and 1 of m is not, until mark(1) of the two calls mark(0) and mark(1)."""
    text = (
        SHARED_NUMERALS
        + """
spec apart N(1) & ~M(1) & (exactly 1 x: n. true) & ~exists x: m. true
spec from_a_variable (exists x: n. x > 0 & x < 2 & x = 1) & forall x in m. x <= 1
spec kept AG (N(1) & ~N(0)) & EF M(1) & EX (M(0) & ~M(1))
"""
    )
    assert verdicts(engine, text) == {"apart": True, "from_a_variable": True, "kept": True}
    facts = {frozenset(state - {"N(1)"}) for state in reachable(explored(engine, text))}
    assert facts == states("", "M(0)", "M(1)", "M(0) M(1)")


@pytest.mark.parametrize("formula", ["0 < 1", "1 >= 0", "~7 < 0"])
def test_numerals_are_compared_as_integers(engine, formula):
    """Whatever the sorts that have them, and whether any has."""
    assert verdicts(engine, f"{SHARED_NUMERALS}spec s {formula}\n") == {"s": True}


def test_a_successor_of_numerals_of_two_sorts_is_refused():
    formula = "succ(0, 1)"
    assert_refused(f"{SHARED_NUMERALS}spec s {formula}\n")
    one_sort = SHARED_NUMERALS.replace("sort m = 0..1", "sort m = { m0, m1 }")
    assert verdicts("explicit", f"{one_sort}spec s {formula}\n") == {"s": True}


@pytest.mark.parametrize(
    "formula",
    [
        "m0 < m1",  # not ordered
        "exists x: b. x <= x",
        "small < 1",  # of two sorts
        "exists x: n, y: size. x < y",
        "succ(m0, m1)",
        "succ(small, 1)",
        "succ(1)",
    ],
)
def test_comparisons_are_between_terms_of_one_ordered_sort(formula):
    assert_refused(f"{ORDERED}sort m = {{ m0, m1 }} rigid\nsort b\nspec s {formula}\n")


@pytest.mark.parametrize(
    "declaration",
    ["relation succ(n, n)\ninit\n  succ(5, 2)", "define succ(x: n, y: n) = x = 5 & y = 2"],
)
def test_a_declared_succ_hides_the_built_in_one(engine, declaration):
    text = f"{ORDERED}{declaration}\nspec s succ(5, 2) & ~succ(0, 1)\n"
    assert verdicts(engine, text) == {"s": True}


def test_parameters_of_an_ordered_sort(engine):
    """pay(0) and pay(1) of the four are offered, though no amount is active: all subsets of the two."""
    text = """
deployment amounts
sort n = 0..3
relation Paid(n)
tool pay(x: n)
  guard x <= 1
  effect
    insert Paid(x)
spec within AG ~exists x. Paid(x) & x > 1
spec possible forall x in n. (x < 2 <-> EF Paid(x))
"""
    assert counts(engine, text) == (4, 2 + 2 + 2 + 1)
    assert verdicts(engine, text) == {"within": True, "possible": True}


COUNTER = """
deployment counter
sort n = 0..3
relation At(n)
init
  At(0)
tool next()
  guard ~At(3)
  effect
    choose y: n where exists x. At(x) & succ(x, y)
    clear At
    insert At(y)
event rest()
  guard At(3)
"""


def test_a_counter_goes_up_one_by_one(engine):
    text = (
        COUNTER
        + """
spec reaches AF AG At(3)
spec in_steps AG forall x in n. forall y in n. (At(x) & x < 3 & succ(x, y) -> AX At(y))
spec no_leap AG ~(At(0) & EX At(2))
"""
    )
    assert counts(engine, text) == (4, 4)
    assert set(verdicts(engine, text).values()) == {True}


def test_a_counter_without_an_end_has_no_successor_there(engine):
    assert_fault(engine, COUNTER.replace("guard ~At(3)", "guard true"), NoEffect, "At(3)", 3)


def test_a_policy_may_tell_the_values_of_an_ordered_sort(engine):
    """They are rigid: the policy stops at 2, which the view shows under its own name."""
    text = COUNTER + "tool stop()\npolicy p\n  call next() when exists x. At(x) & x < 2\n  call stop()\n"
    assert reachable(explored(engine, text, "p")) == states("At(0)", "At(1)", "At(2)")


def test_attempts_of_a_record(engine):
    """Over the 2·1 + 1 values of job: no job, or one of 3 with 0, 1, or 2 attempts. From none to three
    states, from each of the 9 others to the next one."""
    text = """
deployment attempts
sort job
sort n = 0..2
relation Tries(job key, n)
bound job 1
event arrive()
  guard ~Tries(_, _)
  effect
    fresh j: job
    set Tries(j, 0)
tool retry(j: job)
  guard exists n. (Tries(j, n) & n < 2)
  effect
    choose m: n where exists n. (Tries(j, n) & succ(n, m))
    set Tries(j, m)
tool give_up(j: job)
  guard Tries(j, 2)
  effect
    delete Tries(j, _)
policy tries
  call retry(j)
  call give_up(j)
spec twice AG forall j. (Tries(j, 0) -> AX AX (Tries(j, 2) & AX ~Tries(j, _)))
spec in_turn AG forall j. forall m in n. (Tries(j, m) -> AX forall l. (Tries(j, l) -> succ(m, l)))
spec gone_at_first AG forall j. (Tries(j, 1) -> AX ~Tries(j, _))
"""
    for agent in ("any", "tries"):
        assert counts(engine, text, agent) == (1 + 3 * 3, 3 + 9)
        expected = {"twice": True, "in_turn": True, "gone_at_first": False}
        assert verdicts(engine, text, agent) == expected


# `in`

DECLARED = """
deployment declared
sort k = { k1, k2, k3 } rigid
sort b = { b1, b2 }
sort a
relation K(k)
relation B(b)
relation Z()
init
  K(k1)
tool idle()
"""


def test_in_ranges_over_all_declared_values(engine):
    """Of k only k1 is active, of b nothing."""
    text = (
        DECLARED
        + """
spec active (forall x: k. K(x)) & (~exists x: k. ~K(x)) & ~exists x: b. true
spec declared (~forall x in k. K(x)) & (exists x in k. ~K(x)) & exists x in b. ~B(x)
spec two exists x in k. exists y in k. (x != y & ~K(x) & ~K(y))
spec listed (forall x in k. (x = k1 | x = k2 | x = k3)) & exists x in k. x = k3
spec mixed (exists x in k. forall y: k. x != y) & forall y: k. exists x in k. x = y
spec temporal AG exists x in k. (x = k2 & AX ~K(x))
"""
    )
    assert set(verdicts(engine, text).values()) == {True}


@pytest.mark.parametrize(
    ("guard", "offered"),
    [
        ("exists x in k. x = k3", True),
        ("exists x: k. x = k3", False),
        ("forall x in k. x = k1", False),
        ("forall x: k. x = k1", True),
        ("exists x in k. ~K(x)", True),
        ("exists x: k. ~K(x)", False),
    ],
)
def test_in_reads_values_that_are_never_active(engine, guard, offered):
    """k2 and k3 stand in no fact of any reachable state."""
    for text in (
        f"tool go()\n  guard {guard}\n  effect\n    insert Z()\n",
        f"event go()\n  effect when {guard}\n    insert Z()\n  effect\n",
    ):
        found = reachable(explored(engine, DECLARED + text))
        assert found == states("K(k1)", *["K(k1) Z()"] * offered)


@pytest.mark.parametrize(("quantifier", "number"), [("exists x in k", 2), ("exists x: k", 1)])
def test_in_counts_values_that_a_view_does_not_show(engine, quantifier, number):
    """K(k1) is shown: k2 and k3 are no values that the view shows, but they are declared."""
    text = DECLARED + effect("insert Z()", name="go") + f"policy p\n  call go() when {quantifier}. ~K(x)\n"
    assert explored(engine, text + "  call idle()\n", "p").states == number


def test_in_stands_in_guards_views_and_effects(engine):
    """K holds one of three values, so that some declared value is not in it: the tool is offered, its effect
    enabled, the fact shown. It moves on from k1 to k2, k3, and back, and the event rests at k3."""
    text = """
deployment moves
sort k = { k1, k2, k3 } rigid
relation K(k)
init
  K(k1)
tool move()
  guard exists x in k. ~K(x)
  effect when forall x in k. (K(x) | ~K(x))
    choose y: k where forall x in k. (K(x) -> succ_of(x, y))
    clear K
    insert K(y)
event rest()
  guard K(k3)
define succ_of(x: k, y: k) = x = k1 & y = k2 | x = k2 & y = k3 | x = k3 & y = k1
view K(x) where exists y in k. ~K(y)
policy p
  call move() when K(_)
"""
    assert counts(engine, text, "p") == (3, 2 + 2)
    assert reachable(explored(engine, text, "p")) == states("K(k1)", "K(k2)", "K(k3)")


@pytest.mark.parametrize("formula", ["exists x in a. true", "forall x, y in k. true", "exists x in c. true"])
def test_in_is_for_one_variable_of_a_finite_sort(formula):
    assert_refused(f"{DECLARED}spec s {formula}\n")
