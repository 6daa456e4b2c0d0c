"""Least bounds: with them an exploration stays inside, with any smaller one it does not."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import assume, event, given, reject, settings

import stead_sym as st
from described import assert_described
from engine_pairs import MAX_STATES, engines, examples, replay
from generated.deployments import deployments
from generated.mortality import mortal_deployments
from stead_sym.cli.main import main
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.errors import BoundExceeded, DefinitionError, InputError, Undecided

GROWING = """
deployment growing
sort item, box
relation Held(item)
relation In(item, box)
init
bound item 2
tool rest()
tool wrap() "Take two items and a box."
  guard ~exists b: box. true
  effect
    fresh x: item
    fresh y: item
    fresh b: box
    insert In(x, b)
    insert In(y, b)
tool take()
  effect
    fresh x: item
    insert Held(x)
"""


def bounded(deployment: st.Deployment, **bounds: int) -> st.Deployment:
    return replace(deployment, bounds=MappingProxyType({**deployment.bounds, **bounds}))


@pytest.mark.parametrize(
    ("written", "remark"), [(0, "missing"), (1, ""), (2, "larger than needed"), (40, "larger than needed")]
)
def test_what_the_file_says_does_not_matter(written: int, remark: str) -> None:
    desk = bounded(st.load("refund"), case=written)
    found = st.least_bounds(desk, "baseline")
    assert {sort: bound.least for sort, bound in found.sorts.items()} == {"case": 1, "task": 1}
    assert found.lines == ("bound case 1", "bound task 1")
    assert found.sorts["case"].remark == remark
    assert found.states == 7


def test_a_bound_that_is_too_small_is_called_so() -> None:
    text = str(st.load("bank")).replace("bound account 4", "bound account 3")
    found = st.least_bounds(st.parse_deployment(text), "fast")
    assert found.sorts["account"].remark == "too small"
    assert found.sorts["account"].least == 4


def explored(deployment: st.Deployment) -> None:
    engines(deployment, max_states=20 * MAX_STATES)["explicit"]()


@settings(max_examples=examples(40))
@given(mortal_deployments(bound=3) | deployments(keep_bounds=False))
def test_the_explicit_engine_stays_within_them_and_not_within_less(deployment: st.Deployment) -> None:
    try:
        found = st.least_bounds(deployment, limit=3)
    except (DefinitionError, Undecided):
        reject()
    least = {sort: bound.least for sort, bound in found.sorts.items() if bound.least is not None}
    event("outgrown" if found.outgrown else f"least {max(least.values(), default=0)}")
    if found.outgrown is not None:
        assert found.run is not None
        last = found.run.last.active_domain[found.outgrown]
        assert len(deployment.outside(found.outgrown, last)) > 3
        return
    assume(deployment.initially is None)
    try:
        explored(bounded(deployment, **least))
        for sort in (sort for sort, bound in least.items() if bound):
            with pytest.raises(BoundExceeded):
                explored(bounded(deployment, **{**least, sort: least[sort] - 1}))
    except Undecided:
        reject()


def test_a_sort_that_grows_has_a_run_past_the_limit_and_no_claim() -> None:
    growing = st.parse_deployment(GROWING)
    found = st.least_bounds(growing, limit=3)
    assert found.outgrown == "item"
    assert all(bound.least is None for bound in found.sorts.values())
    assert found.lines == ()
    run = found.run
    assert run is not None
    assert len(run.last.active_domain["item"]) == found.sorts["item"].seen == 4
    assert sum(found.sources.values()) == 4
    assert set(found.sources) <= {"take", "wrap"}
    tried = bounded(growing, item=3, box=1)
    replay(tried, theorem_restriction(tried, ()), None, run, leaves_domain=True)


SLOWER = """
tool prepare()
  effect insert Ready()
tool a_batch()
  guard Ready()
  effect
    fresh x: item
    insert Held(x)
"""
FASTER = """
tool take()
  effect
    fresh x: item
    insert Held(x)
"""
HEAD = "deployment d\nsort item\nrelation Held(item)\nrelation Ready()\n"


@pytest.mark.parametrize("tools", [SLOWER + FASTER, FASTER + SLOWER])
def test_the_run_past_the_limit_is_a_shortest_whatever_the_order_of_tools(tools: str) -> None:
    found = st.least_bounds(st.parse_deployment(HEAD + tools), limit=3)
    assert found.run is not None
    assert [step.call.tool for step in found.run.steps] == ["take"] * 4


def test_where_any_database_is_the_first_the_bound_is_a_choice() -> None:
    found = st.least_bounds(st.load("ward_repaired"), {"bed_agent": "careful", "discharge_agent": "careful"})
    assert {sort: bound.least for sort, bound in found.sorts.items()} == {"patient": 2, "bed": 4}
    assert found.sorts["bed"].chosen


def test_a_limit_that_is_none_is_refused() -> None:
    for limit in (0, -1, True, "3"):
        with pytest.raises(InputError, match="at least 1"):
            st.least_bounds(st.load("refund"), limit=limit)  # type: ignore[arg-type]


def test_the_page_of_the_language_says_what_it_finds() -> None:
    page = Path(__file__).parents[1].joinpath("docs", "language.md").read_text(encoding="utf-8")
    [section] = re.findall(r"(?ms)^### bound$.*?^### ", page)
    file, *_ = re.findall(r"(?ms)^```stead\n(.*?)^```", section)
    assert st.least_bounds(st.parse_deployment(file)).lines == ("bound job 3",)
    assert "For the file above it prints `bound job 3`" in section


# on the command line


def test_the_lines_can_be_pasted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(st.load("refund"))
    without = re.sub(r"(?m)^bound .*\n", "", text)
    assert without != text
    path = tmp_path / "desk.stead"
    path.write_text(without, encoding="utf-8")
    assert main(["verify", str(path), "--policy", "approving"]) == 1
    capsys.readouterr()
    assert main(["bounds", str(path), "--policy", "approving"]) == 0
    table, lines = capsys.readouterr().out.split("\n\n")
    assert lines == "bound case 1\nbound task 1\n"
    assert [line.split() for line in table.splitlines()[2:]] == [
        ["case", "-", "1", "missing"], ["task", "-", "1", "missing"]
    ]  # fmt: skip
    path.write_text(without + lines, encoding="utf-8")
    assert main(["verify", str(path), "--policy", "approving"]) == 0


def test_past_the_limit_the_answer_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "growing.stead"
    path.write_text(GROWING, encoding="utf-8")
    assert main(["bounds", str(path), "--limit", "3", "--agent", "any"]) == 3
    out = capsys.readouterr().out
    assert "no bound up to 3 for item; brought in: " in out
    assert "+ Held(" in out
    assert "\nbound " not in out
    assert main(["bounds", str(path), "--limit", "3", "--agent", "any", "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert_described(report)
    assert report["outgrown"]["sort"] == "item"
    assert report["bounds"]["box"] == {"written": None, "least": None, "seen": 1, "chosen": False}


def test_the_report_is_by_the_schema_and_needs_no_line_where_all_are_constants(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bounds", "airline", "--agent", "any", "--json"]) == 0
    assert_described(json.loads(capsys.readouterr().out))
    assert main(["bounds", "airline", "--agent", "any"]) == 0
    assert "no line is needed" in capsys.readouterr().out


def test_options_of_a_model_are_refused_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bounds", "refund", "--tolerance", "1"]) == 2
    assert "--tolerance is for a language model" in capsys.readouterr().err


@pytest.mark.gate
def test_a_limit_of_time_ends_it_with_the_bounds_that_it_had_come_to(tmp_path: Path) -> None:
    path = tmp_path / "growing.stead"
    path.write_text(GROWING.replace("Held(item)", "Held(item)\nrelation Pair(item, item)") + """
tool pair(x: item, y: item)
  effect insert Pair(x, y)
""", encoding="utf-8")  # fmt: skip
    command = [sys.executable, "-m", "stead_sym", "bounds", str(path), "--agent", "any", "--limit", "400"]
    for limit in (3, 12, 60):  # a busy machine may take longer to begin
        words = [*command, "--timeout", str(limit)]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        assert ended.returncode == 3
        assert ended.stdout == ""
        line = ended.stderr.splitlines()[-1]
        assert line.startswith(f"stead-sym: unknown: stopped at the limit of {limit} s (--timeout); ")
        if "bounds item" in line:
            break
    assert re.search(r"; bounds item \d+, box \d: ", line)
