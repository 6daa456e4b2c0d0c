"""The functions that carry out an agent's tools, by the name of the tool, and their schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stead_sym.guard.guard import Do, Guard
from stead_sym.logic.names import check_known
from stead_sym.support.extras import install


@dataclass(frozen=True, slots=True)
class GuardedFunction:
    """A function that carries out a tool, with the name, description and JSON schema of the tool."""

    name: str
    description: str
    parameters: dict[str, Any]
    do: Do


def guarded_functions(guard: Guard, functions: Mapping[str, Do]) -> Iterator[GuardedFunction]:
    """Yield the functions with the schemas of their tools; raise `InputError` for a name of no tool."""
    schemas: Mapping[str, Any] = {str(tool["name"]): tool for tool in guard.tools}
    for name, do in functions.items():
        check_known("tool", name, list(schemas))
        tool = schemas[name]
        yield GuardedFunction(name, tool["description"], tool["inputSchema"], do)


def not_installed(library: str, extra: str) -> ImportError:
    """Return the error of a module of which the library is not installed."""
    return ImportError(f"this adapter needs the library {library}; {install(extra)}")
