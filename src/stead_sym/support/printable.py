"""Convert text from any source to text that shows every character.

One decision: a character that would be invisible or misplaced is written as its escape sequence (control
characters, line breaks, characters that change the direction of writing). Values, and evidence from files,
may hold any text.
"""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[^ -~]")


def printable(text: object) -> str:
    """Return an object's text on one line, with each unprintable character as its escape sequence."""
    return _UNSEEN.sub(lambda match: _seen(match[0]), str(text))


def printable_lines(text: str) -> str:
    """Return a text with unprintable characters escaped; line breaks and tabs are kept."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _seen(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def plural(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun: "1 state", "1,000 states"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
