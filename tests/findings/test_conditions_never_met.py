"""Lines that never match say which part of their condition is never true, or that there is no such call."""

from __future__ import annotations

import pytest

import stead_sym as st

PARTS = """
deployment parts
sort input = { read, push } rigid
relation Ready()
relation Done()
relation Odd()
tool run(i: input)
  guard i = read | Ready()
  effect
    clear Done
    insert Done() where i = push
tool wait()
  effect insert Ready() where ~Done()
tool stop()
  guard Odd() & ~Odd()
gate g
  permit run(_)
  permit wait()
  LINE
policy p
  call LINE
  call wait() when ~Ready()
  call run(push) when ~Done()
  call run(read)
spec s AG true
"""

NEVER = {
    "run(push) when Ready() & Odd()": "`Odd()` is true of none",
    "run(push) when ~Ready() & Odd()": "`~Ready()` and `Odd()` are true of none",
    "run(read) when Ready() & ~Ready()": "the parts of its condition are never true all at once",
    "stop() when Ready()": "no such call is {}",
}


def texts(text, agent, gates):
    found = st.verify(st.parse_deployment(text), agent, gates=gates, engine="explicit").findings
    assert found == st.verify(st.parse_deployment(text), agent, gates=gates).findings
    return [finding.text for finding in found if finding.kind == "rule never matches"]


@pytest.mark.parametrize(("line", "why"), NEVER.items())
def test_a_line_of_a_policy_says_what_is_never_true(line, why):
    text = PARTS.replace("  LINE\n", "  permit stop()\n", 1).replace("LINE", line)
    [told] = texts(text, "p", ())
    assert told.endswith(f"that the agent is shown: {why.format('offered')}")


@pytest.mark.parametrize(("line", "why"), NEVER.items())
def test_a_line_of_a_gate_says_what_is_never_true(line, why):
    text = PARTS.replace("LINE", f"forbid {line}", 1).replace("  call LINE\n", "")
    [told] = texts(text, "any", ["g"])
    assert told.endswith(f"in a reachable state: {why.format('enabled')}")


def test_a_line_of_a_policy_that_a_gate_stops_is_no_finding():
    text = PARTS.replace("LINE", "forbid run(push) when ~Done()", 1).replace("LINE", "run(push) when ~Done()")
    assert texts(text, "p", ["g"]) == []


def test_the_only_permit_of_a_gate_is_no_finding():
    """Without it the gate would allow tools that no line names."""
    one = "deployment d\ntool a()\ntool b()\ngate g\n  permit a()\n  permit b()\n"
    verified = st.verify(
        st.parse_deployment(one.replace("tool b()\n", "").replace("  permit b()\n", "")), gates=["g"]
    )
    assert verified.findings == ()


READERS = {
    "gate g\n  permit a()\n  forbid a() when Never()": "`forbid a(…)` of gate g",
    "policy p\n  call a() when ~Never()": "`call a(…)` of policy p",
    "fair ~Never()": "`fair ~Never()`",
    "terminal when Never()": "`terminal when …`",
    "spec s AG ~Never()": "s",
    "define never() = Never()\ngate g\n  forbid a() when never()": "`forbid a(…)` of gate g",
}


@pytest.mark.parametrize(("line", "reader"), READERS.items())
def test_who_reads_a_relation_that_nothing_fills_is_named(line, reader):
    text = f"deployment d\nrelation Never()\ntool a()\n{line}\n"
    [found] = [f for f in st.lint(st.parse_deployment(text)) if f.kind == "never filled"]
    assert found.text.startswith(f"{reader} reads Never, which is empty")
    filled = text.replace("tool a()\n", "tool a()\n  effect insert Never()\n", 1)
    assert "never filled" not in {f.kind for f in st.lint(st.parse_deployment(filled))}
