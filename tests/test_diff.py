"""Two reports compared: what is worse, what changed, where runs part; and no input ends in a stack trace."""

import copy
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as strategies
from rich.console import Console

import stead_sym as st
from described import assert_described
from engine_pairs import examples
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.cli.main import main
from stead_sym.errors import InputError
from stead_sym.report.data import error_data, report_data
from stead_sym.report.deepening import deepening_data
from stead_sym.report.diff import DifferenceReport, FactChangeData, compare
from stead_sym.report.diff_output import print_difference
from stead_sym.report.document import TraceStepData, VerdictData
from stead_sym.report.parting import part
from stead_sym.report.recorded import Recorded, read_report


def report(agent: str, name: str = "refund", **options: Any) -> Any:
    return json.loads(json.dumps(report_data(st.verify(st.load(name), agent, **options))))


BASELINE, APPROVING, ANY = (report(agent) for agent in ("baseline", "approving", "any"))


def read(data: object, source: str = "a.json") -> Recorded:
    return read_report(data, source)


def difference(before: object, after: object) -> DifferenceReport:
    found = compare(read(before, "a.json"), read(after, "b.json"))
    assert_described(json.loads(json.dumps(found.data())))
    return found


def printed(found: DifferenceReport, width: int = 80) -> str:
    stream = io.StringIO()
    print_difference(found, Console(file=stream, width=width, highlight=False, markup=False))
    return stream.getvalue()


def got_worse(found: DifferenceReport) -> list[str]:
    return [spec for spec, change in found.verdicts.items() if change.worse]


def flat(text: str) -> str:
    return " ".join(text.split())


def with_verdict(data: Any, spec: str, word: str | None) -> Any:
    """The report with another verdict, or without it."""
    data = copy.deepcopy(data)
    if word is None:
        del data["specs"][spec]
    else:
        data["specs"][spec]["verdict"] = word
    return data


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ("holds", "holds", False),
        ("holds", "fails", True),
        ("holds", "unknown", True),
        ("holds", None, True),
        ("unknown", "fails", True),
        ("unknown", "holds", False),
        ("unknown", None, False),
        ("fails", "holds", False),
        ("fails", "unknown", False),
        ("fails", "fails", False),
        ("fails", None, False),
        (None, "fails", False),
        (None, "holds", False),
    ],
)
def test_worse_is_what_is_known_no_longer(
    before: str | None, after: str | None, worse: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, word in (("a", before), ("b", after)):
        (tmp_path / name).write_text(json.dumps(with_verdict(APPROVING, "prog", word)), encoding="utf-8")
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b")]) == int(worse)
    out = capsys.readouterr().out.strip()
    last = "no difference" if before == after else "got worse: prog" if worse else "nothing got worse"
    assert out.splitlines()[-1] == (last if before != "fails" or after != "fails" else "no difference")
    row = next(line for line in out.splitlines() if line.startswith("  prog"))
    assert row.split()[1:3] == [before or "-", after or "-"]
    assert ("worse" in row) == worse


MIRRORED = {"holds": "fails", "fails": "holds", "unknown": "unknown", None: None}


@pytest.mark.parametrize("before", MIRRORED)
@pytest.mark.parametrize("after", MIRRORED)
def test_what_is_expected_to_fail_is_compared_with_holds_and_fails_exchanged(
    before: str | None, after: str | None
) -> None:
    def worse(was: str | None, now: str | None, expected: str | None) -> bool:
        reports = [with_verdict(APPROVING, "prog", word) for word in (was, now)]
        for one in reports:
            if expected is not None and "prog" in one["specs"]:
                one["specs"]["prog"]["expected"] = expected
        return difference(*reports).worse

    assert worse(before, after, None) == worse(MIRRORED[before], MIRRORED[after], "fails")
    assert not worse(None, after, "fails")


def test_decisions_and_contexts_are_those_of_the_reports() -> None:
    found = difference(BASELINE, APPROVING)
    asked = [
        {(tuple(d["facts"]), tuple(d["offered"])): d["selected"] for d in data["decisions"]}
        for data in (BASELINE, APPROVING)
    ]
    both = asked[0].keys() & asked[1].keys()
    assert {(tuple(c.facts), tuple(c.offered)) for c in found.decisions} == {
        key for key in both if asked[0][key] != asked[1][key]
    }
    [change] = found.decisions
    assert (change.before.selected, change.after.selected) == (
        ["issue_refund(TASK_1)"], ["obtain_approval(TASK_1, SERVICE_2)"]
    )  # fmt: skip
    assert {(tuple(c.facts), tuple(c.offered)) for c in found.contexts.new} == asked[1].keys() - both
    assert {(tuple(c.facts), tuple(c.offered)) for c in found.contexts.gone} == asked[0].keys() - both
    assert (found.facts["states"].before, found.facts["states"].after) == ("7", "9")
    assert (found.facts["agent"].before, found.facts["agent"].after) == ("baseline", "approving")
    assert [finding.kind for finding in found.findings.gone] == ["never selected"]
    assert found.findings.new == []
    assert not found.worse
    back = difference(APPROVING, BASELINE)
    assert got_worse(back) == ["auth"]
    assert back.verdicts["auth"].run == ["ingest_case()", "issue_refund(task1)"]


def test_a_report_does_not_differ_from_itself() -> None:
    for data in (BASELINE, APPROVING, ANY, report("any", "bank")):
        assert difference(data, data).is_none


def test_two_engines_differ_in_no_verdict_and_no_decision() -> None:
    found = difference(BASELINE, report("baseline", engine="explicit"))
    assert not found.worse
    assert [*found.decisions, *found.contexts.new, *found.contexts.gone] == []
    assert all(change.before == change.after for change in found.verdicts.values())
    assert all(
        change.parting is None for change in found.verdicts.values()
    )  # the shortest run, whatever its names
    assert {"domain case", "domain task"} < found.facts.keys()


def test_margins_stand_with_the_choices() -> None:
    before, after = copy.deepcopy(BASELINE), copy.deepcopy(APPROVING)
    for data, margin in ((before, 1.25), (after, 0.5)):
        for decision in data["decisions"]:
            decision["margin"] = margin
    found = difference(before, after)
    assert (found.decisions[0].before.margin, found.decisions[0].after.margin) == (1.25, 0.5)
    assert "issue_refund(TASK_1) (margin 1.25) -> obtain_approval(TASK_1, SERVICE_2) (margin 0.5)" in flat(
        printed(found)
    )


def test_a_margin_that_moved_is_no_other_decision_but_the_least_one_is_told() -> None:
    before, after = copy.deepcopy(BASELINE), copy.deepcopy(BASELINE)
    for data, margins in ((before, (3.0, 1.5, 2.0, None)), (after, (3.0, 0.25, 2.0, None))):
        for decision, margin in zip(data["decisions"], margins, strict=True):
            decision["margin"] = margin
    found = difference(before, after)
    assert found.decisions == []
    assert found.facts == {"least margin": FactChangeData("1.5", "0.25")}


# where runs part


def a_run(*steps: TraceStepData, loop: int | None = None, start: tuple[str, ...] = ()) -> VerdictData:
    return VerdictData("fails", "AG true", "", [], False, [*start], [*steps], loop, {}, "", None)


def a_step(call: str, added: str = "", agent: str | None = "") -> TraceStepData:
    return TraceStepData(call, agent, [*filter(None, added.split("; "))], [])


SORTS = frozenset({"case", "Task"})
OPEN = a_step("open()", "Case(case1, open); PartOf(task1, case1)")
OPEN_7 = a_step("open()", "Case(case7, open); PartOf(task3, case7)")
PAY = a_step("pay(task1, s1)", "Paid(task1)")


@pytest.mark.parametrize(
    ("after", "step"),
    [
        (a_run(OPEN, PAY), None),
        (a_run(OPEN_7, a_step("pay(task3, s1)", "Paid(task3)")), None),
        (a_run(OPEN, a_step("pay(task1, s2)", "Paid(task1)")), 2),  # s2 is a constant
        (a_run(OPEN, a_step("pay(task2, s1)", "Paid(task2)")), 2),  # not the task of the first step
        (a_run(OPEN, a_step("pay(task1, s1)", "Paid(task1)", "clerk")), 2),
        (a_run(OPEN, a_step("pay(task1, s1)", "Paid(task1)", None)), 2),
        (a_run(OPEN, a_step("pay(task1, s1)", "Paid(task1); Case(case1, closed)")), 2),
        (a_run(OPEN), 2),
        (a_run(OPEN, PAY, PAY), 3),
        (a_run(OPEN, PAY, loop=1), 3),
        (a_run(a_step("open()", "Case(case1, open); PartOf(task1, case2)"), PAY), 1),
        (a_run(OPEN, PAY, start=("Case(c0, open)",)), 0),
    ],
)  # fmt: skip
def test_runs_part_where_no_renaming_of_values_outside_c_helps(after: VerdictData, step: int | None) -> None:
    before = a_run(OPEN, PAY)
    for first, second in ((before, after), (after, before)):
        parting = part(first, second, SORTS)
        assert (None if parting is None else parting.step) == step


def test_a_counterexample_that_takes_another_way_is_shown_from_there() -> None:
    after = copy.deepcopy(BASELINE)
    after["specs"]["auth"]["trace"][1]["call"] = "issue_refund(task2)"
    found = difference(BASELINE, after)
    [change] = [change for change in found.verdicts.values() if change.parting]
    assert change.parting is not None
    assert change.parting.step == 2
    assert "the runs part at step 2: issue_refund(task1) -> issue_refund(task2)" in flat(printed(found))
    renamed = json.loads(re.sub(r"\b(case|task)1\b", r"\g<1>9", json.dumps(BASELINE)))
    assert difference(BASELINE, renamed).is_none


# reports of other kinds


def test_a_run_that_ended_in_an_error_is_worse_and_says_why() -> None:
    error = error_data(st.InputError("no such thing; mend it"))
    found = difference(APPROVING, error)
    assert found.worse
    assert {change.after for change in found.verdicts.values()} == {"unknown"}
    assert "b.json ended in an error: no such thing; mend it" in flat(printed(found))
    assert not difference(error, APPROVING).worse
    assert got_worse(difference(error, BASELINE)) == ["auth"]
    assert not difference(error, error).worse
    nothing = report("any", specs=[])
    assert "got worse: the run ended in an error" in printed(difference(nothing, error))


def test_what_an_interrupted_run_had_established_is_compared() -> None:
    specs = {
        "auth": APPROVING["specs"]["auth"],
        "prog": with_verdict(APPROVING, "prog", "unknown")["specs"]["prog"],
    }
    error = error_data(st.errors.Undecided("unknown: stopped"), "check", {}, specs)  # fmt: skip
    found = difference(APPROVING, error)
    assert got_worse(found) == ["prog"]
    assert "states" not in found.facts


DESK = """
deployment desk
sort case
relation Open(case)
relation Focus(case)
bound case any
event arrive()
  effect
    fresh c: case
    insert Open(c)
tool take(c: case)
  guard Open(c) & ~exists d: case. Focus(d)
  effect
    insert Focus(c)
tool leave(c: case)
  guard Focus(c)
  effect
    delete Focus(c)
    delete Open(c)
spec mutex AG atmost 1 c: case. Focus(c)
spec open AG forall c: case. (Focus(c) -> Open(c))
spec few AG atmost 1 c: case. Open(c)
"""
UNGUARDED = DESK.replace(" & ~exists d: case. Focus(d)", "")
WITHIN = DESK.replace("bound case any", "bound case 2").replace(
    "arrive()", "arrive()\n  guard atmost 1 c. Open(c)"
)


def raised(text: str, limit: int = 2) -> Any:
    return json.loads(json.dumps(deepening_data(deepen(st.parse_deployment(text), limit=limit))))


def test_reports_of_files_without_a_bound_are_compared() -> None:
    """A verdict and its run, k and the number of views, the invariants; and with a file that has bounds."""
    whole = raised(DESK)
    assert difference(whole, whole).is_none
    found = difference(whole, raised(UNGUARDED))
    assert got_worse(found) == ["mutex"]
    assert found.verdicts["mutex"].run == [
        "arrive(), an event", "arrive(), an event", "take(case2)", "take(case1)"
    ]  # fmt: skip
    assert found.verdicts["mutex"].every_number == FactChangeData("2-views: 5 of them", None)
    assert found.verdicts["open"].every_number is None
    assert found.verdicts["few"].parting is None  # the same run
    helped = difference(whole, raised(f"{DESK}invariant one atmost 1 c: case. Focus(c)\n"))
    assert helped.verdicts["mutex"].every_number is not None
    assert helped.verdicts["mutex"].every_number.after == "1-views: 3 of them with one"
    assert "(1-views: 3 of them, shown with one)" in flat(printed(helped))
    assert found.facts.keys() == {"states within these bounds"}
    assert difference(whole, raised(DESK, limit=1)).facts["raised case"] == FactChangeData("2", "1")


def test_a_file_without_a_bound_is_compared_with_one_within_bounds() -> None:
    whole = raised(DESK)
    bounded = json.loads(json.dumps(report_data(st.verify(st.parse_deployment(WITHIN)))))
    narrowed, widened = difference(whole, bounded), difference(bounded, whole)
    assert not narrowed.worse
    assert not widened.worse
    assert narrowed.facts["bounded case"] == FactChangeData("any number", "2 of 2")
    assert "within the bounds of the file now, before for every number" in flat(printed(narrowed, 200))
    assert "for every number of case, whatever an agent selects (2-views: 5 of them)" in flat(
        printed(widened, 200)
    )
    assert "without a restriction" not in printed(narrowed)
    by_any = difference(whole, raised(WITHIN))
    assert by_any.facts["bounded case"] == FactChangeData("any number", "not by the file")


def test_two_deployments_are_compared_as_far_as_names_go() -> None:
    found = difference(BASELINE, report("fast", "bank"))
    assert "These are two deployments" in printed(found)
    assert found.verdicts.keys() == {"auth", "prog", "four_eyes", "eventually_paid"}
    assert got_worse(found) == ["prog"]


def test_another_formula_under_one_name_is_said() -> None:
    after = copy.deepcopy(BASELINE)
    after["specs"]["prog"]["formula"] = "AG true"
    found = difference(BASELINE, after)
    assert not found.is_none
    assert "another formula" in printed(found)


@pytest.mark.parametrize("width", [50, 80, 120])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    for pair in ((BASELINE, APPROVING), (APPROVING, ANY), (ANY, report("fast", "bank"))):
        assert max(map(len, printed(difference(*pair), width).splitlines())) <= width


@pytest.mark.gate
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    page = Path(__file__).parents[1].joinpath("docs", "compare.md").read_text(encoding="utf-8")
    commands = re.findall(r"(?ms)^```sh\n(.*?)^```", page)[0]
    script = commands.replace("stead-sym", f"{sys.executable} -m stead_sym")
    ended = subprocess.run(["sh"], input=script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout.endswith("got worse: auth\n")


# input that is none


BAD = {
    "empty": b"",
    "cut off": json.dumps(BASELINE).encode()[:500],
    "no object": b"[]",
    "null": b"null",
    "a number": b"7",
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "long": b"1" * 100_000,
    "nothing in it": b"{}",
    "specs no object": json.dumps({**BASELINE, "specs": 1}).encode(),
    "decisions no list": json.dumps({**BASELINE, "decisions": {}}).encode(),
    "verdict no word": json.dumps(with_verdict(BASELINE, "auth", "maybe")).encode(),
    "error a number": b'{"error": 5, "trace": []}',
    "states a text": json.dumps({**BASELINE, "states": "7"}).encode(),
    "a part of another version": json.dumps({**BASELINE, "more": 1}).encode(),
    "no part of this version": json.dumps({**BASELINE, "digest": None}).encode(),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_what_is_no_report_is_one_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(BASELINE), encoding="utf-8")
    bad.write_bytes(content)
    for pair in ((good, bad), (bad, good)):
        assert main(["diff", *map(str, pair)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert captured.err.startswith(f"stead-sym: {bad}")


def test_other_files_and_other_reports_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps(BASELINE), encoding="utf-8")
    for command in (["explain", "refund"], ["bounds", "refund", "--agent", "any"]):
        assert main([*command, "--json"]) == 0
        (tmp_path / "other.json").write_text(capsys.readouterr().out, encoding="utf-8")
        assert main(["diff", str(good), str(tmp_path / "other.json")]) == 2
        assert "no report of a verification" in capsys.readouterr().err
    for path in (tmp_path, tmp_path / "missing.json"):
        assert main(["diff", str(path), str(good)]) == 2
        assert "cannot be read" in capsys.readouterr().err
    assert main(["diff", "-", "-"]) == 2
    assert "both reports cannot come from stdin" in capsys.readouterr().err


def paths(data: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in the data."""
    found = [at]
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        found += paths(value, (*at, key))
    return found


scalars = strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats()
anything = strategies.recursive(
    scalars | strategies.text() | strategies.just("\ud800"),  # as JSON may spell it: half a character
    lambda inner: strategies.lists(inner) | strategies.dictionaries(strategies.text(), inner),
)


@pytest.mark.gate
@settings(max_examples=examples(300))
@given(strategies.sampled_from(paths(BASELINE)), anything)
def test_a_report_with_anything_in_one_place_is_compared_or_refused(
    path: tuple[Any, ...], value: Any
) -> None:
    data = copy.deepcopy(BASELINE)
    if path:
        *above, last = path
        inner = data
        for key in above:
            inner = inner[key]
        inner[last] = value
    else:
        data = value
    for pair in ((BASELINE, data), (data, BASELINE)):
        try:
            found = compare(read(pair[0], "a"), read(pair[1], "b"))
        except InputError as error:
            refused = str(error)
        else:
            refused = ""
            printed(found)
            json.dumps(found.data())
        assert "\n" not in refused


def test_one_of_them_may_come_from_stdin(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(APPROVING), encoding="utf-8")
    command = [sys.executable, "-m", "stead_sym", "diff", str(path), "-", "--json"]
    ended = subprocess.run(command, input=json.dumps(BASELINE), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    found = json.loads(ended.stdout)
    assert_described(found)
    assert found["after"]["source"] == "<stdin>"
    assert found["worse"]
