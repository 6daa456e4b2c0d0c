"""Python objects as agents on the command line, and the options for agents that are asked for calls."""

from __future__ import annotations

import json
import sys
import textwrap

import pytest

from described import assert_described
from stead_sym.cli.main import main
from stead_sym.cli.recorded import kind_of
from stead_sym.deployment.files import load
from stead_sym.verification.isolated import verify_apart

DESK = """
import random
import stead_sym as st

def first(context):
    return min(context.calls)

def greatest(context):
    return max(context.calls)

dice = random.Random(0)

def unlike(context):
    return dice.choice(sorted(context.calls))

kept = st.agent(identity="kept", store="own.sqlite")(first)
mine = st.agent(identity="mine")(first)

class Desk:
    name = "desk"
    def pick(self, context):
        return min(context.calls)
    def select(self, contexts):
        return [{min(context.calls)} for context in contexts]

desk = Desk()
three = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with the module `desk_agents`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "desk_agents.py").write_text(textwrap.dedent(DESK))
    yield tmp_path
    sys.modules.pop("desk_agents", None)


def report(capsys, *arguments, command="verify"):
    status = main([command, *arguments, "--json"])
    data = json.loads(capsys.readouterr().out)
    if command == "verify":
        assert_described(data)
    return status, data


@pytest.mark.parametrize(
    ("object_", "name"),
    [("first", "first"), ("kept", "kept"), ("mine", "mine"), ("desk.pick", "pick"), ("desk", "desk")],
)
def test_objects_of_a_module(capsys, object_, name):
    status, data = report(capsys, "refund", "--agent", f"python:desk_agents:{object_}")
    assert (status, data["agent"]) == (1, name)
    assert {n: spec["verdict"] for n, spec in data["specs"].items()} == {"auth": "fails", "prog": "holds"}
    assert data["queries"] == data["contexts"] == 4


def test_the_store_is_the_objects_own_or_the_one_named(capsys, folder):
    assert report(capsys, "refund", "--agent", "python:desk_agents:kept")[1]["queries"] == 4
    assert (folder / "own.sqlite").exists()
    assert report(capsys, "refund", "--agent", "python:desk_agents:kept")[1]["queries"] == 0
    named = ("refund", "--agent", "python:desk_agents:kept", "--store", "named.sqlite")
    assert report(capsys, *named)[1]["queries"] == 4
    assert report(capsys, *named)[1]["queries"] == 0
    assert report(capsys, "refund", "--agent", "python:desk_agents:mine")[1]["queries"] == 4
    assert (folder / "data" / "stead-sym" / "decisions.sqlite").exists()


def test_decisions_are_listed_shown_exported_and_replayed(capsys, folder):
    report(capsys, "refund", "--agent", "python:desk_agents:kept")
    assert main(["decisions", "list", "--store", "own.sqlite", "--agent", "kept"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert sum("asked 6" in line for line in lines) == 1, "the only one with a choice"
    key = next(line for line in lines if "asked 6" in line).split()[0]
    assert main(["decisions", "show", key, "--store", "own.sqlite"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("answered   issue_refund(TASK_1)") == 6
    assert "identity   kept" in shown
    assert '"PartOf": [["TASK_1", "CASE_1"]]' in shown
    assert main(["decisions", "export", "--store", "own.sqlite"]) == 0
    (folder / "d.jsonl").write_text(capsys.readouterr().out)
    status, data = report(capsys, "refund", "--replay", "d.jsonl")
    assert (status, data["agent"], data["queries"]) == (1, "kept (replayed)", 0)


def test_samples_are_asked_and_reported(capsys):
    words = ("refund", "--agent", "python:desk_agents:unlike")
    status, data = report(capsys, *words, "--samples", "9")
    assert status in (0, 1)
    assert {decision["asked"] for decision in data["decisions"]} == {1, 9}
    status, data = report(capsys, *words)
    assert status == 3
    assert "answers differently when it is asked again" in data["specs"]["auth"]["reason"]
    assert "unsteady agent" in {finding["kind"] for finding in data["findings"]}
    main(["verify", *words])
    printed = capsys.readouterr().out
    assert "asked    again in" in printed
    assert "different answers to one question" in printed


@pytest.mark.parametrize("command", ["verify", "bounds", "blame"])
def test_every_command_that_asks_an_agent(command, capsys):
    assert main([command, "refund", "--agent", "python:desk_agents:first"]) in (0, 1)
    assert "first" in capsys.readouterr().out


def test_export_audit_and_replay(capsys, folder):
    words = ["refund", "--agent", "python:desk_agents:first"]
    assert main(["export", *words, "--smv", "out.smv"]) == 0
    assert main(["audit", *words]) == 0, "it refunds, whatever the names are"
    assert "20 of 20 renamings followed" in capsys.readouterr().out
    assert main(["audit", "refund", "--agent", "python:desk_agents:greatest"]) == 1
    assert "\n  expected  obtain_approval(" in capsys.readouterr().out
    assert main(["audit", *words, "--search", "s1", "--context", "0"]) == 2
    assert "--search compares log-probabilities" in capsys.readouterr().err
    assert main(["verify", *words, "--evidence", "out"]) == 1
    assert main(["replay", "refund", "out/auth.json", *words[1:]]) == 0
    assert main(["replay", "refund", "out/auth.json"]) == 0


def test_one_of_several_agents(capsys):
    words = ["--agent", "bed_agent=python:desk_agents:first", "--policy", "discharge_agent=careful"]
    _, data = report(capsys, "ward", *words, "--spec", "confirmed")
    assert [run["agent"] for run in data["agents"].values()] == ["first", "careful"]


def test_in_a_process_of_its_own():
    data = verify_apart(load("refund"), "python:desk_agents:first")
    assert data["agent"] == "first"
    assert data["specs"]["auth"]["verdict"] == "fails"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--agent", "python:desk_agents"], "is no Python object; write python:MODULE:OBJECT"),
        (["--agent", "python::first"], "is no Python object"),
        (["--agent", "python:no_such_module:first"], "there is no module no_such_module"),
        (["--agent", "python:desk_agents:last"], "the module desk_agents has no last; name what it has"),
        (["--agent", "python:desk_agents:frist"], "the module desk_agents has no frist; did you mean first?"),
        (["--agent", "python:desk_agents:three"], "is no agent"),
        (["--agent", "python:desk_agents:Desk"], "is no agent"),
        (["--agent", "python:desk_agents:desk", "--tries", "2"], "asks and stores by itself"),
        (["--agent", "python:desk_agents:first", "--store", "x.sqlite"], "has no identity"),
        (["--agent", "python:desk_agents:first", "--prompts", "x"], "--prompts is for a language model"),
        (["--agent", "python:desk_agents:first", "--min-mass", "0.5"], "--min-mass is for a language model"),
        (["--agent", "python:desk_agents:first", "--temperature", "1"], "--temperature is for"),
        (["--agent", "any", "--samples", "2"], "--samples is for an agent that answers"),
        (["--policy", "baseline", "--deadline", "2"], "--deadline is for an agent that answers"),
        (["--agent", "openai:http://h/v1#m", "--tolerance", "1"], "--tolerance is for a language model"),
        (["--agent", "python:desk_agents:first", "--samples", "0"], "'0' is not a number of at least 1"),
        (["--agent", "python:broken:first"], "the module cannot be imported: ZeroDivisionError: division by"),
        (["--agent", "python:lacking:first"], "the module cannot be imported: ModuleNotFoundError"),
    ],
)
def test_what_does_not_fit_is_one_line(arguments, says, capsys, folder):
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "lacking.py").write_text("import no_such_library\n")
    assert main(["verify", "refund", *arguments]) == 2
    caught = capsys.readouterr()
    [line] = caught.err.splitlines()
    assert says in line
    assert not caught.out


def test_an_error_of_the_agent_is_one_line(capsys, folder):
    (folder / "failing.py").write_text("def f(context):\n    raise KeyError('x\\x1b[2J')\n")
    assert main(["verify", "refund", "--agent", "python:failing:f"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("stead-sym: agent f raises KeyError: 'x\\x1b[2J'; mend it: it was asked about {")


def test_kinds():
    words = {
        "any": "any",
        "a=any": "any",
        "anybody": "model",
        "python:m:o": "python",
        "desk=python:m:o": "python",
        "a=openai:http://h#m": "openai",
        "hf:openai:x": "model",
        "small": "model",
    }
    assert {word: kind_of(word) for word in words} == words
