"""Graphs of states and of decisions before they are drawn, and in the language of Graphviz."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.support.printable import printable

Kind: TypeAlias = Literal["head", "selected", "offered", "fact", "quiet"]
By: TypeAlias = Literal["agent", "other", "event"]


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text in a node."""

    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node: its ``lines``, the first its head, and its ``full`` text.

    ``link`` is the target of a click on it in the page.
    """

    lines: tuple[Words, ...]
    full: str = ""
    link: str = ""
    initial: bool = False


@dataclass(frozen=True, slots=True)
class Arc:
    """An edge, by the numbers of its ends, with the lines of its label and the actor of the step."""

    source: int
    target: int
    label: tuple[str, ...] = ()
    by: By = "agent"


@dataclass(frozen=True, slots=True)
class Diagram:
    """A graph with text; no two arcs have the same ends and the same actor."""

    title: str
    vertices: tuple[Vertex, ...]
    arcs: tuple[Arc, ...]
    notes: tuple[str, ...] = ()


def diagram_dot(diagram: Diagram) -> str:
    """Return the graph in the language of Graphviz."""
    lines = [
        f"digraph {_quoted(diagram.title)} {{",
        '  node [shape=box, fontname="monospace", style=rounded];',
        '  edge [fontname="monospace"];',
    ]
    for k, vertex in enumerate(diagram.vertices):
        text = "".join(f"{_escaped(line.text)}\\l" for line in vertex.lines)
        bold = ", penwidth=2" if vertex.initial else ""
        lines.append(f'  n{k} [label="{text}"{bold}];')
    styles = {"agent": "solid", "other": "dotted", "event": "dashed"}
    for arc in diagram.arcs:
        label = "\\n".join(map(_escaped, arc.label))
        lines.append(f'  n{arc.source} -> n{arc.target} [label="{label}", style={styles[arc.by]}];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape text for a quoted string of DOT, in which a backslash begins an escape sequence."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
