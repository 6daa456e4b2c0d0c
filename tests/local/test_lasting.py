"""Runs that cannot stay since what they do is used up: shown where it is, and only there."""

from __future__ import annotations

import pytest

from generated.errands import errand, specifications
from stead_sym.analyses.local.model import Local, Shown
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import AgentError, DeclarationError, DefinitionError, NoInitialState, Undecided
from stead_sym.verification.readings import answer
from stead_sym.verification.verify import verify

DESK = """
deployment desk
sort case, person
sort stage = { fresh_in, seen, done } rigid
relation At(case key, stage)
relation Called(case)
relation Noted(case)
relation Told(case)
relation Sees(person, case)
relation Bell()
bound case 1
init
  At(c1, fresh_in)
  At(c2, seen)
  Sees(ann, c1)
  Sees(bob, c2)
event ring(c: case)
  guard ~Called(_) & At(c, _)
  effect
    insert Called(c)
"""
HANG_UP = """tool hang_up(c: case)
  guard Called(c)
  effect
    delete Called(c)
"""
LEAVES = "AG forall c. (Called(c) -> AF ~Called(c))"
USED_UP = [
    ("a stage is left", "At(c, fresh_in)", "set At(c, seen)"),
    ("one of two stages is left", "(At(c, fresh_in) | At(c, seen))", "set At(c, done)"),
    ("a note is made once", "~Noted(c)", "insert Noted(c)"),
    ("nobody was noted", "~Noted(_)", "insert Noted(c)"),
    ("a tuple goes", "Sees(p, c)", "delete Sees(p, c)"),
    ("all of them go", "Sees(p, c)", "delete Sees(_, c)"),
    ("there is no other case", "Called(c) & exists d. (Called(d) & d != c)", "insert Bell()"),
]
GOES_ON = [
    ("no effect", "true", ""),
    ("no effect for the caller", "Called(c)", ""),
    ("a stage is set again", "At(c, seen)", "set At(c, seen)"),
    ("a stage that may be the same", "At(c, _)", "set At(c, seen)"),
    ("a note is made again", "true", "insert Noted(c)"),
    ("a tuple moves", "Sees(p, c)", "delete Sees(p, c)\n    insert Sees(p, d)"),
    ("a tuple goes and comes", "Sees(p, c)", "delete Sees(p, c)\n    insert Sees(p, c)"),
    ("one of two ways", "At(c, fresh_in)", "set At(c, seen)\n  effect\n    insert Bell()"),
    ("a note for some", "~Noted(c)", "insert Noted(c) when_seen"),
    ("another note", "~Noted(c)", "insert Told(c)"),
]


def desk_with(guard, effect, others=""):
    """A desk where a caller may be kept by a tool, until somebody hangs up."""
    params = ", ".join(["c: case"] + ["d: case"] * (" d)" in effect) + ["p: person"] * ("p, c" in guard))
    also = " & At(d, _)" * (" d)" in effect)
    effect = effect.replace("insert Noted(c) when_seen", "insert Noted(k) for k where k = c & At(k, seen)")
    tool = f"tool keep({params})\n  guard {guard} & At(c, _){also}\n" + f"  effect\n    {effect}\n" * bool(
        effect
    )
    return parse_deployment(f"{DESK}{HANG_UP}{tool}{others}spec leaves {LEAVES}\n")


def both(deployment, agent="any"):
    """Return if the specification is shown on few facts, and the verdict of the engine."""
    shown = Local.under(deployment, agent).shown(deployment.specs[0].formula)
    return isinstance(shown, Shown), verify(deployment, agent, findings=False).verdicts["leaves"].word


@pytest.mark.parametrize(("guard", "effect"), [case[1:] for case in USED_UP], ids=[c[0] for c in USED_UP])
def test_what_is_used_up_comes_to_an_end(guard, effect):
    assert both(desk_with(guard, effect)) == (True, "holds")


@pytest.mark.parametrize(("guard", "effect"), [case[1:] for case in GOES_ON], ids=[c[0] for c in GOES_ON])
def test_what_is_not_goes_on(guard, effect):
    assert both(desk_with(guard, effect)) == (False, "fails")


@pytest.mark.parametrize(
    ("others", "word"),
    [
        ("tool forget(c: case)\n  guard Noted(c)\n  effect\n    delete Noted(c)\n", "fails"),
        ("tool forget()\n  guard Noted(_)\n  effect\n    clear Noted\n", "fails"),
        ("tool forget(c: case)\n  guard Noted(c) & ~Called(c)\n  effect\n    delete Noted(c)\n", "fails"),
        ("tool forget(c: case)\n  guard Noted(c) & ~Called(_)\n  effect\n    delete Noted(c)\n", "holds"),
        ("tool forget(c: case)\n  guard Noted(c) & Bell()\n  effect\n    delete Noted(c)\n", "holds"),
        (
            "tool forget(c: case)\n  guard Noted(c) & ~Told(c)\n"
            "  effect\n    delete Noted(c)\n    insert Told(c)\n",
            "holds",
        ),
    ],
    ids=["deleted", "cleared", "of another", "not while somebody calls", "never", "once"],
)
def test_what_undoes_it(others, word):
    """A note may be made again if it is deleted, again and again, while somebody calls."""
    assert both(desk_with("~Noted(c)", "insert Noted(c)", others)) == (word == "holds", word)


@pytest.mark.parametrize(("used", "word"), [("insert Told(c)", "holds"), ("delete At(c, _)", "fails")])
def test_values_that_are_new_never_run_out(used, word):
    """A note on each case comes to an end if there is an end to new cases."""
    come = "event come()\n  guard ~Told(_)\n  effect\n    fresh c: case\n    insert At(c, done)\n"
    used = used.replace("delete At(c, _)", "insert Sees(ann, c)")
    go = "tool go(c: case)\n  guard Noted(c) & ~Called(c) & Sees(ann, c)\n  effect\n    clear_it\n"
    go = go.replace("clear_it", "delete At(c, _)\n    delete Noted(c)\n    delete Sees(_, c)")
    deployment = desk_with("~Noted(c)", "insert Noted(c)", f"{come}    {used}\n{go}")
    shown, found = both(deployment)
    assert shown == (word == "holds")
    assert found in (word, "unknown")  # a bound may be broken


def test_an_event_that_makes_ever_more():
    """It breaks the bound on cases, of which nothing is used here: the caller waits for ever."""
    come = "event come()\n  effect\n    fresh c: case\n    insert Noted(c)\n"
    assert not both(parse_deployment(f"{DESK}{HANG_UP}{come}spec leaves {LEAVES}\n"))[0]


def test_what_is_impossible_in_some_states_is_possible_in_others():
    """While a case calls, none is passed on to it; it is how a case comes to call that does not begin to."""
    begins = DESK.replace("~Called(_) & At(c, _)", "~Called(_) & At(c, fresh_in)")
    on = "tool tell(c: case)\n  guard Called(c) & ~Told(c)\n  effect\n    insert Told(c)\n"
    on += "tool pass_on(c: case, d: case)\n  guard Told(c) & At(d, _) & c != d\n"
    on += "  effect\n    delete Called(c)\n    delete Told(c)\n    insert Called(d)\n"
    leave = HANG_UP.replace("delete Called(c)", "delete Called(c)\n    delete Told(c)")
    keep = "tool keep(c: case)\n  guard Called(c) & At(c, seen)\n"
    assert both(parse_deployment(f"{begins}{leave}{on}{keep}spec leaves {LEAVES}\n")) == (False, "fails")


@pytest.mark.parametrize(("guard", "word"), [("Told(c)", "fails"), ("Told(c) & ~Called(c)", "holds")])
def test_what_is_impossible_for_others_is_not_for_the_caller(guard, word):
    """Only the caller is told something, so that nobody else keeps it from leaving."""
    leave = HANG_UP.replace("delete Called(c)", "delete Called(c)\n    delete Told(c)")
    tell = "tool tell(c: case)\n  guard Called(c) & ~Told(c)\n  effect\n    insert Told(c)\n"
    keep = f"tool keep(c: case)\n  guard {guard}\n"
    deployment = parse_deployment(f"{DESK}{leave}{tell}{keep}spec leaves {LEAVES}\n")
    assert both(deployment) == (word == "holds", word)


def test_a_run_that_ends_does_not_leave():
    """Without a further step somebody calls for good; that there is one is not taken for granted."""
    text = f"{DESK}{HANG_UP.replace('Called(c)', 'Called(c) & ~Bell()', 1)}spec leaves {LEAVES}\n"
    rings = "tool alarm()\n  guard Called(_) & ~Bell()\n  effect\n    insert Bell()\n"
    assert both(parse_deployment(text))[0]
    assert not both(parse_deployment(text + rings))[0]


POLICY = "policy rules\n  call keep(c)\n  call hang_up(c)\n"


def test_rules_that_always_match_a_call():
    """The agent makes a call as long as somebody calls, whichever of its rules applies."""
    deployment = desk_with("~Noted(c) & Called(c)", "insert Noted(c)", POLICY)
    assert both(deployment, "rules") == (True, "holds")


def test_a_call_without_a_successor_is_no_step():
    """A call is selected of which no alternative can be taken, so that nothing need happen any more."""
    guarded = "insert Noted(c)\n  effect when At(c, fresh_in)"
    text = str(desk_with("Called(c)", guarded, POLICY)).replace(
        "  effect\n    insert Noted", "  effect when Bell()\n    insert Noted"
    )
    deployment = parse_deployment(text)
    assert not both(deployment, "rules")[0]


SHOP = """
deployment shop
sort item, place
relation Order(item)
relation Way(place, place)
relation In(item, place)
relation Wants(place, place)
relation Road(place, place)
init
  In(i1, p1) In(i2, p2) Road(p1, p2) Road(p2, p1)
event order(i: item, p: place, q: place)
  guard ~Order(_) & In(i, p) & Road(p, q) & DIFFERENT
  effect
    insert Order(i)
    insert Wants(p, q)
tool move(i: item, p: place, q: place)
  guard Order(i) & Wants(p, q) & In(i, p)
  effect
    delete In(i, p)
    insert In(i, q)
tool close()
  guard Order(_)
  effect
    clear Order, Wants
spec leaves AG forall i. (Order(i) -> AF ~Order(i))
"""


@pytest.mark.parametrize(("different", "word"), [("p != q", "holds"), ("true", "fails")])
def test_the_values_that_were_wanted(different, word):
    """An item moves to the place that is wanted, where it stays: it needs names for both places."""
    text = SHOP.replace("DIFFERENT", different)
    if word == "fails":
        text = text.replace("Road(p2, p1)", "Road(p2, p1) Road(p1, p1)")
    deployment = parse_deployment(text)
    shown = Local.under(deployment, "any").shown(deployment.specs[0].formula)
    assert isinstance(shown, Shown) == (word == "holds")
    assert verify(deployment, "any", findings=False).verdicts["leaves"].word == word


@pytest.mark.parametrize(
    ("last", "word"),
    [
        ("", "holds"),
        ("  effect\n    delete Called(c)\n", "fails"),
        ("tool wait()\n  guard Called(_)\n", "fails"),
    ],
    ids=["comes", "is left", "is kept from coming"],
)
def test_until(last, word):
    """`A[f U g]` is kept to f until g, and comes to g."""
    note = f"tool note(c: case)\n  guard Called(c) & ~Noted(c)\n  effect\n    insert Noted(c)\n{last}"
    gone = "tool go(c: case)\n  guard Called(c) & Noted(c)\n"
    gone += "  effect\n    delete Called(c)\n    delete Noted(c)\n"
    spec = "spec leaves AG forall c. (Called(c) -> A[Called(c) U Noted(c)])\n"
    deployment = parse_deployment(f"{DESK}{note}{gone}{spec}")
    shown, found = both(deployment)
    assert (shown, found) == (word == "holds", word)


@pytest.mark.parametrize("initially", ["", "initially any Other where true\n"])
@pytest.mark.parametrize("spec", ["AF Done()", "AG AF Done()", "AG ~Done()", "AG (A() -> AX ~A())"])
def test_an_alternative_in_the_form_of_the_paper(spec, initially):
    """`ensure` may lead anywhere: back to where the event, which is fair, need not come."""
    deployment = parse_deployment(
        "deployment d\nsort x = { one }\nrelation A()\nrelation Done()\nrelation Other(x)\n"
        f"init\n  A()\n{initially}"
        "tool t()\n  guard A()\n  effect\n    ensure ~A'() & same(Done) & same(Other)\n"
        "tool u()\n  guard ~A()\n  effect\n    insert A()\n"
        f"event e()\n  guard A()\n  effect\n    insert Done()\nfair event e\nspec leaves {spec}\n"
    )
    shown, found = both(deployment)
    assert not shown or found == "holds"


def test_no_run_may_be_there_for_which_a_formula_asks():
    """Without a fair run `EG f` is not true, whatever f does for each value of a witness."""
    deployment = parse_deployment(
        "deployment d\nsort item\nrelation Item(item)\nrelation Held(item)\nrelation Never()\nrelation P()\n"
        "init\n  Item(i1)\nbound item 0\ntool t(i: item)\n  guard Item(i)\n  effect\n    insert Held(i)\n"
        "tool r(i: item)\n  guard Item(i)\n  effect\n    delete Held(i)\nfair Never()\nspec leaves EG ~P()\n"
    )
    assert both(deployment) == (False, "unknown")


@pytest.mark.parametrize("agent", ["any", "rules"])
def test_a_step_is_not_certain_that_chooses_a_value_by_a_new_one(agent):
    deployment = parse_deployment(
        "deployment d\nsort a\nsort m = { one, two }\nrelation P(a)\nrelation Q(a)\nrelation Done()\n"
        "bound a 1\n"
        "tool come()\n  effect\n    delete P(_)\n    fresh v: a\n    choose w: m where ~Q(v) | w = two\n"
        "    insert P(v)\npolicy rules\n  call come()\nspec leaves AF Done()\n"
    )
    assert both(deployment, agent) == (False, "fails")


@pytest.mark.gate
@pytest.mark.parametrize("seed", range(4))
def test_errands(seed):
    """Nothing is shown that the engine refutes."""
    try:
        deployment = parse_deployment(errand(seed))
    except (DeclarationError, DefinitionError):
        return
    for agent in ("any", "rules"):
        try:
            found = verify(deployment, agent, [], engine="explicit", findings=False, max_states=400).explored
        except (AgentError, NoInitialState, Undecided):
            continue
        local = Local.under(deployment, agent)
        for formula in map(deployment.formula, specifications(seed)) if found is not None else ():
            assert not isinstance(local.shown(formula), Shown) or answer(found, formula).holds, formula
