"""docs/agents.md: its options are there, and its figures are those of the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from stead_sym.agents.python import agent
from stead_sym.agents.recorded import EVERY, TIMES
from stead_sym.cli.main import main
from stead_sym.models import chat

PAGE = (Path(__file__).parents[1] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_the_python_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for queries in (4, 0):
        exec(compile(code, "agents.md", "exec"), {})
        assert f"refund under desk-v3: 7 states, 8 transitions, 4 contexts, {queries} queries" in (
            capsys.readouterr().out
        )


def test_the_options_are_there(capsys):
    named = set(re.findall(r"--[a-z]+[a-z-]*", PAGE))
    assert {"--samples", "--concurrency", "--tries", "--deadline", "--store"} <= named
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    assert named <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    in_python = set(re.findall(r"^\| `(\w+)=", PAGE, re.MULTILINE))
    assert in_python | {"given", "identity"} == set(inspect.signature(agent).parameters)


def test_the_figures_are_those_of_the_code():
    numbers = ", ".join(map(str, TIMES[:-1]))
    assert f"({numbers} and {TIMES[-1]} times in all)" in PAGE
    assert (EVERY, sum(TIMES) - len(TIMES)) == (16, 16)
    assert "every sixteenth twice: sixteen questions more" in PAGE
    assert (chat.ASKING.concurrency, chat.ASKING.deadline, chat.ASKING.tries) == (16, 300.0, 6)
    assert "Sixteen questions are out at a time, each has 300 seconds" in PAGE
    assert chat._MAX_ANSWERS == 3
    assert "up to three answers in all" in PAGE
    assert chat._MAX_PAUSE_SECONDS == 60.0


def test_the_kinds_of_findings_are_those_of_the_code():
    from stead_sym.verification.findings.finding import Kind

    for kind in ("changed agent", "unsteady agent"):
        assert kind in Kind.__args__
        assert f"*{kind}*" in PAGE
