"""The statements of `explain` about the plan are true of the engine, and of every reachable state."""

import json
from itertools import groupby
from typing import Any

import pytest

import stead_sym as st
from described import assert_described
from stead_sym.cli.main import main

DESKS = """
deployment desks
sort case
sort desk = { d1, d2 }
sort mood = { calm, cross } rigid
relation Open(case)
relation At(case, desk)
relation Mood(desk, mood)
relation Focus(case)
relation Never(case)
init
  Mood(d1, calm)
  Mood(d2, cross)
bound case 2
tool take()
  guard ~exists c. Focus(c)
  effect
    choose d: desk where ~exists c. At(c, d)
    fresh c: case
    insert Open(c)
    insert At(c, d)
    insert Focus(c)
  effect
tool close(c: case)
  guard Focus(c)
  effect
    delete Open(c)
    delete At(c, d) for d
    clear Focus
tool wait()
spec held
  AG forall c. Open(c) -> exists d. At(c, d)
policy patient
  call wait()
"""

DEPLOYMENTS = {
    "refund": st.load("refund"),
    "airline": st.load("airline"),
    "desks": st.parse_deployment(DESKS),
}
DOMAINS = ("normal", "theorem")


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_sizes_are_those_of_the_engine(name: str, domain: Any) -> None:
    deployment = DEPLOYMENTS[name]
    explanation, result = st.explain(deployment, domain=domain), st.verify(deployment, domain=domain)
    assert explanation.mode == result.mode == domain
    assert explanation.restriction.sizes == result.domain
    assert explanation.bits == result.engine.statistics["bits"]
    assert explanation.actions == result.engine.statistics["actions"]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_every_reachable_state_is_as_explained(name: str, domain: Any) -> None:
    deployment = DEPLOYMENTS[name]
    explanation, result = st.explain(deployment, domain=domain), st.verify(deployment, domain=domain)
    states = result.satisfying("true").sample(result.states)
    assert len(states) == result.states
    for relation in explanation.relations:
        tuples = [state.tuples(relation.name) for state in states]
        always = frozenset.intersection(*map(frozenset, tuples))
        ever = frozenset().union(*tuples)
        assert relation.static <= len(always)
        assert len(ever) <= relation.static + relation.possible
        assert relation.fields <= relation.bits or not relation.possible
        if relation.single:
            assert all(len(held) <= 1 for held in tuples)
        if relation.key is not None:
            for held in tuples:
                keys = sorted(tuple(row[k] for k in relation.key) for row in held)
                assert all(len(list(same)) == 1 for _, same in groupby(keys))


def test_what_is_said_of_a_small_deployment() -> None:
    explanation = st.explain(DEPLOYMENTS["desks"])
    relations = {relation.name: relation for relation in explanation.relations}
    assert (relations["Mood"].static, relations["Mood"].possible, relations["Mood"].bits) == (2, 0, 0)
    assert relations["Never"].possible == relations["Never"].static == 0
    assert relations["Focus"].single
    assert not relations["Open"].single
    [fresh] = explanation.fresh
    assert (fresh.tool, fresh.alternative, fresh.variable, fresh.sort) == ("take", 0, "c", "case")
    assert fresh.anchor == "d"
    assert dict(fresh.names).keys() == {"d1", "d2"}
    assert len(set(fresh.names.values())) == 2
    [literal] = st.explain(DEPLOYMENTS["desks"], domain="theorem").fresh
    assert literal.anchor is None
    tools = {tool.name: tool for tool in explanation.tools}
    assert tools["take"].alternatives == 2
    assert tools["close"].alternatives == 1


def test_functional_relations_name_their_key() -> None:
    keys = {r.name: r.key for r in st.explain(DEPLOYMENTS["refund"], domain="theorem").relations}
    assert keys["CaseStatus"] == keys["Handler"] == keys["PartOf"] == (0,)
    assert keys["RefundIssued"] is keys["Approved"] is None


def test_the_literal_domain_follows_the_specifications() -> None:
    desk = DEPLOYMENTS["refund"]
    assert st.explain(desk, ["prog"], domain="theorem").restriction.sizes["task"] == 2
    assert st.explain(desk, domain="theorem").restriction.sizes["task"] == 3
    assert st.explain(desk, domain={"task": 5}).restriction.sizes["task"] == 5
    with pytest.raises(st.errors.RestrictionError):
        st.explain(desk, domain={"task": 1})


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_command_says_it_in_tables_and_as_json(domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "refund", "--policy", "baseline", "--domain", domain]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert_described(report)
    explanation = st.explain(DEPLOYMENTS["refund"], domain="normal" if domain == "normal" else "theorem")
    assert f"facts, in {explanation.bits} bits" in text
    assert f"transitions, by {explanation.actions} actions" in text
    assert "baseline never calls obtain_approval" in text
    assert str(explanation.restriction.derivation["case"]) in text
    for tool in explanation.tools:
        assert f"{tool.name} {tool.alternatives} {tool.actions}" in text
        assert report["tools"][tool.name]["actions"] == tool.actions
        assert report["tools"][tool.name]["called"] == (tool.name != "obtain_approval")
    for relation in explanation.relations:
        assert f"{relation.possible} {relation.static} {relation.bits}" in text
        assert report["relations"][relation.name]["bits"] == relation.bits
    for fresh in explanation.fresh:
        assert all(f"{name} for {anchor}" in text for anchor, name in fresh.names.items())
    assert (report["mode"], report["bits"]) == (domain, explanation.bits)
    assert report["domain"] == dict(explanation.restriction.sizes)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["refund", "--policy", "bold"], "unknown policy bold"),
        (["refund", "--agent", "hf:model"], "write any"),
        (["refund", "--domain", "case=1"], "theorem"),
        (["refund", "--spec", "safe"], "unknown spec safe"),
        (["refunds"], "packaged example"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_what_states_remember_is_explained_beside_the_relations() -> None:
    """`once` in a guard and in a specification, and what one that is not asked remembers."""
    text = f"{DESKS}tool ask() guard once did wait()\nspec seen AG previously Focus(_)\n"
    deployment = st.parse_deployment(text)
    kept = {relation.name for relation in deployment.schema.relations}

    def remembered(*specs: str) -> set[str]:
        explanation = st.explain(deployment, specs)
        assert explanation.bits == sum(relation.bits for relation in explanation.relations)
        return {relation.name for relation in explanation.relations} - kept

    assert remembered("held") == {"did wait()", "once did wait()"}
    assert remembered("seen") - remembered("held") == {"previously Focus(_)"}
