"""`.stead` files as tests: which are collected, what a failure says, what is a warning, what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from counted import COUNTED

import stead_sym
from stead_sym.agents.records.replay import read_answers
from stead_sym.agents.records.store import Store
from stead_sym.cli.main import main

pytest_plugins = ["pytester"]

EXAMPLES = Path(stead_sym.__file__).parent / "examples"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with the refund workflow and a setting that verifies it under both policies."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_DATA_HOME", str(pytester.path / "home"))
    pytester.path.joinpath("refund.stead").write_text((EXAMPLES / "refund.stead").read_text())
    settings(pytester, "refund.stead --policy baseline", "refund.stead --policy approving")
    return pytester


def settings(pytester: pytest.Pytester, *lines: str) -> None:
    pytester.makeini("\n".join(["[pytest]", "stead_files =", *(f"    {line}" for line in lines)]))


def test_each_specification_under_each_line_is_a_test(project: pytest.Pytester) -> None:
    result = project.runpytest("-v", "-W", "ignore::pytest_stead.SteadFinding")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines_random(
        [
            "refund.stead::auth?policy baseline? FAILED*",
            "refund.stead::prog?policy baseline? PASSED*",
            "refund.stead::auth?policy approving? PASSED*",
            "refund.stead::prog?policy approving? PASSED*",
        ]
    )


def test_a_file_without_a_bound(project: pytest.Pytester) -> None:
    """What is shown for every number of records passes, and what is unknown says what stands in the way."""
    project.path.joinpath("d.stead").write_text(
        "deployment d sort a relation P(a) relation Q(a) bound a any\n"
        "event e() guard atmost 3 x. P(x) effect fresh x: a insert P(x)\n"
        "tool t(x: a) guard P(x) effect insert Q(x)\n"
        "spec kept AG forall x: a. (Q(x) -> P(x))\nspec none AG ~Q(_)\nspec few AG atmost 2 x. P(x)\n"
    )
    settings(project, "d.stead --agent any --max-bound 1")
    result = project.runpytest("-v", "-W", "error::pytest_stead.SteadScope")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines_random(
        [
            "d.stead::kept PASSED*",
            "*what stands in the way: *-views do not exclude this database*",
            "d.stead:*: few unknown under any",
            "d.stead:*: none fails under any",
            "again: stead-sym verify d.stead --agent any --max-bound 1 --spec few",
        ]
    )


def test_a_line_names_the_gates_that_agents_are_behind(project: pytest.Pytester) -> None:
    project.path.joinpath("d.stead").write_text(
        "deployment d relation P() tool t() effect insert P() tool wait()"
        "\ngate g\nforbid t()\nspec a AG ~P()\nspec b for g AG ~P()"
    )
    settings(project, "d.stead --agent any --gate g", "d.stead --agent any")
    result = project.runpytest("-W", "ignore::pytest_stead.SteadFinding")
    result.assert_outcomes(passed=2, failed=1)
    settings(project, "d.stead --gate k")
    project.runpytest().stdout.fnmatch_lines(["*unknown gate k; *"])


def test_a_failure_prints_the_run_the_command_and_the_line(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(project, "refund.stead --policy baseline")
    result = project.runpytest()
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "auth fails",
            "*ingest_case()*environment 1 of 2*+ CaseStatus(*",
            "*issue_refund(*agent 1 of 3*+ RefundIssued(*",
            "*Approved(*) is false",
            "again: stead-sym verify refund.stead --policy baseline --spec auth",
            "refund.stead:68:6: auth fails under baseline",
        ]
    )
    command = next(line for line in result.outlines if line.startswith("again: stead-sym "))
    monkeypatch.chdir(project.path)
    assert main(command.removeprefix("again: stead-sym ").split()) == 1
    assert "auth" in capsys.readouterr().out


def test_nothing_is_collected_only_because_the_plugin_is_there(project: pytest.Pytester) -> None:
    project.makeini("[pytest]")
    assert project.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED
    project.runpytest("refund.stead").assert_outcomes(passed=1, failed=1, warnings=1)
    project.runpytest("refund.stead::prog").assert_outcomes(passed=1)


def test_a_start_without_stead_files_imports_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\n\n\ndef test_it():\n    assert 'stead_sym' not in sys.modules")
    pytester.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_one_verification_serves_all_specifications(project: pytest.Pytester) -> None:
    project.makeconftest(COUNTED.format(module="collect"))
    project.runpytest_subprocess().assert_outcomes(passed=3, failed=1, warnings=1)
    assert project.path.joinpath("verified").read_text() == "xx"


def test_unknown_is_a_failure_with_its_reason(project: pytest.Pytester) -> None:
    file = project.path / "refund.stead"
    file.write_text(file.read_text() + "fair false\nspec asks EF true\n")
    settings(project, "refund.stead --policy approving")
    result = project.runpytest()
    result.assert_outcomes(passed=2, failed=1, warnings=3)
    result.stdout.fnmatch_lines(
        ["reason: it asks for a fair run, and *", "refund.stead:*: asks unknown under approving"]
    )


def test_findings_are_warnings_at_their_lines(project: pytest.Pytester) -> None:
    settings(project, "refund.stead --policy baseline --spec prog")
    result = project.runpytest()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["*refund.stead:39: SteadFinding: never selected: obtain_approval is offered*"]
    )
    refused = project.runpytest("-W", "error::pytest_stead.SteadFinding")
    refused.assert_outcomes(failed=1)
    failures = refused.stdout.str().split("= FAILURES =")[1].split("short test summary")[0]
    assert [line for line in failures.splitlines() if line.strip("_= ") not in ("", "prog")] == [
        "refund.stead:39:6: never selected: obtain_approval is offered, but baseline never selects it; the "
        "verdicts say nothing about what it does; verify another agent (`--agent any`) for that"
    ]
    settings(project, "refund.stead --policy baseline --spec auth")
    failing = project.runpytest("-W", "error::pytest_stead.SteadFinding")
    failing.stdout.fnmatch_lines(["refund.stead:*: auth fails under baseline"])
    settings(project, "refund.stead --policy baseline --spec prog --strict")
    strict = project.runpytest()
    strict.assert_outcomes(failed=1, warnings=1)
    strict.stdout.fnmatch_lines(
        ["findings, which --strict does not allow", "refund.stead:39:6: obtain_approval*"]
    )


def test_a_specification_that_holds_vacuously_is_reported_at_its_own_test(project: pytest.Pytester) -> None:
    file = project.path / "refund.stead"
    file.write_text(
        file.read_text() + "spec empty AG forall t, a. (RefundIssued(t) & Approved(t, a) -> AX false)\n"
    )
    settings(project, "refund.stead --policy baseline")
    result = project.runpytest("-k", "empty")
    assert result.parseoutcomes() == {"empty": 1, "warnings": 1, "deselected": 2}
    result.stdout.fnmatch_lines(["*SteadFinding: premise never true: empty holds*"])


def test_what_is_no_deployment_is_an_error_with_its_line(project: pytest.Pytester) -> None:
    project.path.joinpath("refund.stead").write_text("deployment d\nsort case\nbound cas 1\n")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*refund.stead:3:7: unknown sort cas; did you mean case?*"])


def test_a_run_that_breaks_a_claim_fails_every_test(project: pytest.Pytester) -> None:
    file = project.path / "refund.stead"
    file.write_text(file.read_text().replace("bound task 1", "bound task 0"))
    settings(project, "refund.stead --policy baseline")
    result = project.runpytest()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["*reason: 1 value of sort task is in use besides the constants*", "*ingest_case()*"]
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--policy baseline", "*starts with an option*"),
        ("refund.stead --polcy baseline", "*unrecognized arguments: --polcy*"),
        ("refund.stead --store x.sqlite --agent hf:x", "*leave out --store*"),
        ("refund.stead '--policy", "*close the quote*"),
        ("/refund.stead", "*not below the folder*"),
        ("reefund.stead", "*there is no such .stead file*"),
        ("../refund.stead", "*not below the folder*"),
        ("x/../refund.stead", "*not below the folder*"),
        ("refund.txt", "*there is no such .stead file*"),
        ("''", "*'' is no pattern*"),
        (".", "*'.' is no pattern*"),
        ("re**d.stead", "*is no pattern*"),
    ],
)
def test_a_wrong_line_of_the_settings_is_one_line(project: pytest.Pytester, line: str, said: str) -> None:
    project.path.joinpath("refund.txt").write_text("no deployment")
    settings(project, line)
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])


def test_junit_has_the_verdicts_and_the_runs(project: pytest.Pytester) -> None:
    project.runpytest("--junit-xml=out.xml", "-o", "junit_family=xunit1")
    cases = {case.get("name"): case for case in ElementTree.parse(project.path / "out.xml").iter("testcase")}
    failed = cases["auth[policy baseline]"]
    assert failed.get("file") == "refund.stead"
    assert failed.get("line") == "67"
    properties = {p.get("name"): p.get("value") for p in failed.iter("property")}
    assert properties == {"stead_agent": "baseline", "stead_states": "7", "stead_verdict": "fails"}
    [failure] = failed.findall("failure")
    assert "RefundIssued" in str(failure.text)
    assert cases["prog[policy baseline]"].find("failure") is None


@pytest.mark.parametrize("distribution", ["load", "loadgroup"])
def test_it_works_under_xdist(project: pytest.Pytester, distribution: str) -> None:
    project.runpytest_subprocess("-n", "2", "--dist", distribution).assert_outcomes(
        passed=3, failed=1, warnings=1
    )


def test_without_xdist_no_marker_is_unknown(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess(
        "-p",
        "no:xdist",
        "--strict-markers",
        "-W",
        "error::pytest.PytestWarning",
        "-W",
        "ignore::pytest_stead.SteadFinding",
    )
    result.assert_outcomes(passed=3, failed=1)


AGENTS = """
import os
import stead_sym as st

if "NO_MODEL" in os.environ:
    raise RuntimeError("the model is asked for")

@st.agent(identity="desk-v1")
def desk(context):
    with open("asked", "a") as file:
        file.write("x")
    return min(context.calls)
"""


@pytest.fixture
def modelled(project: pytest.Pytester) -> pytest.Pytester:
    project.makepyfile(desk_agents=AGENTS)
    settings(project, "refund.stead --agent python:desk_agents:desk --spec auth")
    return project


RECORDED = "refund.python-desk_agents-desk.decisions.jsonl"


def test_decisions_are_recorded_beside_the_file_and_replayed_without_the_model(
    modelled: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = modelled.runpytest_subprocess()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines([f"*{RECORDED}: the decisions of python:desk_agents:desk are not recorded*"])

    modelled.runpytest_subprocess("--stead-update").assert_outcomes(failed=1)
    recorded = (modelled.path / RECORDED).read_text()
    modelled.path.joinpath("plain").touch()
    modes = {modelled.path.joinpath(name).stat().st_mode for name in ("plain", RECORDED)}
    assert len(modes) == 1, "whoever may read the tests may read the decisions"
    keys = [json.loads(line)["key"] for line in recorded.splitlines()]
    assert len(keys) == 4
    assert keys == sorted(keys)
    asked = modelled.path.joinpath("asked").read_text()
    assert len(asked) >= len(keys)

    modelled.runpytest_subprocess("--stead-update").assert_outcomes(failed=1)
    assert (modelled.path / RECORDED).read_text() == recorded
    assert modelled.path.joinpath("asked").read_text() == asked, "what is recorded was asked again"

    monkeypatch.setenv("NO_MODEL", "1")
    modelled.runpytest_subprocess().assert_outcomes(failed=1)
    again = modelled.runpytest_subprocess("-v")
    again.stdout.fnmatch_lines(["refund.stead:68:6: auth fails under *desk* (replayed)"])


def test_a_context_that_is_not_recorded_is_an_error_and_never_a_guess(modelled: pytest.Pytester) -> None:
    modelled.runpytest_subprocess("--stead-update")
    file = modelled.path / RECORDED
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    result = modelled.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{RECORDED}: no decision for*"])


def test_what_was_answered_before_a_crash_is_kept(modelled: pytest.Pytester) -> None:
    """The process ends while the agent is asked for the third time; the next session goes on from there."""
    crash = """
    if not os.path.exists("crashed") and len(open("asked").read()) == 3:
        open("crashed", "w").close()
        os._exit(1)
    return min"""
    short = "from stead_sym.agents.records import claims\n\nclaims.LEASE = 1.0\n"
    modelled.makepyfile(desk_agents=short + AGENTS.replace("\n    return min", crash))
    modelled.runpytest_subprocess("--stead-update")
    assert not (modelled.path / RECORDED).exists()
    [left] = modelled.path.glob(".*.asking.sqlite")
    with Store(left, create=False) as store:
        answered = [answer for _, answer in store.answers()]
    assert answered

    modelled.runpytest_subprocess("--stead-update").assert_outcomes(failed=1)
    recorded = {answer.key: answer for answer in read_answers(modelled.path / RECORDED)}
    assert len(recorded) == 4
    assert [recorded[answer.key] for answer in answered] == answered, "with the time at which they were asked"
    assert not list(modelled.path.glob(".*.asking.sqlite*"))


def test_a_place_that_takes_no_decisions_is_one_line_and_none_is_lost(modelled: pytest.Pytester) -> None:
    (modelled.path / f".{RECORDED}.new").symlink_to("/dev/full")
    result = modelled.runpytest_subprocess("--stead-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{RECORDED}: cannot be written (No space left on device)*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert not list(modelled.path.glob(f"*{RECORDED}*.new"))
    asked = modelled.path.joinpath("asked").read_text()
    modelled.runpytest_subprocess("--stead-update")
    assert (modelled.path / RECORDED).is_file()
    assert modelled.path.joinpath("asked").read_text() == asked, "what was answered is kept"


def test_another_version_of_an_agent_replaces_what_was_recorded(modelled: pytest.Pytester) -> None:
    modelled.runpytest_subprocess("--stead-update")
    modelled.makepyfile(desk_agents=AGENTS.replace("desk-v1", "desk-v2"))
    modelled.runpytest_subprocess("--stead-update")
    identities = {
        json.loads(line)["model"]["identity"] for line in (modelled.path / RECORDED).read_text().splitlines()
    }
    assert identities == {"desk-v2"}


@pytest.mark.parametrize("options", [("-n", "2"), ("--dist", "load", "--tx", "2*popen")])
def test_models_are_asked_by_one_process(modelled: pytest.Pytester, options: tuple[str, ...]) -> None:
    result = modelled.runpytest_subprocess("--stead-update", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--stead-update asks models in one process; add -n 0*"])
