"""Docstrings begin as CONTRIBUTING asks: functions with a verb, everything else with what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import stead_sym

SOURCES = Path(stead_sym.__file__).resolve().parents[1]
TESTS = Path(__file__).parent
ROOTS = (SOURCES, TESTS, TESTS.parent / "benchmarks")
"""The docstring of a test states a fact; those of modules and helpers of tests keep to it, too."""
CLAUSES = ("What ", "Whether ", "Those ", "That ", "Who ", "Why ", "Where ", "Which ", "How ")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def docstrings(root: Path) -> tuple[tuple[str, bool, str], ...]:
    """Return what `all_docstrings` yields."""
    return tuple(all_docstrings(root))


def all_docstrings(root: Path) -> Iterator[tuple[str, bool, str]]:
    """Yield each docstring with its place, and if it is of a function that is no property; none of a test."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                continue
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)) is not None:
                functional = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
                    "property" in ast.unparse(decorator) for decorator in node.decorator_list
                )
                yield f"{path.relative_to(root)}:{getattr(node, 'lineno', 1)}", functional, text
            below = getattr(node, "body", None)
            for before, after in pairwise(below) if isinstance(below, list) else ():
                match before, after:
                    case ast.Assign() | ast.AnnAssign(), ast.Expr(ast.Constant(str(text))):
                        yield f"{path.relative_to(root)}:{after.lineno}", False, text
                    case _:
                        pass


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_none_begins_with_a_clause(root: Path) -> None:
    found = docstrings(root)
    assert len(found) > 200
    assert [(place, text) for place, _, text in found if text.startswith(CLAUSES)] == []


def test_those_of_functions_begin_with_a_verb() -> None:
    nouns = ("The ", "A ", "An ", "All ", "Each ", "Every ")
    found = [(place, text) for place, functional, text in docstrings(SOURCES) if functional]
    assert [(place, text) for place, text in found if text.startswith(nouns)] == []
