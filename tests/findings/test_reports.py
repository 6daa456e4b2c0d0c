"""Findings where they are read: on a terminal, as JSON, in `show`, in Python, and in the exit status."""

from __future__ import annotations

import json
import re

import pytest

import stead_sym as st
from described import assert_described
from finding_traps import BASE, POLICY
from stead_sym.cli.main import main
from stead_sym.report.page import report_html

EMPTY = BASE + "spec s AG forall o. (State(o, lost) -> AF State(o, paid))\n"
SOUND = BASE + "spec s AG forall o. (State(o, open) -> AF State(o, paid))\n" + POLICY


@pytest.fixture
def run(tmp_path, capsys):
    def running(text, *words, command="verify"):
        path = tmp_path / "f.stead"
        path.write_text(text, encoding="utf-8")
        status = main([command, str(path), *words])
        return (status, *capsys.readouterr())

    return running


def test_the_report_says_it_and_passes(run):
    status, out, _ = run(EMPTY)
    assert status == 0
    assert "findings\n  premise never true" in out
    assert out.index("holds, of nothing") < out.index("findings")


def test_strict_fails_after_the_verdicts(run):
    status, out, _ = run(EMPTY, "--strict")
    assert status == 1
    assert "holds, of nothing" in out
    assert run(SOUND, "--strict", "--policy", "p")[0] == 0


def test_strict_says_why_where_the_report_is_short(run):
    status, out, err = run(EMPTY, "--strict", "--quiet")
    assert (status, out) == (1, "s holds, of nothing\n")
    assert "finding: " in err
    assert "the premise `State(o, lost)` is true at no reachable state; " in err


def test_off_leaves_them_out(run):
    assert "findings" not in run(EMPTY, "--findings", "off")[1]
    assert json.loads(run(EMPTY, "--findings", "off", "--json")[1])["findings"] == []
    assert run(EMPTY, "--findings", "off", "--strict")[0] == 2


def test_json_has_them_by_the_schema(run):
    report = json.loads(run(EMPTY, "--json")[1])
    assert_described(report)
    (finding,) = report["findings"]
    assert (finding["kind"], finding["spec"]) == ("premise never true", "s")
    line = BASE.count("\n") + 1
    assert finding["place"].endswith(f"f.stead:{line}:{EMPTY.splitlines()[line - 1].index('State') + 1}")
    assert finding["remedy"]


def test_show_has_those_that_need_no_solving(run):
    _, _, err = run(BASE + "spec s AG exists o. State(o, open) -> Flag()", command="show")
    assert "stead-sym: finding: " in err
    assert "`exists o: order. State(o, open) -> Flag()` is true as soon as" in err
    assert run(EMPTY, command="show")[2] == ""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_no_fair_run_is_unknown_whether_findings_are_asked_for_or_not(engine):
    unfair = st.parse_deployment(BASE + "fair exists o. State(o, lost)\nspec s EG true")
    for findings in (True, False):
        result = st.verify(unfair, engine=engine, findings=findings)
        assert result["s"].holds is None
        assert "`exists o: order. State(o, lost)` is true in no reachable state" in result["s"].reason
        assert result["s"].trace is None


@pytest.mark.parametrize(
    ("name", "policy", "kinds"),
    [
        ("refund", "any", []),
        ("refund", "approving", []),
        ("refund", "baseline", ["never selected"]),  # obtain_approval: the policy pays at once
        ("airline", "any", []),
        # it cancels two reservations, of business class both: comments accept what is not said of others
        ("airline", "careful", []),
        # the same decision; the other reasons to permit or forbid a cancellation are not in the records
        ("airline_records", "any", ["vacuous"] * 4),
        ("airline_records", "careful", []),
        ("bank", "fast", []),
        # the bed agent is not shown the flag that its policy asks for, which is why `isolated` fails
        ("ward", "careful", ["rule never matches", "hidden relation", "hidden relation"]),
        ("ward_repaired", "careful", []),
    ],
)
def test_the_packaged_examples_have_those_that_are_right(name, policy, kinds):
    assert [finding.kind for finding in st.verify(st.load(name), policy).findings] == kinds


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_what_is_left_of_a_long_specification_is_counted(run, engine):
    """24 parts are replaced, however long that takes, and those past them are counted."""

    one = "(AG forall o. (State(o, open) -> A[State(o, open) U State(o, paid)]))"

    def text(parts):
        return BASE + f"spec s {' & '.join([one] * parts)}\n"

    def left(parts):
        return st.verify(st.parse_deployment(text(parts)), engine=engine).unexamined

    first = next(parts for parts in range(1, 40) if left(parts))
    each = left(first + 1) - left(first)
    assert first > 1
    assert left(first) == first * each - 24
    assert (first - 1) * each <= 24
    if engine == "symbolic":
        assert f"{left(first + 1)} subformulas not tried for vacuity" in run(text(first + 1))[1]


def test_a_finding_that_has_its_reason_in_another_is_not_said():
    """`exists x. f -> g`: that f or g does not matter, or that f is never true, comes of the way it is
    written. What stands beside it is looked at as ever."""
    weak = "exists o. (State(o, lost) -> State(o, paid))"
    for formula in (f"AG {weak}", f"EF {weak}", f"AF AG {weak}"):
        kinds = [f.kind for f in st.verify(st.parse_deployment(BASE + f"spec s {formula}\n")).findings]
        assert kinds == ["exists implies"]
    beside = f"AG ((exists p. State(p, lost)) -> AF {weak})"
    kinds = [f.kind for f in st.verify(st.parse_deployment(BASE + f"spec s {beside}\n")).findings]
    assert kinds == ["premise never true", "exists implies"]


GATED = """
deployment gated
sort order
relation Waiting(order)
relation Paid(order)
relation Receipt(order)
bound order 1
event place()
  guard ~Waiting(_) & ~Paid(_)
  effect
    fresh o: order
    insert Waiting(o)
tool pay(o: order)
  guard Waiting(o)
  effect
    delete Waiting(o)
    insert Paid(o)
tool rest()
gate first default allow
  forbid pay(_)
gate second default allow
  forbid pay(o) when Waiting(o)
spec premise AG forall o. (Paid(o) -> AF Receipt(o))
spec part    AG forall o. (Waiting(o) -> ~(Receipt(o) | Paid(o)))
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize(
    ("gates", "words"),
    [((), ""), (("first",), " under this gate"), (("first", "second"), " under these gates")],
)
def test_what_is_vacuous_under_a_gate_is_said_to_be_so_under_it(gates, words, engine):
    result = st.verify(st.parse_deployment(GATED, "f"), engine=engine, gates=gates)
    told = {(finding.kind, finding.spec): finding.text for finding in result.findings}
    assert (("premise never true", "premise") in told) == result["premise"].empty == bool(gates)
    if gates:
        assert re.search(rf"the specification still holds{words};", told["vacuous", "part"])
        premise = told["premise never true", "premise"]
        assert premise.endswith(f"the premise `Paid(o)` is true at no reachable state{words}")
        page = " ".join(re.sub(r"<[^>]*>", "", report_html(result)).split())
        assert f"what it speaks of never happens{words}: a finding says what" in page


def test_a_specification_that_is_not_checked_has_none():
    other = st.parse_deployment(EMPTY + "spec other AG forall q: state. exists o. State(o, q)")
    assert {finding.spec for finding in st.verify(other).findings} == {"s", "other"}
    assert {finding.spec for finding in st.verify(other, specs=["s"]).findings} == {"s"}


def test_what_is_never_offered_for_want_of_a_call_says_of_which():
    """The guard of what follows an approval is in order where nobody ever asks for one."""
    text = """
deployment loans
relation Asked()
relation Approved()
tool ask() guard ~Asked() effect insert Asked()
tool idle()
event approve() guard Asked() & ~Approved() effect insert Approved()
policy p
  call idle()
spec s AG ~Approved()
"""
    found = {f.kind: f for f in st.verify(st.parse_deployment(text, "f"), "p").findings}
    assert found["never offered"].text == (
        "approve is enabled in no reachable state: its guard reads what ask would change, which no agent"
        " selects"
    )
    assert found["never offered"].remedy.startswith("verify an agent that gets there; or weaken its guard")
