"""`verify --method`: its exit status, its report, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead_sym.cli.main import main

PAYING = """
deployment paying
sort order
relation Approved(order)
relation Paid(order)
relation Open()
bound order 2
tool approve()
  effect
    fresh o: order
    insert Approved(o)
tool pay(o: order)
  guard Approved(o)
  effect insert Paid(o)
gate nothing
  forbid pay(o)
spec approved AG forall o: order. (Paid(o) -> Approved(o))
spec unpaid AG ~Paid(_)
"""


OPEN = "E[~Paid(_) U EG Approved(_)]"
"""It holds, and few facts leave it open."""


@pytest.fixture
def paying(tmp_path: Path) -> str:
    path = tmp_path / "paying.stead"
    path.write_text(PAYING, encoding="utf-8")
    return str(path)


def test_what_fails_has_a_run(paying: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", paying, "--method", "local"]) == 1
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert [row[1:3] for row in rows if row and row[0] in "✔✘?"] == [
        ["approved", "holds"],
        ["unpaid", "fails"],
    ]
    assert "pay(order1)" in printed
    assert main(["verify", paying, "--method", "local", "--spec", "approved", "--quiet"]) == 0


def test_the_report_names_gates_and_how_it_was_shown(paying: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", paying, "--method", "local", "--gate", "nothing", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one["gate"] for one in report["gates"]] == ["nothing"]
    assert report["specs"]["unpaid"]["verdict"] == "holds"
    assert report["shown"]["unpaid"]["facts"] >= 1
    assert "states" not in report


def test_a_failure_says_on_how_many_facts_all_runs_are_spoken_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "paying.stead"
    path.write_text(f"{PAYING}spec can AG forall o: order. (Approved(o) -> EF ~Paid(o))\n", encoding="utf-8")
    assert main(["verify", str(path), "--method", "local", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert {name: one["verdict"] for name, one in report["specs"].items()} == {
        "approved": "holds",
        "unpaid": "fails",
        "can": "fails",
    }
    assert report["shown"].keys() == {"approved", "can"}
    facts = report["shown"]["can"]["facts"]
    assert (
        f"what is said here of all runs from a state is shown on {facts} fact"
        in report["specs"]["can"]["scope"][0]
    )
    assert "shown on" not in " ".join(report["specs"]["unpaid"]["scope"])


def test_reports_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Values are called by other names, which is no difference, as in reports on all states."""
    path = tmp_path / "paying.stead"
    few = PAYING.replace("approve()\n", "approve()\n  guard atmost 1 o. Approved(o)\n")
    path.write_text(few, encoding="utf-8")
    files = {}
    for name, options in {
        "local": ["--method", "local"],
        "whole": ["--method", "monolithic"],
        "gated": ["--method", "local", "--gate", "nothing"],
    }.items():
        main(["verify", str(path), "--json", *options])
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(capsys.readouterr().out, encoding="utf-8")
    files["renamed"] = tmp_path / "renamed.json"
    said = files["local"].read_text(encoding="utf-8")
    files["renamed"].write_text(said.replace("order1", "order2"), encoding="utf-8")

    def difference(before: str, after: str) -> tuple[int, dict[str, str | None]]:
        status = main(["diff", str(files[before]), str(files[after]), "--json"])
        report = json.loads(capsys.readouterr().out)
        assert all(one["parting"] is None for one in report["verdicts"].values())
        return status, {name: one["after"] for name, one in report["verdicts"].items()} | report["facts"]

    both = {"approved": "holds", "unpaid": "fails"}
    assert difference("local", "local") == difference("local", "renamed") == (0, both)
    assert difference("local", "whole") == difference("whole", "local") == (0, both)
    status, found = difference("local", "gated")
    assert (status, found["unpaid"]) == (0, "holds")
    assert found["gates"] == {"before": None, "after": "nothing"}
    assert difference("gated", "local")[0] == 1


def test_what_is_not_shown_is_unknown(paying: str) -> None:
    assert main(["verify", paying, "--method", "local", "--spec", OPEN]) == 3


def test_verdicts_that_not_every_agent_shares_are_qualified(
    paying: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--spec", "AG EF Paid(_)", "--spec", "EF Paid(_)", "--spec", "unpaid", "--spec", "approved"]
    assert main(["verify", paying, "--method", "local", "--json", *asked]) == 1
    specs = json.loads(capsys.readouterr().out)["specs"]
    assert [one["verdict"] for one in specs.values()] == ["holds", "holds", "fails", "holds"]
    assert ["agent" in " ".join(one["scope"]) for one in specs.values()] == [True, True, True, False]


def test_evidence_is_replayed(paying: str, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    assert main(["verify", paying, "--method", "local", "--evidence", str(folder)]) == 1
    assert [path.name for path in folder.glob("*.json")] == ["unpaid.json"]
    assert main(["replay", paying, str(folder / "unpaid.json")]) == 0


@pytest.mark.parametrize("option", [["--certify", "x"], ["--conformed", "x"], ["--engine", "explicit"]])
def test_what_needs_all_states_is_refused(
    option: list[str], paying: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", paying, "--method", "local", *option]) == 2
    assert option[0] in capsys.readouterr().err


MANY = "".join(f"  Kept(k{number})\n" for number in range(30))


def test_auto_explores_what_is_left_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Few facts come first if the data are large; all states are explored at once if they are small."""
    for data, left in ((MANY, {OPEN}), ("", set())):
        path = tmp_path / "paying.stead"
        init = f"relation Kept(order)\nbound order 2\n{'init' * bool(data)}\n{data}"
        text = PAYING.replace("bound order 2\n", init).replace(
            "approve()\n", "approve()\n  guard ~Approved(_)\n"
        )
        path.write_text(text, encoding="utf-8")
        asked = [word for spec in ("approved", "unpaid", OPEN) for word in ("--spec", spec)]
        assert main(["verify", str(path), "--method", "auto", "--json", *asked]) == 1
        report = json.loads(capsys.readouterr().out)
        explored = set(report.get("explored", ()))
        assert left <= explored
        assert "approved" not in explored
        words = [report["specs"][name]["verdict"] for name in ("approved", "unpaid", OPEN)]
        assert words == ["holds", "fails", "holds"]


def test_auto_reads_the_comparison_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "paying.stead"
    text = PAYING.replace("bound order 2\n", f"relation Kept(order)\nbound order 2\ninit\n{MANY}")
    path.write_text(text, encoding="utf-8")
    missing = str(tmp_path / "none.json")
    assert main(["verify", str(path), "--method", "auto", "--spec", "unpaid", "--conformed", missing]) == 2
    assert missing in capsys.readouterr().err


def test_auto_shows_a_broken_claim_beside_what_few_facts_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "paying.stead"
    text = PAYING.replace("bound order 2\n", f"relation Kept(order)\nbound order 2\ninit\n{MANY}")
    path.write_text(text, encoding="utf-8")
    asked = ["--spec", "approved", "--spec", OPEN]
    assert main(["verify", str(path), "--method", "auto", *asked]) == 1
    printed = capsys.readouterr().out
    words = [line.split() for line in printed.splitlines()]
    rows = {row[0]: " ".join(row[1:]) for row in words if row and row[0] in "✔✘?"}
    assert rows["✔"].startswith("approved holds")
    assert rows["?"].startswith(f"{OPEN} unknown")
    assert rows["✘"].startswith("bound order 2 fails")
    assert "all reachable states for 1 specification," in printed
    assert "no verdict needs these" not in printed
