"""docs/symmetry.md: the options that it names are there."""

from __future__ import annotations

import re

import pytest

from pages import ROOT
from stead_sym.cli.main import main


def test_the_options_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "symmetry.md").read_text(encoding="utf-8")
    named = set(re.findall(r"--[a-z]+[a-z-]*", page))
    for command in ("symmetry", "verify"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
    assert named <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
