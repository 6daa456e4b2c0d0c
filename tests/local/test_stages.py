"""Runs that are shown to exist in stages."""

import pytest

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local import stages
from stead_sym.analyses.local.model import Local, Shown
from stead_sym.analyses.local.stages import asked_for, before, leads, less
from stead_sym.analyses.local.values import name
from stead_sym.analyses.local.verify import localise
from stead_sym.deployment.language import parse_deployment
from stead_sym.logic.kernel import core
from stead_sym.verification.verify import verify

DESK = """
deployment desk
sort ticket, team, person
sort state = {{ waiting, solved }} rigid
relation State(ticket key, state)
relation InWork(ticket)
relation Answered(ticket)
relation Queue(ticket key, team)
relation OnCall(team key, person)
relation Paged(ticket, person)
relation Member(person, team)
init
  State(t1, waiting) State(t2, waiting) Queue(t1, g1) Queue(t2, g2)
  OnCall(g1, ann) OnCall(g2, bob) Member(ann, g1) Member(bob, g2) Member(eve, g2)
event pull(t: ticket)
  guard ~InWork(_) & State(t, waiting)
  effect
    insert InWork(t)
event shift(g: team, p: person)
  guard Member(p, g) & ~OnCall(g, p)
  effect
    set OnCall(g, p)
tool answer(t: ticket)
  guard InWork(t) & ~Answered(t)
  effect
    insert Answered(t)
tool page(t: ticket, p: person)
  guard InWork(t) & ~Paged(t, p) & (exists g. (Queue(t, g) & OnCall(g, p)))
  effect
    insert Paged(t, p)
tool solve(t: ticket)
  guard InWork(t) & Answered(t) & {paged}
  effect
    set State(t, solved)
    delete InWork(t)
tool rest()
spec can AG forall t. (State(t, waiting) -> EF State(t, solved))
"""


@pytest.mark.parametrize(
    ("paged", "word"),
    [("Paged(t, _)", "holds"), ("Paged(t, bob)", "fails")],
)
def test_another_ticket_has_to_be_solved_before(paged, word, monkeypatch):
    """Whoever is on call for that one has to be paged; one ticket at a time is in work."""
    deployment = parse_deployment(DESK.format(paged=paged))
    assert verify(deployment, "any", engine="explicit", findings=False).verdicts["can"].word == word
    assert localise(deployment, "any").verdicts["can"].word == word
    [spec] = deployment.specs
    assert isinstance(Local.under(deployment).shown(spec.formula), Shown) is (word == "holds")
    monkeypatch.setattr(stages, "asked_for", lambda _: None)
    assert not isinstance(Local.under(deployment).shown(spec.formula), Shown)


def test_a_stage_is_what_an_alternative_requires():
    deployment = parse_deployment(DESK.format(paged="Paged(t, _)"))
    ticket = name("ticket", 0)
    question = leads([fo.Atom("State", (fo.Const(ticket), fo.Const("waiting")))], [fo.TRUE])
    assert asked_for(question) == ([fo.Atom("State", (fo.Const(ticket), fo.Const("waiting")))], core(fo.TRUE))
    assert asked_for(fo.Globally("A", fo.TRUE)) is None
    solved = fo.Atom("State", (fo.Const(ticket), fo.Const("solved")))
    [needed] = before(solved, deployment.tools_and_events, deployment.schema)
    shown = [str(part).replace(ticket, "t") for part in needed]
    assert shown[:2] == ["InWork(t)", "Answered(t)"]
    assert "Paged(t, " in shown[2]
    atom = fo.Atom("InWork", (fo.Const(ticket),))
    [pulled] = before(atom, deployment.tools_and_events, deployment.schema)
    assert [str(part).replace(ticket, "t") for part in less(pulled)] == ["~InWork(_)", "State(t, waiting)"]
