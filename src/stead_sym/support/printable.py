"""Text that shows what it is: a value may be any text, and evidence may come from a file of anyone.

One decision: what a reader could not see, or would not see where it stands (control characters, line breaks,
characters that turn the direction of writing), is written as its escape sequence.
"""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[^ -~]")


def printable(text: object) -> str:
    """The text of an object on one line, each character that cannot be printed as its escape sequence."""
    return _UNSEEN.sub(lambda match: _seen(match[0]), str(text))


def printable_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines; a tab stays a tab."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _seen(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def plural(number: int, one: str, many: str = "") -> str:
    """A number of things in words: "1 state", "1,000 states"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
