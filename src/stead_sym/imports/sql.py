"""The library `sqlglot`, and what schemas and tools read of its expressions alike."""

from __future__ import annotations

from typing import Any

from stead_sym.errors import InputError
from stead_sym.support.extras import install


def library() -> Any:
    """Return `sqlglot`; raise `InputError` if it is not installed."""
    try:
        import sqlglot
    except ImportError:
        raise InputError(f"SQL is read by sqlglot; {install('import')}") from None
    return sqlglot


def first_line(error: Exception) -> str:
    """Return the first line of a message of the library, without colours."""
    return str(error).partition("\n")[0].replace("\033[4m", "").replace("\033[0m", "")


def bare(node: Any) -> Any:
    """Return an expression without parentheses and casts around it."""
    exp = library().exp
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return node


def literal_of(node: Any) -> str | None:
    """Return the text of a literal, None for anything else, NULL among it."""
    exp, node = library().exp, bare(node)
    if isinstance(node, exp.Neg):
        inner = literal_of(node.this)
        return None if inner is None else f"-{inner}"
    if isinstance(node, exp.Literal | exp.National):
        return str(node.name)
    if isinstance(node, exp.Boolean):
        return "true" if node.this else "false"
    return None
