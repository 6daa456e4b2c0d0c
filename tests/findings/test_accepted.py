"""Comments that accept a finding: which findings they take away, and which they cannot."""

from __future__ import annotations

import json

import pytest

import stead_sym as st
from stead_sym.cli.main import main

DESK = """deployment desk
relation Done()
tool work()
  guard ~Done()
  effect
    insert Done()
{above}tool never() {beside}
  guard ~Done()
tool wait()
  guard Done()
policy diligent
  call work()
  call wait()
spec done AF Done()
"""


def verified(above: str = "", beside: str = "") -> st.Verification:
    return st.verify(st.parse_deployment(DESK.format(above=above, beside=beside), "desk.stead"), "diligent")


def kinds(result: st.Verification) -> list[str]:
    return [finding.kind for finding in result.findings]


def test_without_a_comment_the_finding_stands() -> None:
    assert kinds(verified()) == ["never selected"]
    assert verified().accepted == ()


@pytest.mark.parametrize(
    ("above", "beside"),
    [
        ("# accepted never selected: kept for the night shift\n", ""),
        ("# accepted never selected: kept for the night shift\n# and tried by hand\n", ""),
        ("", "# accepted never selected: kept for the night shift"),
        ("", "# accepted never selected under diligent: kept for the night shift"),
    ],
)
def test_a_comment_above_or_beside_accepts_its_kind_at_its_line(above: str, beside: str) -> None:
    result = verified(above, beside)
    assert "never selected" not in kinds(result)
    [accepted] = [one for one in result.accepted if one.finding.kind == "never selected"]
    assert accepted.reason == "kept for the night shift"


@pytest.mark.parametrize(
    "above",
    [
        "# accepted never offered: another kind\n",
        "# accepted never selected\n",  # no reason
        "# accepted never selected under hasty: another agent\n",
        "# accepted never selected: elsewhere\n\n",  # an empty line is no comment
        "# accepted never selected: elsewhere\nrelation Other()\n",
    ],
)
def test_another_kind_no_reason_or_another_line_accept_nothing(above: str) -> None:
    result = verified(above)
    assert "never selected" in kinds(result)
    assert result.accepted == ()


@pytest.mark.parametrize("kind", ["starvation", "fair hides", "premise never true", "no such finding"])
def test_what_a_verdict_rests_on_cannot_be_accepted(kind: str) -> None:
    result = verified(f"# accepted {kind}: it is fine\n")
    [refused] = [finding for finding in result.findings if finding.kind == "not accepted"]
    assert kind in refused.text
    assert result.accepted == ()


def test_a_finding_on_the_text_is_accepted_too_and_the_file_means_the_same() -> None:
    plain = DESK.format(above="define unread = Done()\n", beside="")
    marked = DESK.format(above="# accepted unused define: for later\ndefine unread = Done()\n", beside="")
    assert st.parse_deployment(plain) == st.parse_deployment(marked)
    assert "unused define" in [f.kind for f in st.lint(st.parse_deployment(plain))]
    assert "unused define" not in [f.kind for f in st.lint(st.parse_deployment(marked))]


def test_a_strict_run_passes_and_every_output_says_why(tmp_path, capsys) -> None:
    file, log = tmp_path / "desk.stead", tmp_path / "desk.sarif"
    file.write_text(DESK.format(above="# accepted never selected under diligent: night shift\n", beside=""))
    command = ["verify", str(file), "--policy", "diligent", "--strict"]
    assert main([*command, "--sarif", str(log)]) == 0
    assert "night shift" in capsys.readouterr().out
    [result] = json.loads(log.read_text())["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "night shift"}]
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [data["findings"], [one["reason"] for one in data["accepted"]]] == [[], ["night shift"]]
    file.write_text(file.read_text().replace("under diligent", "under another"))
    assert main(command) == 1
