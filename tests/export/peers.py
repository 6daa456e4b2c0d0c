"""Other model checkers, run on what we export.

One decision: a peer that is not installed skips the test with the reason, but with `STEAD_PEERS=required` in
the environment it fails; that is how the gate runs these tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from stead_sym.export.model import Export
from stead_sym.export.smv import to_smv
from stead_sym.export.storm import LABELS, PROPERTIES, TRANSITIONS, to_storm

_BUILT = Path(__file__).parents[2] / ".ci" / "peers"


@dataclass(frozen=True)
class Found:
    """The results of a peer: the answers by specification, and how many states, transitions and initial
    states there are, without what is held; ``nodes`` with it."""

    answers: dict[str, bool]
    initial: int
    states: int
    transitions: int
    nodes: int


def ours(result) -> Found:
    """The same of our own, but for the nodes, which only an export has."""
    answers = {name: verdict.holds for name, verdict in result.verdicts.items()}
    return Found(answers, result.initial, result.states, result.transitions, 0)


def assert_agree(found, result, export):
    """The peer has our verdicts and our counts."""
    expected = ours(result)
    assert found.answers == expected.answers
    assert replace(found, answers={}, nodes=0) == replace(expected, answers={}, nodes=0)
    assert found.nodes == len(export.nodes.nodes)


def program(name: str) -> str:
    """The path of a peer's program."""
    found = shutil.which(name) or shutil.which(name, path=str(_BUILT))
    if found is None:
        absent(f"{name} is not installed; `.ci/peers.sh` gets it")
    return found


def absent(reason: str) -> None:
    """Skip the test, or fail it where peers have to be there."""
    if os.environ.get("STEAD_PEERS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


# NuSMV


def nusmv(export: Export, folder: Path) -> Found:
    """NuSMV on the SMV file: the verdicts, and the reachable states of three models. The first is the file;
    in the second nothing is ever held; the third remembers the state before, so that it has a state per
    transition, and one per initial state."""
    text = to_smv(export)
    held = [line.split(":")[0].strip() for line in _variables(text) if line.strip().startswith("held")]
    slots = [name for name in held if "_dead_as_" not in name]
    nothing = "".join(f"INVAR {slot} = free;\n" for slot in slots)
    bare = re.sub(r"(?m)^(FAIRNESS|SPEC) .*\n", "", text) + nothing
    output = _run_nusmv(folder, text)
    said = [line.rsplit(" ", 1)[1] for line in output.splitlines() if line.startswith("-- specification")]
    assert len(said) == len(export.questions), output
    answers = {q.spec: {"true": True, "false": False}[s] for q, s in zip(export.questions, said, strict=True)}
    initial = _reachable(_run_nusmv(folder, re.sub(r"(?ms)^TRANS$.*?^  ;$", f"TRANS {_stay(text)};", bare)))
    pairs = _reachable(_run_nusmv(folder, bare + _remembering(text)))
    states = _reachable(_run_nusmv(folder, bare))
    return Found(answers, initial, states, pairs - initial, _reachable(output))


def _variables(text: str) -> list[str]:
    """The lines that declare variables."""
    if "\nVAR\n" not in text:
        return []
    return text.split("\nVAR\n", 1)[1].split("\nDEFINE\n", 1)[0].splitlines()


def _names(text: str) -> list[str]:
    return [line.split(":", 1)[0].strip() for line in _variables(text)]


def _stay(text: str) -> str:
    return " & ".join(f"next({name}) = {name}" for name in _names(text)) or "TRUE"


def _remembering(text: str) -> str:
    """A copy of every variable that has its value of one step before; at first it has none."""
    lines = ["VAR", "  begun : boolean;", "INIT !begun;", "TRANS next(begun);"]
    for line in _variables(text):
        name, rest = line.split(":", 1)
        kind = rest.split(";", 1)[0].strip()
        first = "FALSE" if kind == "boolean" else "free"
        lines += [f"VAR was_{name.strip()} : {kind};", f"INIT was_{name.strip()} = {first};"]
        lines += [f"TRANS next(was_{name.strip()}) = {name.strip()};"]
    return "\n".join(lines) + "\n"


def _run_nusmv(folder: Path, text: str) -> str:
    path = folder / "export.smv"
    path.write_text(text, encoding="utf-8")
    command = [program("NuSMV"), "-dcx", "-r", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def _reachable(output: str) -> int:
    """NuSMV prints six digits; the power of two beside them is as exact as we need below a million."""
    count = float(re.search(r"^reachable states: (\S+)", output, re.MULTILINE)[1])
    assert count < 1_000_000, "a count that NuSMV rounds"
    return round(count)


# Storm


def storm(export: Export, folder: Path) -> Found:
    """Storm on the explicit files."""
    try:
        import stormpy
    except ModuleNotFoundError:
        absent("stormpy is not installed; `pip install stormpy`")
    to_storm(export).write(folder)
    model = stormpy.build_model_from_explicit(str(folder / TRANSITIONS), str(folder / LABELS))
    start = set(model.initial_states)
    answers = {}
    properties = stormpy.parse_properties((folder / PROPERTIES).read_text(encoding="utf-8"))
    names = {question.identifier: question.spec for question in export.questions}
    for asked in properties:
        formula = asked.get_raw_formula()
        found = stormpy.model_checking(model, formula, only_initial_states=False)
        answers[names[asked.get_name()]] = start <= set(found.get_truth_values_vector())
    plain = _plain_states(export, model)
    edges = [
        (state.id, transition.column)
        for state in model.states
        if state.id in plain
        for action in state.actions
        for transition in action.transitions
        if transition.column in plain
    ]
    return Found(answers, len(start), len(plain), len(edges), model.nr_states)


def _plain_states(export: Export, model) -> set[int]:
    """The states in which nothing is held."""
    if export.layers == {()}:
        return set(range(model.nr_states))
    return set(model.labeling.get_states("holding_nothing"))
