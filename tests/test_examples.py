"""The packaged examples in version 2 of the language: their verdicts, and at small sizes their counts.

The counts of the literal restrictions are worked out by hand in the descriptions.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stead_sym as st
from pinned import DOMAINS, explored

EXAMPLES = Path(st.__file__).parent / "examples"
BEFORE = Path(__file__).parent / "examples" / "bank_version1.stead"


def text_of(name: str) -> str:
    return (EXAMPLES / f"{name}.stead").read_text(encoding="utf-8")


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def all_verdicts(result: st.Verification) -> dict[str, bool | None]:
    return {name: verdict.holds for name, verdict in result.verdicts.items()}


# The ward

WARD = ("ward", "ward_repaired")
HOLD = {"one_patient_per_bed": True, "confirmed": True, "answered": True}
FAIL = {"isolated": False, "cleaned_in_between": False}


def small_ward(name: str) -> str:
    """The ward with one bed at most, and one patient."""
    return replaced(
        text_of(name),
        ("bound bed 4", "bound bed 1"),
        ("bound patient 2", "bound patient 1"),
        ("atmost 1 p. LiesIn", "atmost 0 p. LiesIn"),
    )


def test_two_specifications_of_the_ward_fail_and_hold_in_the_repaired_one() -> None:
    assert all_verdicts(st.verify(st.load("ward"), "careful")) == {**HOLD, **FAIL}
    assert set(all_verdicts(st.verify(st.load("ward_repaired"), "careful")).values()) == {True}


def test_the_repair_is_two_lines() -> None:
    """Without the lines that say they are new, and under its name, the repaired ward is the ward."""
    lines = text_of("ward_repaired").splitlines()
    kept = [line for line in lines if "# new:" not in line]
    assert len(lines) == len(kept) + 2
    before = replaced("\n".join(kept), ("deployment ward_repaired", "deployment ward"))
    assert st.parse_deployment(before) == st.load("ward")


@pytest.mark.parametrize("kept", ["view Isolate", "delete Clean"])
def test_each_line_of_the_repair_mends_one_specification(kept: str) -> None:
    lines = text_of("ward_repaired").splitlines()
    half = "\n".join(line for line in lines if "# new:" not in line or kept in line)
    found = all_verdicts(st.verify(st.parse_deployment(half), "careful"))
    assert found == {**HOLD, "isolated": kept == "view Isolate", "cleaned_in_between": kept == "delete Clean"}


def test_what_the_comments_of_the_ward_say_is_what_the_runs_show() -> None:
    """A patient with the flag is assigned a shared bed by the bed agent; a patient is discharged and the bed
    that was theirs stays clean. Each run starts with beds of its own, since the ward has none by itself."""
    result = st.verify(st.load("ward"), "careful")
    isolated, cleaned = result["isolated"].trace, result["cleaned_in_between"].trace
    assert isolated is not None
    assert cleaned is not None
    assert (isolated.steps[-1].call.tool, isolated.steps[-1].actor) == ("assign", "bed_agent")
    [(patient, bed)] = isolated.last.tuples("LiesIn")
    assert (patient,) in isolated.last.tuples("Isolate")
    assert (bed, "shared") in isolated.start.tuples("Bed")
    assert (cleaned.steps[-1].call.tool, cleaned.steps[-1].actor) == ("discharge", "discharge_agent")
    [(_, bed)] = cleaned.states[-2].tuples("LiesIn")
    assert (bed,) in cleaned.last.tuples("Clean")
    assert not cleaned.last.tuples("LiesIn")


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize("name", WARD)
@pytest.mark.parametrize(
    ("agent", "states", "transitions"),
    [
        # Three values of bed, four of patient. There is no bed: nobody is there, or one of 4 patients waits,
        # flagged or not: 1 + 8 states; 8 arrivals and 8 referrals. A bed (3 · 2) that is not clean: the same
        # states, and each of them with its confirmation: 9 states, 8 + 8 + 9 transitions. A clean bed: also
        # 4 · 2 · 2 states of a patient in it: 25 states, 8 arrivals, 8 referrals, 8 assignments, 8
        # confirmations, 8 discharges.
        ("any", 9 + 6 * (9 + 25), 16 + 6 * (25 + 40)),
        # Half of the clean beds' patients never lie in them. In the ward those in the 3 single beds, in the
        # repaired one those whose flag and bed do not go together: 3 · (25 + 9) and 6 · 17 states are as
        # many. Each waiting patient is assigned or referred, not both.
        ("careful", 9 + 6 * 9 + 6 * 17, 16 + 6 * 25 + 6 * (8 + 8 + 8)),
    ],
)
def test_a_ward_of_one_bed(engine: str, name: str, agent: str, states: int, transitions: int) -> None:
    """From 1 + 3 · 2 · 2 initial states: no bed, or one in a single or shared room, clean or not."""
    result = explored(engine, small_ward(name), agent)
    assert (result.initial, result.states, result.transitions) == (13, states, transitions)
    expected = {**HOLD, **FAIL}
    if name == "ward_repaired":
        expected |= {"isolated": agent == "careful", "cleaned_in_between": True}
    for domain in DOMAINS[engine]:
        assert all_verdicts(explored(engine, small_ward(name), agent, domain)) == expected


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_what_the_agents_of_a_ward_of_one_bed_are_asked(engine: str) -> None:
    """The bed agent is asked where somebody waits: no bed is free, or a single or a shared one; in the
    repaired ward each of these with and without the flag. The discharge agent is asked where the patient is
    fit."""
    for name, asked in zip(WARD, (3, 6), strict=True):
        for domain in DOMAINS[engine]:
            result = explored(engine, small_ward(name), "careful", domain)
            assert {agent: run.contexts for agent, run in result.agents.items()} == {
                "bed_agent": asked,
                "discharge_agent": 1,
            }


# The bank


@pytest.mark.parametrize("agent", ["fast", "any"])
def test_the_bank_has_the_verdicts_that_it_had_before(agent: str) -> None:
    expected = {"four_eyes": agent == "fast", "eventually_paid": agent == "fast"}
    assert all_verdicts(st.verify(st.load(BEFORE), agent)) == expected
    assert all_verdicts(st.verify(st.load("bank"), agent)) == expected


def test_the_bank_is_shorter_than_before() -> None:
    def lines(text: str) -> int:
        return sum(not re.fullmatch(r"\s*(#.*)?", line) for line in text.splitlines())

    assert lines(text_of("bank")) < lines(BEFORE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize(
    ("agent", "states"),
    [
        # A transfer of 3 between two of 4 accounts, requested by one of 3 employees. Small ones are requested
        # or paid. Those of the two other amounts have no approval, or one of the 2, 1 and 1 officers other
        # than the three requesters, and are requested or paid.
        ("any", 1 + 3 * 12 * (3 * 2 + 2 * (3 + 2 + 2) * 2)),
        # Of these the ones that are paid without an approval are not reached.
        ("fast", 1 + 3 * 12 * (3 * 2 + 2 * ((3 + 2 + 2) + (2 + 1 + 1)))),
    ],
)
def test_a_bank_with_one_transfer_at_a_time(engine: str, agent: str, states: int) -> None:
    small = replaced(
        text_of("bank"),
        ("bound transfer 2", "bound transfer 1"),
        ("bound account 4", "bound account 2"),
        ("atmost 1 t. State", "atmost 0 t. State"),
    )
    assert explored(engine, small, agent).states == states
    expected = {"four_eyes": agent == "fast", "eventually_paid": agent == "fast"}
    for domain in DOMAINS[engine]:
        assert all_verdicts(explored(engine, small, agent, domain)) == expected


def test_without_fairness_nobody_has_to_look_at_a_transfer() -> None:
    unfair = re.sub(r"^fair .*\n", "", text_of("bank"), flags=re.MULTILINE)
    assert all_verdicts(st.verify(st.parse_deployment(unfair), "fast")) == {
        "four_eyes": True,
        "eventually_paid": False,
    }
