"""Displays in notebooks: markup with the text beside it, everything escaped; tables of pandas."""

from __future__ import annotations

import os
from html.parser import HTMLParser

import pytest

import stead_sym as st

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module", params=["symbolic", "explicit"])
def result(request):
    return st.verify(st.load("refund"), "baseline", engine=request.param)


def shown(thing) -> tuple[str, str]:
    """Return what a notebook gets, checked to be the two kinds of it, the markup well formed."""
    bundle = thing._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"] == thing._repr_html_()
    assert bundle["text/plain"] == str(thing)
    open_: list[str] = []

    class Balanced(HTMLParser):
        def handle_starttag(self, tag, attrs):
            open_.append(tag)

        def handle_endtag(self, tag):
            assert open_.pop() == tag

    Balanced().feed(bundle["text/html"])
    assert open_ == []
    return bundle["text/plain"], bundle["text/html"]


def test_a_deployment_is_its_text():
    text, html = shown(st.load("refund"))
    assert "tool issue_refund(task_id: task)" in text
    assert "RefundIssued(t) &amp; PartOf(t, c)" in html


def test_formulas_of_every_kind_are_their_text(result):
    for verdict in result.verdicts.values():
        text, html = shown(verdict.formula)
        assert text == str(verdict.formula)
        assert "-&gt;" in html
    assert shown(st.logic.parse_formula("a = b & ~(x < y)"))[1].count("&lt;") == 1


def test_a_verdict_has_its_formula_and_its_run(result):
    text, html = shown(result["auth"])
    assert text == "auth fails"
    assert all(
        part in html for part in ("auth fails", "AG forall t: task", "issue_refund(task", "+ RefundIssued")
    )
    assert "no change" not in shown(result["prog"])[1]


def test_evidence_traces_states_sizes_and_hypotheses(result):
    assert "RefundIssued(task" in shown(result["auth"].evidence)[1]
    assert "RefundIssued(task" in shown(result["auth"].trace)[1]
    assert "s1" in shown(result["auth"].trace.last)[1]
    assert "case" in shown(result.restriction)[1]
    assert "isomorphism class" in shown(result.hypotheses)[1]
    assert "auth" in shown(result)[1]


def test_a_set_of_states_is_its_number_and_some_members(result):
    every = result.satisfying("true")
    text, html = shown(every)
    assert text == f"{result.states} states"
    assert f"{result.states} states, 3 of them:" in html
    assert html.count("Approver</caption>") == 3
    one = result.satisfying("~exists c. CaseStatus(c, _)")
    assert shown(one)[0] == "1 state"
    assert shown(result.satisfying("false"))[0] == "0 states"


def test_decisions_are_a_table(result):
    text, html = shown(result.decisions)
    assert text.count("\n") == 3
    assert "-> issue_refund(TASK_1)" in text
    assert html.count("<tr>") == 5
    assert "obtain_approval(TASK_1, SERVICE_2)" in html
    assert result.decisions == tuple(result.decisions)
    assert "obtain_approval" in shown(result.decisions[1][0])[1]


def test_tables_of_pandas():
    if os.environ.get("STEAD_BROWSER") != "required":
        pytest.importorskip("pandas", reason="pandas is not installed (pip install '.[notebook]')")
    desk = st.load("refund")
    result = st.verify(desk, st.agents.ReplayAgent("smollm2", st.Prompt.of(desk)), domain="theorem")
    frame = st.decisions_frame(result)
    assert list(frame["context"]) == [1, 2, 3, 4]
    assert list(frame["selected"])[1] == ["issue_refund(TASK_1)"]
    assert list(frame["margin"].dropna()) == [a.margin for a in result.answers if a.margin is not None]
    assert list(frame["record"]) == [a.key for a in result.answers]
    verdicts = st.verdicts_frame(result).set_index("spec")
    assert dict(verdicts["verdict"]) == {"auth": "fails", "prog": "holds"}
    assert verdicts["steps"]["auth"] == 2
    baseline = st.decisions_frame(st.verify(desk, "baseline"))
    assert baseline["margin"].isna().all()


def test_without_pandas_one_line_says_what_to_do(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(st.InputError, match=r"^pandas is not installed; pip install 'pandas>=2.0'$"):
        st.verdicts_frame(st.verify(st.load("refund"), "baseline"))
