"""The points of the semantics where implementations go wrong, one test each, on both engines.

Each deployment is as small as the point allows; the expected answers are worked out by hand.
"""

from __future__ import annotations

import pytest

from engine_pairs import engines, fault, is_at_fault, replay, sentence
from pinned import explored, reachable, states, verdicts
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.errors import AgentError, BoundExceeded, NoEffect, NothingOffered
from stead_sym.relational.instance import Fact, Instance
from whole import verify


@pytest.fixture(params=["explicit", "symbolic"])
def engine(request):
    return request.param


# Quantifiers, assignments and the active domain

GATE = """
deployment gate
sort a
sort k = { k1, k2 } rigid
relation P(a)
relation Q(a)
relation K(k)
bound a 1
tool come()
  guard ~exists x: a. true
  effect
    fresh x: a
    insert P(x)
tool go()
  guard exists x: a. true
  effect
    clear P, Q
"""


def test_an_identifier_that_left_can_come_back(engine):
    found = verdicts(
        engine,
        GATE
        + """
spec leaves AG forall x: a. (P(x) -> EX ~P(x))
spec comes_back AG forall x: a. (P(x) -> EX EX P(x))
spec may_stay_away AG forall x: a. (P(x) -> EG EF ~P(x))
spec never_back AG forall x: a. (P(x) -> AX AG ~P(x))
""",
    )
    assert found == {"leaves": True, "comes_back": True, "may_stay_away": True, "never_back": False}


def test_an_assignment_keeps_its_identifier_after_the_value_left(engine):
    """Once x has left, x is a value, active nowhere: an atom about it is false, equality holds still,
    and another value in its place is not x."""
    found = verdicts(
        engine,
        GATE
        + """
spec gone AG forall x: a. (P(x) -> AX (~P(x) & x = x & ~exists y: a. y = x))
spec another AG forall x: a. (P(x) -> EX EX exists y: a. (P(y) & y != x))
spec same AG forall x: a. (P(x) -> EX EX exists y: a. (P(y) & y = x))
""",
    )
    assert found == {"gone": True, "another": True, "same": True}


def test_a_quantifier_ranges_over_the_state_reached(engine):
    """D0 has no active value: a quantifier outside the operator ranges over nothing, one inside does not."""
    found = verdicts(
        engine,
        GATE
        + """
spec outside exists x: a. EX P(x)
spec inside EX exists x: a. P(x)
spec all_outside forall x: a. AX false
spec all_inside AX forall x: a. false
""",
    )
    assert found == {"outside": False, "inside": True, "all_outside": True, "all_inside": False}


def test_a_rigid_value_outside_the_active_domain(engine):
    """Quantifiers do not see it, constants and equality do."""
    text = """
deployment rigid
sort k = { k1, k2 } rigid
relation K(k)
init
  K(k1)
tool swap()
  effect
    delete K(k1) where K(k1)
    insert K(k2) where K(k1)
    delete K(k2) where K(k2)
    insert K(k1) where K(k2)
spec only_one AG exactly 1 x: k. true
spec not_seen ~exists x: k. x = k2
spec named k2 = k2 & k1 != k2 & ~K(k2)
spec later EX exists x: k. x = k2
spec kept forall x: k. AX (x = k1 & ~K(x))
"""
    assert verdicts(engine, text) == dict.fromkeys(["only_one", "not_seen", "named", "later", "kept"], True)


def test_a_constant_of_the_initial_state_that_is_not_active(engine):
    text = """
deployment constant
sort a
relation P(a)
init
  P(c)
tool drop()
  effect
    clear P
spec unseen AX (~P(c) & c = c & ~exists x: a. x = c)
spec kept forall x: a. AX x = c
"""
    assert verdicts(engine, text) == {"unseen": True, "kept": True}


def test_a_quantifier_under_a_negation_reaches_to_the_right(engine):
    """P(c) and Q(d): no value satisfies both, so the first holds; with P negated alone it would not."""
    text = """
deployment reach
sort a
relation P(a)
relation Q(a)
init
  P(c)
  Q(d)
tool idle()
spec whole ~exists x. P(x) & Q(x)
spec first (~exists x. P(x)) & Q(d)
spec last Q(d) & ~exists x. P(x) & Q(x)
"""
    assert verdicts(engine, text) == {"whole": True, "first": False, "last": True}


def test_counting_quantifiers_count_active_values(engine):
    text = """
deployment counting
sort a
sort k = { k1, k2, k3 } rigid
relation P(a)
relation K(k)
init
  P(c)
  P(d)
  K(k1)
  K(k3)
tool idle()
spec two exactly 2 x: k. true
spec least (atleast 2 x. P(x)) & ~atleast 3 x: a. true
spec most (atmost 2 x. P(x)) & ~atmost 1 x: a. true
spec other exactly 1 x: a. x != c
spec none (exactly 0 x. P(x) & x != x) & atleast 0 x: a. false
spec inner atleast 2 x. P(x) & EX exactly 1 y. P(y) & y != x
"""
    assert set(verdicts(engine, text).values()) == {True}


def test_weak_until_does_not_ask_for_its_goal(engine):
    text = """
deployment weak
sort k = { k1, k2, k3 } rigid
relation At(k)
init
  At(k1)
tool stay()
tool move()
  effect when At(k1)
    clear At
    insert At(k2)
  effect when ~At(k1)
    clear At
    insert At(k3)
spec strong_all A[At(k1) U At(k2)]
spec weak_all A[At(k1) W At(k2)]
spec strong_some E[At(k1) U At(k2)]
spec weak_some E[At(k1) W false]
spec weak_broken A[At(k1) W At(k3)]
spec at_once A[false W At(k1)]
spec some_broken E[At(k2) W At(k3)]
"""
    assert verdicts(engine, text) == {
        "strong_all": False,
        "weak_all": True,
        "strong_some": True,
        "weak_some": True,
        "weak_broken": False,
        "at_once": True,
        "some_broken": False,
    }


def test_variables_are_counted_by_name_with_definitions_expanded():
    text = """
deployment names
sort a
relation P(a)
relation E(a, a)
bound a 3
tool idle()
define linked(x: a) = exists y. E(x, y)
spec twice (forall x. P(x) -> EX P(x)) & (forall x. P(x) -> AX P(x))
spec expanded forall z. P(z) -> EX linked(z)
"""
    deployment = parse_deployment(text)

    def size(*specs):
        return theorem_restriction(deployment, [deployment.spec(s) for s in specs]).sizes["a"]

    assert size() == 2 * 3
    assert size("twice") == 2 * 3 + 1
    assert size("expanded") == 2 * 3 + 2
    assert size("twice", "expanded") == 2 * 3 + 2  # the largest, not the sum


# Tools


def test_parameters_of_a_finite_sort_range_over_all_its_values(engine):
    """Of the two values of k only k1 is active; mark(k2) is offered all the same."""
    text = """
deployment parameters
sort k = { k1, k2 } rigid
relation K(k)
relation M(k)
init
  K(k1)
tool mark(x: k)
  effect
    insert M(x)
"""
    result = explored(engine, text)
    assert reachable(result) == states("K(k1)", "K(k1) M(k1)", "K(k1) M(k2)", "K(k1) M(k1) M(k2)")


def test_parameters_of_an_unbounded_sort_range_over_the_active_domain(engine):
    """The constant c leaves the state, and with it the call mark(c)."""
    text = """
deployment parameters
sort a
relation P(a)
relation M(a)
relation Left()
init
  P(c)
tool leave()
  guard ~Left()
  effect
    clear P
    insert Left()
tool mark(x: a)
  guard Left()
  effect
    insert M(x)
tool idle()
"""
    result = explored(engine, text)
    assert reachable(result) == states("P(c)", "Left()")


def test_choose_takes_an_inactive_constant(engine):
    """ad(D) ∪ C: the constants c (active), d (soon inactive), and the active value outside C."""
    text = """
deployment choices
sort a
relation P(a)
relation M(a)
init
  P(c)
  P(d)
bound a 1
tool drop()
  guard ~exists x. M(x)
  effect
    delete P(d)
tool pick()
  guard (~exists x. M(x)) & ~P(d)
  effect
    choose x: a
    insert M(x)
tool idle()
"""
    result = explored(engine, text)
    assert reachable(result) == states("P(c) P(d)", "P(c)", "P(c) M(c)", "P(c) M(d)")


def test_choose_asks_its_condition_of_the_old_state(engine):
    text = """
deployment where
sort k = { k1, k2, k3 } rigid
relation K(k)
relation M(k)
init
  K(k1)
  K(k2)
tool pick()
  effect
    choose x: k where ~K(x) | x = k1
    delete K(x)
    insert M(x)
"""
    result = explored(engine, text)
    k = "K(k1) K(k2)"
    assert reachable(result) == states(k, "K(k2) M(k1)", f"{k} M(k3)", "K(k2) M(k1) M(k3)")


def test_two_fresh_values_differ(engine):
    text = """
deployment twins
sort a
relation E(a, a)
bound a 2
tool make()
  effect
    fresh x: a
    fresh y: a
    clear E
    insert E(x, y)
spec different AX exists x, y. E(x, y) & x != y
spec irreflexive AG ~exists x. E(x, x)
"""
    assert verdicts(engine, text) == {"different": True, "irreflexive": True}
    result = explored(engine, text)
    assert result.states == 1 + 6 * 5  # 2·2 + 2 values: ordered pairs, and D0


def test_a_fresh_value_is_outside_the_constants_even_when_they_are_inactive(engine):
    text = """
deployment outside
sort a
relation P(a)
init
  P(c)
bound a 1
tool renew()
  guard ~exists x: a. x != c
  effect
    fresh x: a
    clear P
    insert P(x)
tool drop()
  effect
    clear P
spec never_c AG (~P(c) -> AG ~P(c))
"""
    assert verdicts(engine, text) == {"never_c": True}
    assert reachable(explored(engine, text)) == states("P(c)", "", "P(a1)", "P(a2)")


def test_a_fresh_value_that_no_fact_holds_needs_no_room(engine):
    """No value of a ever is active, the domain of a is empty, and still the call has an effect."""
    text = """
deployment unused
sort a
relation P(a)
relation Z()
tool touch()
  effect
    fresh x: a
    insert Z()
spec set AX Z()
"""
    assert verdicts(engine, text) == {"set": True}
    assert explored(engine, text).domain == {"a": 0}


def test_fresh_values_that_no_fact_holds_need_no_room_at_the_bound(engine):
    """At the bound, with every other value of U_f equally unused, a second fresh value has no room and
    needs none."""
    text = """
deployment tight
sort a
relation P(a)
bound a 1
tool renew()
  effect
    fresh x: a
    fresh y: a
    fresh z: a
    clear P
    insert P(y)
"""
    result = explored(engine, text)
    assert result.domain == {"a": 2}
    assert reachable(result) == states("", "P(a1)", "P(a2)")
    assert result.transitions == 2 + 2  # from P(u) to P(v) with v ≠ u only


def test_effects_read_the_old_state(engine):
    """A swap written as two statements."""
    text = """
deployment swap
sort k = { k1, k2 } rigid
relation L(k)
relation R(k)
init
  L(k1)
  R(k2)
tool swap()
  effect
    clear L, R
    insert L(x) for x where R(x)
    insert R(x) for x where L(x)
"""
    assert reachable(explored(engine, text)) == states("L(k1) R(k2)", "L(k2) R(k1)")


def test_an_insertion_wins_over_a_deletion_of_the_same_fact(engine):
    text = """
deployment wins
sort k = { k1, k2 } rigid
relation K(k)
init
  K(k1)
tool both()
  effect
    insert K(k1)
    insert K(k2)
    delete K(k1)
    delete K(k2)
    clear K
"""
    assert reachable(explored(engine, text)) == states("K(k1)", "K(k1) K(k2)")


def test_bulk_statements_range_over_the_active_domain(engine):
    """k3 is nowhere active: neither `for x: k` nor its negated condition reaches it."""
    text = """
deployment bulk
sort k = { k1, k2, k3 } rigid
relation K(k)
relation M(k)
init
  K(k1)
  K(k2)
tool mark()
  effect
    insert M(x) for x: k where x != k1
tool all()
  effect
    insert M(x) for x: k
tool unmark()
  effect
    delete M(x) for x: k where K(x)
"""
    k = "K(k1) K(k2)"
    assert reachable(explored(engine, text)) == states(k, f"{k} M(k2)", f"{k} M(k1) M(k2)")


def test_a_value_inserted_by_the_same_effect_is_not_yet_active(engine):
    text = """
deployment not_yet
sort a
relation P(a)
relation Q(a)
init
  P(c)
bound a 1
tool make()
  guard ~exists x: a. x != c
  effect
    fresh f: a
    insert P(f)
    insert Q(x) for x: a
tool idle()
"""
    assert reachable(explored(engine, text)) == states("P(c)", "P(c) P(a1) Q(c)", "P(c) P(a2) Q(c)")


def test_alternatives_are_the_environments_choice_among_those_enabled(engine):
    text = """
deployment alternatives
sort k = { k0, k1, k2, k3 } rigid
relation At(k)
init
  At(k0)
tool go()
  effect when At(k0)
    clear At
    insert At(k1)
  effect when At(k0) | At(k1)
    clear At
    insert At(k2)
  effect when ~At(k0)
    clear At
    insert At(k3)
spec both (EX At(k1)) & (EX At(k2)) & AX (At(k1) | At(k2))
spec then AX (At(k1) -> (EX At(k2)) & (EX At(k3)))
spec last AX (At(k2) -> AX At(k3))
"""
    result = explored(engine, text)
    assert {v.holds for v in result.verdicts.values()} == {True}
    assert (result.states, result.transitions) == (4, 2 + 2 + 1 + 1)


def test_a_variable_of_an_effect_may_hide_a_parameter(engine):
    text = """
deployment hide
sort k = { k1, k2, k3 } rigid
relation K(k)
relation M(k)
init
  K(k1)
tool pick(x: k)
  guard K(x)
  effect
    choose x: k where x = k3
    insert M(x)
"""
    assert reachable(explored(engine, text)) == states("K(k1)", "K(k1) M(k3)")


# The agent

SHOP = """
deployment shop
sort item
sort status = { open, done } rigid
relation Status(item, status)
relation Secret(item)
init
  Status(i, open)
  Status(j, open)
tool finish(x: item)
  guard Status(x, open)
  effect
    delete Status(x, open)
    insert Status(x, done)
tool idle()
"""


def first_by_name(context):
    return min(context.calls)


def finish_by_name(context):
    """Names one of several records."""
    return min([call for call in context.calls if call.tool == "finish"] or context.calls)


def test_interchangeable_records_are_all_chosen(engine):
    """The agent names one of two alike items; from D0 the deployment goes on with either."""
    result = explored(engine, SHOP, finish_by_name)
    start, both = "Status(i,open) Status(j,open)", "Status(i,done) Status(j,done)"
    middle = ("Status(i,done) Status(j,open)", "Status(i,open) Status(j,done)")
    assert reachable(result) == states(start, *middle, both)
    assert result.transitions == 2 + 1 + 1 + 1
    assert (result.contexts, result.queries) == (3, 3)  # the two in the middle are one context


def test_records_that_differ_are_told_apart(engine):
    """With a mark on i an agent that names one item names one, so that D0 has a single successor."""
    text = SHOP.replace("init", "init\n  Secret(i)")
    result = explored(engine, text, finish_by_name)
    assert (result.states, result.transitions) == (3, 3)
    assert result.contexts == 3


def test_what_the_view_hides_does_not_tell_records_apart(engine):
    """The same mark, not shown: for the agent the items are alike again."""
    text = SHOP.replace("init", "init\n  Secret(i)") + "view Status(x, s)\n"
    result = explored(engine, text, finish_by_name)
    assert (result.states, result.transitions) == (4, 5)


def test_an_equivariant_agent_that_takes_all_alike(engine):
    def every_finish(context):
        return [call for call in context.calls if call.tool == "finish"] or context.calls

    assert explored(engine, SHOP, every_finish).transitions == 5


VIEWED = """
deployment viewed
sort k = { k1, k2 } rigid
relation K(k)
relation M(k)
init
  K(k1)
  K(k2)
  M(k2)
tool mark()
  effect
    clear K
tool idle()
view K(x) where ~M(x)
policy all
  call mark() when forall x: k. x = k1
  call idle()
policy some
  call mark() when exists x: k. x = k2
  call idle()
policy hidden
  call mark() when M(k2)
  call idle()
"""


@pytest.mark.parametrize(("policy", "number"), [("all", 2), ("some", 1), ("hidden", 1)])
def test_the_quantifiers_of_a_rule_range_over_the_values_shown(engine, policy, number):
    """Only K(k1) is shown: k2 is active but not for the agent, and M is not shown at all."""
    assert explored(engine, VIEWED, policy).states == number


def test_a_view_quantifies_over_the_whole_state(engine):
    """K(x) is shown where some M differs from x: the condition reads what is not shown."""
    text = VIEWED.replace("view K(x) where ~M(x)", "view K(x) where exists y. M(y) & y != x")
    assert explored(engine, text, "all").states == 2


def test_values_of_offered_calls_are_shown(engine):
    """The view is empty, but the offered call mentions c: `when` quantifies over it."""
    text = """
deployment called
sort a
relation P(a)
relation Q(a)
relation Z()
init
  P(c)
tool take(x: a)
  guard P(x)
  effect
    insert Z()
tool idle()
view Q(x)
policy p
  call take(x) when exactly 1 y: a. y = x
  call idle()
"""
    assert explored(engine, text, "p").states == 2


RULES = """
deployment rules
sort a
relation E(a, a)
relation M(a, a)
init
  E(c, c)
  E(c, d)
  E(d, c)
tool mark(x: a, y: a)
  guard E(x, y)
  effect
    insert M(x, y)
tool idle()
policy first
  call mark(x, y) when E(y, x) & x != y & ~M(x, y)
  call mark(x, y)
policy repeated
  call mark(x, x)
  call idle()
policy named
  call mark(c, y) when y != c
policy fixed
  call mark(d, d)
  call idle()
"""


def test_the_first_rule_that_matches_selects_all_its_matches(engine):
    """First mark(c, d) and mark(d, c), in either order; only then does the second rule count."""
    result = explored(engine, RULES, "first")
    marked = {frozenset(f for f in s if f.startswith("M")) for s in reachable(result)}
    both = {"M(c,d)", "M(d,c)"}
    assert marked == {frozenset(s) for s in (set(), {"M(c,d)"}, {"M(d,c)"}, both, both | {"M(c,c)"})}


@pytest.mark.parametrize(("policy", "fact"), [("repeated", "M(c,c)"), ("named", "M(c,d)"), ("fixed", None)])
def test_a_repeated_variable_and_a_constant_in_a_rule(engine, policy, fact):
    """c and d belong to B for a policy that names them, though their sort is not rigid."""
    result = explored(engine, RULES, policy)
    marked = {f for s in reachable(result) for f in s if f.startswith("M")}
    assert marked == ({fact} if fact else set())


def test_a_constant_in_a_condition_belongs_to_b_for_that_policy(engine):
    """c and d are alike but for their names; `when P(c)` is about c whatever its canonical name."""
    text = """
deployment known
sort a
relation P(a)
relation Q(a)
init
  P(c)
  Q(d)
tool swap()
  effect
    clear P, Q
    insert P(x) for x where Q(x)
    insert Q(x) for x where P(x)
tool idle()
policy on_c
  call swap() when P(c)
  call idle()
policy on_d
  call swap() when P(d)
  call idle()
"""
    assert reachable(explored(engine, text, "on_c")) == states("P(c) Q(d)", "P(d) Q(c)")
    assert reachable(explored(engine, text, "on_d")) == states("P(c) Q(d)")


def test_a_constant_that_the_policy_knows_is_never_taken_for_an_unknown_one(engine):
    """P(d) is shown under a canonical name, P(c) as it is: the context of the first is not that of
    the second, though their shape is the same. Only in the first is the call made."""
    text = """
deployment known
sort a
relation P(a)
relation Q(a)
init
  P(d)
  Q(c)
view P(x)
tool flip()
  effect
    clear P
    insert P(c) where ~P(c)
    insert P(d) where P(c)
tool idle()
policy to_c
  call flip() when ~P(c)
  call idle()
"""
    result = explored(engine, text, "to_c")
    assert (result.states, result.transitions, result.contexts) == (2, 2, 2)


# What breaks the definition of a deployment


def assert_fault(engine, text, kind, steps, agent="any"):
    deployment = parse_deployment(text, "small.stead")
    chosen = deployment.policy(agent) if agent != "any" else agent
    error = fault(engines(deployment, chosen)[engine])
    assert type(error) is kind
    if engine == "symbolic":
        assert type(fault(lambda: verify(deployment, chosen, domain="normal"))) is kind
    assert "\n" not in str(error)
    restriction = theorem_restriction(deployment, deployment.specs)
    assert len(error.trace.steps) == steps
    replay(deployment, restriction, None, error.trace, leaves_domain=True)
    assert is_at_fault(deployment, restriction, error)
    return error


def test_a_state_that_offers_nothing_is_an_error_with_a_run(engine):
    text = """
deployment stuck
sort k = { k0, k1, k2 } rigid
relation At(k)
init
  At(k0)
tool one()
  guard At(k0)
  effect
    clear At
    insert At(k1)
tool two()
  guard At(k1)
  effect
    clear At
    insert At(k2)
"""
    error = assert_fault(engine, text, NothingOffered, 2)
    assert error.trace.last == Instance(error.trace.start.schema, frozenset({Fact("At", ("k2",))}))


def test_a_call_without_effect_is_an_error_with_a_run(engine):
    text = """
deployment void
sort k = { k0, k1 } rigid
relation At(k)
init
  At(k0)
tool one()
  effect when At(k0)
    clear At
    insert At(k1)
"""
    assert_fault(engine, text, NoEffect, 1)


def test_a_call_without_a_choice_has_no_effect(engine):
    text = """
deployment choiceless
sort a
relation P(a)
tool pick()
  effect
    choose x: a
tool idle()
"""
    assert_fault(engine, text, NoEffect, 0)


def test_an_ensure_that_nothing_satisfies_has_no_effect(engine):
    text = """
deployment never
sort k = { k1 } rigid
relation K(k)
tool wish()
  effect
    ensure K'(k1) & ~K'(k1)
tool idle()
"""
    assert_fault(engine, text, NoEffect, 0)


def test_an_offered_call_that_the_agent_does_not_select_needs_an_effect_too(engine):
    text = """
deployment unselected
sort k = { k1 } rigid
relation K(k)
tool idle()
tool void()
  effect when K(k1)
policy quiet
  call idle()
"""
    assert_fault(engine, text, NoEffect, 0, "quiet")


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_a_bound_that_is_exceeded_is_an_error_with_a_run(engine, bound):
    text = f"""
deployment grows
sort a
relation P(a)
bound a {bound}
tool add()
  effect
    fresh x: a
    insert P(x)
"""
    error = assert_fault(engine, text, BoundExceeded, bound + 1)
    assert error.span is not None
    assert error.span.source == "small.stead"


def test_a_bound_counts_values_outside_the_constants(engine):
    text = """
deployment counted
sort a
relation P(a)
init
  P(c)
  P(d)
bound a 1
tool add()
  guard ~exists x: a. x != c & x != d
  effect
    fresh x: a
    insert P(x)
tool idle()
"""
    assert explored(engine, text).states == 1 + 2


def test_a_bound_that_a_policy_keeps_is_kept(engine):
    text = """
deployment kept
sort a
relation P(a)
bound a 1
tool add()
  effect
    fresh x: a
    insert P(x)
tool idle()
policy once
  call add() when ~exists x. P(x)
  call idle()
"""
    assert explored(engine, text, "once").states == 1 + 2
    assert_fault(engine, text, BoundExceeded, 2)


def test_an_ensure_past_the_bound_is_an_error(engine):
    text = """
deployment ensured
sort a
relation P(a)
bound a 1
tool add()
  effect
    ensure exists x. P'(x) & ~P(x) & forall y. P'(y) <-> P(y) | y = x
"""
    assert_fault(engine, text, BoundExceeded, 2)


def test_an_agent_that_selects_nothing_is_an_error(engine):
    with pytest.raises(AgentError, match="selects nothing"):
        explored(engine, SHOP, lambda context: [])


def test_fairness_constraints_cut_runs_down(engine):
    """Only runs that are at k2 again and again count: then k1 is left for sure."""
    text = """
deployment fairness
sort k = { k1, k2 } rigid
relation At(k)
init
  At(k1)
tool stay()
tool move()
  effect
    clear At
    insert At(k2) where At(k1)
    insert At(k1) where At(k2)
spec leaves AF At(k2)
"""
    assert verdicts(engine, text) == {"leaves": False}
    assert verdicts(engine, text + "fair At(k2)\n") == {"leaves": True}


def test_the_sentence_helper_resolves_against_the_deployment():
    deployment = parse_deployment(GATE)
    assert str(sentence(deployment, "AG forall x. ~Q(x)")) == "AG forall x: a. ~Q(x)"


# Corners of the encoding that generated deployments found


def test_a_fresh_value_of_an_empty_domain_does_not_stop_a_deletion(engine):
    text = """
deployment unheld
sort b
sort k = { k1 } rigid
relation K(k)
init
  K(k1)
tool idle()
tool drop()
  effect
    fresh x: b
    clear K
"""
    assert reachable(explored(engine, text)) == states("K(k1)", "")


def test_a_fresh_value_of_an_empty_domain_that_is_inserted_exceeds_the_bound(engine):
    text = """
deployment held
sort b
relation B(b)
tool add()
  effect
    fresh x: b
    insert B(x)
"""
    assert_fault(engine, text, BoundExceeded, 1)


def test_a_binder_that_hides_a_chosen_value_of_another_sort(engine):
    """`for x: a` hides the x that was chosen: every value of a is meant, whatever x was."""
    text = """
deployment hidden
sort a
sort k = { k1, k2 } rigid
relation K(k)
relation P(a)
relation E(a, a)
init
  P(c)
  P(d)
  E(c, d)
tool idle()
tool drop()
  effect
    choose x: k
    delete P(x) for x: a
    insert K(k1)
tool same_sort()
  effect
    choose x: a where x = c
    delete E(x, y) for x: a, y: a where y = d
"""
    e, p, k = "E(c,d)", "P(c) P(d)", "K(k1)"
    found = reachable(explored(engine, text))
    assert found == states(f"{p} {e}", f"{k} {e}", p, k)


def test_a_relation_functional_by_chance_gets_two_facts(engine):
    """One fact per first column at first; the second column varies only once both tools have run."""
    text = """
deployment chance
sort b
sort m = { m1, m2 } rigid
relation R(b, m)
init
  R(d, m1)
tool idle()
tool add()
  effect
    insert R(u, m2) for u: b
tool reset()
  effect
    clear R
"""
    found = reachable(explored(engine, text))
    assert found == states("R(d,m1)", "R(d,m1) R(d,m2)", "")
