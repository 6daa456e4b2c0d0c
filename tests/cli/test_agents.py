"""Agents and questions on the command line: who gets which policy, and what is asked besides the file."""

from __future__ import annotations

import json

import pytest

from described import assert_described
from stead_sym.cli.main import main


def report(capsys, *arguments):
    status = main(["verify", *arguments, "--json", "--findings", "off"])
    data = json.loads(capsys.readouterr().out)
    assert_described(data)
    return status, data


def test_every_agent_has_its_policy(capsys):
    status, data = report(capsys, "ward", "--policy", "bed_agent=careful", "--agent", "discharge_agent=any")
    assert status == 1
    assert data["agents"]["bed_agent"]["agent"] == "careful"
    assert data["agents"]["discharge_agent"] == {
        "agent": "any",
        "contexts": None,
        "queries": None,
        "known": {},
    }
    assert data["contexts"] == data["agents"]["bed_agent"]["contexts"]
    assert {decision["agent"] for decision in data["decisions"]} == {"bed_agent"}
    steps = data["specs"]["isolated"]["trace"]
    assert {step["agent"] for step in steps} == {None, "bed_agent"}
    assert data["initial"] > 1
    assert data["specs"]["isolated"]["start"]


def test_a_word_without_a_name_is_for_all_others(capsys):
    _, data = report(capsys, "ward", "--agent", "any", "--policy", "bed_agent=careful", "--spec", "confirmed")
    assert [run["agent"] for run in data["agents"].values()] == ["careful", "any"]


def test_the_first_policy_is_taken_and_said(capsys):
    assert main(["verify", "ward", "--policy", "bed_agent=careful", "--spec", "confirmed"]) == 0
    err = capsys.readouterr().err
    assert "taking policy careful for agent discharge_agent; for another agent:" in err
    assert "--agent discharge_agent=any" in err
    assert "bed_agent;" not in err


def test_one_agent_keeps_its_words(capsys):
    status, data = report(capsys, "refund", "--policy", "approving")
    assert status == 0
    assert list(data["agents"]) == [""]
    assert data["agent"] == "approving"
    assert {step["agent"] for spec in data["specs"].values() for step in spec["trace"]} <= {""}


def test_a_question_that_is_not_in_the_file(capsys):
    status, data = report(capsys, "refund", "--policy", "approving", "--formula", "AG ~RefundIssued(_)")
    assert status == 1
    assert list(data["specs"]) == ["AG ~RefundIssued(_)"]
    status, data = report(
        capsys, "refund", "--policy", "approving", "--formula", "EF RefundIssued(_)", "--spec", "auth"
    )
    assert status == 0
    assert list(data["specs"]) == ["auth", "EF RefundIssued(_)"]


def test_a_question_is_a_formula_even_where_a_specification_has_its_name(capsys, tmp_path):
    file = tmp_path / "nm.stead"
    file.write_text(
        "deployment nm\nrelation done()\ndefine idle() = ~done()\ntool t()\nspec done AG EF true\n"
    )
    status, data = report(capsys, str(file), "--formula", "done", "--formula", "idle", "--formula", "true")
    assert status == 1
    assert {name: spec["verdict"] for name, spec in data["specs"].items()} == {
        "done()": "fails",
        "idle()": "holds",
        "true": "holds",
    }
    status, data = report(capsys, str(file), "--spec", "done")
    assert status == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--policy", "bed_agnt=careful"], "unknown agent bed_agnt; did you mean bed_agent?"),
        (
            ["--policy", "bed_agent=carefree"],
            "unknown policy carefree of agent bed_agent; there are careful",
        ),
        (["--policy", "bed_agent=careful", "--agent", "bed_agent=any"], "by --policy and by --agent"),
        (["--policy", "bed_agent=careful", "--policy", "bed_agent=careful"], "bed_agent is given twice"),
        (["--policy", "careful", "--policy", "careful"], "are for the same agents"),
        (["--agent", "bed_agent=gpt"], "unknown agent 'gpt'"),
        (["--formula", "AG Waiting("], "--formula:1:12: unexpected end"),
        (["--formula", "AG Waiting(p)"], "unknown name p"),
        (["--tolerance", "1", "--agent", "bed_agent=any"], "--tolerance is for a language model"),
    ],
)
def test_what_does_not_fit_is_one_line(arguments, says, capsys):
    assert main(["verify", "ward", *arguments]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if "for another agent" not in line]
    assert len(errors) == 1
    assert says in errors[0]
