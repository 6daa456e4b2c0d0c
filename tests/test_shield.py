"""Shields: the largest restriction that keeps specifications, compared with games solved state by state."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import stead_sym as st
import stead_sym.logic.syntax as fo
from described import assert_described
from games import Game, Maker
from stead_sym.cli.main import main
from stead_sym.deployment.files import packaged_text
from stead_sym.deployment.gates import under_gates
from stead_sym.errors import InputError

CASES = int(os.environ.get("SHIELD_CASES", "15"))

VALUES = 8
"""As many cases as the literal domain has: twice the bound, and two that variables may hold besides."""


def shielded(seed: int) -> tuple[Any, Game]:
    """The shield of a generated deployment on the literal domain, and the game."""
    found = st.shield(st.parse_deployment(Maker(seed).text()), domain={"case": VALUES})
    followed = found.deployment
    demands = tuple(spec.formula.body for spec in followed.specs if isinstance(spec.formula, fo.Globally))
    game = Game(followed, st.theorem_restriction(followed, (), {"case": VALUES}), demands)
    return found, game


@pytest.mark.parametrize("seed", range(CASES))
def test_it_is_the_game_s_solution(seed: int) -> None:
    found, game = shielded(seed)
    assert (found.states, found.won) == (len(game.steps), len(game.won))
    assert found.reached == len(game.reached)
    assert (found.lost is not None) == any(state not in game.won for state in game.initial)
    if found.lost is None:
        for tool in found.tools:
            assert (tool.enabled, tool.allowed) == game.counts(tool.tool), tool.tool
        assert all(not game.steps[state][call] <= game.won for state, call in game.denied())


@pytest.mark.parametrize("seed", range(CASES))
def test_behind_its_gate_what_is_reached_is_what_the_shield_reaches(seed: int) -> None:
    found = st.shield(st.parse_deployment(Maker(seed).text()))
    if found.gate is None:
        denied = [tool for tool in found.tools if tool.denied]
        assert found.lost is not None or not denied or any(tool.condition is None for tool in denied)
        return
    assert found.verified is not None
    assert all(found.verified[spec].holds for spec in found.kept)
    written = st.parse_deployment(f"{Maker(seed).text()}\n{found.text}")
    followed = [f"AG ({body})" for body in _bodies(found)]
    again = st.verify(under_gates(written, "shield"), specs=followed, findings=False)
    assert again.states == found.reached
    assert all(verdict.holds for verdict in again.verdicts.values())


def _bodies(found: Any) -> list[str]:
    return [str(spec.formula.body) for spec in found.deployment.written.specs if spec.name.startswith("AG")]


def test_the_refund_s_approval_rule_is_found() -> None:
    """The paper's worked example: 145 of the 217 states of the literal domain are won, and only the payment
    is restricted, to what the handler's approver has approved."""
    literal = st.shield(st.load("refund"), "auth", domain="theorem")
    assert (literal.states, literal.won, literal.reached) == (217, 145, 145)
    found = st.shield(st.load("refund"), "auth")
    assert [tool.tool for tool in found.tools if tool.denied] == ["issue_refund"]
    assert found.text == (
        "gate shield default allow\n"
        "  forbid issue_refund(task_id) when exists c: case, s: service, a: service."
        " PartOf(task_id, c) & Handler(c, s) & Approver(s, a) & ~Approved(task_id, a)"
    )
    gated = st.parse_deployment(f"{st.load('refund')}\n{found.text}")
    resolvable = "AG forall c: case. (CaseStatus(c, open) -> EF CaseStatus(c, resolved))"
    result = st.verify(gated, specs=["auth", resolvable], gates="shield")
    assert [verdict.word for verdict in result.verdicts.values()] == ["holds", "holds"]


@pytest.mark.parametrize(
    ("policy", "said", "stopped"),
    [
        ("baseline", "Under baseline it stops calls of issue_refund.", ("issue_refund",)),
        ("approving", "Under approving it never stops a call.", ()),
    ],
)
def test_an_agent_notices_or_not(
    policy: str, said: str, stopped: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    desk = st.load("refund")
    found = st.shield(desk, "auth", agent=policy)
    assert (found.agent, found.stopped) == (policy, stopped)
    assert found.text == st.shield(desk, "auth").text
    assert main(["shield", "refund", "--spec", "auth", "--policy", policy]) == 0
    assert said in capsys.readouterr().out


LOST = """
deployment lost
sort case
relation In(case)
relation Alarm()
bound case 1
event arrive()
  guard ~In(_)
  effect
    fresh c: case
    insert In(c)
tool smash()
  guard In(_)
  effect
    insert Alarm()
event ring()
  guard In(_)
  effect
    insert Alarm()
tool idle()
spec quiet AG ~Alarm()
"""


def test_where_events_alone_break_it_their_run_is_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = st.shield(st.parse_deployment(LOST))
    assert found.lost is not None
    assert found.gate is None
    assert [str(step.call) for step in found.lost.steps] == ["arrive()", "ring()"]
    file = tmp_path / "lost.stead"
    file.write_text(LOST, encoding="utf-8")
    assert main(["shield", str(file), "--quiet"]) == 1
    assert main(["shield", str(file)]) == 1
    assert "No restriction of agents keeps that" in capsys.readouterr().out


def test_as_json_it_is_what_the_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shield", "refund", "--json", "--policy", "baseline"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert_described(data)
    assert data["tools"]["issue_refund"] | {"condition": ""} == {"enabled": 8, "allowed": 4, "condition": ""}
    assert (data["left"].keys(), data["stopped"]) == ({"prog"}, ["issue_refund"])


def test_the_file_with_the_gate_keeps_its_comments(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "guarded.stead"
    assert main(["shield", "returns_desk", "--write", str(out), "--gate", "checked"]) == 0
    printed = capsys.readouterr().out
    assert "forbid refund(r) when ~Condition(r, sound)" in printed
    assert "settled         fails    not asked of the shield" in printed
    text = out.read_text(encoding="utf-8")
    assert text.startswith(packaged_text("returns_desk").rstrip())
    assert main(["verify", str(out), "--gate", "checked", "--spec", "sound_only", "--quiet"]) == 0
    with pytest.raises(InputError, match="has a gate checked"):
        st.shield(st.load(out), name="checked")


def test_a_name_that_the_language_does_not_have_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("größe", "1st", "_", "a b", ""):
        out = tmp_path / "guarded.stead"
        assert main(["shield", "returns_desk", "--write", str(out), "--gate", name]) == 2
        assert "is no name; give letters, digits and _" in capsys.readouterr().err
        assert not out.exists()


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("AG AF F()", "of AF and A[… U …] there is no largest restriction"),
        ("AG (F() -> AX F())", "a restriction may make the A within it true"),
        ("AG ~EF F()", "below a negation"),
        ("AG (EF F() -> F())", "it is no conjunction"),
        ("EF F()", "it is no conjunction"),
        ("F()", "the initial states alone"),
    ],
)
def test_what_has_no_largest_restriction_is_said(spec: str, why: str) -> None:
    deployment = st.parse_deployment(
        f"deployment d relation F() tool t() effect insert F() tool w()\nspec s {spec}"
    )
    with pytest.raises(InputError, match="s has no shield") as raised:
        st.shield(deployment, "s")
    assert why in str(raised.value)
    with pytest.raises(InputError, match="no specification has a shield"):
        st.shield(deployment)


def test_conditions_may_speak_of_the_past() -> None:
    """The case studies whose rules are about calls: what is to be denied is what the rules say."""
    found = {tool.tool: str(tool.condition) for tool in st.shield(st.load("repository")).tools}
    assert found["comment"] == "true since did read(r)"
    assert (
        "forbid sign(l) when ~(~did renegotiate(l, _) since did assess(l))"
        in st.shield(st.load("mortgage")).text
    )


STEPS = """deployment steps
relation P() relation Q() relation R()
tool go() guard ~P() & ~Q() effect insert P()
tool bad() guard P() effect insert Q() insert R()
"""


@pytest.mark.parametrize(
    ("more", "won"),
    [
        ("tool wait() spec a AG ~Q()", True),
        ("spec a AG ~Q()", False),  # after go() only bad() is left
        ("terminal when P() spec a AG ~Q()", True),
        ("tool wait() spec a AG ~Q() spec b AG EF R()", False),  # R comes with Q only
    ],
)
def test_a_state_is_won_where_something_is_left_to_do(more: str, won: bool) -> None:
    assert (st.shield(st.parse_deployment(STEPS + more)).lost is None) == won


def test_weak_until_remembers_that_it_came() -> None:
    found = st.shield(
        st.parse_deployment(
            "deployment d relation P() relation Q() tool p() guard ~P() effect insert P() tool wait()"
            " tool clean() guard P() effect delete P() tool q() guard ~Q() effect insert Q()"
            "\nspec s A[~Q() W P()]"
        )
    )
    assert {tool.tool: str(tool.condition) for tool in found.tools if tool.denied} == {"q": "true since P()"}


def test_rules_of_cedar_are_printed_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "desk.cedar"
    assert main(["shield", "returns_desk", "--as", "cedar", "--write", str(out), "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert out.read_text(encoding="utf-8") == printed
    assert printed == st.shield(st.load("returns_desk")).cedar.text + "\n"
    assert "    Condition?: String, // _2 of Condition(this, _2), if there is one" in printed
    assert (
        'permit (principal, action == returns_desk::Action::"refund", resource)\n'
        "when {\n"
        "  context.input.r has Condition &&\n"
        '  context.input.r.Condition == "sound" &&\n'
    ) in printed
    assert main(["shield", "returns_desk", "--as", "cedar"]) == 0
    whole = capsys.readouterr().out
    assert "78% of the enabled calls. As rules of Cedar:" in whole
    assert printed in whole
    assert "gate shield" not in whole


UNSAID = """deployment unsaid
sort case
relation In(case)
relation Link(case, case)
relation Done()
bound case 2
event arrive() guard ~In(_) effect fresh c: case fresh d: case insert In(c) insert In(d)
tool link(c: case, d: case) guard In(c) & In(d) effect insert Link(c, d)
tool finish() guard ~Done() effect insert Done()
tool wait()
"""


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            "AG (Done() -> exists c, d. (Link(c, d) & Link(d, c) & c != d))",
            "Cedar has no quantifier for `c` in `Link(c, d)` and `Link(d, c)` and `c != d`, and no `key` of a"
            " relation makes it the only one",
        ),
        ("AG (Done() -> atleast 2 c: case. Link(c, c))", "counts records, which Cedar does not"),
        ("AG (Done() -> once Link(_, _))", "is about the past, of which a request does not tell"),
    ],
)
def test_why_a_condition_is_not_in_cedar(
    spec: str, why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "unsaid.stead"
    file.write_text(f"{UNSAID}spec s {spec}\n", encoding="utf-8")
    out = tmp_path / "out.cedar"
    found = st.shield(st.load(file))
    assert found.gate is not None
    assert (found.cedar.text, list(found.cedar.unsaid)) == ("", ["finish"])
    assert main(["shield", str(file), "--as", "cedar", "--write", str(out), "--quiet"]) == 3
    said = capsys.readouterr()
    assert (said.out, out.exists()) == ("", False)
    assert "no rules of Cedar are given, finish: " in said.err
    assert why in " ".join(said.err.split())
    assert main(["shield", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert_described(data)
    assert (data["cedar"], list(data["not_in_cedar"])) == (None, ["finish"])


def test_where_nothing_is_denied_cedar_still_has_to_permit(capsys: pytest.CaptureFixture[str]) -> None:
    free = st.shield(st.parse_deployment(STEPS + "tool wait() spec a AG ~(P() & ~P())"))
    assert free.gate is None
    assert free.cedar.text.count("permit (principal, action == steps::Action::") == 3
    assert st.shield(st.parse_deployment(LOST)).cedar.text == ""
