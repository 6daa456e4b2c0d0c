"""Keys and `set`: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from pinned import assert_fault, assert_refused, counts, effect, explored, reachable, states, verdicts
from stead_sym.errors import KeyBroken

KEYED = """
deployment keyed
sort k = { k1, k2, k3 } rigid
sort m = { m1, m2 } rigid
relation S(k key, m)
init
  S(k1, m1)
"""
IDLE = "tool idle()\npolicy quiet\n  call idle()\n"


@pytest.mark.parametrize(
    "statements",
    [
        ["insert S(k1, m2)"],
        ["set S(k1, m1)", "set S(k1, m2)"],
        ["set S(k1, m1)", "insert S(k1, m2)"],
        ["choose x: m where x = m2", "insert S(k1, x)"],
        ["delete S(k1, m1)", "insert S(k1, m1)", "insert S(k1, m2)"],
    ],
)
@pytest.mark.parametrize("kind", ["tool", "event"])
def test_a_second_tuple_with_the_same_key_is_an_error(engine, statements, kind):
    text = KEYED + IDLE + effect(*statements, kind=kind)
    assert_fault(engine, text, KeyBroken, "S(k1,m1) S(k1,m2)", 1)


@pytest.mark.parametrize("more", ["", "initially any S\n"])
def test_a_key_that_the_facts_of_init_break_is_refused(more):
    """There is no run to show: every initial state has these facts."""
    assert_refused(KEYED + "  S(k1, m2)\n" + more + IDLE)


def test_a_key_that_the_policy_keeps_is_kept(engine):
    text = KEYED + IDLE + effect("insert S(k1, m2)")
    assert counts(engine, text, "quiet") == (1, 1)


@pytest.mark.parametrize(
    ("statements", "after"),
    [
        (["set S(k1, m2)"], "S(k1,m2)"),  # replaces
        (["set S(k2, m2)"], "S(k1,m1) S(k2,m2)"),  # where there is none it inserts
        (["set S(k1, m1)"], "S(k1,m1)"),
        (["set S(k1, m2)", "set S(k1, m2)"], "S(k1,m2)"),
        (["delete S(k1, _)", "set S(k1, m2)"], "S(k1,m2)"),
        (["set S(k1, m2)", "delete S(k1, m2)"], "S(k1,m2)"),  # what is inserted wins
        (["delete S(k1, m1)", "insert S(k1, m2)"], "S(k1,m2)"),  # by hand
        (["insert S(k2, m1)", "insert S(k3, m1)"], "S(k1,m1) S(k2,m1) S(k3,m1)"),  # m is no key
        (["insert S(k1, m1)"], "S(k1,m1)"),  # the same tuple
        (["set S(x, m2) for x: k where S(x, m1)", "set S(k2, m1)"], "S(k1,m2) S(k2,m1)"),
        (["set S(x, m2) for x: k where S(x, m2)"], "S(k1,m1)"),  # for none
        (["choose x: k where ~S(x, _)", "choose y: m where S(k1, y)", "set S(x, y)"], None),
    ],
)
def test_what_an_effect_with_a_key_leads_to(engine, statements, after):
    """One step from S(k1, m1). The last case leads to S(k2, m1) or to S(k3, m1)."""
    once = "relation Done()\n" + effect(*statements, "insert Done()").replace(
        "()\n", "()\n  guard ~Done()\n", 1
    )
    text = KEYED + once + "event rest()\n  guard Done()\n"
    expected = [after] if after is not None else ["S(k1,m1) S(k2,m1)", "S(k1,m1) S(k3,m1)"]
    assert reachable(explored(engine, text)) == states("S(k1,m1)", *(f"{one} Done()" for one in expected))


def test_a_key_of_several_columns(engine):
    """R(k1, m1) is 0 or 1, R(k1, m2) is missing or 0: four states. From each, `up` and
    `other` lead to two states, but from the last, where both change nothing."""
    text = """
deployment several
sort k = { k1 } rigid
sort m = { m1, m2 } rigid
sort n = 0..1
relation R(k key, m key, n)
init
  R(k1, m1, 0)
tool up()
  effect
    set R(k1, m1, 1)
tool other()
  effect
    set R(k1, m2, 0)
"""
    one, two, other = "R(k1,m1,0)", "R(k1,m1,1)", "R(k1,m2,0)"
    result = explored(engine, text)
    assert reachable(result) == states(one, two, f"{one} {other}", f"{two} {other}")
    assert result.transitions == 2 + 2 + 2 + 1


def test_a_broken_key_of_several_columns(engine):
    """R(k1, m2, 0) is no second tuple with the key of R(k1, m1, 0), R(k1, m1, 1) is one."""
    text = f"""
deployment several
sort k = {{ k1 }} rigid
sort m = {{ m1, m2 }} rigid
sort n = 0..1
relation R(k key, m key, n)
init
  R(k1, m1, 0)
  R(k1, m2, 0)
{IDLE}
{effect("insert R(k1, m1, 1)")}"""
    assert_fault(engine, text, KeyBroken, "R(k1,m1,0) R(k1,m2,0) R(k1,m1,1)", 1)


def test_a_key_in_the_second_column(engine):
    """The key k1 has m1, then m2; m1 may belong to several keys."""
    text = """
deployment second
sort k = { k1, k2 } rigid
sort m = { m1, m2 } rigid
relation S(m, k key)
init
  S(m1, k1)
  S(m1, k2)
tool t()
  effect
    set S(m2, k1)
"""
    assert reachable(explored(engine, text)) == states("S(m1,k1) S(m1,k2)", "S(m2,k1) S(m1,k2)")


def test_a_key_of_all_columns_is_never_broken(engine):
    text = """
deployment all_columns
sort k = { k1, k2 } rigid
relation E(k key, k key)
tool link(x: k, y: k)
  effect
    insert E(x, y)
"""
    assert explored(engine, text).states == 2**4


def test_a_key_of_a_fresh_value(engine):
    """Two values of a: none there, or one of them with m1 or m2. From none to two states, from each of the
    others to its value with m2."""
    text = """
deployment accounts
sort a
sort m = { m1, m2 } rigid
relation S(a key, m)
bound a 1
tool open()
  guard ~S(_, _)
  effect
    fresh x: a
    set S(x, m1)
tool flip(x: a)
  effect
    set S(x, m2)
"""
    assert counts(engine, text) == (1 + 2 * 2, 2 + 2 + 2)
    specs = """
spec flipped AG forall x: a. (S(x, m1) -> AX S(x, m2))
spec one AG forall x: a. ~(S(x, m1) & S(x, m2))
"""
    assert verdicts(engine, text + specs) == {"flipped": True, "one": True}


def test_set_is_for_relations_with_keys():
    assert_refused(KEYED + "relation T(k, m)\n" + effect("set T(k1, m1)"))
