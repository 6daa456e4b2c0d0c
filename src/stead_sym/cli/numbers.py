"""Numbers as arguments of the command.

One out of its range is refused where it is parsed, with a line that gives the allowed range.
"""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> int:
    """Parse a whole number, 1 or more."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def seconds(text: str) -> float:
    """Parse a number of seconds above 0."""
    return _above_zero(text, "a number of seconds above 0")


def temperature(text: str) -> float:
    """Parse a number above 0."""
    return _above_zero(text, "a number above 0")


def tolerance(text: str) -> float:
    """Parse a number, 0 or more."""
    return 0.0 if _number(text) == 0 else _above_zero(text, "a number of at least 0")


def probability(text: str) -> float:
    """Parse a number above 0 and at most 1."""
    return _above_zero(text, "a number above 0 and at most 1", most=1.0)


def _above_zero(text: str, wanted: str, most: float = math.inf) -> float:
    number = _number(text)
    if not 0 < number <= most or number == math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
