"""The facts that a reader needs beside the word of a verdict stand with it in every form of a report."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

import stead_sym as st
from described import assert_described
from pytest_stead import SteadScope
from pytest_stead.runs import failure, tell_scope
from stead_sym.errors import InputError
from stead_sym.report.data import report_data, verdict_data
from stead_sym.report.diff import compare
from stead_sym.report.diff_output import print_difference
from stead_sym.report.evidence import evidence_text, subject
from stead_sym.report.page import report_html
from stead_sym.report.partial import known_verdicts, message, print_known
from stead_sym.report.recorded import read_report
from stead_sym.report.sarif import annotation_lines, sarif_data
from stead_sym.report.terminal import print_verdicts, print_verification

SAID = "only on days without rain"


@pytest.fixture(scope="module")
def plain():
    return st.verify(st.load("refund"), "baseline")


@pytest.fixture(scope="module")
def result(plain):
    """The verification with a scope for each verdict, those that hold and those that fail."""
    scoped = {name: replace(verdict, scope=(SAID,)) for name, verdict in plain.verdicts.items()}
    return replace(plain, verdicts=scoped)


def printed(draw, width=100):
    stream = io.StringIO()
    draw(Console(file=stream, width=width, highlight=False, markup=False))
    return stream.getvalue()


def test_on_a_terminal(result):
    for width in (60, 100):
        text = printed(lambda console: print_verification(result, console), width)
        assert " ".join(text.split()).count(SAID) == len(result.verdicts)
    lines = printed(lambda console: print_verdicts(result, console)).splitlines()
    assert lines == [f"{spec} {verdict.word}: {SAID}" for spec, verdict in result.verdicts.items()]


def test_of_a_run_that_was_stopped(result):
    for quiet in (True, False):
        sent = [message(verdict, None, Console(file=io.StringIO())) for verdict in result.verdicts.values()]
        sent = json.loads(json.dumps(sent))
        known = known_verdicts(sent, "the deadline has passed")
        text = printed(lambda console: print_known(known, console, quiet=quiet))  # noqa: B023
        assert text.count(SAID) == len(result.verdicts)


def test_in_texts_notebooks_and_tables(result):
    assert str(result).count(SAID) == len(result.verdicts)
    assert result._repr_html_().count(SAID) == len(result.verdicts)
    assert SAID in result["auth"]._repr_html_()
    about = subject(result, "auth")
    assert SAID in evidence_text(about, result.moves)
    assert report_html(result).count(SAID) == len(result.verdicts)


def test_in_a_report_and_what_is_read_back(plain, result):
    data = report_data(result)
    assert_described(data)
    assert read_report(data, "report").specs["auth"].scope == [SAID]
    del data["specs"]["auth"]["scope"]  # as versions before have written it
    with pytest.raises(InputError, match=r"missing required field `scope`.* in this version"):
        read_report(data, "report")


def test_a_scope_that_is_new_or_gone_is_a_difference_and_nothing_worse(plain, result):
    before, after = (read_report(report_data(one), "report") for one in (plain, result))
    for difference, said in (
        (compare(before, after), SAID),
        (compare(after, before), "said without a restriction now"),
    ):
        assert not difference.is_none
        assert not difference.worse
        assert said in printed(lambda console: print_difference(difference, console))  # noqa: B023
        assert_described(difference.data())
    assert compare(after, after).is_none


def test_at_the_line_of_the_specification(plain, result):
    held = [name for name, verdict in result.verdicts.items() if verdict.holds]
    found = sarif_data(result, "1")["runs"][0]["results"]
    notes = [one for one in found if one["level"] == "note"]
    assert [one["ruleId"] for one in notes] == ["scope"] * len(held)
    assert sum(SAID in one["message"]["text"] for one in found) == len(result.verdicts)
    lines = [line for line in annotation_lines(result) if SAID in line]
    assert len(lines) == len(result.verdicts)
    assert sum(line.startswith("::notice ") for line in lines) == len(held)
    assert not any(one["ruleId"] == "scope" for one in sarif_data(plain, "1")["runs"][0]["results"])


def test_in_tests(result):
    assert failure(result, result["auth"], None, 100).startswith(SAID)
    with pytest.warns(SteadScope, match=SAID):
        tell_scope(result["prog"], result.deployment.spec("prog").span)


def test_a_verdict_alone(result):
    assert verdict_data(result["auth"], None).scope == [SAID]
