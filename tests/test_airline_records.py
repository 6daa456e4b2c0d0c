"""The airline's records as an example: those of the paper, a view of its own, and one set of names in the
state and in the calls, whoever names them."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as strategies

import stead_sym as st
from generated.strategies import renamings
from shared_folder import shared_folder
from stead_sym.agents.prompts.paper import listings
from stead_sym.agents.wrapper import CanonicalWrapper

records = st.load("airline_records")
START = st.DecisionContext(st.view(records, records.init), st.offer(records, records.init))
KNOWN = re.compile(r'"(USERNAME|RESERVATION|FLIGHT)_\d+"')


def sections(context: st.DecisionContext) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The state and the calls as the user message has them."""
    [_, message] = st.Prompt.of(records).messages(context)
    state = re.search(r"^\{\n.*?^\}$", message.content, re.MULTILINE | re.DOTALL)
    assert state is not None
    calls = re.findall(r'^\{"name".*\}$', message.content, re.MULTILINE)
    return json.loads(state[0]), list(map(json.loads, calls))


def names(data: object) -> set[str]:
    """The identifiers of accounts, reservations and flights in a piece of JSON."""
    return {match[0].strip('"') for match in KNOWN.finditer(json.dumps(data))}


def test_the_records_are_those_of_the_paper() -> None:
    prompt = listings(shared_folder() / "paper.tex")["User-message template"]
    block = re.search(r"^Relational records.*?:\n(\{\n.*?^\})$", prompt, re.MULTILINE | re.DOTALL)
    assert block is not None
    paper = json.loads(block[1].replace("[USERNAME]", "amelia_davis_8890"))
    shown = {
        relation.name: sorted(
            tuple(records.schema.text_of.get(value, value) for value in fact.args)
            for fact in records.init
            if fact.relation == relation.name
        )
        for relation in records.schema.relations
    }
    assert shown["User"] == sorted(
        (u["username"], u["name"]["first_name"], u["name"]["last_name"]) for u in paper["users"]
    )
    assert shown["Reservation"] == sorted(
        (r["reservation_id"], r["username"], r["cabin"], r["created_at"], r["insurance"])
        for r in paper["reservations"]
    )
    assert shown["Leg"] == sorted(
        (f["reservation_id"], str(f["sequence_index"]), f["flight_number"], f["date"])
        for f in paper["reservation_flights"]
    )
    assert shown["Flight"] == sorted(
        (f["flight_number"], f["date"], f["status"]) for f in paper["flight_instances"]
    )
    order = paper["users"][0]["reservation_ids"]
    assert shown["Before"] == sorted((r, s) for i, r in enumerate(order) for s in order[i + 1 :])
    assert "2024-05-15 15:00:00" in prompt
    assert shown["Now"] == [("2024-05-15T15:00:00",)]


def test_the_agent_is_shown_the_records_and_not_the_order_of_calls() -> None:
    state, _ = sections(START)
    assert list(state) == ["Now", "User", "Reservation", "Leg", "Flight", "Cancelled", "Closed"]
    assert state["User"] == [["amelia_davis_8890", {"first_name": "Amelia"}, {"last_name": "Davis"}]]


@given(strategies.data())
def test_the_wrapped_calls_and_the_state_speak_of_the_same_names(data: strategies.DataObject) -> None:
    renaming = data.draw(renamings(records.init, records.schema.rigid))
    live = st.DecisionContext(
        START.view.rename(renaming), frozenset(call.rename(renaming) for call in START.calls)
    )
    wrapper = CanonicalWrapper(st.agents.Everything(), records.schema, records.tools)
    [decision] = wrapper.decide([live])
    state, calls = sections(decision.canonical)
    assert len(calls) == 7
    assert len(names(state)) == 12
    assert {n for n in names(calls) if n.startswith("RESERVATION")} == names(calls) <= names(state)
    assert "r_fbfc2b_9a51" not in json.dumps([state, calls])
    [same] = CanonicalWrapper(st.agents.Everything(), records.schema, records.tools).decide([START])
    assert decision.canonical == same.canonical


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_verdicts(engine: str) -> None:
    for policy, permitted in (("careful", True), ("hasty", False)):
        result = st.verify(records, policy, engine=engine)
        assert {name: verdict.holds for name, verdict in result.verdicts.items()} == {
            "permitted": permitted,
            "served": True,
        }
        assert (result.states, result.queries) == (2, 2)


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [
        ("may_09_11h34, no", "may_14_15h00, no", True),  # booked a day ago, to the second
        ("Flight(f_01072f_56ef, may_28, available)", "Flight(f_01072f_56ef, may_28, cancelled)", True),
        ("basic_economy, may_09_11h34, no", "basic_economy, may_09_11h34, yes", True),
        ("basic_economy, may_09_11h34, no", "economy, may_09_11h34, no", False),
    ],
)
def test_each_reason_counts(old: str, new: str, may: bool) -> None:
    text = str(records)
    assert text.count(old) == 1
    changed = st.parse_deployment(text.replace(old, new))
    [verdict] = st.verify(changed, "hasty", ["permitted"]).verdicts.values()
    assert verdict.holds == may


def test_a_flight_that_was_flown_forbids_it() -> None:
    text = str(records).replace(
        "Flight(f_bce7d2_6e7d, may_23, available)", "Flight(f_bce7d2_6e7d, may_23, flown)"
    )
    question = "EF (Cancelled(r_46bfa7_9a14) & ~may_cancel(r_46bfa7_9a14))"
    for deployment, holds in ((st.parse_deployment(text), True), (records, False)):
        [verdict] = st.verify(deployment, "any", [question]).verdicts.values()
        assert verdict.holds == holds
