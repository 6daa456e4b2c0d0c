"""docs/decisions.md: its Python runs, and the options that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stead_sym.cli.main import main

PAGE = (Path(__file__).parents[1] / "docs" / "decisions.md").read_text(encoding="utf-8")


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "decisions.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert re.search(r" 0 of \d+$", first)
    assert second.startswith("Unforced(agreed=0, ")


def test_the_options_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    named = set(re.findall(r"--[a-z]+[a-z-]*", PAGE))
    assert {"--min-mass", "--min-probability", "--temperature", "--tolerance", "--replay"} <= named
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    assert named <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
