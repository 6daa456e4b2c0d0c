"""Names in documentation, docstrings and comments exist: files, modules, and names in modules.

One decision: a reference is a text between backquotes that looks like one: a path to a `.py` file, or dotted
names that begin with a module of the package, or end with a class.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "stead_sym"
SOURCES = [path for path in (ROOT / "src").rglob("*.py*") if path.suffix in (".py", ".pyi")]
MODULES = [(tuple(part for part in p.relative_to(PACKAGE.parent).with_suffix("").parts), p) for p in SOURCES]
MODULES = [(parts[:-1] if parts[-1] == "__init__" else parts, p) for parts, p in MODULES]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
QUOTED = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(r"([a-z_]\w*(?:\.\w+)*\.[A-Za-z_]\w*)(?:\(.*\))?")
FILE = re.compile(r"[\w./-]*\w\.py")
ELSEWHERE = {*sys.stdlib_module_names, "st", "dd", "torch", "result", "verdict"}
"""First names of what others have, and of variables in the documentation's programs."""
EXTENSIONS = {
    "lark",
    "tex",
    "lab",
    "sql",
    "tra",
    "jsonl",
    "json",
    "md",
    "css",
    "js",
    "toml",
    "yml",
    "pyi",
    "stead",
    "txt",
}
"""Last names of files."""


@cache
def names_in(path):
    """The names at the top of a module, and the attributes of its classes after a dot."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                found |= {name, *(f"{name}.{own}" for part in body for own in bound_by(part))}
            case ast.ImportFrom(names=imported) | ast.Import(names=imported):
                found |= {alias.asname or alias.name for alias in imported}
            case _:
                found |= set(bound_by(node))
    return found


def bound_by(node):
    """The names that a statement binds, itself or in its branches."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign() | ast.AnnAssign() | ast.If() | ast.Try():
            yield from (
                n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            )
        case _:
            pass


def resolves(parts):
    """Return if dotted names are a module, or a name in one, by the end of the module's path."""
    for cut in range(1, len(parts) + 1):
        module, rest = tuple(parts[:cut]), ".".join(parts[cut:])
        for known, path in MODULES:
            if known[-cut:] == module and (not rest or rest in names_in(path)):
                return True
    return False


def is_reference(parts):
    """Return if dotted names look like a module of the package, or a class in one."""
    if parts[0] in ELSEWHERE or parts[-1] in EXTENSIONS:
        return False
    known = {name for module, _ in MODULES for name in module}
    return parts[0] in known or re.fullmatch(r"[A-Z][a-z]+\w*", parts[-1]) is not None


def texts(path):
    """The docstrings and comments of a module, each with its line."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
            case _:
                pass
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def missing(text):
    for quoted in QUOTED.findall(text):
        if FILE.fullmatch(quoted):
            if "/" in quoted and not any(PACKAGE.rglob(quoted)) and not (ROOT / quoted).exists():
                yield quoted
        elif found := DOTTED.fullmatch(quoted):
            parts = found[1].split(".")
            if is_reference(parts) and not resolves(parts):
                yield quoted


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_name_what_is_there(path):
    assert list(missing(path.read_text(encoding="utf-8"))) == []


def test_docstrings_and_comments_name_what_is_there():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for line, text in texts(path)
        for name in missing(text)
    ]
    assert found == []
