"""The case studies: what holds and what fails of whom, behind which gate, and what the runs show."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import stead_sym as st

BOTH = ("for_the_owner", "read_first")
STUDIES = [
    # which, the agents, the gates, what holds, what fails
    ("transfers", "any prompt", (), "", "asked_first in_session"),
    ("transfers", "any prompt", ("by_session",), "asked_first in_session", "survives resets"),
    ("transfers", "any prompt", ("by_books",), "asked_first in_session approved capped", ""),
    ("mortgage", "any", (), "signed_or_refused", "assessed ends"),
    ("mortgage", "brisk", (), "", "assessed ends"),
    ("mortgage", "any", ("assessed_as_it_is",), "assessed signed_or_refused", "ends"),
    ("mortgage", "brisk", ("assessed_as_it_is",), "assessed", "ends"),
    ("flights", "any obliging", (), "", "charged kept"),
    ("flights", "any obliging", ("tariff",), "charged kept", "three"),
    ("repository", "any obedient", (), "", "owner_only after_reading"),
    ("repository", "any obedient", BOTH, "owner_only after_reading", "leak"),
    ("repository", "any obedient", ("no_flow",), "owner_only after_reading no_leak", ""),
    ("deployer", "any", (), "answers", "told"),
    ("deployer", "helpful", (), "", "told"),
    ("deployer", "any", ("not_sent",), "told answers", "log_leaks"),
    ("deployer", "helpful", ("not_sent",), "told", "log_leaks"),
    ("deployer", "any", ("not_logged",), "told no_log answers", ""),
    ("deployer", "helpful", ("not_logged",), "told no_log", ""),
    ("partial_refunds", "any", (), "", "never_more in_one"),
    ("partial_refunds", "generous", (), "", "never_more"),
    ("partial_refunds", "once_only", (), "never_more", ""),
    ("partial_refunds", "any", ("what_is_left",), "never_more", "in_one"),
    ("partial_refunds", "generous", ("what_is_left",), "never_more", ""),
]  # fmt: skip
CASES = [(name, agent, *rest) for name, agents, *rest in STUDIES for agent in agents.split()]
REPAIRED = {"by_books", "assessed_as_it_is", "tariff", "no_flow", "not_logged", "what_is_left"}


@cache
def text_of(name: str) -> str:
    return (Path(st.__file__).parent / "examples" / f"{name}.stead").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "agent", "gates", "hold", "fail"), CASES)
def test_the_verdicts(name: str, agent: str, gates: tuple[str, ...], hold: str, fail: str) -> None:
    """Behind the gate that repairs it whatever fails is expected to."""
    result = st.verify(st.load(name), agent, gates=gates, findings=False)
    expected = {**dict.fromkeys(hold.split(), True), **dict.fromkeys(fail.split(), False)}
    assert {spec: verdict.holds for spec, verdict in result.verdicts.items()} == expected
    if set(gates) & REPAIRED:
        failing = {spec.name for spec in result.deployment.specs if spec.expected == "fails"}
        assert set(fail.split()) <= failing


@pytest.mark.gate
@pytest.mark.parametrize(("name", "agent", "gates", "hold", "fail"), CASES)
def test_the_other_engine_says_the_same(
    name: str, agent: str, gates: tuple[str, ...], hold: str, fail: str
) -> None:
    """At the bounds of the files; of transfers, which are many in the literal domain, one at a time."""
    text = text_of(name)
    if name == "transfers":
        for old, new in (
            ("bound transfer 2", "bound transfer 1"),
            (") < 2\n", ") < 1\n"),
            (") = 2\n", ") = 1\n"),
        ):
            assert text.count(old) == 1
            text = text.replace(old, new)
    deployment = st.parse_deployment(text)
    ways = ({"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"})
    answers = [
        {
            spec: verdict.holds
            for spec, verdict in st.verify(
                deployment, agent, gates=gates, findings=False, **way
            ).verdicts.items()
        }
        for way in ways
    ]
    assert answers[0] == answers[1] == answers[2]
    assert set(answers[0]) == {*hold.split(), *fail.split()}
    if name != "transfers":
        assert {spec for spec, holds in answers[0].items() if holds} == set(hold.split())


@pytest.mark.parametrize(
    ("name", "agent", "gates", "spec", "calls"),
    [
        ("transfers", "any", ("by_session",), "survives", "log_in ask approve reject pay"),
        ("transfers", "any", ("by_session",), "resets", "log_in ask approve pay log_in ask approve pay"),
        ("mortgage", "brisk", (), "assessed", "apply assess offer renegotiate sign"),
        ("mortgage", "brisk", (), "ends", "apply assess offer think"),
        ("flights", "any", (), "charged", "sign_in book change_bags"),
        ("repository", "any", BOTH, "leak", "begin open_issue open_issue read read comment"),
        ("deployer", "helpful", ("not_sent",), "log_leaks", "create read deploy write send_log"),
        ("partial_refunds", "generous", (), "never_more", "pay refund refund"),
    ],
)
def test_the_runs_show_what_the_comments_say(
    name: str, agent: str, gates: tuple[str, ...], spec: str, calls: str
) -> None:
    trace = st.verify(st.load(name), agent, gates=gates, findings=False)[spec].trace
    assert trace is not None
    assert sorted(step.call.tool for step in trace.steps) == sorted(calls.split())


@pytest.mark.parametrize("name", sorted({name for name, *_ in STUDIES}))
def test_they_are_short_and_name_their_source(name: str) -> None:
    lines = text_of(name).splitlines()
    assert 30 <= len(lines) <= 90
    assert any(re.search(r"20\d\d|API reference", line) for line in lines[:4] if line.startswith("#"))
