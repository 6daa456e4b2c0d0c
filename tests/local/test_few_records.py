"""Runs that are found on few records of the data and made again in the whole."""

import pytest
from runs import FAMILIES

from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.local.few_records import LAST, Effort
from stead_sym.analyses.local.field import Field
from stead_sym.analyses.local.model import few_records
from stead_sym.analyses.local.start import Start
from stead_sym.analyses.local.verify import localise
from stead_sym.deployment.language import parse_deployment
from stead_sym.evidence.replay import replay
from stead_sym.verification.verify import verify

DESK = """
deployment desk
sort order, person
relation Open(order)
relation Of(order key, person)
relation Busy(order)
relation Done(order)
relation Picked(person)
bound order 1
init
  Open(o1) Open(o2) Of(o1, ann) Of(o2, bob){more}
tool finish(o: order)
  guard Open(o) & {guard}
  effect
    insert Done(o)
tool report(p: person)
  guard exists o. Of(o, p) & ~exists o: order. (Done(o) & ~Open(o))
  effect
    fresh o: order
    insert Done(o)
    insert Of(o, p)
tool pick()
  effect
    choose p: person
    insert Picked(p)
tool rest()
policy careful
  call finish(o) when ~Busy(_)
spec kept   AG ~Done(o1)
spec closed AG forall o. (Done(o) -> Open(o))
spec picked AG ~Picked(bob)
spec ended  AG (Open(o1) -> AF Done(o1))
"""


def found(text, spec, records, effort=LAST, few=None, agent="any"):
    deployment = parse_deployment(text)
    field = Field(deployment, Start(deployment, {sort.name: () for sort in deployment.schema.sorts}))
    few = few_records(deployment, agent) if few is None else few
    [sentence] = (one.formula for one in deployment.specs if one.name == spec)
    run = few.run(sentence, False, {}, [{"order": records}], field, effort)
    return run and [str(step.call) for step in run.run.steps]


def test_a_run_of_one_record_is_one_of_all():
    assert found(DESK.format(more="", guard="true"), "kept", ["o1"]) == ["finish(o1)"]


def test_a_call_that_another_record_bars_is_no_run():
    """The part without it has the run."""
    text = DESK.format(more=" Busy(o2)", guard="~exists q: order. (Busy(q))")
    assert found(text, "kept", ["o1"]) is None
    assert found(text.replace(" Busy(o2)", ""), "kept", ["o1"]) == ["finish(o1)"]


def test_an_agent_that_is_at_a_loss_in_the_whole_makes_no_run():
    """No rule is for what it is offered there, which the part does not show."""
    text = DESK.format(more=" Busy(o2)", guard="true").replace("tool rest()\n", "")
    assert found(text, "kept", ["o1"], agent="careful") is None
    assert found(text.replace(" Busy(o2)", ""), "kept", ["o1"], agent="careful") == ["finish(o1)"]


def test_fresh_values_have_other_names_in_the_whole():
    """A fresh order of the part is called as the second one of the whole."""
    text = DESK.format(more="", guard="false").replace("o1", "order1").replace("o2", "order2")
    assert found(text, "closed", ["order1"]) == ["report(ann)"]


def test_a_choice_is_made_as_in_the_part():
    assert found(DESK.format(more="", guard="false"), "picked", ["o2"]) == ["pick()"]


def test_an_endless_run():
    assert found(DESK.format(more="", guard="true"), "ended", ["o1"])


def test_a_limit_says_nothing_and_more_effort_does():
    text = DESK.format(more="", guard="true")
    few = few_records(parse_deployment(text), "any")
    assert found(text, "kept", ["o1"], Effort(1, 0), few) is None
    assert found(text, "kept", ["o1"], Effort(1, 40), few) == ["finish(o1)"]


STUCK = """
deployment stuck
sort order, shelf
sort stage = {{ open, packed, sent }} rigid
relation Stage(order key, stage)
relation On(order, shelf)
relation Broken(shelf)
init
  Stage(o1, open) Stage(o2, open) On(o1, left) On(o2, right){more}
tool pack(o: order, s: shelf)
  guard Stage(o, open) & On(o, s) & ~Broken(s)
  effect
    set Stage(o, packed)
tool send(o: order)
  guard Stage(o, packed)
  effect
    set Stage(o, sent)
tool break(s: shelf)
  effect
    insert Broken(s)
{mend}tool rest()
spec can_send AG forall o. (Stage(o, open) -> EF Stage(o, sent))
"""
MEND = "tool mend(s: shelf)\n  guard ~On(o1, s)\n  effect\n    delete Broken(s)\n"


@pytest.mark.parametrize(
    ("more", "other"),
    [
        ("", ""),
        ("", MEND),
        (" On(o1, right)", MEND),
        ("", "tool mend(s: shelf)\n  effect\n    delete Broken(s)\n"),
        ("", "tool move(o: order, s: shelf)\n  effect\n    insert On(o, s)\n"),
    ],
)
def test_nothing_is_said_to_be_stuck_that_is_not(more, other):
    """In a part that does not have the other shelf an order is stuck where in the whole it need not be."""
    deployment = parse_deployment(STUCK.format(more=more, mend=other))
    few = few_records(deployment, "any")
    [spec] = deployment.specs
    field = Field(deployment, Start(deployment, {sort.name: () for sort in deployment.schema.sorts}))
    run = few.run(spec.formula, False, {}, [{"order": ["o1"]}, {"order": ["o2"]}], field, LAST)
    assert run is None or verify(deployment, "any").verdicts["can_send"].holds is False


TIDY = "tool tidy(s: shelf)\n  guard New(s) & Stage(_, sent)\n  effect\n    delete New(s)\n"


def test_what_another_record_changes_is_no_reason():
    """Drop from a trap that the shelf is new: it stays so in the part alone, where nothing is sent."""
    text = STUCK.replace("relation Broken(shelf)", "relation Broken(shelf)\nrelation New(shelf)")
    deployment = parse_deployment(text.format(more=" New(left) New(right)", mend=TIDY))
    assert localise(deployment, {"": "any"}).verdicts["can_send"].holds is False


@pytest.mark.parametrize(("family", "agent"), [("warehouse_gated", "any"), ("warehouse", "rules")])
def test_an_order_that_is_never_shipped(family, agent):
    """Show that what is held stays broken: nothing takes it away."""
    deployment = FAMILIES[family](20)
    verdict = localise(deployment, {"": agent}, ["can_ship"]).verdicts["can_ship"]
    assert verdict.holds is False
    assert verdict.scope


@pytest.mark.parametrize("spec", ["out_of_hands", "few_paged", "off_the_desk"])
def test_of_twenty_tickets(spec):
    """The search that is guided by few facts finds none of these runs."""
    deployment = FAMILIES["ticket_system_gated"](20)
    agents = dict.fromkeys((agent.name for agent in deployment.agents), "any")
    verdict = localise(deployment, agents, [spec]).verdicts[spec]
    assert verdict.holds is False
    assert replay(deployment, wrap_all(deployment, agents), verdict.evidence).confirmed
