"""The fixture `stead`: verification inside a test function."""

from __future__ import annotations

from pathlib import Path

import pytest
from counted import COUNTED

import stead_sym

pytest_plugins = ["pytester"]

EXAMPLES = Path(stead_sym.__file__).parent / "examples"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("COLUMNS", "100")
    folder = pytester.mkdir("desk")
    folder.joinpath("desk.stead").write_text((EXAMPLES / "refund.stead").read_text())
    return pytester


def in_folder(project: pytest.Pytester, text: str) -> None:
    project.path.joinpath("desk", "test_desk.py").write_text(text)


def test_verdicts_and_runs_of_a_file_beside_the_test(project: pytest.Pytester) -> None:
    in_folder(
        project,
        """
def test_verify(stead):
    result = stead.verify("desk.stead", "baseline", "auth", "AG ~exists t. Approved(t, a2)")
    assert result["auth"].word == "fails"
    assert [step.call.tool for step in result["auth"].trace.steps] == ["ingest_case", "issue_refund"]
    assert result["AG ~exists t. Approved(t, a2)"].holds

def test_an_example(stead):
    assert stead.verify("ward", {"bed_agent": "careful", "discharge_agent": "any"})["isolated"].holds is False

def test_theorem(stead):
    assert stead.verify("desk.stead", "baseline", domain="theorem").states == 55
""",
    )
    project.runpytest("-W", "ignore::pytest_stead.SteadFinding").assert_outcomes(passed=3)


def test_holds_fails_with_the_run_and_no_stack(project: pytest.Pytester) -> None:
    in_folder(
        project,
        """
def test_it(stead):
    assert stead.holds("desk.stead", "approving").states > 7
    stead.holds("desk.stead", "baseline")
""",
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["auth fails", "*issue_refund(*+ RefundIssued*", "*desk.stead:68:6: auth fails*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*prog fails*")
    refused = project.runpytest("-W", "error::pytest_stead.SteadFinding")
    refused.stdout.fnmatch_lines(["auth fails", "*desk.stead:68:6: auth fails*", "*: never selected: *"])
    refused.stdout.no_fnmatch_line("*warnings.warn*")


def test_what_is_asked_alike_is_verified_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makeconftest(COUNTED.format(module="fixture"))
    in_folder(
        project,
        """
import stead_sym as st

DESK = st.load("refund")

def first(context):
    return min(context.calls)

def last(context):
    return max(context.calls)

def test_one(stead):
    assert stead.verify("desk.stead", "approving") is stead.verify("desk.stead", "approving")

def test_two(stead):
    stead.verify("desk.stead", "approving")

def test_objects(stead):
    assert stead.verify(DESK, first) is stead.verify(DESK, first)
    assert stead.verify(DESK, first) is not stead.verify(DESK, last)
    assert stead.verify(DESK, first, domain={"case": 4}) is not stead.verify(DESK, first, domain={"case": 5})
""",
    )
    result = project.runpytest_subprocess("-W", "ignore::pytest_stead.SteadFinding")
    result.assert_outcomes(passed=3)
    assert project.path.joinpath("verified").read_text() == "x" * 5


def test_two_folders_have_decisions_of_their_own(project: pytest.Pytester) -> None:
    """The same packaged example under the same model, tested in two folders in one session."""
    agent = '@st.agent(identity="v1")\ndef first(context):\n    return min(context.calls)\n'
    project.makepyfile(desk_agents=f"import stead_sym as st\n\n{agent}")
    for name in ("one", "two"):
        project.mkdir(name).joinpath(f"test_{name}.py").write_text(
            "def test_it(stead):\n    stead.verify('refund', 'python:desk_agents:first')\n"
        )
    project.runpytest_subprocess("--stead-update", "one", "two").assert_outcomes(passed=2)
    assert len(list(project.path.glob("*/refund.*.decisions.jsonl"))) == 2
    project.runpytest_subprocess("two").assert_outcomes(passed=1)


def test_models_answer_from_decisions_beside_the_deployment(project: pytest.Pytester) -> None:
    project.makepyfile(
        desk_agents="""
import stead_sym as st

@st.agent(identity="v1")
def first(context):
    return min(context.calls)
"""
    )
    in_folder(
        project,
        """
def test_it(stead):
    assert stead.verify("desk.stead", "python:desk_agents:first")["prog"].word == "holds"
""",
    )
    missing = project.runpytest_subprocess()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*are not recorded; run `pytest --stead-update*"])
    updated = project.runpytest_subprocess("--stead-update", "-W", "ignore::pytest_stead.SteadFinding")
    updated.assert_outcomes(passed=1)
    assert (project.path / "desk" / "desk.python-desk_agents-first.decisions.jsonl").is_file()
    project.path.joinpath("desk_agents.py").unlink()
    project.runpytest_subprocess("-W", "ignore::pytest_stead.SteadFinding").assert_outcomes(passed=1)
