"""`stead-sym graph`."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from stead_sym.cli.main import main
from stead_sym.report.drawing import MARKER

AGENTS = ("bed_agent", "discharge_agent")
SVG = "{http://www.w3.org/2000/svg}"


def run(capsys, *words: str) -> str:
    assert main(["graph", *words, "--quiet"]) == 0
    return capsys.readouterr().out


def nodes(dot: str) -> int:
    return len(re.findall(r"^  n\d+ \[", dot, re.M))


def edges(dot: str) -> int:
    return len(re.findall(r"^  n\d+ -> n\d+ ", dot, re.M))


@pytest.mark.parametrize(("policy", "states", "steps"), [("baseline", 55, 72), ("approving", 73, 90)])
def test_every_state_and_step_is_drawn(capsys, policy, states, steps):
    words = ("refund", "--policy", policy, "--domain", "theorem")
    dot = run(capsys, *words, "--format", "dot")
    assert (nodes(dot), edges(dot)) == (states, steps)
    svg = run(capsys, *words)
    assert svg.startswith(MARKER)
    root = ElementTree.fromstring(svg)
    kinds = [element.get("class", "").split()[:1] for element in root.iter(f"{SVG}g")]
    assert (kinds.count(["vertex"]), kinds.count(["arc"])) == (states, steps)


def test_decisions_are_drawn(capsys, tmp_path):
    out = tmp_path / "decisions.dot"
    assert run(capsys, "refund", "--policy", "approving", "--of", "decisions", "--out", str(out)) == ""
    dot = out.read_text(encoding="utf-8")
    assert (nodes(dot), edges(dot)) == (5, 5)
    assert "▸ obtain_approval(TASK_1, SERVICE_2)" in dot


def test_a_tool_of_another_agent_and_an_event_are_told_apart(capsys):
    words = [f"--policy={name}=careful" for name in AGENTS]
    dot = run(capsys, "ward", *words, "--of", "decisions", "--whose", "bed_agent", "--format", "dot")
    assert re.search(r'label="discharge", style=dotted', dot)
    assert re.search(r'label="arrive", style=dashed', dot)


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["bank"], 3, "838 states are reachable, and at most 100 are drawn; draw the decisions"),
        (["refund", "--max-states", "3"], 3, "7 states are reachable, and at most 3 are drawn"),
        (["ward", "--of", "decisions"], 2, "say whose decisions: --whose bed_agent or discharge_agent"),
        (["refund", "--agent", "any", "--of", "decisions"], 2, "nobody is asked"),
        (["refund", "--whose", "clerk"], 2, "add --of decisions"),
        (["refund", "--of", "decisions", "--whose", "clerk"], 2, "clerk"),
        (["refund", "--out", "/nowhere/x.svg"], 2, "/nowhere/x.svg: cannot be written"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(capsys, words, status, line):
    assert main(["graph", *words, "--quiet"]) == status
    said = capsys.readouterr().err.strip().splitlines()
    assert line in said[-1]
