"""docs/pytest.md says what is so: its tests run, its settings are read, its workflows fit their schemas."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pytest_stead.lines import read_lines

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    found = [text for kind, text in BLOCKS if kind == language]
    assert found
    return found


def test_its_tests_pass(pytester: pytest.Pytester) -> None:
    [text] = blocks("python")
    pytester.makepyfile(text)
    pytester.runpytest("-W", "ignore::pytest_stead.SteadFinding").assert_outcomes(passed=3)


def test_its_settings_are_read(tmp_path: Path) -> None:
    [text] = blocks("toml")
    settings = tomllib.loads(text)["tool"]["pytest"]["ini_options"]
    (tmp_path / "tests" / "wards").mkdir(parents=True)
    for name in ("refund.stead", "wards/a.stead"):
        (tmp_path / "tests" / name).touch()
    lines = list(read_lines(tmp_path, settings["stead_files"]))
    assert [line.name for line in lines] == [
        "policy approving",
        "agent any spec auth_any",
        "agent hf:Qwen/Qwen3-4B min-mass 0.5",
    ]
    assert [line.fits(tmp_path / "tests" / "wards" / "a.stead") for line in lines] == [False, False, True]


@pytest.mark.parametrize(
    ("number", "schema"), [(0, "vendor.github-workflows"), (1, "vendor.gitlab-ci")], ids=["github", "gitlab"]
)
def test_its_workflows_fit_their_schemas(tmp_path: Path, number: int, schema: str) -> None:
    pytest.importorskip("check_jsonschema", reason="it carries the schemas of workflows")
    file = tmp_path / "ci.yml"

    def checked(text: str) -> subprocess.CompletedProcess[str]:
        file.write_text(text)
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
        if "gitlab" in schema:
            command += ["--data-transform", "gitlab-ci"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    text = blocks("yaml")[number]
    found = checked(text)
    assert found.returncode == 0, found.stdout
    spoilt = text.replace("runs-on:", "run-on:").replace("script:", "scrpt:")
    assert checked(spoilt).returncode == 1


def test_its_options_are_those_of_the_command() -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "stead_sym", "verify", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = [line for text in blocks("yaml") for line in text.splitlines() if "stead-sym verify" in line]
    assert commands
    for option in re.findall(r"(--[a-z-]+)", " ".join(commands)):
        assert option in help_text
