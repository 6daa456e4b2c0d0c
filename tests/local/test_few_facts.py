"""Verdicts on few facts, and those that must not be, on deployments that are small enough to see why."""

from __future__ import annotations

import pytest

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import FunctionAgent
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.local.model import Local, Shown
from stead_sym.analyses.local.verify import localise
from stead_sym.deployment.language import parse_deployment
from stead_sym.evidence.prefix import refutation
from stead_sym.evidence.replay import replay
from stead_sym.logic.kernel import core
from stead_sym.verification.verify import verify

DESK = """
deployment desk
sort case, person
sort stage = { new, open, done } rigid
relation Stage(case key, stage)
relation Owner(case key, person)
relation Staff(person)
relation Desk(case)
relation Seen(case)
bound case 1
init
  Staff(ann)
  Staff(bob)
  Stage(c1, open)
  Owner(c1, ann)
  Stage(c2, done)
  Owner(c2, bob)
  Seen(c2)

event arrive()
  guard ~Desk(_) & ~Stage(_, new)
  effect
    fresh c: case
    insert Stage(c, new)
    insert Desk(c)
event leave(c: case)
  guard Desk(c) & Stage(c, done)
  effect
    delete Stage(c, _)
    delete Owner(c, _)
    delete Seen(c)
    delete Desk(c)
event forget(p: person)
  guard Staff(p) & p != ann
  effect
    delete Staff(p)
tool give(c: case, p: person)
  guard Desk(c) & Staff(p)
  effect
    set Owner(c, p)
    set Stage(c, open)
tool look(c: case)
  guard Stage(c, open)
  effect
    insert Seen(c)
tool finish(c: case)
  guard Stage(c, open) & Seen(c)
  effect
    set Stage(c, done)
tool wait()
policy careful
  call look(c) when Stage(c, open) & ~Seen(c)
  call give(c, ann)
  call wait()
"""
HOLDS = {
    "one_on_desk": "AG atmost 1 c. Desk(c)",
    "has_stage": "AG forall c. (Desk(c) -> Stage(c, _))",
    "seen_first": "AG forall c. (Stage(c, done) -> Seen(c))",
    "in_order": "AG forall c. (Stage(c, new) -> A[~Stage(c, done) W Stage(c, open)])",
    "one_stage": "AG forall c, s, t. (Stage(c, s) & Stage(c, t) -> s = t)",
    "ann_stays": "AG Staff(ann)",
    "only_opened": "AG forall c. (Stage(c, new) -> AX ~Stage(c, done))",
}
FAILS = {
    "staff_stays": "AG forall p. (Staff(p) -> AX Staff(p))",
    "owners_are_staff": "AG forall c, p. (Owner(c, p) -> Staff(p))",
    "never_two_new": "AG forall c. ~Stage(c, new)",
    "all_seen": "AG forall c. (Stage(c, open) -> Seen(c))",
    "bob_owns": "AG forall c. (Owner(c, ann) -> ~Stage(c, done))",
    "all_staff": "AG atleast 2 p. Staff(p)",
    "one_seen": "AG forall c, d. (Seen(c) & Seen(d) -> c = d)",
    "not_emptied": "AG exists c. Desk(c) | ~Stage(c1, done)",
    "stays_open": "AG forall c. (Stage(c, open) -> A[Stage(c, open) W Owner(c, bob)])",
}


def desk():
    lines = (f"spec {name} {formula}" for name, formula in {**HOLDS, **FAILS}.items())
    return parse_deployment(DESK + "\n".join(lines) + "\n")


@pytest.mark.parametrize("name", HOLDS)
def test_shown(name):
    assert localise(desk(), {"": "any"}, [name]).verdicts[name].holds is True


@pytest.mark.parametrize("name", FAILS)
def test_refuted(name):
    """By a run that is as short as one can be."""
    verdict = localise(desk(), {"": "any"}, [name]).verdicts[name]
    shortest = verify(desk(), "any", [name], findings=False).verdicts[name]
    assert verdict.holds is False
    assert len(verdict.trace.steps) == len(shortest.trace.steps)
    assert replay(desk(), wrap_all(desk(), "any"), verdict.evidence).complete


def test_the_engine_agrees():
    result = verify(desk(), "any", findings=False)
    assert {name: verdict.holds for name, verdict in result.verdicts.items()} == {
        **dict.fromkeys(HOLDS, True),
        **dict.fromkeys(FAILS, False),
    }


def test_a_policy_is_followed():
    """Under `any` case c1 can be given to bob; the policy gives to ann only."""
    deployment = desk()
    asked = ["AG forall c. (Desk(c) -> ~Owner(c, bob))"]
    by_any, by_policy = (localise(deployment, {"": who}, asked) for who in ("any", "careful"))
    assert [verdict.holds for verdict in by_any.verdicts.values()] == [False]
    assert [verdict.holds for verdict in by_policy.verdicts.values()] == [True]


def test_more_records_take_no_more_facts():
    """The facts needed do not grow with the data."""
    more = "".join(f"  Stage(d{k}, done)\n  Seen(d{k})\n  Owner(d{k}, bob)\n" for k in range(300))
    large = parse_deployment(
        DESK.replace("  Seen(c2)\n", f"  Seen(c2)\n{more}") + f"spec seen_first {HOLDS['seen_first']}\n"
    )
    assert localise(large, {"": "any"}).shown == localise(desk(), {"": "any"}, ["seen_first"]).shown


def test_a_key_is_shown_before_it_is_used():
    """A second owner breaks the key, by a run that may end there."""
    shared = DESK.replace("set Owner(c, p)", "insert Owner(c, p)")
    spec = "spec one_owner AG forall c, p, q. (Owner(c, p) & Owner(c, q) -> p = q)\n"
    of_one, of_several = (
        localise(parse_deployment(text + spec), {"": "any"}).verdicts["one_owner"].holds
        for text in (DESK, shared)
    )
    assert of_one is True
    assert of_several is False


def test_what_is_cleared_is_gone():
    text = DESK.replace("tool wait()\n", "tool wait()\nevent sweep()\n  effect\n    clear Staff\n")
    deployment = parse_deployment(f"{text}spec ann_stays {HOLDS['ann_stays']}\n")
    assert localise(deployment, {"": "any"}).verdicts["ann_stays"].holds is False


def test_what_is_written_under_a_condition_may_not_be():
    event = """event renew(c: case)
  guard Stage(c, done)
  effect
    delete Seen(c)
    insert Seen(d) for d where Owner(d, ann)
"""
    deployment = parse_deployment(f"{DESK}{event}spec seen_first {HOLDS['seen_first']}\n")
    assert localise(deployment, {"": "any"}).verdicts["seen_first"].holds is False


def test_a_statement_that_sets_does_both_or_neither():
    """Of `set` the deletion and the insertion have one condition, which is left open."""
    event = "event take_all(p: person)\n  effect\n    set Owner(c, ann) for c where Helps(p, c)\n"
    spec = "spec one_owner AG forall c, p, q. (Owner(c, p) & Owner(c, q) -> p = q)\n"
    text = DESK.replace("relation Seen", "relation Helps(person, case)\nrelation Seen")
    assert localise(parse_deployment(text + event + spec), {"": "any"}).shown["one_owner"].facts == 2


ORDERS = """
deployment orders
sort order, item
relation Wants(order, item)
relation Due(order, item)
relation Damaged(item)
relation Taken(order)
init
  Wants(a, x)
event damage(i: item)
  effect
    insert Damaged(i)
event again(o: order)
  effect
    insert Due(o, i) for i where Wants(o, i)
tool take(o: order)
  guard exists n. (Due(o, n) & ~Damaged(n))
  effect
    insert Taken(o)
    delete Due(o, _)
spec wanted AG forall o. (Taken(o) -> exists m. Wants(o, m))
spec wanted_again AG forall o. ((exists k. Wants(o, k)) | Taken(o) -> Wants(o, _))
"""


def test_a_sentence_comes_true_by_an_atom_that_is_inserted():
    """Nothing is due unless something is wanted, and what is due and not damaged was not before."""
    assert localise(parse_deployment(ORDERS), {"": "any"}).shown["wanted"].facts == 3


def test_names_of_variables_make_no_other_fact():
    shown = localise(parse_deployment(ORDERS), {"": "any"}).shown
    assert shown["wanted_again"].facts == shown["wanted"].facts


@pytest.mark.parametrize(
    ("effect", "alarm"),
    [
        (
            "clear P, Q\n    insert P(i) for i where R(i) & M(i)\n    insert Q(i) for i where R(i) & ~M(i)",
            "(exists i. P(i)) & (exists i. Q(i))",
        ),
        ("clear P\n    insert P(j) for j where R(j) & (exists i. (R(i) & i != j))", "exists i. P(i)"),
    ],
    ids=["two statements", "two quantifiers with one variable"],
)
def test_some_record_need_not_be_the_same_twice(effect, alarm):
    """The abstraction by itself, since the run that is found first hides what it shows."""
    deployment = parse_deployment(
        "deployment d\nsort item\nrelation R(item)\nrelation M(item)\nrelation P(item)\n"
        "relation Q(item)\nrelation Alarm()\nbound item 2\n"
        "event arrive()\n  guard atmost 1 i. R(i)\n  effect\n    fresh n: item\n    insert R(n)\n"
        "event mark(i: item)\n  guard R(i)\n  effect\n    insert M(i)\n"
        f"tool sort_all()\n  effect\n    {effect}\n"
        f"event alarm()\n  guard {alarm}\n  effect\n    insert Alarm()\nspec quiet AG ~Alarm()\n"
    )
    assert not isinstance(Local.under(deployment, "any").shown(deployment.specs[0].formula), Shown)


def test_a_run_of_any_agent_says_nothing_of_a_given_one():
    """What only an agent of our own could break is left open, and the agent is not asked."""
    agent = FunctionAgent(lambda context: pytest.fail("the agent is asked"))
    verdict = localise(desk(), {"": agent}, ["bob_owns"]).verdicts["bob_owns"]
    assert verdict.holds is None


HELPERS = """
deployment helpers
sort ticket, helper
sort stage = { open, held, done } rigid
relation Stage(ticket key, stage)
relation Has(helper key, ticket)
relation Helper(helper)
init Stage(t1, open) Stage(t2, open) Helper(h1) Helper(h2)
tool take(h: helper, t: ticket)
  guard Helper(h) & Stage(t, open) & ~exists other. Has(h, other)
  effect
    set Stage(t, held)
    insert Has(h, t)
tool finish(h: helper, t: ticket)
  guard Has(h, t) & Stage(t, held)
  effect
    set Stage(t, done)
    delete Has(h, t)
tool lose(h: helper, t: ticket)
  guard Has(h, t)
  effect when SURE
    delete Has(h, t)
policy lazy
  call take(h, t)
spec can_be_done AG forall t. (Stage(t, held) -> EF Stage(t, done))
"""


@pytest.mark.parametrize(
    ("sure", "agent", "word"),
    [("false", "any", "holds"), ("true", "any", "fails"), ("false", "lazy", "fails")],
)
def test_a_run_from_each_state_is_shown_where_a_call_surely_leads_there(sure, agent, word):
    """Some helper has the ticket, whoever that is; unless it can be lost, or nobody finishes."""
    deployment = parse_deployment(HELPERS.replace("SURE", sure))
    [verdict] = localise(deployment, {"": agent}).verdicts.values()
    assert verdict.word == word


def test_what_recorded_agents_do_is_not_taken_for_granted():
    deployment = parse_deployment(HELPERS.replace("SURE", "false"))
    agent = FunctionAgent(lambda context: [call for call in context.calls if call.tool == "take"])
    [verdict] = localise(deployment, {"": agent}).verdicts.values()
    assert verdict.word == "unknown"


def test_an_integer_that_a_step_writes_need_not_be_declared():
    deployment = parse_deployment(
        "deployment d\nsort n = 0..2\nrelation C(n)\nrelation D(n)\ninit\n  C(2)\n"
        "tool inc(v: n)\n  guard C(v)\n  effect\n    insert D(v + 1)\ntool rest()\n"
        "spec in_range AG ((exists a: n. D(a)) -> (exists a in n. D(a)))\n"
    )
    assert not isinstance(Local.under(deployment, "any").shown(deployment.specs[0].formula), Shown)


@pytest.mark.parametrize(
    ("condition", "is_shown"),
    [("a > 9", True), ("succ(a, 0)", True), ("a < 5", False), ("a > 5", False), ("succ(a, 3)", False)],
)
def test_what_is_none_of_the_constants_is_one_of_the_other_values(condition, is_shown):
    """No value is more than 9, whichever it is; less than 5 are some of those that no formula mentions."""
    deployment = parse_deployment(
        "deployment d\nsort item\nsort level = 0..9\nrelation Level(item key, level)\nrelation Flag(item)\n"
        "init\n  Level(x, 7)\n"
        "tool lower(i: item)\n  guard exists a. (Level(i, a) & a > 0)\n  effect\n"
        "    choose b: level where exists a. (Level(i, a) & succ(b, a))\n    set Level(i, b)\n"
        f"event mark(i: item)\n  guard exists a. (Level(i, a) & {condition})\n  effect\n    insert Flag(i)\n"
        "spec quiet AG ~Flag(_)\n"
    )
    found = Local.under(deployment, "any").shown(deployment.specs[0].formula)
    assert isinstance(found, Shown) == is_shown


def test_a_value_that_a_step_computes_may_be_none_of_the_declared_ones():
    """No declared value of those that are not mentioned is more than 9, but 10 is written."""
    deployment = parse_deployment(
        "deployment d\nsort item\nsort level = 0..9\nrelation Level(item key, level)\nrelation Flag(item)\n"
        "init\n  Level(x, 7)\n"
        "tool raise(i: item, a: level)\n  guard Level(i, a)\n  effect\n    set Level(i, a + 1)\n"
        "event mark(i: item)\n  guard exists a. (Level(i, a) & a > 9)\n  effect\n    insert Flag(i)\n"
        "spec quiet AG ~Flag(_)\n"
    )
    assert not isinstance(Local.under(deployment, "any").shown(deployment.specs[0].formula), Shown)


ONE_AT_A_TIME = """
deployment one_at_a_time
sort order
relation Open(order)
relation InHand(order)
relation Done(order)
init
  Open(o1)
  Open(o2)
  IN HAND
event take(o: order)
  guard ~InHand(_) & Open(o)
  effect
    insert InHand(o)
tool put_back(o: order)
  guard InHand(o)
  effect
    delete InHand(o)
tool finish(o: order)
  guard InHand(o)
  effect
    delete Open(o)
    insert Done(o)
    delete InHand(o)
tool wait()
spec can_be_done AG forall o. (Open(o) -> EF Done(o))
spec can_be_free AG (InHand(_) -> EX ~InHand(_))
spec gets_free   AG (InHand(_) -> EF ~InHand(_))
"""


@pytest.mark.parametrize(
    ("in_hand", "word", "holds"),
    [("", "holds", True), ("InHand(o3)", "holds", True), ("InHand(o3) InHand(o4)", "unknown", False)],
)
def test_what_is_one_at_a_time_is_gone_when_it_is_deleted(in_hand, word, holds):
    """Of two that are in hand at first the other one stays when one is put back."""
    deployment = parse_deployment(ONE_AT_A_TIME.replace("IN HAND", in_hand))
    assert localise(deployment, {"": "any"}).verdicts["can_be_free"].word == word
    assert verify(deployment, findings=False).verdicts["can_be_free"].holds is holds


def test_another_order_is_put_back_first():
    deployment = parse_deployment(ONE_AT_A_TIME.replace("IN HAND", ""))
    assert localise(deployment, {"": "any"}).shown["can_be_done"].facts <= 4
    assert verify(deployment, findings=False).verdicts["can_be_done"].holds is True


def test_what_is_deleted_need_not_have_been_there():
    """Dropping an order that is done leaves the one that is in hand where it is."""
    text = ONE_AT_A_TIME.replace("IN HAND", "Done(o3)")
    begin, end = text.index("tool put_back"), text.index("tool wait")
    dropping = "tool drop(o: order)\n  guard Done(o)\n  effect\n    delete InHand(o)\n"
    deployment = parse_deployment(text[:begin] + dropping + text[end:])
    for name, verdict in verify(deployment, findings=False).verdicts.items():
        assert verdict.holds is False, name
        assert localise(deployment, {"": "any"}, [name]).verdicts[name].word == "fails"


@pytest.mark.parametrize(
    ("kept", "word", "holds"), [("", "holds", True), ("delete InHand(_)", "fails", False)]
)
def test_the_facts_that_decide_what_can_be_done_next_are_found(kept, word, holds):
    """The call that closes the desk is for some order in hand, of which the specification does not speak."""
    text = f"""
deployment busy_desk
sort order
relation Open(order)
relation InHand(order)
relation Busy()
init
  Open(o1)
  Open(o2)
event take(o: order)
  guard ~Busy() & Open(o)
  effect
    insert InHand(o)
    insert Busy()
event other()
  guard Busy()
  effect
    {kept or "insert Busy()"}
tool close(o: order)
  guard InHand(o)
  effect
    clear Busy, InHand
spec can_close AG (Busy() -> EX ~Busy())
"""
    deployment = parse_deployment(text)
    assert localise(deployment, {"": "any"}).verdicts["can_close"].word == word
    assert verify(deployment, findings=False).verdicts["can_close"].holds is holds


SKIPPED = """
deployment skipped
sort order, item
relation InHand(order)
relation Line(order, item)
relation Alarm(item)
relation Skipped(item)
init
  Line(o1, i1)
  Alarm(i2)
define wanted(i: item) = exists o. ((InHand(o) & Line(o, i)) | Alarm(i))
event take(o: order)
  guard Line(o, _)
  effect
    insert InHand(o)
event empty()
  effect
    clear Line, InHand
event skip(i: item)
  guard (Line(_, i) | Alarm(i)) & ~wanted(i)
  effect
    insert Skipped(i)
spec no_line  AG forall o, i. (InHand(o) & Line(o, i) & ~Skipped(i) -> AX ~Skipped(i))
spec no_alarm AG forall i. (Alarm(i) & ~Skipped(i) -> AX ~Skipped(i))
spec at_work  AG forall o, i. (InHand(o) & Alarm(i) & ~Skipped(i) -> AX ~Skipped(i))
spec at_rest  AG forall o, i. (InHand(o) & Alarm(i) & ~Skipped(i) -> AX AX ~Skipped(i))
"""


@pytest.mark.parametrize(
    ("name", "holds"), [("no_line", True), ("no_alarm", False), ("at_work", True), ("at_rest", False)]
)
def test_a_record_is_there_if_a_fact_has_it(name, holds):
    """An item is wanted for its alarm by each order that there is, and by none if there is no order."""
    deployment = parse_deployment(SKIPPED)
    assert verify(deployment, findings=False).verdicts[name].holds is holds
    assert isinstance(Local.under(deployment).shown(deployment.spec(name).formula), Shown) is holds


def test_a_number_of_one_sort_is_not_there_for_another():
    """That an amount is 1 does not make 1 a level that there is."""
    text = """
deployment levels
sort level = 0..2
sort amount = 0..2
relation L(level)
relation A(amount)
relation Alarm()
relation Done()
init
  A(1)
  Alarm()
event raise(x: level)
  guard L(x)
  effect
    insert L(2)
event change(a: amount)
  guard A(_)
  effect
    insert A(a)
event tick()
  guard ~exists x: level. (L(x) | Alarm())
  effect
    insert Done()
spec waits AG forall a. (A(a) & Alarm() & ~Done() -> AX ~Done())
"""
    deployment = parse_deployment(text)
    assert verify(deployment, findings=False).verdicts["waits"].holds is False
    assert not isinstance(Local.under(deployment).shown(deployment.spec("waits").formula), Shown)


def test_of_any_initial_database_no_relation_is_known_to_have_one_tuple():
    text = ONE_AT_A_TIME.replace("IN HAND", "").replace("guard ~InHand(_) & Open(o)", "guard ~InHand(_)")
    text = text.replace("sort order\n", "sort order\nbound order 2\n") + "initially any InHand\n"
    deployment = parse_deployment(text)
    assert verify(deployment, findings=False).verdicts["can_be_free"].holds is False
    assert not isinstance(Local.under(deployment, "any").shown(deployment.specs[1].formula), Shown)


def shifts(effect, guard="Member(q, g)"):
    """Teams with somebody on call, who hands over to somebody of the team."""
    return parse_deployment(f"""
deployment shifts
sort team, person
relation Team(team)
relation Member(person, team)
relation OnCall(team key, person)
init
  Team(g1)
  Member(ann, g1)
  Member(bob, g1)
  OnCall(g1, ann)
  Team(g2)
  Member(cleo, g2)
  OnCall(g2, cleo)
event shift(g: team, p: person, q: person)
  guard OnCall(g, p) & p != q & {guard}
  effect
    set OnCall(g, q)
    {effect}
event rest()
spec covered AG forall g. (Team(g) -> exists p. (Member(p, g) & OnCall(g, p)))
""")


@pytest.mark.parametrize(
    ("effect", "guard", "holds"),
    [
        ("", "Member(q, g)", True),
        ("delete Member(p, g)", "Member(q, g)", True),
        ("delete Member(q, g)", "Member(q, g)", False),
        ("delete Member(_, g)", "Member(q, g)", False),
        ("", "Member(q, _)", False),
        ("", "exists h. (Member(q, h) & OnCall(h, q))", False),
    ],
)
def test_a_step_knows_its_guard_of_the_others_that_it_is_about(effect, guard, holds):
    """Whoever takes over is of the team, unless the same step ends that."""
    deployment = shifts(effect, guard)
    assert verify(deployment, findings=False).verdicts["covered"].holds is holds
    assert isinstance(Local.under(deployment).shown(deployment.spec("covered").formula), Shown) is holds


def test_what_a_step_does_not_write_may_depend_on_who_is_there():
    """Everybody is near to ann until somebody comes, of whom the step writes something else."""
    deployment = parse_deployment("""
deployment near
sort person
relation Guide(person)
relation Near(person, person)
relation Known(person)
init
  Guide(ann)
  Near(ann, ann)
event come()
  guard ~Known(_)
  effect
    fresh p: person
    insert Known(p)
event rest()
spec guided AG exists q. (Guide(q) & (q = ann | ~Guide(ann)) & forall p. Near(q, p))
""")
    assert verify(deployment, findings=False).verdicts["guided"].holds is False
    assert not isinstance(Local.under(deployment).shown(deployment.spec("guided").formula), Shown)


@pytest.mark.parametrize(("more", "holds"), [("", True), ("Queue(t3, g2)", False)])
def test_the_values_of_names_at_first_are_looked_up_together(more, holds):
    """Each two of the values of a question go together at first, but no three do."""
    deployment = parse_deployment(f"""
deployment queues
sort ticket, person, team
relation Assignee(ticket key, person)
relation Queue(ticket key, team)
relation Member(person, team)
init
  Member(ann, g1)
  Member(bob, g2)
  Assignee(t1, ann)
  Queue(t1, g1)
  Assignee(t2, bob)
  Queue(t2, g2)
  Assignee(t3, ann)
  {more}
tool assign(t: ticket, p: person)
  guard exists g. (Queue(t, g) & Member(p, g))
  effect
    set Assignee(t, p)
spec of_the_team AG forall t, p, g. (Assignee(t, p) & Queue(t, g) -> Member(p, g))
""")
    assert verify(deployment, findings=False).verdicts["of_the_team"].holds is holds
    how = Local.under(deployment).shown(deployment.spec("of_the_team").formula)
    assert (how == Shown(3, 1)) is holds


@pytest.mark.parametrize("facts", ["", "init\n  P(c)\n  Near(c, c)"])
@pytest.mark.parametrize(
    "spec",
    [
        "F() | ~(exists x: a. ~P(x))",
        "F() | forall x: a. P(x)",
        "forall y: a. (P(y) -> F() | exists x: a. (P(y) & forall z: a. (P(z) | Near(y, x))))",
    ],
)
def test_what_is_active_in_any_initial_database_is_not_known(facts, spec):
    """A record that only a relation of `initially any` has is one of those that a quantifier ranges over."""
    deployment = parse_deployment(f"""
deployment any_first
sort a
relation R(a)
relation P(a)
relation F()
relation Near(a, a)
bound a 1
{facts}
initially any R
tool idle()
spec wanted AG ({spec})
""")
    holds = verify(deployment, engine="explicit", findings=False).verdicts["wanted"].holds
    shown = isinstance(Local.under(deployment).shown(deployment.spec("wanted").formula), Shown)
    assert not shown or holds
    if "Near" not in spec:
        assert holds is False


def test_a_number_that_is_none_of_the_declared_ones_is_not_compared():
    """A step may write any sum: how it compares with the numbers of the data is not looked up."""
    deployment = parse_deployment("""
deployment sums
sort account
sort number = 0..9
relation Limit(number)
relation Balance(account key, number)
bound account 2
init
  Limit(3)
  Balance(p, 2)
tool add(x: account, k: number)
  guard Balance(x, k) & k < 5
  effect
    set Balance(x, k + 3)
tool freeze(x: account, k: number)
  guard Balance(x, k)
  effect
    delete Balance(x, k)
    insert Limit(k)
spec least AG forall m: number. (Limit(m) -> exists x: number. (Limit(x) & x <= m))
""")
    localised = localise(deployment, {"": "any"}).verdicts["least"]
    assert localised.word in ("unknown", verify(deployment, findings=False).verdicts["least"].word)


DEAD_END = """
deployment dead_ends
sort case
relation Open(case)
relation Locked(case)
relation Done(case)
relation Linked(case, case)
bound case 1
init
  Open(a)
  Open(b)
  Linked(a, b)
event lock(x: case)
  guard Open(x) & ~Locked(x)
  effect
    insert Locked(x)
tool unlock(x: case)
  guard Locked(x) & UNLOCKED
  effect
    delete Locked(x)
tool close(x: case)
  guard Open(x) & ~Locked(x)
  effect
    delete Open(x)
    insert Done(x)
tool wait()
spec can_be_done AG forall x. (Open(x) -> EF Done(x))
spec at_once     AG forall x. (Open(x) -> EX Done(x))
spec one_or_more AG forall x. (Open(x) -> (EF Done(x)) | (EF ~Open(x)))
spec or_linked   AG forall x. (Open(x) -> (EF Done(x)) | Linked(x, _))
"""


@pytest.mark.parametrize("unlocked", ["false", "true", "Linked(x, _)", "Linked(_, x)"])
def test_a_run_to_a_state_with_no_way_out_refutes_that_there_is_one(unlocked):
    """The run ends where no run can do what is asked for; that is said of all runs, and not replayed."""
    deployment = parse_deployment(DEAD_END.replace("UNLOCKED", unlocked))
    explored = verify(deployment, findings=False).verdicts
    for name, verdict in localise(deployment, {"": "any"}).verdicts.items():
        assert verdict.holds is explored[name].holds, name
        if not verdict.holds:
            assert replay(deployment, wrap_all(deployment, "any"), verdict.evidence).confirmed
            assert verdict.evidence.unshown


def test_what_is_known_of_all_runs_from_a_state_is_said_of_its_last_state_alone():
    deployment = parse_deployment(DEAD_END.replace("UNLOCKED", "false"))
    at_once = localise(deployment, {"": "any"}, ["at_once"]).verdicts["at_once"]
    run = at_once.evidence.trace
    assert len(run.steps) == 1
    assert {node.state for node in at_once.evidence.unshown} == {run.last}
    asked = deployment.formula("AG forall x. (Open(x) -> EX Done(x))")
    assert refutation(asked, run) is None
    [ended] = {node.assignment["x"] for node in at_once.evidence.unshown}
    known = core(fo.Not(deployment.formula(f"EX Done({ended})")))
    assert refutation(asked, run, {known}).unshown
    assert refutation(deployment.formula("AG forall x. (Open(x) -> EX Open(x))"), run, {known}) is None


CHOSEN = """
deployment choices
sort case
relation Open(case)
relation Locked(case)
relation PAIR
relation Rainy()
init
  Pair(a, b)
  Open(a)
INITIALLY
tool lock(x: case)
  guard Open(x)
  effect
    choose y: case where Pair(x, y)
    insert Locked(y)
tool wait()
policy p
  call lock(x)
FAIR
spec at_once EX Locked(a)
spec at_last AF Locked(a)
"""


@pytest.mark.parametrize("agent", ["any", "p"])
@pytest.mark.parametrize("fair", ["", "fair agent"])
@pytest.mark.parametrize("initially", ["", "initially any Rainy"])
@pytest.mark.parametrize("pair", ["Pair(case, case)", "Pair(case key, case)"])
def test_a_value_of_the_data_that_is_chosen_is_no_other_one(pair, initially, fair, agent):
    """The choice finds b, which no formula mentions: nothing is said of what it leads to for a."""
    text = CHOSEN.replace("PAIR", pair).replace("INITIALLY", initially).replace("FAIR", fair)
    deployment = parse_deployment(text)
    for name, verdict in localise(deployment, {"": agent}).verdicts.items():
        assert verdict.holds in (None, verify(deployment, agent, findings=False).verdicts[name].holds), name


def test_constants_of_rules_are_told_apart_where_another_agent_has_the_tool():
    deployment = parse_deployment("""
deployment two_agents
sort order
relation Open(order)
relation Done(order)
relation Rainy()
init
  Open(a)
  Open(b)
initially any Rainy
tool finish(o: order)
  guard Open(o)
  effect
    delete Open(o)
    insert Done(o)
tool wait()
agent one
  tools finish, wait
agent two
  tools finish, wait
  policy rules
    call finish(o) when o = b
    call wait()
fair agent two
spec done AF Done(a)
spec other AF Done(b)
""")
    agents = {"one": "any", "two": "rules"}
    explored = verify(deployment, agents, findings=False).verdicts
    assert (explored["done"].holds, explored["other"].holds) == (False, True)
    found = localise(deployment, agents).verdicts
    assert (found["done"].holds, found["other"].holds) == (None, True)


TIED = """
deployment tied
sort order, person, team
relation Owner(order key, person)
relation Lead(team key, person)
relation Member(person, team)
relation Known(person)
relation Given(order key, team)
relation Taken(order)
relation Open(order)
init
  Owner(o1, ann) Open(o1) Open(o2) OWNED
  Lead(red, bea) Member(cal, blue) MEMBER
tool identify(p: person)
  guard exists o. Owner(o, p) & ~Known(p)
  effect
    insert Known(p)
tool give(o: order, t: team)
  guard Open(o) & ~Given(o, _) & Lead(t, _)
  effect
    insert Given(o, t)
tool take(o: order)
  guard Open(o) & exists t. (Given(o, t) & Member(_, t))
  effect
    insert Taken(o)
tool close(o: order)
  guard Open(o) & exists p. (Owner(o, p) & Known(p))
  effect
    delete Open(o)
tool take_back(o: order)
  guard Given(o, _)
  effect
    delete Given(o, _)
tool wait()
spec can_close AG forall o. (Open(o) -> EF ~Open(o))
spec can_take  AG forall o. (Open(o) -> EF (Taken(o) | ~Open(o)))
"""


@pytest.mark.parametrize(
    ("owned", "member", "holds"),
    [
        ("Owner(o2, bea)", "Member(dan, red)", {"can_close": True, "can_take": True}),
        ("", "Member(dan, red)", {"can_close": False, "can_take": True}),
    ],
)
def test_a_run_is_shown_with_the_value_that_no_step_changes(owned, member, holds):
    """The owner of this order becomes known; some team has a lead and a member."""
    deployment = parse_deployment(TIED.replace("OWNED", owned).replace("MEMBER", member))
    assert {n: v.holds for n, v in verify(deployment, findings=False).verdicts.items()} == holds
    assert {n: v.holds for n, v in localise(deployment, {"": "any"}).verdicts.items()} == holds


ELSEWHERE = """
deployment desk
sort case
relation Open(case)
relation Free(case)
bound case 1
init
  Open(a)
  Open(b)
  Free(b)
tool finish(x: case)
  guard Free(x)
  effect
    delete Open(x)
agent clerk
  tools finish
spec ends AG forall x. (Open(x) & (exists y: case. Free(y)) -> EF ~Open(x))
"""


def test_a_call_about_another_record_does_not_end_this_one() -> None:
    desk = parse_deployment(ELSEWHERE)
    assert verify(desk, "any").verdicts["ends"].holds is False
    assert not localise(desk, {"clerk": "any"}).verdicts["ends"].holds


def test_integers_of_two_sorts_may_be_the_same():
    """Two names of different sorts stand for different values only if these cannot be one number."""
    deployment = parse_deployment(
        "deployment across\nsort small = 0..9\nsort big = 0..9\nrelation P(small)\nrelation Q(big)\n"
        "init\n  P(3) Q(3)\ntool rest()\ntool move(x: small)\n  effect\n    clear P\n    insert P(x)\n"
        "spec differ AG forall x: small, y: big. (P(x) & Q(y) -> x != y)\n"
        "spec none   AG forall x: small. (P(x) -> ~exists y: big. (Q(y) & x = y))\n"
        "spec meet   EF exists x: small, y: big. (P(x) & Q(y) & x = y)\n"
        "spec stays  AG forall x: small, y: big. (P(x) & Q(y) & x = y -> AX P(x))\n"
    )
    right = {"differ": "fails", "none": "fails", "meet": "holds", "stays": "fails"}
    explored = verify(deployment, "any", engine="explicit", findings=False).verdicts
    assert {name: verdict.word for name, verdict in explored.items()} == right
    for name, verdict in localise(deployment, "any", [*right]).verdicts.items():
        assert verdict.word in ("unknown", right[name])
