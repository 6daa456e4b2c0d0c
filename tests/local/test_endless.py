"""Endless runs on few facts: what is shown, what a run that repeats refutes, and what must be left open."""

from __future__ import annotations

import pytest

from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.local.model import Local, Shown
from stead_sym.analyses.local.verify import localise
from stead_sym.deployment.language import parse_deployment
from stead_sym.evidence.replay import replay
from stead_sym.verification.verify import verify

SHOP = """
deployment shop
sort item, supplier
relation From(item key, supplier)
relation Ordered(item)
relation Wanted(item)
relation Closed()
relation Alarm()
init
  From(i1, s1)
  From(i2, s1)
  From(i3, s2)
  Wanted(i1)
  Wanted(i2)
event deliver(s: supplier)
  guard exists i. (From(i, s) & Ordered(i))
  effect
    delete Ordered(i) for i where From(i, s)
event test() "Of the bell."
  guard ~Alarm()
  effect
    insert Alarm()
event answer(i: item)
  guard Alarm() & Wanted(i)
  effect
    delete Alarm()
tool order(i: item)
  guard Wanted(i)
  effect
    insert Ordered(i)
tool wait()
"""
COMES = "AG forall i. (Ordered(i) -> AF ~Ordered(i))"
OTHERS = {"From(i2, s1)", "From(i3, s2)", "Wanted(i2)"}


def verdict_of(text, spec, who="any"):
    """The verdict on few facts, which the engine confirms if there is one."""
    deployment = parse_deployment(f"{text}spec asked {spec}\n")
    verdict = localise(deployment, {"": who}).verdicts["asked"]
    whole = verify(deployment, who, findings=False).verdicts["asked"]
    assert verdict.holds in (None, whole.holds)
    if verdict.evidence is not None and verdict.trace.steps:
        assert replay(deployment, wrap_all(deployment, who), verdict.evidence).complete
    return verdict


def test_a_fair_event_brings_it_about():
    """The supplier for which the event comes is none that the specification speaks of."""
    assert verdict_of(SHOP + "fair event deliver\n", COMES).holds is True


def test_without_a_constraint_it_need_not_come():
    verdict = verdict_of(SHOP, COMES)
    assert verdict.holds is False
    assert verdict.trace.loop is not None


def test_some_value_must_be_there_for_which_it_comes():
    text = SHOP.replace("  From(i1, s1)\n", "") + "fair event deliver\n"
    assert verdict_of(text, COMES).holds is False
    deployment = parse_deployment(f"{text}spec asked {COMES}\n")
    shown = Local.under(deployment, "any").shown(deployment.specs[0].formula)  # no run is found before
    assert not isinstance(shown, Shown)


def test_an_event_that_may_be_kept_from_coming():
    closing = "event close()\n  guard ~Closed()\n  effect\n    insert Closed()\n"
    text = SHOP.replace("& Ordered(i))\n", "& Ordered(i)) & ~Closed()\n", 1) + closing
    assert verdict_of(text + "fair event deliver\n", COMES).holds is False


def test_an_event_that_may_come_without_effect():
    text = SHOP.replace("event test()", "  effect\nevent test()")
    assert verdict_of(text + "fair event deliver\n", COMES).holds is False


def test_the_values_of_an_event_have_to_be_active():
    """Once the only item has been shipped nobody is there to answer."""
    shipping = """event ship(i: item)
  guard Ordered(i)
  effect
    delete Ordered(i)
    delete From(i, _)
    delete Wanted(i)
"""
    one = "\n".join(line for line in SHOP.splitlines() if line.strip() not in OTHERS) + "\n"
    text = one.replace("Alarm() & Wanted(i)", "Alarm()") + shipping + "fair event answer\n"
    assert verdict_of(text, "AG forall i. (Ordered(i) & Alarm() -> AF ~Alarm())").holds is False


def test_a_run_that_a_constraint_on_states_leaves_out_counts():
    closing = "event close()\n  guard ~Closed()\n  effect\n    insert Closed()\n"
    coming = "event come(i: item)\n  guard Ordered(i)\n  effect\n    delete Ordered(i)\n"
    text = SHOP + closing + coming + "fair event come\nfair ~Closed()\n"
    assert verdict_of(text, COMES).holds is not True


def test_a_policy_that_waits_repeats_itself():
    policy = "policy idle\n  call order(i) when Wanted(i) & ~Ordered(i)\n  call wait()\n"
    assert verdict_of(SHOP + policy, COMES, "idle").holds is False


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ("EF (Ordered(i1) & Ordered(i2))", True),
        ("EF Ordered(i3)", False),
        ("EF exists i. (Ordered(i) & Alarm())", True),
    ],
)
def test_what_can_be(spec, holds):
    assert verdict_of(SHOP + "fair event deliver\n", spec).holds is holds


def test_a_run_that_ends_shows_nothing_that_can_be():
    """No state is reached from which no step is possible, of which the file is to be told first."""
    text = SHOP.replace("tool wait()", "tool wait()\n  guard ~Closed()")
    closing = """event close()
  guard ~Closed()
  effect
    insert Closed()
    insert Alarm()
    clear From, Ordered, Wanted
"""
    deployment = parse_deployment(f"{text}{closing}spec asked EF Closed()\n")
    assert localise(deployment, {"": "any"}).verdicts["asked"].holds is None


def test_what_is_not_shown_says_how_much_was_searched():
    text = (
        SHOP + "fair event deliver\n" + "fair ~Closed()\n" + "tool close()\n  effect\n    insert Closed()\n"
    )
    reason = (
        localise(
            parse_deployment(f"{text}spec asked AG forall i. (Wanted(i) -> EF Ordered(i))\n"), {"": "any"}
        )
        .verdicts["asked"]
        .reason
    )
    assert "asks for a run from each of many states, as EF does" in reason
    reason = (
        localise(
            parse_deployment(f"{text}spec asked AG forall i. (Ordered(i) -> AF ~Ordered(i))\n"), {"": "any"}
        )
        .verdicts["asked"]
        .reason
    )
    assert "states searched" in reason or "state searched" in reason


def test_nothing_is_ordered_that_no_line_has():
    """Each item of a line has a supplier; of the lines of any order only that there is one is followed."""
    deployment = parse_deployment(
        "deployment d\nsort order, item, supplier\nrelation Open(order)\nrelation Line(order, item)\n"
        "relation From(item key, supplier)\nrelation Ordered(item)\n"
        "init\n  Line(a, bolt)\n  Line(b, nut)\n  From(bolt, acme)\n  From(nut, drip)\n"
        "event open(o: order)\n  guard Line(o, _)\n  effect\n    insert Open(o)\n"
        "event deliver(s: supplier)\n  guard exists i. (From(i, s) & Ordered(i))\n"
        "  effect\n    delete Ordered(i) for i where From(i, s)\nfair event deliver\n"
        "tool reorder(i: item)\n  guard exists o. (Open(o) & Line(o, i))\n  effect\n    insert Ordered(i)\n"
        "tool wait()\nspec delivered AG forall i. (Ordered(i) -> AF ~Ordered(i))\n"
    )
    assert localise(deployment, {"": "any"}).verdicts["delivered"].holds is True


CLERKS = """
deployment clerks
sort order
relation Open(order)
relation InHand(order)
relation Checked(order)
relation Bell()
init
  Open(o1)
  Open(o2)
event take(o: order)
  guard ~InHand(_) & Open(o)
  effect
    insert InHand(o)
event ring()
  effect
    insert Bell()
event rest()
  effect
    delete Bell()
tool look(o: order)
  guard InHand(o) & ~Checked(o)
  effect
    insert Checked(o)
tool finish(o: order)
  guard InHand(o) & Checked(o)
  effect
    delete Open(o)
    delete InHand(o)
tool wait()
  guard LAZY
agent checker
  tools look, wait
  policy rules
    call look(o)
    call wait()
agent closer
  tools finish, LOOK wait
  policy rules
    call finish(o)
    call wait()
"""
LEAVES = "AG forall o. (InHand(o) -> AF ~InHand(o))"


@pytest.mark.parametrize(
    ("fair", "who", "lazy", "look", "word"),
    [
        ("fair agent", "rules", "true", "", "holds"),
        ("fair agent", "rules", "true", "look,", "holds"),
        ("fair agent", "any", "false", "", "holds"),
        ("fair agent", "any", "true", "", "fails"),
        ("fair agent checker", "rules", "true", "", "fails"),
        ("fair agent closer", "rules", "true", "look,", "fails"),
        ("", "rules", "true", "", "fails"),
    ],
    ids=["both", "one tool of both", "any", "waiting", "checker", "closer", "none"],
)
def test_a_fair_agent_comes_to_its_call(fair, who, lazy, look, word):
    """An agent whose turn comes makes a call that it selects, whatever the others and the events do."""
    text = CLERKS.replace("LAZY", lazy).replace("LOOK", look)
    deployment = parse_deployment(f"{text}{fair}\nspec leaves {LEAVES}\n")
    agents = {"checker": who, "closer": who}
    assert verify(deployment, agents, findings=False).verdicts["leaves"].word == word
    assert localise(deployment, agents).verdicts["leaves"].word == word
    shown = Local.under(deployment, agents).shown(deployment.specs[0].formula)  # no run is found before
    assert isinstance(shown, Shown) == (word == "holds")


ROUTING = """
deployment routing
sort ticket, service, team
relation About(ticket key, service)
relation Owner(KEY, team)
relation Queue(ticket key, team)
relation OnDesk(ticket)
init
  About(t1, mail) About(t2, web) Owner(mail, red) Owner(web, blue) OWNER
event come(t: ticket)
  guard ~OnDesk(_) & About(t, _)
  effect
    insert OnDesk(t)
    delete Queue(t, _)
tool route(t: ticket, g: team)
  guard OnDesk(t) & ~Queue(t, g) & exists s. (About(t, s) & Owner(s, g))
  effect
    set Queue(t, g)
tool assign(t: ticket)
  guard OnDesk(t) & Queue(t, _)
  effect
    delete OnDesk(t)
policy in_turn
  call route(t, g)
  call assign(t)
fair agent
terminal
"""


@pytest.mark.parametrize(
    ("key", "owner", "word"),
    [("service key", "", "holds"), ("service", "", "unknown"), ("service", "Owner(web, red)", "fails")],
    ids=["one owner", "one owner as it happens", "two owners"],
)
def test_what_keys_determine_of_a_call_is_the_same_each_time(key, owner, word):
    """With two owners a ticket goes to and fro."""
    text = ROUTING.replace("KEY", key).replace("OWNER", owner)
    assert verdict_of(text, "AG forall t. (OnDesk(t) -> AF ~OnDesk(t))", "in_turn").word == word
