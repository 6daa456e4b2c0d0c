"""A specification holds of nothing where nothing comes of what it asks, and nothing else of it is left."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import stead_sym as st
from stead_sym.report.data import report_data
from stead_sym.report.diff import compare
from stead_sym.report.page import report_html
from stead_sym.report.recorded import read_report
from stead_sym.report.sarif import sarif_data
from stead_sym.report.terminal import print_verification

DESK = """
deployment desk
sort case
sort ghost
relation Open(case)
relation Lost(case)
relation Haunted(ghost)
bound case 1
bound ghost 1
event arrive()
  guard ~Open(_)
  effect
    fresh c: case
    insert Open(c)
tool close(c: case)
  guard Open(c)
  effect delete Open(c)
tool wait()
"""
NEVER = "AG forall c. (Lost(c) -> AF ~Open(c))"
REAL = "AG forall c. (Open(c) -> EX true)"


def verified(*specs: str) -> st.Verification:
    text = DESK + "".join(f"spec s{k} {spec}\n" for k, spec in enumerate(specs))
    return st.verify(st.parse_deployment(text))


@pytest.mark.parametrize(
    ("spec", "empty"),
    [
        (NEVER, True),
        (REAL, False),
        (f"{NEVER} & {REAL}", False),
        (f"({NEVER}) & ({NEVER.replace('AF', 'AX')})", True),
        (f"({REAL}) | ({NEVER})", True),
        (f"({REAL}) -> ({NEVER})", True),
        (f"A[({REAL}) U ({NEVER})]", True),
        ("forall c. Open(c)", True),
        ("AG forall g. Haunted(g)", True),
        ("~EF exists g. Haunted(g)", True),
        ("AG atmost 0 g. Haunted(g)", True),
        ("AG exactly 0 g. Haunted(g)", True),
        ("(~EF exists g. Haunted(g)) <-> EF Open(_)", False),
        ("~EF Lost(_)", False),
        (f"~({NEVER})", False),
        (f"{NEVER} & EF Lost(_)", False),
    ],
)
def test_what_holds_of_nothing(spec: str, empty: bool) -> None:
    verdict = verified(spec)["s0"]
    assert verdict.empty == empty
    assert verdict.said == ("holds, of nothing" if empty else verdict.word)


def test_it_looks_like_no_other_verdict() -> None:
    result, real = verified(NEVER), verified(REAL)
    for encoding, mark, green in (("utf-8", "○", "✔"), ("ascii", "o ", "+ ")):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        print_verification(result, Console(file=stream, width=100, highlight=False, markup=False))
        stream.seek(0)
        row = next(line for line in stream.read().splitlines() if " s0 " in line)
        assert "holds, of nothing" in row
        assert mark in row
        assert green not in row
    page = report_html(result)
    assert '<li class="verdict empty">' in page
    assert "✔" not in page
    assert "The specification holds, of nothing." in page
    [found] = [r for r in sarif_data(result, "1")["runs"][0]["results"] if r["ruleId"] == "of-nothing"]
    assert found["level"] == "warning"
    before, after = (read_report(report_data(one), "report") for one in (real, result))
    assert compare(before, after).worse
    assert not compare(after, before).worse


@pytest.mark.parametrize("spec", ["forall c. Open(c)", "atmost 0 c. EF Open(c)"])
def test_it_holds_of_nothing_where_no_run_is_fair_too(spec: str) -> None:
    """It is decided on all runs then."""
    result = st.verify(st.parse_deployment(DESK + f"fair Lost(_)\nspec s {spec}\n"))
    assert (result["s"].holds, result["s"].empty) == (True, True)
    assert {"unfair", "no value initially"} <= {finding.kind for finding in result.findings}
