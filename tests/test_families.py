"""Counter machines as deployments, against a simulator of counter machines."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from counter_machine import Decrement, Halt, Increment, Instruction, counter_machine, main, read_program
from hypothesis import event, given, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import examples, replay
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.errors import BoundExceeded, ParseError
from whole import verify


@dataclass(frozen=True)
class Outcome:
    """`halts`, `runs` for ever, or `grows` past the bound, after so many steps; ``most`` is the largest sum
    of the counters on the way.
    """

    word: str
    steps: int
    most: int


def simulated(program: Mapping[str, Instruction], bound: int) -> Outcome:
    """Return what a machine does, step by step, until it halts, comes back, or exceeds the bound."""
    at, counters = next(iter(program)), dict.fromkeys("ab", 0)
    seen: set[object] = set()
    most = steps = 0
    while True:
        most = max(most, sum(counters.values()))
        if most > bound:
            return Outcome("grows", steps, most)
        instruction = program[at]
        if isinstance(instruction, Halt):
            return Outcome("halts", steps, most)
        here = (at, *counters.items())
        if here in seen:
            return Outcome("runs", steps, most)
        seen.add(here)
        if isinstance(instruction, Increment):
            counters[instruction.counter] += 1
            at = instruction.then
        elif counters[instruction.counter]:
            counters[instruction.counter] -= 1
            at = instruction.then
        else:
            at = instruction.zero
        steps += 1


def up_and_down(steps: int) -> str:
    """A machine that halts after so many steps, its counter never above 1."""
    up, down = "q{0}: inc a -> q{1}", "q{0}: dec a -> q{1} | q{1}"
    lines = [(down if i % 2 else up).format(i, i + 1) for i in range(steps)]
    return "\n".join([*lines, f"q{steps}: halt"])


@pytest.mark.gate
@pytest.mark.parametrize(
    ("engine", "steps"),
    [("symbolic", 10), ("symbolic", 100), ("explicit", 10), ("explicit", 200)],
)
def test_machines_that_halt(engine: str, steps: int) -> None:
    program = up_and_down(steps)
    assert simulated(read_program(program), 1) == Outcome("halts", steps, 1)
    result = st.verify(counter_machine(program, 1), engine=engine, findings=False)  # type: ignore[arg-type]
    assert result["halts"].holds
    trace = result["halts"].trace
    assert trace is not None
    assert len(trace.steps) == steps


MULTIPLIED = """
load0: inc a -> load1
load1: inc a -> more
more: dec a -> up0 | end      # for each of a
up0: inc b -> up1
up1: inc b -> down
down: dec b -> down | more    # b comes and goes
end: halt
"""

FOR_EVER = "q: inc a -> r\nr: inc b -> s\ns: dec a -> t | t\nt: dec b -> q | q"

GROWING = "q: inc a -> r\nr: dec b -> q | s\ns: inc b -> q"


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_loops(engine: str) -> None:
    for program, bound, halts in ((MULTIPLIED, 3, True), (FOR_EVER, 2, False)):
        assert simulated(read_program(program), bound).word == ("halts" if halts else "runs")
        machine = counter_machine(program, bound)
        result = st.verify(machine, engine=engine, findings=False)  # type: ignore[arg-type]
        assert result["halts"].holds is halts


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_a_machine_that_grows_ends_with_the_run_past_the_bound(engine: str, bound: int) -> None:
    outcome = simulated(read_program(GROWING), bound)
    assert outcome.word == "grows"
    machine = counter_machine(GROWING, bound)
    with pytest.raises(BoundExceeded) as raised:
        verify(machine, engine=engine)  # type: ignore[arg-type]
    run = raised.value.trace
    assert len(run.steps) == outcome.steps
    assert len(machine.outside("cell", run.last.active_domain["cell"])) == outcome.most
    replay(machine, normal_restriction(machine), None, run, leaves_domain=True)


@hs.composite
def programs(draw: hs.DrawFn) -> Mapping[str, Instruction]:
    labels = [f"q{i}" for i in range(draw(hs.integers(1, 6)))]
    label, counter = hs.sampled_from(labels), hs.sampled_from("ab")
    kinds = hs.one_of(
        hs.builds(Increment, counter, label),
        hs.builds(Decrement, counter, label, label),
        hs.builds(Decrement, counter, label, label),
        hs.builds(Halt),
    )
    return {one: draw(kinds) for one in labels}


@settings(max_examples=examples(60))
@given(programs(), hs.integers(0, 3))
def test_generated_machines(program: Mapping[str, Instruction], bound: int) -> None:
    outcome = simulated(program, bound)
    event(outcome.word)
    machine = counter_machine(program, bound)
    for engine in ("symbolic", "explicit"):
        if outcome.word == "grows":
            with pytest.raises(BoundExceeded) as raised:
                verify(machine, engine=engine, findings=False)  # type: ignore[arg-type]
            assert len(raised.value.trace.steps) == outcome.steps
        else:
            verdict = st.verify(machine, engine=engine, findings=False)["halts"]  # type: ignore[arg-type]
            assert verdict.holds == (outcome.word == "halts")


@settings(max_examples=examples(15))
@given(programs())
def test_raising_the_bound_finds_the_end_at_its_least(program: Mapping[str, Instruction]) -> None:
    outcome = simulated(program, 3)
    found = st.deepen(counter_machine(program), limit=3).found["halts"]
    match outcome.word:
        case "halts":
            assert found.shown
            assert found.within == {"cell": outcome.most}
        case "runs":
            assert found.verdict.word == "fails"
            assert found.within == {"cell": outcome.most}
        case _:
            assert found.within is None
            assert found.verdict.word == "unknown"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q: jump r", "<program>:1:1: 'q: jump r' is no instruction; write `q: inc a -> r`"),
        ("  q: halt\n  q: halt", "<program>:2:3: the label q stands twice"),
        ("q: inc a -> r", "<program>:1:1: there is no instruction r"),
        ("# nothing", "<program>:1:1: there is no instruction;"),
        ("ä: halt", "<program>:1:1: 'ä' is no name"),
    ],
)
def test_what_is_no_program(text: str, said: str) -> None:
    with pytest.raises(ParseError) as raised:
        read_program(text)
    assert str(raised.value).startswith(said)


def test_the_script_prints_the_deployment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.txt").write_text(FOR_EVER, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["counter_machine.py", str(tmp_path / "m.txt"), "--bound", "2"])
    main()
    assert st.parse_deployment(capsys.readouterr().out) == counter_machine(FOR_EVER, 2)
    monkeypatch.setattr(sys, "argv", ["counter_machine.py", str(tmp_path / "none.txt")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
