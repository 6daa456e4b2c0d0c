"""The stepper: what it offers is what the semantics say, and the keys do what stands below them."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the screen of the stepper")

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import wrap_all
from stead_sym.cli.main import main
from stead_sym.cli.stepper import Picker, StepperApp
from stead_sym.cli.stepping import Choice, Stepper
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import enabled, leads_to, offer
from stead_sym.deployment.tool import Call
from stead_sym.report.topics import topics
from stead_sym.verification.verify import verify


def stepper(name: str, agents: object = "any") -> Stepper:
    deployment = load(name)
    return Stepper(deployment, wrap_all(deployment, agents))  # type: ignore[arg-type]


def calls(choices: tuple[Choice, ...]) -> Mapping[str, bool]:
    return {str(choice.call): choice.selected for choice in choices}


# the run, without a screen


def test_choices_are_what_is_offered_and_what_the_agent_selects() -> None:
    run = stepper("refund", "baseline")
    [ingest] = run.choices()
    assert (str(ingest.call), ingest.selected, len(ingest.after)) == ("ingest_case()", True, 2)
    run.take(ingest, ingest.after[0])
    assert {call: selected for call, selected in calls(run.choices()).items() if selected} == {
        next(call for call in calls(run.choices()) if call.startswith("issue_refund")): True
    }
    assert len(run.choices()) == 3
    added, removed = run.changed
    assert len(added) == 3
    assert removed == ()


@pytest.mark.parametrize("name", ["refund", "ward", "bank"])
def test_every_outcome_is_a_step_of_the_semantics(name: str) -> None:
    run = stepper(name)
    whole = normal_restriction(run.deployment)
    taken = 0
    for number in range(12):
        choices = run.choices()
        choice = choices[number % len(choices)]
        for after in choice.after:
            near = around(run.deployment, whole, run.state, after)
            assert leads_to(run.deployment, choice.call, run.state, after, near)
            taken += 1
        run.take(choice, choice.after[number % len(choice.after)])
        if list(run.faults(run.choices())):
            break
    assert taken > 3


def test_undo_and_redo_go_along_the_run_and_another_step_replaces_what_was_ahead() -> None:
    run = stepper("refund")
    first = run.state
    for _ in range(3):
        choice = run.choices()[0]
        run.take(choice, choice.after[0])
    last, steps = run.state, run.run.steps
    assert [run.back() for _ in range(4)] == [True, True, True, False]
    assert run.state == first
    assert [run.forward() for _ in range(4)] == [True, True, True, False]
    assert run.state == last
    run.back()
    other = run.choices()[-1]
    run.take(other, other.after[0])
    assert run.run.steps[:2] == steps[:2]
    assert len(run.run.steps) == 3


def test_a_loop_of_evidence_begins_anew() -> None:
    desk = load("refund")
    trace = verify(desk, "any", "prog")["prog"].trace
    assert trace is not None
    assert trace.loop is not None
    run = stepper("refund")
    run.follow(trace)
    for _ in trace.steps:
        assert run.forward()
    assert run.forward()
    assert run.state == trace.states[trace.loop + 1]


@pytest.mark.parametrize(
    ("topic", "fault"),
    [
        ("BoundExceeded", "more values of order are in use"),
        ("KeyBroken", "have the same key"),
        ("NothingOffered", "nothing is offered"),
        ("NoEffect", "leads nowhere"),
    ],
)
def test_what_breaks_the_definition_is_said(topic: str, fault: str) -> None:
    from stead_sym.report.topics import base

    example = topics()[topic].example
    deployment = parse_deployment(example if example.startswith("deployment") else base() + example)
    run = Stepper(deployment, wrap_all(deployment, "any"))
    for number in range(8):
        choices = run.choices()
        if found := list(run.faults(choices)):
            assert fault in " ".join(found)
            return
        choice = choices[-1 - number % min(2, len(choices))]
        run.take(choice, choice.after[-1])
    raise AssertionError("nothing is said")


# the screen


def shown(app: StepperApp) -> Mapping[str, str]:
    """Return what the parts of the screen say."""
    texts = {
        name: str(app.query_one(f"#{name}", Static).render()) for name in ("title", "state", "faults", "run")
    }
    rows = app.query_one("#choices", OptionList)
    texts["choices"] = "\n".join(str(rows.get_option_at_index(k).prompt) for k in range(rows.option_count))
    return texts


def on_screen(app: StepperApp, act: Callable[[Pilot[None]], Awaitable[None]], width: int = 80) -> None:
    async def go() -> None:
        async with app.run_test(size=(width, 24)) as pilot:
            await pilot.pause()
            await act(pilot)

    asyncio.run(go())


def test_a_run_is_made_with_the_keys() -> None:
    app = StepperApp(stepper("refund", "baseline"))

    async def act(pilot: Pilot[None]) -> None:
        assert shown(app)["choices"] == "> ingest_case()  2 outcomes"
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, Picker)
        await pilot.press("enter")
        await pilot.pause()
        said = shown_here()
        assert "+ PartOf(" in said["state"]
        assert "> issue_refund(" in said["choices"]
        assert ". obtain_approval(" in said["choices"]
        assert "step 1 of 1" in said["title"]
        await pilot.press("enter")
        await pilot.pause()
        assert "+ RefundIssued(" in shown_here()["state"]
        await pilot.press("u")
        assert "RefundIssued" not in shown_here()["state"]
        assert "step 1 of 2" in shown_here()["title"]
        await pilot.press("r")
        assert "+ RefundIssued(" in shown_here()["state"]
        await pilot.press("i")
        await pilot.pause()
        assert "step 0 of 0" in shown_here()["title"]

    def shown_here() -> Mapping[str, str]:
        return shown(app)

    on_screen(app, act)


def test_it_jumps_into_evidence() -> None:
    app = StepperApp(stepper("refund", "baseline"))

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(app.screen, Picker)
        await pilot.press("enter")
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "step 0 of 2" in shown(app)["title"]
        await pilot.press("r", "r")
        assert "+ RefundIssued(" in shown(app)["state"]
        assert "▸ 2. issue_refund(" in shown(app)["run"]

    on_screen(app, act)


@pytest.mark.parametrize("key", ["escape", "q"])
def test_a_key_leaves_a_list_and_takes_nothing(key: str) -> None:
    app = StepperApp(stepper("ward"))

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("i")
        await pilot.pause()
        assert isinstance(app.screen, Picker)
        await pilot.press(key)
        await pilot.pause()
        assert not isinstance(app.screen, Picker)
        assert "step 0 of 0" in shown(app)["title"]
        assert "! event arrive()" in shown(app)["choices"]

    on_screen(app, act)


def test_names_from_a_file_are_no_markup_and_no_control_characters() -> None:
    def evil(context: DecisionContext) -> Call:
        return min(context.calls)

    evil.__name__ = "[red]x\x1b[2J"
    run = stepper("refund", evil)
    app = StepperApp(run)

    async def act(pilot: Pilot[None]) -> None:
        title = shown(app)["title"]
        assert "[red]x" in title
        assert "\x1b" not in title

    on_screen(app, act)


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_is_cut_off_at_the_edge(width: int) -> None:
    app = StepperApp(stepper("ward", {"bed_agent": "careful", "discharge_agent": "any"}))

    async def act(pilot: Pilot[None]) -> None:
        picture = app.export_screenshot()
        texts = [unescape(text).replace("\xa0", " ") for text in re.findall(r">([^<>]+)</text>", picture)]
        whole = "".join(texts)
        for key in ("undo", "redo", "evidence", "start", "quit"):
            assert key in whole
        for label in ("state", "what could happen", "run"):
            assert label in whole

    on_screen(app, act, width)


KEYS = (
    *["enter"] * 6,
    *["down", "up", "u", "left", "r", "right", "i", "escape", "end", "pagedown", "pageup", "tab"],
)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("refund", (80, 24)),
        ("ward", (40, 8)),
        ("ward", (20, 5)),
        ("access_requests", (120, 40)),
        ("ward", (1, 1)),
    ],
)
def test_whatever_is_typed_the_run_is_one_of_the_deployment(name: str, size: tuple[int, int]) -> None:
    """Keys faster than the screen follows, on terminals of all sizes: every step is one of the semantics."""
    run = stepper(name)
    app = StepperApp(run)
    chance = random.Random(f"{name} {size}")

    async def act() -> None:
        async with app.run_test(size=size) as pilot:
            for _ in range(30):
                for _ in range(chance.choice((1, 1, 2, 5))):
                    app.simulate_key(chance.choice(KEYS))
                await pilot.pause()
                if chance.random() < 0.1:
                    await pilot.resize_terminal(chance.randrange(1, 100), chance.randrange(1, 40))
            await pilot.press("escape", "escape")

    asyncio.run(act())
    assert_of_the_semantics(run)


def assert_of_the_semantics(run: Stepper) -> None:
    d, states = run.deployment, run.run.states
    assert states[0] in run.starts
    for step, before, after in zip(run.run.steps, states, states[1:], strict=False):
        assert step.call in {call for role in d.agents for call in offer(d, before, role)} | {
            *enabled(d, before)
        }
        near = around(d, normal_restriction(d), before, after)
        assert leads_to(d, step.call, before, after, near)


def test_a_row_of_an_earlier_state_does_nothing() -> None:
    app = StepperApp(stepper("ward"))

    async def act(pilot: Pilot[None]) -> None:
        rows = app.query_one("#choices", OptionList)
        late = OptionList.OptionSelected(rows, rows.get_option_at_index(0), 0)
        app.stepper.take(choice := app.stepper.choices()[0], choice.after[0])
        app._show()
        rows.post_message(late)
        await pilot.pause()
        assert "step 1 of 1" in shown(app)["title"]

    on_screen(app, act)


def test_evidence_that_comes_while_an_outcome_is_picked_is_not_mixed_with_it() -> None:
    desk = load("refund")
    trace = verify(desk, "any", "auth")["auth"].trace
    assert trace is not None
    app = StepperApp(stepper("refund"))

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, Picker)
        app._follow(trace, "evidence")
        await pilot.press("enter")
        await pilot.pause()
        assert app.stepper.run == trace
        assert "step 0 of" in shown(app)["title"]

    on_screen(app, act)


# the command


def test_the_command_wants_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "refund", "--policy", "baseline"]) == 2
    assert "simulate wants a terminal" in capsys.readouterr().err
    assert main(["simulate", "-"]) == 2
    assert "give the path of a file" in capsys.readouterr().err


def test_it_begins_with_evidence_of_a_file(tmp_path: Path) -> None:
    from stead_sym.cli.parser import whole_parser
    from stead_sym.cli.simulate import stepper_of

    out = tmp_path / "out"
    assert main(["verify", "refund", "--policy", "baseline", "--quiet", "--evidence", str(out)]) == 1
    words = ["simulate", "refund", "--policy", "baseline", "--evidence", str(out / "auth.json")]
    options = whole_parser().parse_args(words)
    options.quiet = True
    run = stepper_of(load("refund"), options)
    assert run.position == 0
    assert [step.call.tool for step in run.run.steps] == ["ingest_case", "issue_refund"]
    assert json.loads((out / "auth.json").read_text())["spec"] == "auth"
