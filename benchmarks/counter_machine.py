"""Counter machines as deployments: why no program can decide every deployment, and one that can be run.

Theorem "Undecidability" rests on an encoding of what is undecidable into a deployment with a single tool.
Here what is encoded is a counter machine: with two counters it is undecidable whether one halts (Minsky), and
so whether its counters stay bounded, since a machine with bounded counters halts or repeats a configuration.
With the first it is undecidable whether `EF` holds in the deployment below, with the second whether it has a
bound.
The one decision: a counter is a linked list of values of an unbounded sort. Its length is the number, the
list of `zero` alone is 0, incrementing puts a fresh value in front, and every value that is counted is
active: a bound on the sort is a bound on the sum of the counters.

    python benchmarks/counter_machine.py PROGRAM [--bound N] > machine.stead
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, assert_never

from stead_sym.deployment.build import build_deployment, tool
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import ParseError, Span


@dataclass(frozen=True, slots=True)
class Increment:
    """Add 1 to a counter and go on at ``then``."""

    counter: str
    then: str


@dataclass(frozen=True, slots=True)
class Decrement:
    """If a counter is above 0, take 1 away and go on at ``then``; where it is 0, go on at ``zero``."""

    counter: str
    then: str
    zero: str


@dataclass(frozen=True, slots=True)
class Halt:
    """The machine has halted."""


Instruction: TypeAlias = Increment | Decrement | Halt

Program: TypeAlias = Mapping[str, Instruction]
"""The instruction of each label. The machine begins at the first label, with every counter at 0."""

_LINE = re.compile(
    r"(?P<label>\w+)\s*:\s*(?:(?P<halt>halt)|inc\s+(?P<inc>\w+)\s*->\s*(?P<after>\w+)"
    r"|dec\s+(?P<dec>\w+)\s*->\s*(?P<then>\w+)\s*\|\s*(?P<zero>\w+))"
)
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.IGNORECASE | re.ASCII)
_EXAMPLE = "write `q: inc a -> r`, `q: dec a -> r | s` (s where a is 0) or `q: halt`"
_ZERO = "zero"


def read_program(text: str, source: str = "<program>") -> Program:
    """The program that a text lists, an instruction a line: `q: inc a -> r`, `q: dec a -> r | s` (on at s
    where the counter a is 0), `q: halt`; `#` starts a comment.

    Raises `ParseError` for a line that is none of these, a label that stands twice or nowhere.
    """
    program: dict[str, Instruction] = {}
    places: dict[str, Span] = {}
    for number, line in enumerate(text.splitlines(), 1):
        written = line.partition("#")[0].strip()
        if not written:
            continue
        place = Span(source, number, len(line) - len(line.lstrip()) + 1)
        if (found := _LINE.fullmatch(written)) is None:
            raise ParseError(f"{written!r} is no instruction; {_EXAMPLE}", place)
        label = found["label"]
        if label in program:
            raise ParseError(f"the label {label} stands twice; give each instruction one of its own", place)
        places[label] = place
        if found["halt"]:
            program[label] = Halt()
        elif found["inc"]:
            program[label] = Increment(found["inc"], found["after"])
        else:
            program[label] = Decrement(found["dec"], found["then"], found["zero"])
    _check(program, places, Span(source, 1, 1))
    return program


def counter_machine(program: Program | str, bound: int = 0, name: str = "counter_machine") -> Deployment:
    """The deployment that runs a counter machine, with `bound cell` for the sum of its counters.

    The program is data: facts `Inc(q, a, r)`, `Dec(q, a, r, s)` and `Halt(q)`, which never change. `At(q)` is
    where the machine is, `Top(a, x)` the front of the list of the counter a, `Next(x, y)` the links of the
    lists. There is one tool, `step`, without parameters and offered in every state; its alternatives are the
    kinds of steps, of which one is enabled in each state. A machine that has halted stays as it is. The
    specification `halts` is the sentence EF exists q. At(q) & Halt(q).

    ``program`` is a `Program`, or the text of one (`read_program`). Raises `ParseError` where it does not fit
    together.
    """
    made = read_program(program) if isinstance(program, str) else program
    _check(made, {}, None)
    counters = sorted({i.counter for i in made.values() if not isinstance(i, Halt)}) or ["a"]
    return build_deployment(
        name,
        sorts={"cell": None, "place": [_place(q) for q in made], "counter": [_counter(c) for c in counters]},
        relations={
            "Inc": "place, counter, place",
            "Dec": "place, counter, place, place",
            "Halt": "place",
            "At": "place",
            "Top": "counter key, cell",
            "Next": "cell key, cell",
        },
        init=[
            *(_fact(label, instruction) for label, instruction in made.items()),
            f"At({_place(next(iter(made)))})",
            *(f"Top({_counter(counter)}, {_ZERO})" for counter in counters),
        ],
        bounds={"cell": bound},
        tools=[tool("step", description="Make one step.", effect=_STEPS)],
        specs={"halts": "EF exists q. At(q) & Halt(q)"},
    )


_STEPS = (
    "when exists q. At(q) & Halt(q)",
    """
        choose q: place where At(q)
        choose r: place where exists c. Inc(q, c, r)
        choose c: counter where Inc(q, c, r)
        choose y: cell where Top(c, y)
        fresh x: cell
        clear At
        insert At(r)
        delete Top(c, y)
        insert Top(c, x)
        insert Next(x, y)
    """,
    """
        choose q: place where At(q)
        choose r: place where exists c, s. Dec(q, c, r, s)
        choose c: counter where exists s. Dec(q, c, r, s)
        choose x: cell where Top(c, x)
        choose y: cell where Next(x, y)
        clear At
        insert At(r)
        delete Top(c, x)
        delete Next(x, y)
        insert Top(c, y)
    """,
    f"""
        choose q: place where At(q)
        choose s: place where exists c, r. Dec(q, c, r, s) & Top(c, {_ZERO})
        clear At
        insert At(s)
    """,
)


def _fact(label: str, instruction: Instruction) -> str:
    """The instruction as a fact of the initial database."""
    match instruction:
        case Increment(counter, then):
            return f"Inc({_place(label)}, {_counter(counter)}, {_place(then)})"
        case Decrement(counter, then, zero):
            return f"Dec({_place(label)}, {_counter(counter)}, {_place(then)}, {_place(zero)})"
        case Halt():
            return f"Halt({_place(label)})"
        case _:
            assert_never(instruction)


def _place(label: str) -> str:
    return f"at_{label}"


def _counter(name: str) -> str:
    return f"of_{name}"


def _check(program: Program, places: Mapping[str, Span], source: Span | None) -> None:
    """Raise `ParseError` for a program without instructions, and for labels that are no names or stand
    nowhere.
    """
    if not program:
        raise ParseError(f"there is no instruction; {_EXAMPLE}", source)
    for label, instruction in program.items():
        place = places.get(label)
        names, targets = [label], list[str]()
        match instruction:
            case Increment(counter, then):
                names, targets = [label, counter], [then]
            case Decrement(counter, then, zero):
                names, targets = [label, counter], [then, zero]
            case Halt():
                pass
            case _:
                assert_never(instruction)
        for given in names:
            if not _NAME.fullmatch(f"x{given}"):
                raise ParseError(f"{given!r} is no name; use letters, digits and _", place)
        for target in targets:
            if target not in program:
                raise ParseError(f"there is no instruction {target}; add a line `{target}: …`", place)


def main() -> None:
    """Print the deployment that runs the program in a file."""
    parser = argparse.ArgumentParser(description="Print the deployment that runs a counter machine.")
    parser.add_argument("program", type=Path, help="a file with one instruction a line (docs/theory.md)")
    parser.add_argument("--bound", type=int, default=1, help="the sum of the counters (default: 1)")
    options = parser.parse_args()
    try:
        program = read_program(options.program.read_text(encoding="utf-8"), str(options.program))
    except (OSError, ParseError) as error:
        parser.exit(2, f"{error}\n")
    print(counter_machine(program, options.bound), end="")


if __name__ == "__main__":
    main()
