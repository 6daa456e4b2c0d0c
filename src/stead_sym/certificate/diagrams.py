"""Diagrams on disk, in the JSON format of `dd`: its loaders read the files, and this module reads its files.

    {
    "level_of_var": {"NAME": LEVEL, …},
    "roots": [REF, …],
    "ID": [LEVEL, LOW, HIGH],
    …
    }

A REF, LOW or HIGH is "F", "T", or the number of a node, negative for its negation; ID is that number as a
string. A node comes after the nodes that it refers to, and a HIGH that is written is never a negation. One
decision: the files are read here and not by a C library, because they may contain anything, and a node is
built as `if VAR then HIGH else LOW`, so that every file that is accepted describes Boolean functions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.errors import InputError

TRUE, FALSE = 1, -1
MOST = 20_000_000
"""The maximum number of nodes of a file."""


@dataclass(frozen=True, slots=True)
class Diagrams:
    """Boolean functions over the variables of ``order``.

    Nodes are numbered from 2; 1 is true, and a negative number is a negation.
    """

    order: tuple[str, ...]
    nodes: Sequence[tuple[int, int, int]]
    roots: tuple[int, ...]

    def build(self, manager: Manager) -> list[Bdd]:
        """Return the functions of the roots in a manager that has the variables."""
        variables = [manager.var(name) for name in self.order]
        functions = [manager.false, manager.true]  # by number; there is no 0

        def function(reference: int) -> Bdd:
            return functions[reference] if reference > 0 else ~functions[-reference]

        for level, low, high in self.nodes:
            functions.append(manager.ite(variables[level], function(high), function(low)))
        return [function(root) for root in self.roots]


class Table:
    """Nodes of diagrams that are created bottom-up, each node once.

    The high branch of a node is never a negation, as in `dd`.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[int, int, int]] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def node(self, level: int, low: int, high: int) -> int:
        """Return the number of the node `if the variable at the level then high else low`."""
        if low == high:
            return low
        if high < 0:
            return -self.node(level, -low, -high)
        key = (level, low, high)
        number = self._known.get(key)
        if number is None:
            self.nodes.append(key)
            number = self._known[key] = len(self.nodes) + 1
        return number


def write_diagrams(path: Path, diagrams: Diagrams) -> None:
    """Write a file that `read_diagrams` reads."""
    levels = {name: level for level, name in enumerate(diagrams.order)}
    names = {FALSE: '"F"', TRUE: '"T"'}

    def text(reference: int) -> str:
        return names.get(reference) or str(reference)

    with path.open("w", encoding="utf-8") as file:
        file.write('{\n"level_of_var": ' + json.dumps(levels) + ",\n")
        file.write('"roots": [' + ", ".join(map(text, diagrams.roots)) + "]")
        for number, (level, low, high) in enumerate(diagrams.nodes, 2):
            file.write(f',\n"{number}": [{level}, {text(low)}, {text(high)}]')
        file.write("\n}\n")


def read_diagrams(data: object, source: str, known: Iterable[str]) -> Diagrams:
    """Return the diagrams in JSON data, over variables among ``known``.

    Raise `InputError` for anything else.
    """

    def wrong(what: str) -> InputError:
        return InputError(f"{source}: {what}; the file is damaged, write the certificate again")

    if not isinstance(data, dict):
        raise wrong("no JSON object")
    levels, roots = data.get("level_of_var"), data.get("roots")
    if not isinstance(levels, dict) or not isinstance(roots, list):
        raise wrong("`level_of_var` or `roots` is missing or of another kind")
    if len(data) > MOST:
        raise wrong(f"more than {MOST:,} nodes")
    order = _order(levels)
    if order is None:
        raise wrong("the levels of the variables are not 0, 1, 2, …")
    bits = frozenset(known)
    if strange := next((name for name in order if name not in bits), None):
        raise wrong(f"no bit of this certificate is called {strange[:80]!r}")
    numbers: dict[int, int] = {}
    nodes: list[tuple[int, int, int]] = []

    def reference(item: object) -> int:
        if item == "F":
            return FALSE
        if item == "T":
            return TRUE
        if type(item) is int and abs(item) in numbers:
            number = numbers[abs(item)]
            return number if item > 0 else -number
        raise wrong(f"{str(item)[:40]!r} refers to no node above it")

    for name, node in data.items():
        if name in ("level_of_var", "roots"):
            continue
        if not (name.isascii() and name.isdecimal() and len(name) < 20 and int(name) > 0):
            raise wrong(f"{name[:40]!r} is no number of a node")
        if not isinstance(node, list) or len(node) != 3 or type(node[0]) is not int:
            raise wrong(f"node {name} is not `[level, low, high]`")
        if not 0 <= node[0] < len(order):
            raise wrong(f"node {name} has a level without a variable")
        nodes.append((node[0], reference(node[1]), reference(node[2])))
        numbers[int(name)] = len(nodes) + 1
    return Diagrams(order, nodes, tuple(map(reference, roots)))


def _order(levels: Mapping[object, object]) -> tuple[str, ...] | None:
    """Return the variables by level, or None if the levels are not 0, 1, 2, …."""
    by_level = {level: name for name, level in levels.items() if type(level) is int}
    if len(by_level) != len(levels) or set(by_level) != set(range(len(levels))):
        return None
    return tuple(str(by_level[level]) for level in range(len(levels)))
