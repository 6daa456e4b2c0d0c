"""Every operator in every layer, on a clock: no state has a step to itself. So an operator that took a step
between layers for one of the deployment, or looked at nodes of another layer, would find what is not there.
"""

from __future__ import annotations

import pytest
from peers import assert_agree, nusmv, ours, storm

import stead_sym as st

CLOCK = """
deployment clock
sort job
relation Job(job)
relation Done(job)
relation Old(job)
relation Even()
bound job 2
init
  Even()
  Old(c)
tool create()
  guard Even() & atmost 1 j: job. Job(j) | Done(j)
  effect
    clear Even
    fresh j: job
    insert Job(j)
tool create_two()
  guard Even() & ~exists j: job. Job(j) | Done(j)
  effect
    clear Even
    fresh j: job
    fresh k: job
    insert Job(j)
    insert Job(k)
tool finish(j: job)
  guard Even() & Job(j)
  effect
    clear Even
    delete Job(j)
    insert Done(j)
tool forget()
  guard Even() & exists j: job. Done(j)
  effect
    clear Even, Done
tool retire()
  guard Even() & Old(c)
  effect clear Even, Old
tool restore()
  guard Even() & ~Old(c)
  effect
    clear Even
    insert Old(c)
tool tock()
  guard ~Even()
  effect insert Even()
"""
LAYERED = "EF exists h, i, j, k: job. EX (Job(h) & Job(i) & Job(j) & Job(k))"
"""The sentences stand beside this one, so that there is a layer above each of theirs."""
SENTENCES = (
    "AG (Even() -> AX ~Even())",
    "EF (Even() & EX Even())",
    "EF (~Even() & ~EX ~Even() & AX AX Even())",
    "EF (Even() & AX Even())",
    "AG (Even() -> ~EF (Even() & ~EX ~Even()))",
    "E[Even() U exists j: job. Job(j)]",
    "EG (Even() | EX (Even() & EX ~Even()))",
    "EG ~EX (Even() & EX Even())",
    "EF EG (Even() | AX (Even() & exists j: job. Job(j)))",
    "EF EG AX AX Even()",
    "EF exists j: job. EG AX (AX Even() & (Job(j) | ~Job(j)))",
    "AG AF ~(AX AX Even())",
    "AF exists j: job. AX Job(j)",
    "AG forall j: job. Even() -> ~EX (Even() & Job(j))",
    "AG forall j: job. ~EX (Even() & EX (Even() & ~Job(j)))",
    "AG forall j: job. Job(j) -> E[Job(j) U Done(j)]",
    "AG forall j: job. Job(j) -> A[Job(j) U Done(j)]",
    "AG forall j: job. Job(j) -> A[Job(j) W Done(j)]",
    "AG forall j: job. Job(j) -> A[Job(j) W Done(j) & AX Done(j)]",
    "AG forall j: job. Done(j) -> A[Done(j) W Job(j)]",
    "A[Even() W exists j: job. Done(j)]",
    "AG forall j: job. Done(j) -> EF (~Done(j) & EX Job(j))",
    "AG forall j: job. Done(j) -> AG ~Job(j)",
    "AG forall j: job. Job(j) -> EG Job(j)",
    "AG forall j: job. Job(j) -> EG (Job(j) & ~AX (Even() & AX Even()))",
    "EF exists j: job. EG (Job(j) & EF Done(j))",
    "EF exists j: job. EF AX (~Job(j) & ~Done(j))",
    "EF exists j: job. Job(j) & E[~(AX Done(j)) U Done(j)]",
    "AG forall j, k: job. j != k & Job(j) & Job(k) -> ~EF (Done(j) & Done(k) & ~(exists i: job. EX Done(i)))",
    "EF exists j, k: job. j != k & EF (~Job(j) & ~Done(j) & EF (Job(j) & ~Job(k) & ~Done(k)))",
    "AG forall j, k: job. AG (j = k | AX (Job(j) | ~Job(j)))",
    "EF exists j, k: job. Job(k) & EX (~Even() & EX (Even() & j != k))",
    "AG forall j, k: job. j != k -> AG j != k",
    "AG forall j: job. AG (Job(j) | Done(j) | Old(j) | ~EX Done(j))",
    "AG forall j: job. Old(j) -> AG EF Old(j)",
    "AG forall j: job. AG (j = c -> ~EF Job(j))",
    "AG atmost 1 j: job. EX Done(j)",
    "EF atleast 2 j: job. AX (Job(j) | Done(j))",
    "EF atleast 3 j: job. AX (Job(j) | Done(j))",
    "EF exactly 2 j: job. EX (Even() & EX Done(j))",
    "EF atleast 1 j: job. exists k: job. j != k & AX AX (Done(j) | Done(k))",
    "AG exists j: job. forall k: job. AX (Job(k) <-> Job(j))",
    "EF (exists j: job. AX Job(j)) & AG exists j: job. j = j | ~EX Job(j)",
)


@pytest.mark.parametrize("peer", [nusmv, storm])
@pytest.mark.parametrize("domain", ["theorem", "normal"])
def test_every_operator_in_every_layer(domain, peer, tmp_path):
    clock = st.parse_deployment(CLOCK)
    asked = SENTENCES if domain == "theorem" else [LAYERED, *SENTENCES]
    result = st.verify(clock, "any", asked, domain=domain, findings=False)
    export = st.exported(result)
    assert len(export.layers) == (1 if domain == "theorem" else 5)
    assert_agree(peer(export, tmp_path), result, export)


def test_no_step_leads_back_to_its_state():
    result = st.verify(st.parse_deployment(CLOCK), "any", [], findings=False)
    steps = st.exported(result).graph.steps
    assert len(steps) > 10
    assert all(i not in out for i, out in enumerate(steps))


def test_both_verdicts_are_there():
    clock = st.parse_deployment(CLOCK)
    answers = ours(st.verify(clock, "any", SENTENCES, findings=False)).answers.values()
    assert min(sum(answers), len(answers) - sum(answers)) > 8


DOOR = """deployment door
sort guest
relation In(guest)
bound guest 1
event come()
  guard ~In(_)
  effect
    fresh g: guest
    insert In(g)
tool leave(g: guest)
  guard In(g)
  effect delete In(g)
spec left AG forall g. (In(g) -> AF did leave(g))
spec back AG forall g. (In(g) -> ~once did leave(g))
spec gone AG forall g. (In(g) -> EF (~In(g) & EX In(g)))
"""


def test_what_is_kept_of_steps_makes_no_value_active():
    result = st.verify(st.parse_deployment(DOOR), "any", findings=False)
    text = st.to_smv(st.exported(result))
    assert "  active_guest_guest1 := fact_In_guest1; --" in text
    assert "fact_did_leave__1___guest1" in text


@pytest.mark.parametrize("peer", [nusmv, storm])
def test_steps_of_values_that_die(peer, tmp_path):
    result = st.verify(st.parse_deployment(DOOR), "any", findings=False)
    export = st.exported(result)
    assert_agree(peer(export, tmp_path), result, export)
