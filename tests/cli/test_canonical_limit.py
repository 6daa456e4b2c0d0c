"""A context without a canonical form in time: `unknown` with status 3, whichever command meets it, and the
limit is the one that was given.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from stead_sym.cli.main import main
from stead_sym.errors import CanonicalLimit
from stead_sym.relational import shapes
from stead_sym.relational.graph import Row

COMMANDS = (
    "verify refund",
    "verify refund --engine explicit",
    "verify refund --certify {folder}/certificate --evidence {folder}/evidence",
    "verify refund --deepen",
    "symmetry refund",
    "bounds refund",
    "blame refund",
    "export refund --smv {folder}/model.smv",
    "replay refund {folder}/report.json",
)


@pytest.fixture
def slow(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """No canonical form is found any more; there is a report from when they were."""
    assert main(["verify", "refund", "--policy", "baseline", "--json"]) == 1
    (tmp_path / "report.json").write_text(capsys.readouterr().out, encoding="utf-8")

    def never(
        rows: Collection[Row], sorts: Sequence[int], seconds: float, solve_part: object
    ) -> tuple[list[int], list[object]]:
        raise CanonicalLimit(f"none within {seconds:g} s")

    monkeypatch.setattr(shapes, "LARGE", -1)
    monkeypatch.setattr(shapes, "solve_large", never)
    return tmp_path


@pytest.mark.parametrize("agent", [["--policy", "baseline"], []])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_unknown_at_the_limit(
    command: str, agent: list[str], slow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.format(folder=slow).split()
    assert main([*words, *agent, "--canonical-timeout", "7.5"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "stead-sym: none within 7.5 s"
    assert not (slow / "model.smv").exists()


def test_what_was_found_before_the_limit_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit ends the raising of bounds, and takes nothing back."""
    (tmp_path / "taking.stead").write_text(
        "deployment taking\nsort case\nrelation Open(case)\ninit\ntool rest()\n"
        "tool take()\n  effect\n    fresh c: case\n    insert Open(c)\n"
        "spec none AG ~exists x. Open(x)\nspec few AG atmost 90 x. Open(x)\n",
        encoding="utf-8",
    )
    arguments = [
        "verify",
        str(tmp_path / "taking.stead"),
        "--agent",
        "any",
        "--deepen",
        "--engine",
        "explicit",
    ]
    arguments += ["--max-states", "60"]
    assert main([*arguments, "--quiet"]) == 1
    out, err = capsys.readouterr()
    none, few = out.splitlines()
    assert none == "none fails: some agent violates this; a specific agent may not"
    assert few.startswith("few unknown: nothing refutes it within the bounds case 1;")
    assert err == "stead-sym: unknown: more than 60 states are reachable; raise the limit on states\n"
    assert main([*arguments, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["stopped"].startswith("more than 60 states")
    assert main([*arguments[:-1], "1"]) == 3
    assert capsys.readouterr().out == ""
