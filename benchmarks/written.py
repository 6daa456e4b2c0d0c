"""Deployments that are texts with generated tables: what the families of `held_out.py` share."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import TypeVar

_T = TypeVar("_T")


def one_of(draw: random.Random, shares: Mapping[_T, int]) -> _T:
    """A key of ``shares``, drawn with its share of their sum."""
    return draw.choices(list(shares), list(shares.values()))[0]


def written(name: str, text: str, facts: Iterable[str], gated: bool) -> str:
    """The file: ``text`` with the facts, each once. A line `gate g` below the line `guard f` of a tool
    makes that guard `(f) & (g)` where ``gated`` is true, and is left out otherwise."""
    lines = [f"deployment {name}"]
    for line in text.splitlines():
        if not line.startswith("  gate "):
            lines.append(line)
        elif gated:
            guard = lines.pop().removeprefix("  guard ")
            lines.append(f"  guard ({guard}) & ({line.removeprefix('  gate ')})")
    return "\n".join([*lines, "", "init", *(f"  {fact}" for fact in dict.fromkeys(facts)), ""])
