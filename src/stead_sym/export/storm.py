"""Write an export in Storm's explicit format: transitions, labels, and properties.

One decision: the graph is a Markov decision process in which every choice leads to one node with probability
1. A scheduler of such a process is a path, without randomness: the maximum probability of a property of paths
is 1 if some path has the property, else 0, and the minimum is 1 if all have it. So the path quantifiers
become

    E ψ = Pmax>=1 [ψ],                    A ψ = Pmin>=1 [ψ],
    E ψ = Pmax>=1 [ψ ∧ ⋀_k G F c_k],      A ψ = ¬E ¬ψ          over fair paths,

for the fairness constraints c_k: all of CTL can be expressed, and never only "almost surely".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as Folder
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.export.model import Export
from stead_sym.export.names import plain

TRANSITIONS, LABELS, PROPERTIES = "model.tra", "model.lab", "properties.props"


@dataclass(frozen=True, slots=True)
class Storm:
    """The texts of the three files."""

    transitions: str
    labels: str
    properties: str

    def write(self, folder: Folder) -> None:
        """Write the files into a folder, which is created if it does not exist."""
        folder.mkdir(parents=True, exist_ok=True)
        texts = (self.transitions, self.labels, self.properties)
        for name, text in zip((TRANSITIONS, LABELS, PROPERTIES), texts, strict=True):
            (folder / name).write_text(text, encoding="utf-8")


def to_storm(export: Export) -> Storm:
    """Return the export in Storm's explicit format."""
    transitions, labels, properties = (
        "\n".join(lines) + "\n" for lines in (_transitions(export), _labels(export), _properties(export))
    )
    return Storm(transitions, labels, properties)


def _transitions(export: Export) -> Iterator[str]:
    """Yield a line `source choice target 1` per edge."""
    yield "mdp"
    for i, out in enumerate(export.nodes.edges):
        for choice, target in enumerate(sorted(out)):
            yield f"{i} {choice} {target} 1"


def _labels(export: Export) -> Iterator[str]:
    """Yield the propositions, and a line per node with those that hold."""
    propositions = export.names.propositions
    yield "#DECLARATION"
    yield " ".join(("init", *propositions))
    yield "#END"
    for i, node in enumerate(export.nodes.nodes):
        holding = [name for name, proposition in propositions.items() if export.says(proposition, node)]
        labels = ["init"] * (i < export.nodes.initial) + holding
        if labels:
            yield " ".join((str(i), *labels))


def _properties(export: Export) -> Iterator[str]:
    for line in export.heading():
        yield f"// {line}"
    for name, proposition in export.names.propositions.items():
        yield f"// {plain(name)}: {plain(str(proposition))}"
    for question in export.questions:
        yield f"// {plain(question.spec)}: {plain(question.written)}"
        yield f"// stead-sym: {plain(question.words)}"
        yield f'"{question.identifier}": filter(forall, {property_of(export, question.formula)}, "init");'


def property_of(export: Export, formula: fo.Formula) -> str:
    """Return a formula over atoms without arguments as a property of the nodes, in Storm's syntax."""
    return _state(formula, tuple(f"(G F {_state(constraint, ())})" for constraint in export.fair))


def _state(formula: fo.Formula, fair: tuple[str, ...]) -> str:
    def here(f: fo.Formula) -> str:
        return _state(f, fair)

    match formula:
        case fo.Truth(value):
            return "true" if value else "false"
        case fo.Atom(name):
            return f'"{name}"'
        case fo.Not(body):
            return f"!{here(body)}"
        case fo.And(parts):
            return f"({' & '.join(map(here, parts))})"
        case fo.Or(parts):
            return f"({' | '.join(map(here, parts))})"
        case fo.Next(path, body):
            return _quantified(path, f"X {here(body)}", fair)
        case fo.Future(path, body):
            return _quantified(path, f"F {here(body)}", fair)
        case fo.Globally(path, body):
            return _quantified(path, f"G {here(body)}", fair)
        case fo.Until(path, left, right):
            return _quantified(path, f"{here(left)} U {here(right)}", fair)
        case _:
            raise AssertionError(f"{formula} is not written out")


def _quantified(quantifier: fo.Path, path: str, fair: tuple[str, ...]) -> str:
    """Return E ψ or A ψ, over the fair paths."""
    match quantifier:
        case "E" if fair:
            return f"(Pmax>=1 [ {' & '.join((f'({path})', *fair))} ])"
        case "A" if fair:
            return f"(!(Pmax>=1 [ {' & '.join((f'(!({path}))', *fair))} ]))"
        case "E":
            return f"(Pmax>=1 [ {path} ])"
        case "A":
            return f"(Pmin>=1 [ {path} ])"
        case _:
            assert_never(quantifier)
