"""A verification in another process, from Python."""

import os
from typing import Any

import pytest

import stead_sym as st
from described import assert_described
from stead_sym.report.data import report_data

pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(os.name != "posix", reason="limits take a POSIX system"),
]

HARD = """
deployment hard
sort case
relation P(case)
relation R(case, case)
bound case 5
tool rest()
tool come()
  guard atmost 4 c. P(c)
  effect
    fresh c: case
    insert P(c)
tool link(c: case, d: case)
  effect insert R(c, d)
tool leave(c: case)
  effect
    delete P(c)
    delete R(c, _)
    delete R(_, c)
spec empty ~exists c. P(c)
spec slow
  AG forall c, d, e, f, g, h: case.
    P(c) -> EF (R(c, d) & EF (R(d, e) & AF (R(e, f) | EG (R(f, g) | R(g, h)))))
"""


@pytest.mark.parametrize(
    ("name", "agent", "specs"),
    [
        ("refund", "baseline", None),
        ("refund", "any", ["prog", "AG ~exists t: task. RefundIssued(t)"]),
        ("ward", {"bed_agent": "careful", "discharge_agent": "any"}, "confirmed"),
    ],
)
def test_it_is_the_same_report(name: str, agent: Any, specs: Any) -> None:
    desk = st.load(name)
    there: Any = st.verify_apart(desk, agent, specs, timeout=600, memory=4000)
    here: Any = report_data(st.verify(desk, agent, specs))
    assert_described(there)
    assert there.keys() == here.keys()
    for key in ("agent", "states", "transitions", "domain", "decisions", "hypotheses", "contexts"):
        assert there[key] == here[key]
    words = ({spec: verdict["verdict"] for spec, verdict in data["specs"].items()} for data in (there, here))
    assert next(words) == next(words)


def test_at_a_limit_it_reports_what_was_established() -> None:
    for seconds in (3, 12, 48):  # a busy machine may take longer for the one that is decided
        report: Any = st.verify_apart(st.parse_deployment(HARD), timeout=seconds)
        assert_described(report)
        assert f"stopped at the limit of {seconds} s" in report["error"]
        if report["specs"]["empty"]["verdict"] == "holds":
            break
    assert {spec: verdict["verdict"] for spec, verdict in report["specs"].items()} == {
        "empty": "holds", "slow": "unknown"
    }  # fmt: skip


def test_wrong_input_is_the_report_of_an_error() -> None:
    desk = st.load("refund")
    assert "unknown policy basline" in str(st.verify_apart(desk, "basline")["error"])
    assert "unknown spec nothing" in str(st.verify_apart(desk, "any", ["nothing"])["error"])
    assert "--timeout" in str(st.verify_apart(desk, timeout=0)["error"])
    with pytest.raises(st.InputError, match="no specification is asked for"):
        st.verify_apart(desk, specs=[])
    with pytest.raises(TypeError):
        st.verify_apart("refund")  # type: ignore[arg-type]


def test_apart_gates_are_given_too() -> None:
    d = st.parse_deployment(
        "deployment d relation P() tool t() effect insert P() tool wait()"
        "\ngate g\nforbid t()\ngate h\nspec a AG ~P()\nspec b for g AG ~P()"
    )
    apart: Any = st.verify_apart(d, gates=["g", "h"])
    assert (
        [gate["gate"] for gate in apart["gates"]],
        [spec["verdict"] for spec in apart["specs"].values()],
    ) == (
        ["g", "h"],
        ["holds"] * 2,
    )
    open_to_all: Any = st.verify_apart(d, gates="h")
    assert [spec["verdict"] for spec in open_to_all["specs"].values()] == ["fails"]
    assert "unknown gate k; there are g, h" in str(st.verify_apart(d, gates="k")["error"])
