"""The wildcard `_`: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from pinned import assert_refused, explored, reachable, states, verdicts
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction

WILD = """
deployment wild
sort a
relation E(a, a)
relation P(a)
init
  E(c, d)
  P(c)
tool idle()
define linked(x: a, y: a) = E(x, y) & x != y
define starts(x: a) = E(x, _)
"""


def test_a_wildcard_in_an_atom_is_some_active_value(engine):
    """E(c, d) and P(c) is all there is, and c and d are active."""
    text = (
        WILD
        + """
spec from_c E(c, _)
spec to_c ~E(_, c)
spec from_d ~E(d, _)
spec each_its_own E(_, _) & ~exists x. E(x, x)
spec at_the_atom (exists x: a. ~P(x)) & ~(~P(_))
spec under_a_quantifier forall x. (P(x) -> E(x, _))
spec not_all ~forall x: a. E(x, _)
spec two_atoms exists x. P(x) & E(x, _) & ~P(d)
spec definition linked(c, _) & linked(_, d) & linked(_, _) & ~linked(d, _) & ~linked(_, c)
spec in_a_definition starts(c) & ~starts(d) & starts(_)
spec temporal AG (P(_) & AX ~E(d, _)) & ~EF ~E(_, d)
"""
    )
    assert set(verdicts(engine, text).values()) == {True}


def test_a_wildcard_ranges_over_the_state_reached(engine):
    """Nothing is active at first."""
    text = """
deployment later
sort k = { k1 } rigid
relation K(k)
tool add()
  effect
    insert K(k1)
spec now ~K(_)
spec next AX K(_)
spec ever ~AG K(_) & AF AG K(_)
"""
    assert verdicts(engine, text) == {"now": True, "next": True, "ever": True}


def test_a_wildcard_in_a_deletion_is_every_value(engine):
    """From E = { cd, cc, dc }: without those from c, { dc }; without any, { }; without those into c (which is
    in P), { cd }. From { dc } and { cd } to themselves or to { }."""
    text = """
deployment cuts
sort a
relation E(a, a)
relation P(a)
init
  E(c, d)
  E(c, c)
  E(d, c)
  P(c)
tool from_c()
  effect
    delete E(c, _)
tool all()
  effect
    delete E(_, _)
tool into()
  effect
    delete E(_, x) for x where P(x)
"""
    p = "P(c)"
    result = explored(engine, text)
    assert reachable(result) == states(f"{p} E(c,d) E(c,c) E(d,c)", f"{p} E(d,c)", f"{p} E(c,d)", p)
    assert result.transitions == 3 + 2 + 2 + 1


def test_wildcards_in_guards_views_rules_and_effects(engine):
    """Only c is in P with a successor d: c alone is shown, the rule matches, and d is marked."""
    text = """
deployment everywhere
sort a
relation E(a, a)
relation P(a)
relation M(a)
init
  E(c, d)
  P(c)
  P(d)
tool mark()
  guard E(_, _)
  effect when P(_)
    choose y: a where E(_, y)
    insert M(y) where ~M(_)
tool idle()
view P(x) where E(x, _)
policy p
  call mark() when P(_) & exactly 1 x. P(x)
  call idle()
"""
    facts = "E(c,d) P(c) P(d)"
    assert reachable(explored(engine, text, "p")) == states(facts, f"{facts} M(d)")


@pytest.mark.parametrize(
    ("formula", "number"),
    [("P(_) & P(_)", 2), ("E(_, _)", 2), ("exists x. E(x, _)", 2), ("starts(c) & P(_)", 2), ("P(c)", 0)],
)
def test_each_wildcard_counts_as_a_variable_of_its_own(formula, number):
    deployment = parse_deployment(f"{WILD}spec s {formula}\n")
    assert theorem_restriction(deployment, deployment.specs).sizes["a"] == 2 + number  # and c, d


@pytest.mark.parametrize(
    "lines",
    [
        "spec s c = _",
        "spec s exists x. x != _",
        "sort n = 0..1\nspec s 0 < _",
        "tool t()\n  effect\n    insert P(_)",
        "tool t()\n  effect\n    insert P(x) for x where x = _",
        "relation F(a key, a)\ntool t()\n  effect\n    set F(c, _)",
        "relation F(a key, a)\ntool t()\n  effect\n    set F(_, c)",
        "tool t(x: a)\npolicy p\n  call t(_)",
        "init\n  P(_)",
    ],
)
def test_a_wildcard_stands_nowhere_else(lines):
    assert_refused(f"{WILD}{lines}\n")
