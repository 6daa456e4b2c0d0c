"""Reasons that a bound is exceeded, and changes that bound it: the loop is a run, the change was tried."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import pytest
from counter_machine import counter_machine
from hypothesis import event, given, settings
from hypothesis import strategies as hs

import stead_sym as st
from described import assert_described
from engine_pairs import examples, replay
from stead_sym.cli.main import main
from stead_sym.deployment.restriction import normal_restriction

pytestmark = pytest.mark.gate

LEAK = """
deployment leak
sort case
sort status = { open } rigid
relation CaseStatus(case, status)
relation Handled(case)
bound case 1
init
tool ingest()
  guard ~exists c, q. CaseStatus(c, q)
  effect
    fresh c: case
    insert CaseStatus(c, open)
    insert Handled(c)
tool archive(c: case)
  guard CaseStatus(c, open)
  effect
    delete CaseStatus(c, q) for q
policy only
  call ingest()
  call archive(c)
spec few AG atmost 2 x. Handled(x)
spec some EF exists x. Handled(x)
"""
TAKING = """
deployment taking
sort case
relation Open(case)
bound case 2
init
tool take()
  effect
    fresh c: case
    insert Open(c)
spec few AG atmost 4000 x. Open(x)
"""
RESTING = TAKING + "tool rest()\n"


def found(text: str, agent: str = "any", limit: int = 5) -> st.analyses.Deepening:
    result = st.deepen(st.parse_deployment(text), agent, limit=limit)
    for growth in result.growths.values():
        goes_round(result, growth)
    if result.remedy is not None:
        bounds = st.least_bounds(result.remedy.deployment, result.remedy.agent)
        assert bounds.lines == result.remedy.bounds.lines
    return result


def goes_round(result: st.analyses.Deepening, growth: st.analyses.Growth) -> None:
    """The run is one of the deployment, and gains as many values in each round."""
    deployment = result.deployment

    wide = replace(deployment, bounds=MappingProxyType(dict(result.bounds)))
    replay(wide, normal_restriction(wide), None, growth.run, leaves_domain=True)
    ends = range(growth.enters, growth.enters + growth.rounds * growth.length + 1, growth.length)
    sizes = [
        len(deployment.outside(growth.sort, growth.run.states[k].active_domain[growth.sort])) for k in ends
    ]
    assert growth.rounds >= 2
    assert growth.gained > 0
    assert [b - a for a, b in pairwise(sizes)] == [growth.gained] * growth.rounds


@pytest.mark.parametrize("agent", ["any", "only"])
def test_what_a_removal_leaves_behind(agent: str) -> None:
    result = found(LEAK, agent)
    growth = result.growths["case"]
    assert growth.loop == ("ingest", "archive")
    assert (growth.sources, growth.left, growth.removers) == ({"ingest": 1}, {"Handled": 1}, {"Handled": ()})
    assert "nothing deletes from Handled" in str(growth)
    assert result.remedy is not None
    assert result.remedy.words == ("let archive `delete Handled(c)`",)
    assert result.remedy.bounds.lines == ("bound case 1",)
    assert result["few"].word == "fails"


def test_what_only_comes_in_wants_a_guard_where_something_else_can_be_done() -> None:
    result = found(RESTING)
    assert result.growths["case"].loop == ("take",)
    assert result.remedy is not None
    assert result.remedy.words == ("add `atmost 1 x: case. true` to the guard of take",)
    assert result.remedy.bounds.lines == ("bound case 2",)


def test_and_a_tool_that_can_always_run_where_nothing_else_can() -> None:
    result = found(TAKING)
    assert result.remedy is not None
    assert len(result.remedy.words) == 2
    assert "archive_case" in {tool.name for tool in result.remedy.deployment.tools}
    assert result.remedy.bounds.lines == ("bound case 2",)


def test_a_policy_gets_a_rule_for_it() -> None:
    result = found(TAKING + "policy takes\n  call take()\n", "takes")
    assert result.remedy is not None
    assert result.remedy.agent == "takes"
    assert str(result.remedy).endswith("then bound case 2 is kept under takes")


def test_a_function_is_not_asked_about_what_it_was_never_shown() -> None:
    """A suggestion for an agent that is no rule is verified for every agent."""
    seen: list[st.DecisionContext] = []

    def takes(context: st.DecisionContext) -> st.Call:
        seen.append(context)
        return max(context.calls, key=lambda call: call.tool)

    desk = st.parse_deployment(RESTING)
    result = st.deepen(desk, takes, limit=4)
    assert result.remedy is not None
    assert result.remedy.agent == "any"
    assert all(len(context.view.tuples("Open")) <= 4 for context in seen)


def test_several_tools_that_bring_in_are_all_guarded() -> None:
    more = "tool also()\n  effect\n    fresh c: case\n    insert Open(c)\n"
    result = found(RESTING + more)
    assert result.remedy is not None
    assert len(result.remedy.words) == 2


def test_a_guard_that_bounds_alone_is_suggested_alone() -> None:
    """Two tools bring in by turns, and where the first waits the second does."""
    text = RESTING.replace("tool take()", "relation Busy()\ntool take()\n  guard ~Busy()").replace(
        "insert Open(c)\nspec", "insert Open(c)\n    insert Busy()\nspec"
    )
    more = "tool also()\n  guard Busy()\n  effect\n    fresh c: case\n    insert Open(c)\n    clear Busy\n"
    result = found(text + more)
    assert sorted(result.growths["case"].sources) == ["also", "take"]
    assert result.remedy is not None
    assert len(result.remedy.words) == 1


@pytest.mark.parametrize("limit", [2, 3, 4])
def test_a_round_gains_as_much_as_the_one_before(limit: int) -> None:
    """A tool that brings in one value or two: `found` looks at what each round gains."""
    two = "  effect\n    fresh c: case\n    fresh d: case\n    insert Open(c)\n    insert Open(d)\nspec few"
    result = found(RESTING.replace("spec few", two), limit=limit)
    assert result.growths["case"].gained in (1, 2)


def test_no_round_begins_past_the_bounds() -> None:
    """Three values at once are past the bound 2, where the agent is not asked; so no second round is seen."""
    seen: list[st.DecisionContext] = []

    def takes(context: st.DecisionContext) -> st.Call:
        seen.append(context)
        return max(context.calls, key=lambda call: call.tool)

    three = "".join(f"    fresh c{k}: case\n    insert Open(c{k})\n" for k in range(3))
    text = RESTING.replace("    fresh c: case\n    insert Open(c)\n", three)
    result = st.deepen(st.parse_deployment(text), takes, limit=2)
    assert (result.growths, result.rounds[-1].exceeded) == ({}, ("case",))
    assert {len(context.view) for context in seen} == {0}
    assert "case" in result.runs


def test_a_growth_that_no_suggestion_bounds_has_none() -> None:
    """Guards bound it, but the machine then has no step to make, and taking cells out of its lists breaks
    them.
    """
    result = st.deepen(counter_machine("q: inc a -> q"), limit=4)
    assert result.growths["cell"].loop == ("step",)
    assert result.remedy is None


@settings(max_examples=examples(15))
@given(batch=hs.integers(1, 2), idle=hs.integers(0, 2), drop=hs.booleans(), bound=hs.integers(0, 2))
def test_generated_loops(batch: int, idle: int, drop: bool, bound: int) -> None:
    """Values come in at the first of several places that are gone through in turn."""
    places = [f"p{k}" for k in range(idle + 1)]
    fresh = "\n".join(f"    fresh x{k}: item\n    insert Held(x{k})" for k in range(batch))
    moves = "".join(
        f"tool go{k}()\n  guard At(p{k})\n  effect\n    clear At\n    insert At({after})\n"
        f"{fresh if k == 0 else ''}\n"
        for k, after in enumerate([*places[1:], places[0]])
    )
    text = (
        f"deployment loops\nsort item\nsort place = {{ {', '.join(places)} }} rigid\nrelation At(place)\n"
        f"relation Held(item)\nbound item {bound}\ninit\n  At(p0)\n{moves}tool rest()\n"
        + ("tool drop(x: item)\n  guard Held(x)\n  effect delete Held(x)\n" if drop else "")
    )
    result = found(text, limit=4)
    growth = result.growths["item"]
    event(f"{len(growth.loop)} steps, {growth.gained} gained")
    assert (growth.length, growth.gained) == (idle + 1, batch)
    assert growth.sources == {"go0": batch}
    assert result.remedy is not None
    assert len(result.remedy.words) == 1


# the command


def test_the_report_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "leak.stead"
    file.write_text(LEAK, encoding="utf-8")
    arguments = ["verify", str(file), "--agent", "any", "--deepen", "--max-bound", "4"]
    assert main(arguments) == 1
    shown = capsys.readouterr().out
    assert not re.search(r"^ .* holds ", shown, re.MULTILINE)
    assert "let archive `delete Handled(c)`" in shown
    assert main([*arguments, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert_described(report)
    assert report["shown"]["few"] == {"within": {"case": 3}, "true": False}
    assert report["shown"]["some"] == {"within": {"case": 1}, "true": True}
    assert report["specs"]["some"]["verdict"] == "unknown"
    assert main([*arguments, "--quiet", "--spec", "some"]) == 3
    assert capsys.readouterr().out.startswith("some unknown: shown to be true within the bounds case 1")


def test_what_was_found_is_replayed_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run is past the bounds of the file, and begins as these allow."""
    file, folder = tmp_path / "leak.stead", tmp_path / "evidence"
    file.write_text(LEAK, encoding="utf-8")
    arguments = ["verify", str(file), "--deepen", "--max-bound", "3", "--json"]
    assert main([*arguments, "--evidence", str(folder)]) == 1
    report = json.loads(capsys.readouterr().out)
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert "few fails" in (folder / "few.txt").read_text(encoding="utf-8")
    assert main(["replay", str(file), str(tmp_path / "report.json"), "--quiet"]) == 0
    told = capsys.readouterr()
    assert "few fails under only: confirmed, 5 steps, 2 claims\n  within raised bounds, case 3" in told.out
    assert told.err == ""
    # A run may end in a state past a bound, here the third case, and goes on from none, here the second.
    tried = (({"case": 3}, 0), ({"case": 2}, 0), ({"case": 1}, 1), ({"desk": 3}, 2), ({"case": -1}, 2))
    for bounds, status in tried:
        evidence = json.loads((folder / "few.json").read_text(encoding="utf-8")) | {"bounds": bounds}
        (tmp_path / "few.json").write_text(json.dumps(evidence), encoding="utf-8")
        assert main(["replay", str(file), str(tmp_path / "few.json"), "--quiet"]) == status


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_limit_leaves_what_was_found(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "taking.stead"
    file.write_text(RESTING + "spec never AG ~exists x. Open(x)\n", encoding="utf-8")
    arguments = ["verify", str(file), "--agent", "any", "--deepen", "--max-bound", "1000", *words]
    for limit in (3, 15, 60):  # a busy machine may take longer for what fails
        status = main([*arguments, "--timeout", str(limit)])
        out, err = capfd.readouterr()
        assert f"stopped at the limit of {limit} s" in err
        if status == 1:
            break
    assert status == 1
    if words:
        report = json.loads(out)
        assert_described(report)
        assert report["stopped"].startswith("stopped at the limit")
        assert report["specs"]["never"]["verdict"] == "fails"
        assert report["specs"]["few"]["verdict"] == "unknown"
    else:
        assert "never  fails" in out


def test_what_needs_bounds_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund", "--policy", "baseline", "--deepen", "--unwrapped"]) == 2
    assert "leave it out with --deepen" in capsys.readouterr().err


def test_how_far_is_for_deepening(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund", "--policy", "baseline", "--max-bound", "3"]) == 2
    assert "--max-bound" in capsys.readouterr().err
