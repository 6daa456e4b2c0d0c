"""The hardness of verification within bounds for polynomial space: two reductions, with answers
that are found without them.

    python benchmarks/hardness.py [--limit SECONDS]

`formula` takes a quantified Boolean formula into one state and a first-order sentence: what grows is the
specification. `tape` takes a machine that keeps to its tape into a deployment whose relations, tool and
specification are the same for all machines: what grows is the initial database, and the values that finite
sorts list for it, so that there is no bound. A row of JSON for each: its size, the verdict, the answer that
`true` and `halts` find directly, states, and processor seconds. A family ends past the limit.

One decision: the answers are found by trying all values, and by running the machine; neither knows of
deployments.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import stead_sym as st

Clause: TypeAlias = tuple[int, ...]
"""Literals: i for the i-th variable, from 1 on, -i for its negation."""

Way: TypeAlias = Literal["left", "right"]
Rules: TypeAlias = Mapping[tuple[str, str], tuple[str, str, Way]]
"""The step of a machine in a state on a symbol: the next state, the symbol that it writes, where it goes."""


@dataclass(frozen=True, slots=True)
class Quantified:
    """∀x1 ∃x2 ∀x3 … of the conjunction of the clauses; ``exists`` says of each variable how it is bound."""

    exists: tuple[bool, ...]
    clauses: tuple[Clause, ...]


def true(formula: Quantified, values: tuple[bool, ...] = ()) -> bool:
    """Return if the formula is true, by trying all values of its variables, from the first on."""
    if len(values) == len(formula.exists):
        return all(any(values[abs(x) - 1] == (x > 0) for x in clause) for clause in formula.clauses)
    tried = (true(formula, (*values, value)) for value in (False, True))
    return any(tried) if formula.exists[len(values)] else all(tried)


def one_state(formula: Quantified) -> st.Deployment:
    """One state, over two values of which one is `One`, that goes to itself for ever; `truth` has a
    quantifier for each of the formula's, and an atom for each variable. It holds iff the formula is true."""
    matrix = " & ".join(f"({' | '.join(map(_literal, clause))})" for clause in formula.clauses) or "true"
    prefix = (f"{'exists' if e else 'forall'} x{i}: bit. " for i, e in enumerate(formula.exists, 1))
    return st.build_deployment(
        "one_state",
        sorts={"bit": ["zero", "one"]},
        relations={"Bit": "bit", "One": "bit"},
        init=["Bit(zero)", "Bit(one)", "One(one)"],
        tools=[st.tool("wait")],
        specs={"truth": "".join(prefix) + matrix},
    )


def _literal(x: int) -> str:
    return f"{'~' * (x < 0)}One(x{abs(x)})"


def random_formula(variables: int, clauses: int, seed: int) -> Quantified:
    """Quantifiers that alternate, the last one ∃, and clauses of three literals."""
    choose = random.Random(seed)
    made = tuple(
        tuple(v * choose.choice((1, -1)) for v in choose.sample(range(1, variables + 1), min(3, variables)))
        for _ in range(clauses)
    )
    return Quantified(tuple((variables - i) % 2 == 1 for i in range(variables)), made)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with a tape that it does not leave, begun in ``start`` on the first cell; without a rule for
    what it finds it halts."""

    rules: Rules
    start: str
    tape: tuple[str, ...]


def halts(machine: Machine) -> bool:
    """Return if it halts, by running it until it does or is in a configuration again."""
    state, tape, head = machine.start, machine.tape, 0
    seen = set()
    while (rule := machine.rules.get((state, tape[head]))) is not None:
        if (state, tape, head) in seen:
            return False
        seen.add((state, tape, head))
        state, written, way = rule
        tape = (*tape[:head], written, *tape[head + 1 :])
        head += 1 if way == "right" else -1
    return True


def on_data(machine: Machine) -> st.Deployment:
    """The machine as facts, and its steps as the alternatives of one tool, the same for all machines. `halts`
    holds iff the machine halts."""
    states = {machine.start, *(q for q, _ in machine.rules), *(r for r, _, _ in machine.rules.values())}
    symbols = {*machine.tape, *(s for _, s in machine.rules), *(t for _, t, _ in machine.rules.values())}
    cells = [f"c{i}" for i in range(len(machine.tape))]
    return st.build_deployment(
        "on_data",
        sorts={"cell": cells, "state": sorted(states), "symbol": sorted(symbols), "way": ["left", "right"]},
        relations={
            "Beside": "way, cell, cell",
            "Rule": "state, symbol, state, symbol, way",
            "Holds": "cell key, symbol",
            "At": "cell",
            "In": "state",
        },
        init=[
            *(f"Beside(right, {a}, {b})" for a, b in pairwise(cells)),
            *(f"Beside(left, {b}, {a})" for a, b in pairwise(cells)),
            *(f"Rule({q}, {s}, {r}, {t}, {way})" for (q, s), (r, t, way) in machine.rules.items()),
            *(f"Holds({cell}, {symbol})" for cell, symbol in zip(cells, machine.tape, strict=True)),
            "At(c0)",
            f"In({machine.start})",
        ],
        tools=[st.tool("step", effect=(f"when ~{_APPLIES}", _STEP))],
        specs={"halts": f"EF ~{_APPLIES}"},
    )


_APPLIES = "exists q, c, s, r, t, w. In(q) & At(c) & Holds(c, s) & Rule(q, s, r, t, w)"
_STEP = """
    choose q: state where In(q)
    choose c: cell where At(c)
    choose s: symbol where Holds(c, s)
    choose r: state where exists t, w. Rule(q, s, r, t, w)
    choose t: symbol where exists w. Rule(q, s, r, t, w)
    choose w: way where Rule(q, s, r, t, w)
    choose d: cell where Beside(w, c, d)
    clear In
    clear At
    set Holds(c, t)
    insert In(r)
    insert At(d)
"""


def counting(digits: int, *, forever: bool = False) -> Machine:
    """Counts in binary from 0 on, the first digit next to the end mark, and halts when all digits are 1; or,
    ``forever``, begins again. It takes more than 2 to the power of the digits steps."""
    rules: dict[tuple[str, str], tuple[str, str, Way]] = {
        ("back", "mark"): ("add", "mark", "right"),
        ("back", "d0"): ("back", "d0", "left"),
        ("back", "d1"): ("back", "d1", "left"),
        ("add", "d0"): ("back", "d1", "left"),
        ("add", "d1"): ("add", "d0", "right"),
    }
    if forever:
        rules["add", "end"] = "back", "end", "left"
    return Machine(rules, "back", ("mark", *["d0"] * digits, "end"))


def random_machine(cells: int, seed: int) -> Machine:
    """Two states, two digits and marks at both ends of the tape, which turn the machine round."""
    choose = random.Random(seed)
    rules: dict[tuple[str, str], tuple[str, str, Way]] = {}
    for state in ("p", "q"):
        rules[state, "mark"] = choose.choice("pq"), "mark", "right"
        rules[state, "end"] = choose.choice("pq"), "end", "left"
        for digit in ("d0", "d1"):
            if choose.random() < 0.9:
                ways: Sequence[Way] = ("left", "right")
                rules[state, digit] = choose.choice("pq"), choose.choice(("d0", "d1")), choose.choice(ways)
    return Machine(rules, "p", ("mark", *(choose.choice(("d0", "d1")) for _ in range(cells)), "end"))


def formulas() -> Iterator[tuple[int, bool, st.Deployment]]:
    """Of each size the first formulas that are true and false, at as many clauses as variables."""
    for size in range(2, 21, 2):
        made = (random_formula(size, size, seed) for seed in range(100))
        found: dict[bool, Quantified] = {}
        for one in made:
            found.setdefault(true(one), one)
            if len(found) == 2:
                break
        yield from ((size, answer, one_state(one)) for answer, one in sorted(found.items()))


def tapes() -> Iterator[tuple[int, bool, st.Deployment]]:
    """Counters that halt, and that begin again."""
    for size in range(1, 11):
        for forever in (False, True):
            machine = counting(size, forever=forever)
            yield size, halts(machine), on_data(machine)


FAMILIES = {"formula": formulas, "tape": tapes}


def rows(family: str, limit: float) -> Iterator[Mapping[str, Any]]:
    """The rows of a family up to the limit; `AssertionError` where a verdict is not the direct answer."""
    for size, answer, deployment in FAMILIES[family]():
        started = time.process_time()
        result = st.verify(deployment, findings=False)
        seconds = time.process_time() - started
        (verdict,) = result.verdicts.values()
        assert verdict.holds is answer, (family, size)
        yield {
            "family": family,
            "size": size,
            "verdict": verdict.word,
            "direct": answer,
            "states": result.states,
            "facts": len(deployment.init),
            "characters": len(str(verdict.formula)),
            "seconds": round(seconds, 3),
        }
        if seconds > limit:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=10.0, help="processor seconds of one verification")
    options = parser.parse_args()
    for name in FAMILIES:
        for row in rows(name, options.limit):
            print(json.dumps(row), flush=True)
